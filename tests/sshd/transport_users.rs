//! The transport against real login shells and a real sudo: needs root, to make users.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "these are tests, though not in functions that are marked so"
)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use crate::sshd::{
    DEADLINE, Server, User, assert_gone, ends, frame, free_port, host, is_root, part, processes, run, sh,
};
use provision::inventory::{Become, Host};
use provision::secrets::Secrets;
use provision::transport::{
    ConnectKind, Frame, Local, Part, Remote, Script, Ssh, Transport as _, TransportError,
};

fn secrets(password: &str) -> Secrets {
    Secrets::new(BTreeMap::from([("sudo".to_owned(), password.to_owned().into())]))
}

fn sudo(host: &Host) -> Host {
    let mut host = host.clone();
    host.ssh.become_method = Become::Sudo { password: Some("sudo".to_owned()) };
    host
}

async fn open(
    server: &Server,
    host: &Host,
    secrets: Secrets,
) -> Result<(Ssh, Box<dyn Remote>), TransportError> {
    let ssh = Ssh::start(server.settings(), std::slice::from_ref(host), secrets).await.unwrap();
    let remote = ssh.open(host, DEADLINE).await?;
    Ok((ssh, remote))
}

fn kind(result: Result<(Ssh, Box<dyn Remote>), TransportError>) -> (ConnectKind, String) {
    match result.err().expect("it does not open") {
        TransportError::Connect { kind, message } => (kind, message),
        other @ (TransportError::Lost { .. }
        | TransportError::PartTimedOut { .. }
        | TransportError::Protocol { .. }) => panic!("{other:?}"),
    }
}

/// What a root shell must be able to do, whatever the way to it.
async fn works_as_root(remote: &mut dyn Remote) {
    assert_eq!(sh(remote, "id -u; cat").await.unwrap(), (0, "0\n".to_owned()));
    let hang = Part { deadline: Duration::from_millis(500), ..part(Script::new("exec sleep 97531")) };
    let frame = Frame { parts: vec![hang], ..Frame::default() };
    assert!(matches!(ends(remote, &frame).await, Err(TransportError::PartTimedOut { .. })));
    remote.revive().await.unwrap();
    assert_gone("sleep 97531").await;
    assert_eq!(sh(remote, "id -u; cat").await.unwrap(), (0, "0\n".to_owned()));
    let dir = tempfile::tempdir().unwrap();
    // Only root may write there.
    let path = dir.path().join("streamed");
    let content: Vec<u8> = (0..=255).cycle().take(3_000_000).collect();
    remote.stream(path.to_str().unwrap(), &mut content.as_slice()).await.unwrap();
    assert!(std::fs::read(&path).unwrap() == content);
    assert_eq!(sh(remote, "exit 255").await.unwrap().0, 255);
}

#[tokio::test]
async fn login_shells_of_every_kind() {
    let server = Server::start();
    for (shell, name) in [
        ("/bin/dash", "dash"),
        ("/bin/bash", "bash"),
        ("/usr/bin/fish", "fish"),
        ("/bin/tcsh", "tcsh"),
        ("/bin/csh", "csh"),
        ("/bin/mksh", "mksh"),
        ("/usr/bin/zsh", "zsh"),
    ] {
        let Some(user) = User::new(name, shell) else { continue };
        let (_ssh, mut remote) = open(&server, &user.host(&server), Secrets::default()).await.unwrap();
        let seen = ends(&mut *remote, &frame(["printf 'a b'", "exit 3", "cat"])).await.unwrap();
        let statuses: Vec<_> = seen.iter().map(|end| end.status).collect();
        assert_eq!((seen[0].output.as_slice(), statuses), (&b"a b"[..], vec![0, 3, 0]), "{shell}");
        remote.close().await;
    }
}

