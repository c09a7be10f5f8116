//! After a failure: the likely cause and the one command that mends it.
//!
//! Sources: `ssh` client messages (OpenSSH 9.2). What programs print, the catalogue of `causes` knows.

use std::time::Duration;

use super::causes;
use crate::events::{Attempt, Failure, Outcome};
use crate::inventory::{Become, Host};
use crate::plan::diff;
use crate::project::{Project, Step};
use crate::resources::{Change, Unplannable};
use crate::transport::{ConnectKind, quote};

/// Lines of output that a failure shows.
const TAIL_LINES: usize = 20;

/// Text in place of output that a host left out, as `provision_left_out` prints it.
pub(super) const LEFT_OUT: &str = "\n[... output left out ...]\n";

/// The last lines of an output, safe for a terminal.
pub(super) fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    lines.get(lines.len().saturating_sub(TAIL_LINES)..).unwrap_or_default().join("\n")
}

/// The last line that says something.
pub(super) fn last_line(output: &str) -> String {
    output
        .lines()
        .rev()
        .map(str::trim)
        // The mark of lost output is no reason.
        .find(|line| !line.is_empty() && *line != LEFT_OUT.trim())
        .unwrap_or("")
        .chars()
        .take(300)
        .collect()
}

/// Returns the words that ssh needs before an address: options as the inventory has them, and the account.
fn login_words(host: &Host) -> (String, String) {
    let ssh = &host.ssh;
    let known =
        ssh.known_hosts.as_ref().map(|file| format!("-o UserKnownHostsFile={} ", quote(file.as_str())));
    let key = ssh.identity_file.as_ref().map(|file| format!("-i {} ", quote(file.as_str())));
    let user = ssh.user.as_deref().map(|user| format!("{user}@")).unwrap_or_default();
    let files: String = [known, key].into_iter().flatten().collect();
    (files + &port_option(host), user)
}

fn port_option(host: &Host) -> String {
    host.ssh.port.map(|port| format!("-p {port} ")).unwrap_or_default()
}

/// Returns the remedy for a host that refuses the key.
pub fn put_key(host: &Host) -> String {
    let (options, user) = login_words(host);
    format!(
        "look at the name of the account, `ssh.user`; when it is right, put your key there: ssh-copy-id {options}{user}{}; a key with a passphrase is unlocked by ssh-add, in a shell with an ssh-agent",
        host.address
    )
}

/// Returns the remedy for a host that cannot be reached, where one is known.
pub fn connect(kind: ConnectKind, host: &Host, project: &Project) -> Option<String> {
    let inventory = &quote(project.path.as_str());
    let name = &host.name;
    let (options, user) = login_words(host);
    Some(match kind {
        ConnectKind::HostKeyUnknown => {
            format!("look at its key and record it: provision inventory trust {inventory} --hosts {name}")
        }
        ConnectKind::HostKeyChanged => format!(
            "if the host was reinstalled, record its new key: provision inventory trust {inventory} --hosts {name} --replace; if it was not, someone may be intercepting the connection"
        ),
        ConnectKind::KeyRefused => put_key(host),
        ConnectKind::PasswordRefused => "run the command again with the right password; where the login itself was refused, look at the name of the account, too".to_owned(),
        ConnectKind::KeyUnreadable => "make the private key readable for you only: chmod 600 KEY".to_owned(),
        ConnectKind::KeyInvalid => format!(
            "name the private key itself, a file as ssh-keygen makes it, without `.pub`: ssh.identity_file in {inventory}, or IdentityFile in ~/.ssh/config"
        ),
        ConnectKind::KeyMissing => format!(
            "name a key file that exists: ssh.identity_file in {inventory}, or IdentityFile in ~/.ssh/config"
        ),
        ConnectKind::NameUnknown if host.address != host.name => {
            format!("no name server knows `{}`: look at the `address` of {name} in {inventory}", host.address)
        }
        ConnectKind::NameUnknown => {
            format!(
                "give it an `address` under `hosts:` in {inventory}, as in `{name}: {{ address: 10.0.0.1 }}`"
            )
        }
        ConnectKind::SudoPassword => format!(
            "add --ask-become-pass, which asks for it at the start; or keep it as a secret, `ssh: {{ become: {{ method: sudo, password: {{ secret: NAME }} }} }}` in {inventory} (`provision explain secrets`); an account without a password needs `NOPASSWD:` in its rule of sudoers"
        ),
        ConnectKind::SudoRefused => {
            format!(
                "give the account a rule in sudoers, or name one that has it as `ssh.user` in {inventory}; by hand: ssh -t {options}{user}{} sudo true",
                host.address
            )
        }
        ConnectKind::PasswordUntried => {
            "give the right password, or leave out the host that refused it: hosts with another password take a run of their own"
                .to_owned()
        }
        ConnectKind::WrongUser => format!(
            "look for `newgrp`, `su` or `exec` in what its logins run (~/.bashrc), and for `runas_default` in sudoers; by hand: ssh {}{options}{user}{} {}",
            // sudo asks for a password on a terminal only.
            if host.ssh.become_method == Become::None { "" } else { "-t " },
            host.address,
            if host.ssh.become_method == Become::None { "id" } else { "sudo id" }
        ),
        ConnectKind::NoShell => format!(
            "give the login a shell: on {name}, usermod -s /bin/sh {}",
            host.ssh.user.as_deref().unwrap_or("USER")
        ),
        ConnectKind::Refused => {
            format!("no sshd on that port: start it, or set ssh.port for {name} in {inventory}")
        }
        // OpenSSH 9.8 and later, sshd_config(5): each refused login counts, and nothing says so to who is shut out.
        ConnectKind::Closed => format!(
            "sshd there closes logins at once where it has too many, and for a while after refused ones (PerSourcePenalties): wait a minute and try it by hand: ssh -v {}{user}{}",
            port_option(host),
            host.address
        ),
        ConnectKind::NoRoute | ConnectKind::TimedOut => {
            // It does not come to keys there, and a short command can be copied.
            let port = port_option(host);
            format!(
                "try it by hand: ssh -v {port}{user}{}; `offline: REASON` for {name} under `hosts:` in {inventory} leaves it out",
                host.address
            )
        }
        ConnectKind::Jump => "try the jump host by hand: ssh -v JUMP true".to_owned(),
        ConnectKind::Other => return None,
    })
}

/// Returns the number of tries of a task in all and the pause before the next one: as the task says, else
/// three tries for what mirrors and networks do for a moment.
pub(super) fn tries(step: &Step, failure: &Failure, attempt: u32) -> (u32, Duration) {
    let retries = step.conduct.retries;
    if retries.attempts > 1 {
        return (retries.attempts, retries.delay);
    }
    let transient =
        causes::find(&format!("{}\n{}", failure.output, failure.message)).is_some_and(|cause| cause.passing);
    if step.resource().is_some_and(|kind| kind.retries) && transient {
        return (3, Duration::from_secs(2 << attempt.min(4)));
    }
    (1, Duration::ZERO)
}

/// A host went away in the middle of a task. Whether the task goes on there nobody knows.
pub(super) const HOST_LOST: &str =
    "its host was lost; the next run follows what still runs there, or does it again";

/// The attempt of a task that failed, and its text.
pub(super) type Attempted = (Attempt, String);

/// Returns the outcome of a task that failed: its last lines and what they usually mean.
pub(super) fn failure(message: String, attempted: Option<Attempted>, output: &str) -> Outcome {
    // What we said ourselves stands behind what the program said.
    let hint = if message == HOST_LOST {
        None
    } else {
        causes::find(&format!("{output}\n{message}")).and_then(|cause| cause.hint)
    };
    let output = tail(output);
    let (attempt, command) = attempted.unzip();
    let attempt = attempt.unwrap_or(Attempt::Command);
    Outcome::Failed(Failure { message, command, attempt, output, hint })
}

/// Returns the reason why there is no plan, in one line.
pub(super) fn unplannable(error: Unplannable) -> String {
    match error {
        Unplannable::Unknown(object, text) | Unplannable::Missing(object, text) => {
            let object = object.to_string();
            if text.starts_with(&object) { text } else { format!("{object}: {text}") }
        }
        Unplannable::Unneeded(object) => format!("{object} is not there"),
        Unplannable::Blocked(text) | Unplannable::Partly(_, text) | Unplannable::Failed(text) => text,
    }
}