#[tokio::test]
async fn busybox_is_a_login_shell() {
    let Some(user) = User::new("bb", "/bin/sh") else { return };
    if run("busybox", &["true"]).is_err() {
        println!("skipped: no busybox here");
        return;
    }
    let shell = format!("/home/{}/sh", user.name);
    std::os::unix::fs::symlink(run("which", &["busybox"]).unwrap().trim(), &shell).unwrap();
    run("usermod", &["-s", &shell, &user.name]).unwrap();
    let server = Server::start();
    let (_ssh, mut remote) = open(&server, &user.host(&server), Secrets::default()).await.unwrap();
    assert_eq!(sh(&mut *remote, "printf 'a b'; exit 3").await.unwrap(), (3, "a b".to_owned()));
}

#[tokio::test]
async fn noise_of_login_scripts_is_skipped() {
    let server = Server::start();
    let Some(user) = User::new("noise", "/bin/bash") else { return };
    user.home(".bashrc", "echo 'Welcome to the cluster!'; printf 'no line feed'; echo noise >&2\n");
    user.home(".ssh/rc", "echo from rc\n");
    let (_ssh, mut remote) = open(&server, &user.host(&server), Secrets::default()).await.unwrap();
    assert_eq!(sh(&mut *remote, "echo one").await.unwrap(), (0, "one\n".to_owned()));
}

#[tokio::test]
async fn a_login_without_a_shell_is_told() {
    let server = Server::start();
    let Some(user) = User::new("nologin", "/usr/sbin/nologin") else { return };
    let host = user.host(&server);
    let (seen, message) = kind(open(&server, &host, Secrets::default()).await);
    assert_eq!(seen, ConnectKind::NoShell, "{message}");
    assert!(message.contains("This account is currently not available"), "{message}");

    let Some(user) = User::new("menu", "/bin/sh") else { return };
    user.home("menu", "#!/bin/sh\necho '1) reboot  2) logout'\nexec sleep 60\n");
    let menu = format!("/home/{}/menu", user.name);
    run("chmod", &["755", &menu]).unwrap();
    run("usermod", &["-s", &menu, &user.name]).unwrap();
    let ssh = server.ssh(&[user.host(&server)]).await;
    let error = ssh.open(&user.host(&server), Duration::from_secs(8)).await.err().unwrap();
    let TransportError::Connect { kind: ConnectKind::NoShell, message } = error else { panic!("{error:?}") };
    assert!(message.contains("1) reboot"), "{message}");
    server.assert_nothing_left().await;
}

#[tokio::test]
async fn what_a_host_says_before_sudo_is_not_sudo() {
    let (server, _banner) = Server::with_banner();
    let free = |host: &Host| {
        let mut host = host.clone();
        host.ssh.become_method = Become::Sudo { password: None };
        host
    };
    let Some(user) = User::new("gone", "/usr/sbin/nologin") else { return };
    for host in [user.host(&server), free(&user.host(&server))] {
        let (seen, message) = kind(open(&server, &host, Secrets::default()).await);
        assert_eq!(seen, ConnectKind::NoShell, "{message}");
        assert!(message.contains("This account is currently not available"), "{message}");
    }

    // A login shell whose status is that of ssh.
    let Some(user) = User::new("mine", "/bin/sh") else { return };
    user.home("bye", "#!/bin/sh\necho bye\nexit 255\n");
    let bye = format!("/home/{}/bye", user.name);
    run("chmod", &["755", &bye]).unwrap();
    run("usermod", &["-s", &bye, &user.name]).unwrap();
    for host in [user.host(&server), free(&user.host(&server))] {
        let (seen, message) = kind(open(&server, &host, Secrets::default()).await);
        assert_eq!((seen, message.as_str()), (ConnectKind::Other, "bye"));
    }

    let Some(user) = User::new("loud", "/bin/bash") else { return };
    let words = "'x is not in the sudoers file.' 'sudo: must have a tty' 'sudo: a password is required'";
    user.home(".bashrc", &format!("printf '%s\\n' {words}\nprintf '%s\\n' {words} >&2\n"));
    if !user.sudo("secret", "USER ALL=(ALL) ALL\nDefaults:USER timestamp_timeout=0\n") {
        return;
    }
    let host = user.host(&server);
    let (seen, message) = kind(open(&server, &free(&host), Secrets::default()).await);
    assert_eq!(seen, ConnectKind::SudoPassword, "{message}");
    let (seen, message) = kind(open(&server, &sudo(&host), secrets("wrong")).await);
    assert_eq!((seen, message.as_str()), (ConnectKind::PasswordRefused, "sudo refused the password"));
    let (_ssh, mut remote) = open(&server, &sudo(&host), secrets("secret")).await.unwrap();
    works_as_root(&mut *remote).await;
    remote.close().await;
    server.assert_nothing_left().await;
}

#[tokio::test]
async fn sudo_without_a_password() {
    let server = Server::start();
    for (shell, name) in [("/bin/tcsh", "freet"), ("/usr/bin/fish", "freef")] {
        let Some(user) = User::new(name, shell) else { continue };
        if !user.sudo("", "USER ALL=(ALL) NOPASSWD: ALL\n") {
            return;
        }
        let mut host = user.host(&server);
        host.ssh.become_method = Become::Sudo { password: None };
        let (_ssh, mut remote) = open(&server, &host, Secrets::default()).await.unwrap();
        works_as_root(&mut *remote).await;
        remote.close().await;
    }
    let Some(user) = User::new("free", "/bin/bash") else { return };
    let mut host = user.host(&server);
    host.ssh.become_method = Become::Sudo { password: None };
    for pty in ["use_pty", "!use_pty"] {
        if !user.sudo("", &format!("USER ALL=(ALL) NOPASSWD: ALL\nDefaults:USER {pty}\n")) {
            return;
        }
        let (_ssh, mut remote) = open(&server, &host, Secrets::default()).await.unwrap();
        works_as_root(&mut *remote).await;
        remote.close().await;
    }

    // A password that is not wanted must not end up as a command.
    let word = "touch /tmp/provision-poison-command";
    let (_ssh, mut remote) = open(&server, &sudo(&host), secrets(word)).await.unwrap();
    works_as_root(&mut *remote).await;
    remote.close().await;
    assert!(!Path::new("/tmp/provision-poison-command").exists());
    server.assert_nothing_left().await;
}

#[tokio::test]
async fn sudo_with_a_password() {
    let server = Server::start();
    // Debian turns `use_pty` on, others do not: sudo then has another process group.
    for (shell, name, pty) in [
        ("/bin/bash", "pwb", "use_pty"),
        ("/bin/tcsh", "pwt", "!use_pty"),
        ("/usr/bin/fish", "pwf", "use_pty"),
    ] {
        let Some(user) = User::new(name, shell) else { continue };
        let password = "p'4$s\"w!ö rd\\";
        let rule = format!("USER ALL=(ALL) ALL\nDefaults:USER timestamp_timeout=0, passwd_tries=3, {pty}\n");
        if !user.sudo(password, &rule) {
            return;
        }
        let host = sudo(&user.host(&server));
        let (_ssh, mut remote) = open(&server, &host, secrets(password)).await.unwrap();
        assert!(!processes().iter().any(|line| line.contains("p'4$s")));
        works_as_root(&mut *remote).await;
        remote.close().await;

        let (seen, message) = kind(open(&server, &host, secrets("wrong")).await);
        assert_eq!((seen, message.as_str()), (ConnectKind::PasswordRefused, "sudo refused the password"));
        let (seen, message) = kind(open(&server, &host, Secrets::default()).await);
        // How one is given says the hint.
        let none = (ConnectKind::SudoPassword, "sudo wants a password and none was given");
        assert_eq!((seen, message.as_str()), none);
        server.assert_nothing_left().await;
    }
}

/// sudo-rs of Debian 13 in the place of sudo, for who reads this `.bashrc`; it runs here as it is.
fn sudo_rs(server: &Server) -> String {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/other-tools/trixie");
    let fetch = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/other-tools.sh");
    run(fetch.to_str().unwrap(), &["trixie", tools.to_str().unwrap()]).unwrap();
    let bin = server.path("bin");
    std::fs::create_dir(&bin).unwrap();
    let sudo = bin.join("sudo");
    std::fs::copy(tools.join("root/usr/lib/cargo/bin/sudo"), &sudo).unwrap();
    std::fs::set_permissions(&sudo, std::fs::Permissions::from_mode(0o4755)).unwrap();
    std::fs::set_permissions(server.path(""), std::fs::Permissions::from_mode(0o711)).unwrap();
    format!("PATH={bin}:$PATH\n")
}