/// Returns the message about changes that a second plan still wants after the change.
pub(super) fn not_converged(rest: &[Change]) -> String {
    let lines: Vec<_> = rest
        .iter()
        .map(|change| {
            format!("{}\n{}", change.summary, diff::render(&change.object.to_string(), &change.detail))
        })
        .collect();
    format!("did not converge: after the change the plan is still\n{}", lines.join("\n").trim_end())
}

/// A duration as people write it: `15s`, `10m`, `2h`.
pub(super) fn human(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds == 0 {
        return format!("{}ms", duration.as_millis());
    }
    if seconds.is_multiple_of(3600) {
        return format!("{}h", seconds / 3600);
    }
    if seconds.is_multiple_of(60) && seconds >= 120 {
        return format!("{}m", seconds / 60);
    }
    format!("{seconds}s")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::testing::load;

    #[test]
    fn what_fails_for_a_moment_is_tried_again_where_the_resource_says_so() {
        let project = load(
            "--- inventory.yaml
cluster: c
playbooks: [./p.yaml]
hosts: { n0: { address: 10.0.0.1 } }
--- p.yaml
name: p
tasks:
- name: one
  package: { names: [a] }
- name: two
  service: { name: a, state: started }
- name: three
  retries: { attempts: 2, delay: 1s }
  package: { names: [b] }
",
        )
        .unwrap();
        let tried = |step: usize, output: &str| {
            let (message, output) = (String::new(), output.to_owned());
            tries(&project.steps[step], &Failure { output, ..Failure::new(message) }, 1).0
        };
        assert_eq!(tried(0, "E: Failed to fetch x Hash Sum mismatch"), 3);
        assert_eq!(tried(0, "E: Unable to locate package a"), 1);
        assert_eq!(tried(1, "E: Failed to fetch x Hash Sum mismatch"), 1);
        assert_eq!(tried(2, "E: Unable to locate package b"), 2);
    }

    #[test]
    fn an_address_that_is_there_is_looked_at() {
        let inventory = "--- inventory.yaml\ncluster: c\nhosts: { n0: { address: n0.invalid }, n1: {} }\n";
        let project = load(inventory).unwrap();
        let hints =
            project.hosts.iter().map(|host| connect(ConnectKind::NameUnknown, host, &project).unwrap());
        let hints: Vec<String> = hints.collect();
        assert!(hints[0].starts_with("no name server knows `n0.invalid`: look at the `address` of n0 in "));
        assert!(hints[1].starts_with("give it an `address` under `hosts:` in "));
    }

    /// OpenSSH 9.8 and later say nothing to an address that they shut out.
    #[test]
    fn a_server_that_closes_may_have_refused_too_often() {
        let inventory = "--- inventory.yaml\ncluster: c\nssh: { user: me, port: 23 }\nhosts: { n0: { address: 10.0.0.1 } }\n";
        let project = load(inventory).unwrap();
        let hint = connect(ConnectKind::Closed, &project.hosts[0], &project).unwrap();
        assert!(hint.contains("PerSourcePenalties") && hint.contains("wait a minute"), "{hint}");
        assert!(hint.ends_with("ssh -v -p 23 me@10.0.0.1"), "{hint}");
    }

    /// Without a terminal sudo asks for no password, and is refused by `requiretty`.
    #[test]
    fn what_calls_sudo_by_hand_has_a_terminal() {
        let mut project =
            load("--- inventory.yaml\ncluster: c\nssh: { become: sudo, user: me, port: 23 }\nhosts: { n0: { address: 10.0.0.1 } }\n")
                .unwrap();
        let host = project.hosts.remove(0);
        for (kind, ends) in [
            (ConnectKind::SudoRefused, "ssh -t -p 23 me@10.0.0.1 sudo true"),
            (ConnectKind::WrongUser, "ssh -t -p 23 me@10.0.0.1 sudo id"),
        ] {
            let hint = connect(kind, &host, &project).unwrap();
            assert!(hint.ends_with(ends), "{hint}");
        }
        let mut plain = host;
        plain.ssh.become_method = Become::None;
        let hint = connect(ConnectKind::WrongUser, &plain, &project).unwrap();
        assert!(hint.ends_with("ssh -p 23 me@10.0.0.1 id"), "{hint}");
    }
}