/// It keeps for itself what has come behind the password, and has sentences of its own.
#[tokio::test]
async fn sudo_rs_with_a_password() {
    let server = Server::start();
    let Some(user) = User::new("rsp", "/bin/bash") else { return };
    if !user.sudo("p'4$s\"w!ö rd\\", "USER ALL=(ALL) ALL\n") {
        return;
    }
    user.home(".bashrc", &sudo_rs(&server));
    let host = sudo(&user.host(&server));
    for _ in 0..5 {
        let (_ssh, mut remote) = open(&server, &host, secrets("p'4$s\"w!ö rd\\")).await.unwrap();
        // It goes on to wait for the shell that it started.
        let (_, said) = sh(&mut *remote, "readlink -f /proc/$PPID/exe; id -u").await.unwrap();
        assert_eq!(said, format!("{}\n0\n", server.path("bin/sudo")));
        remote.close().await;
    }
    let (_ssh, mut remote) = open(&server, &host, secrets("p'4$s\"w!ö rd\\")).await.unwrap();
    works_as_root(&mut *remote).await;
    let (content, path) = ("streamed\n".repeat(20_000), server.path("streamed"));
    remote.stream(path.as_str(), &mut content.as_bytes()).await.unwrap();
    assert!(std::fs::read_to_string(&path).unwrap() == content);
    remote.close().await;

    let (seen, message) = kind(open(&server, &host, secrets("wrong")).await);
    assert_eq!((seen, message.as_str()), (ConnectKind::PasswordRefused, "sudo refused the password"));
    let none = (ConnectKind::SudoPassword, "sudo wants a password and none was given");
    let (seen, message) = kind(open(&server, &host, Secrets::default()).await);
    assert_eq!((seen, message.as_str()), none);
    let mut free = user.host(&server);
    free.ssh.become_method = Become::Sudo { password: None };
    let (seen, message) = kind(open(&server, &free, Secrets::default()).await);
    assert_eq!((seen, message.as_str()), none);
    server.assert_nothing_left().await;
}

#[tokio::test]
async fn sudo_rs_without_a_password() {
    let server = Server::start();
    let Some(user) = User::new("rsf", "/bin/bash") else { return };
    if !user.sudo("", "USER ALL=(ALL) NOPASSWD: ALL\n") {
        return;
    }
    user.home(".bashrc", &sudo_rs(&server));
    let mut free = user.host(&server);
    free.ssh.become_method = Become::Sudo { password: None };
    for (host, secrets) in [(&free, Secrets::default()), (&sudo(&free), secrets("not wanted"))] {
        let (_ssh, mut remote) = open(&server, host, secrets).await.unwrap();
        works_as_root(&mut *remote).await;
        remote.close().await;
    }
    user.sudo("secret", "# USER may nothing\n");
    for (host, secrets) in [(&free, Secrets::default()), (&sudo(&free), secrets("secret"))] {
        let (seen, message) = kind(open(&server, host, secrets).await);
        assert_eq!(seen, ConnectKind::SudoRefused, "{message}");
        assert!(message.contains("I'm afraid I can't do that"), "{message}");
    }
    server.assert_nothing_left().await;
}

/// Three wrong passwords lock an account on many sites, and a run has hundreds of hosts.
#[tokio::test]
async fn a_wrong_password_is_tried_on_one_host() {
    let server = Server::start();
    let Some(user) = User::new("once", "/bin/sh") else { return };
    let log = server.path("sudo.log");
    let rule =
        format!("USER ALL=(ALL) ALL\nDefaults:USER timestamp_timeout=0, passwd_tries=3, logfile={log}\n");
    if !user.sudo("secret", &rule) {
        return;
    }
    let mut hosts: Vec<Host> = (0..8).map(|_| user.host(&server)).collect();
    for (index, host) in hosts.iter_mut().enumerate() {
        host.name = format!("gpu{index}");
        *host = sudo(host);
    }
    let run_with = async |password: &str| {
        let ssh = Ssh::start(server.settings(), &hosts, secrets(password)).await.unwrap();
        let opened = futures::future::join_all(hosts.iter().map(|host| ssh.open(host, DEADLINE))).await;
        let mut said = Vec::new();
        for opened in opened {
            match opened {
                Ok(mut remote) => remote.close().await,
                Err(error) => said.push(error.to_string()),
            }
        }
        said.sort();
        said
    };
    let said = run_with("wrong").await;
    let first = said.iter().filter(|said| *said == "sudo refused the password").count();
    assert_eq!((first, said.len()), (1, hosts.len()), "{said:?}");
    let rest =
        said.iter().filter(|said| said.contains(" refused the sudo password, so it is not tried here"));
    assert_eq!(rest.count(), hosts.len() - 1, "{said:?}");
    let log = std::fs::read_to_string(log).unwrap();
    assert_eq!(log.matches("incorrect password attempt").count(), 1, "{log}");
    assert_eq!(run_with("secret").await, Vec::<String>::new());
    server.assert_nothing_left().await;
}

/// The same by the command line: the run ends, says which host it was, and what to do.
#[test]
fn a_run_with_a_wrong_password_ends_at_one_host() {
    let port = free_port();
    let listen: Vec<String> = (2..6).map(|n| format!("ListenAddress 127.0.0.{n}:{port}")).collect();
    let server = Server::with(&listen.join("\n"));
    let Some(user) = User::new("cli", "/bin/sh") else { return };
    let log = server.path("sudo.log");
    if !user.sudo("secret", &format!("USER ALL=(ALL) ALL\nDefaults:USER logfile={log}\n")) {
        return;
    }
    let key = std::fs::read_to_string(server.path("host_key.pub")).unwrap();
    let known: Vec<_> = (2..6).map(|n| format!("[127.0.0.{n}]:{port} {}\n", key.trim())).collect();
    std::fs::write(server.path("known"), known.concat()).unwrap();
    let hosts: Vec<_> = (2..6).map(|n| format!("  gpu{n}: {{ address: 127.0.0.{n} }}\n")).collect();
    let inventory = format!(
        "cluster: c\nssh: {{ user: {}, port: {port}, identity_file: ./id, known_hosts: ./known, become: sudo }}\nhosts:\n{}",
        user.name,
        hosts.concat()
    );
    std::fs::write(server.path("inventory.yaml"), inventory).unwrap();
    let line = format!(
        "cd {}; echo wrong | XDG_STATE_HOME=$PWD/state {} facts inventory.yaml --ask-become-pass 2>&1; echo ended $?",
        server.path(""),
        env!("CARGO_BIN_EXE_provision")
    );
    let said = run("sh", &["-c", &line]).unwrap();
    assert!(said.contains("ended 4") && said.contains("sudo refused the password"), "{said}");
    assert!(said.contains("refused the sudo password, so it is not tried here"), "{said}");
    assert!(
        said.contains("hint: give the right password")
            && said.contains("or leave out the host that refused it"),
        "{said}"
    );
    let log = std::fs::read_to_string(log).unwrap();
    assert_eq!(log.matches("incorrect password attempt").count(), 1, "{log}");
}

#[tokio::test]
async fn sudo_that_is_not_allowed() {
    let server = Server::start();
    let Some(user) = User::new("none", "/bin/bash") else { return };
    if !user.sudo("secret", "# USER may nothing\n") {
        return;
    }
    let host = sudo(&user.host(&server));
    let (seen, message) = kind(open(&server, &host, secrets("secret")).await);
    assert_eq!(seen, ConnectKind::SudoRefused, "{message}");
    assert!(message.contains("not in the sudoers file") || message.contains("may not run sudo"), "{message}");
}

#[tokio::test]
async fn the_password_is_seen_nowhere_while_it_is_proven() {
    let server = Server::start();
    let Some(user) = User::new("argv", "/bin/sh") else { return };
    if !user.sudo("poison-0815", "USER ALL=(ALL) ALL\n") {
        return;
    }
    let host = sudo(&user.host(&server));
    let watch = std::thread::spawn(|| {
        let mut seen = Vec::new();
        for _ in 0..150 {
            seen.extend(processes().into_iter().filter(|line| line.contains("poison-0815")));
            std::thread::sleep(Duration::from_millis(2));
        }
        seen
    });
    let (_ssh, mut remote) = open(&server, &host, secrets("poison-0815")).await.unwrap();
    assert_eq!(sh(&mut *remote, "id -u; env | grep -c poison").await.unwrap().1, "0\n0\n");
    assert_eq!(watch.join().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn this_machine_by_sudo() {
    if !is_root() {
        println!("skipped: root's own sudo asks for nothing");
        return;
    }
    let mut here = host("here", provision::inventory::Ssh::default());
    for become_method in [Become::Sudo { password: None }, Become::Sudo { password: Some("sudo".to_owned()) }]
    {
        here.ssh.become_method = become_method;
        let mut remote = Local::new(secrets("unused")).open(&here, DEADLINE).await.unwrap();
        works_as_root(&mut *remote).await;
        remote.close().await;
    }
}

#[tokio::test]
async fn what_hangs_as_another_user_is_ended_too() {
    let server = Server::start();
    let Some(user) = User::new("hung", "/bin/sh") else { return };
    let (_ssh, mut remote) = open(&server, &server.host("gpu0"), Secrets::default()).await.unwrap();
    // `su` gives its command a session of its own.
    let script = Script::new("su -s /bin/sh \"$1\" -c 'sleep 97642; :'").arg(user.name.as_str());
    let hang = Part { deadline: Duration::from_secs(2), ..part(script) };
    let frame = Frame { parts: vec![hang], ..Frame::default() };
    assert!(matches!(ends(&mut *remote, &frame).await, Err(TransportError::PartTimedOut { .. })));
    remote.revive().await.unwrap();
    assert_gone("sleep 97642").await;
    remote.close().await;
}

/// A frame of which every line leaves a trace, longer than what a shell reads at once.
fn traces(marker: &str) -> Frame {
    let line = format!("echo \"$(id -un)\" >'{marker}'\n");
    Frame { parts: vec![part(Script::new(line.repeat(2000)))], ..Frame::default() }
}

/// Opens a host with a first frame that must not run.
async fn refused_with_a_frame(server: &Server, host: &Host, secrets: Secrets) -> String {
    let marker = server.path("marker");
    let ssh = Ssh::start(server.settings(), std::slice::from_ref(host), secrets).await.unwrap();
    let opened = ssh.open_and_run(host, DEADLINE, &traces(marker.as_str()), &mut |_| {}).await;
    let error = opened.map(|_| ()).expect_err("it does not open");
    let TransportError::Connect { kind: ConnectKind::WrongUser, message } = error else {
        panic!("{error:?}: {:?}", std::fs::read_to_string(marker))
    };
    server.assert_nothing_left().await;
    assert!(!marker.exists(), "{message}: {:?}", std::fs::read_to_string(marker));
    message
}

#[tokio::test]
async fn a_login_script_that_takes_over_is_not_taken_for_root() {
    let server = Server::start();
    run("chmod", &["0777", server.path("").as_str()]).unwrap();
    let Some(user) = User::new("over", "/bin/bash") else { return };
    if !user.sudo("", "USER ALL=(ALL:ALL) NOPASSWD: ALL\n") {
        return;
    }
    run("usermod", &["-a", "-G", "games", &user.name]).unwrap();
    let mut host = user.host(&server);
    host.ssh.become_method = Become::Sudo { password: None };
    let uid = run("id", &["-u", &user.name]).unwrap();
    for (script, group) in [
        ("newgrp games", "games"),
        ("exec newgrp games", "games"),
        ("exec bash", ""),
        ("sh", ""),
        ("exec sudo -n -u nobody sh", "nobody"),
        // Root's rights, and files of another group.
        ("exec sudo -n -g games -u root sh", "root"),
    ] {
        user.home(".bashrc", &format!("{script}\n"));
        let message = refused_with_a_frame(&server, &host, Secrets::default()).await;
        assert!(message.ends_with(", not root"), "{script}: {message}");
        if !["nobody", "root"].contains(&group) {
            assert!(message.contains(&format!("user {} in", uid.trim())), "{script}: {message}");
        }
    }
    user.home(".bashrc", "echo hello\n");
    let (_ssh, mut remote) = open(&server, &host, Secrets::default()).await.unwrap();
    works_as_root(&mut *remote).await;
    remote.close().await;
}

#[tokio::test]
async fn sudo_to_somebody_else_is_not_taken_for_root() {
    let server = Server::start();
    run("chmod", &["0777", server.path("").as_str()]).unwrap();
    let Some(user) = User::new("other", "/bin/sh") else { return };
    let mut host = user.host(&server);
    host.ssh.become_method = Become::Sudo { password: None };
    if !user.sudo("", "USER ALL=(ALL) NOPASSWD: ALL\nDefaults:USER runas_default=nobody\n") {
        return;
    }
    let message = refused_with_a_frame(&server, &host, Secrets::default()).await;
    assert!(message.ends_with(", not root"), "{message}");

    user.sudo("secret", "USER ALL=(ALL) ALL\nDefaults:USER runas_default=nobody\n");
    let message = refused_with_a_frame(&server, &sudo(&host), secrets("secret")).await;
    assert!(message.ends_with(", not root"), "{message}");
}

#[tokio::test]
async fn every_shell_of_a_login_is_the_same_user() {
    let server = Server::start();
    let Some(user) = User::new("same", "/bin/bash") else { return };
    if !user.sudo("", "USER ALL=(ALL) NOPASSWD: ALL\n") {
        return;
    }
    let host = user.host(&server);
    let (ssh, mut remote) = open(&server, &host, Secrets::default()).await.unwrap();
    let hang = Part { deadline: Duration::from_millis(500), ..part(Script::new("exec sleep 97753")) };
    let frame = Frame { parts: vec![hang], ..Frame::default() };
    assert!(matches!(ends(&mut *remote, &frame).await, Err(TransportError::PartTimedOut { .. })));
    user.home(".bashrc", "exec sudo -n -u nobody sh\n");
    for error in [
        remote.revive().await.unwrap_err(),
        ssh.open(&host, DEADLINE).await.map(|_| ()).unwrap_err(),
        remote.stream("/tmp/provision-never", &mut &b"x"[..]).await.unwrap_err(),
    ] {
        let TransportError::Connect { kind: ConnectKind::WrongUser, message } = error else {
            panic!("{error:?}")
        };
        assert!(message.contains("before"), "{message}");
    }
    assert!(!Path::new("/tmp/provision-never").exists());
    user.home(".bashrc", "");
    remote.revive().await.unwrap();
    assert_gone("sleep 97753").await;
    assert_eq!(sh(&mut *remote, "id -un").await.unwrap().1, format!("{}\n", user.name));
    remote.close().await;
}

/// `verify` looks at what a login of the user gets beside the root shell of the same host.
#[tokio::test]
async fn a_login_beside_that_of_root_is_its_users() {
    let server = Server::start();
    let Some(user) = User::new("beside", "/bin/sh") else { return };
    if !user.sudo("", "USER ALL=(ALL) NOPASSWD: ALL\n") {
        return;
    }
    let host = user.host(&server);
    let mut become_root = host.clone();
    become_root.ssh.become_method = Become::Sudo { password: None };
    let (ssh, mut root) = open(&server, &become_root, Secrets::default()).await.unwrap();
    let mut beside = ssh.open(&host, DEADLINE).await.unwrap();
    assert_eq!(sh(&mut *beside, "id -un").await.unwrap().1, format!("{}\n", user.name));
    works_as_root(&mut *root).await;
    beside.close().await;
    root.close().await;
}

#[tokio::test]
async fn what_is_streamed_is_never_taken_for_commands() {
    let server = Server::start();
    run("chmod", &["0777", server.path("").as_str()]).unwrap();
    let Some(user) = User::new("data", "/bin/bash") else { return };
    let (_ssh, mut remote) = open(&server, &user.host(&server), Secrets::default()).await.unwrap();
    user.home(".bashrc", "exec bash\n");
    let marker = server.path("marker");
    let content = format!("echo ran >'{marker}'\n").repeat(20_000);
    let path = server.path("streamed");
    let sent = remote.stream(path.as_str(), &mut content.as_bytes()).await;
    assert!(!marker.exists(), "{sent:?}");
    sent.unwrap();
    assert!(std::fs::read_to_string(&path).unwrap() == content);
    remote.close().await;
}

/// Keys are recorded under the names that the user's own file gives the hosts, where a login looks
/// for them; a jump host of that file is not trusted by the way.
#[test]
fn trust_records_what_the_login_looks_up() {
    let server = Server::start();
    let Some(user) = User::new("tr", "/bin/sh") else { return };
    let key = std::fs::read_to_string(server.path("id")).unwrap();
    user.home(".ssh/id", &key);
    let home = format!("/home/{}", user.name);
    let private = |path: &str, mode| {
        let path = format!("{home}/{path}");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    private(".ssh/id", 0o600);
    let port = server.port;
    let config = format!(
        "Host gpu0\n HostName 127.0.0.1\n HostKeyAlias Machines\nHost door\n HostName 127.0.0.1\n HostKeyAlias door\n\
         Host inner\n ProxyJump door\n HostName 127.0.0.1\n\
         Host gpu0 door inner localhost 127.0.0.*\n Port {port}\n IdentityFile ~/.ssh/id\n"
    );
    user.home(".ssh/config", &config);
    user.home(
        "inventory.yaml",
        "cluster: alias\nssh: { known_hosts: ./known_hosts, become: none }\ngroups:\n  all_of_them: { hosts: \"gpu[0-3]\" }\n\
         hosts:\n  gpu1: { address: 127.0.0.1 }\n  gpu2: { address: localhost, ssh: { jump: [door], port: PORT } }\n  \
         gpu3: { address: inner }\n"
            .replace("PORT", &port.to_string())
            .as_str(),
    );
    // The user may not look into the folder of the build.
    let program = server.path("provision");
    std::fs::copy(env!("CARGO_BIN_EXE_provision"), &program).unwrap();
    let provision = |rest: &str| {
        run("su", &["-", &user.name, "-c", &format!("{program} {rest} 2>&1; echo ended $?")]).unwrap()
    };
    let trusted = provision("inventory trust inventory.yaml --yes");
    let known = std::fs::read_to_string(format!("{home}/known_hosts")).unwrap_or_default();
    let mut names: Vec<_> = known.lines().filter_map(|line| line.split(' ').next()).collect();
    names.sort_unstable();
    let at = |name: &str| format!("[{name}]:{port}");
    assert_eq!(names, [at("127.0.0.1").as_str(), &at("localhost"), "door", "machines"], "{trusted}");
    assert!(trusted.contains("unreached  gpu3"), "{trusted}");
    assert!(!Path::new(&format!("{home}/.ssh/known_hosts")).exists(), "{trusted}");
    let again = provision("inventory trust inventory.yaml --hosts 'gpu[0-2]'");
    assert!(again.contains("ended 0") && !again.contains("new"), "{again}");
    // Without a file of the inventory, that of the user's own file.
    user.home(".ssh/config", &format!("UserKnownHostsFile ~/.ssh/machines /dev/null\n{config}"));
    user.home("own.yaml", "cluster: own\nssh: { become: none }\nhosts: { gpu0: {} }\n");
    private(".ssh/id", 0o600);
    let trusted = provision("inventory trust own.yaml --yes");
    let known = std::fs::read_to_string(format!("{home}/.ssh/machines")).unwrap_or_default();
    assert!(known.starts_with("machines ") && known.lines().count() == 1, "{trusted}{known}");
    let ran = provision("exec own.yaml -- echo there");
    assert!(ran.contains("ended 0") && ran.contains("there"), "{ran}");
    let ran = provision("exec inventory.yaml --hosts 'gpu[0-2]' -- echo there");
    assert!(ran.contains("ended 0") && ran.contains("there"), "{ran}");
}
