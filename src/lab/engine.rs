//! Docker or Podman, through their command line.

use std::process::{Command, Output};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::Lacking;
use crate::process::{self, heard};

/// Longest that an ordinary engine command may take. It ends only what hangs: on two busy cores
/// the removal of four containers was seen to take more than a minute.
pub(crate) const USUAL: Duration = Duration::from_mins(10);

/// Runs a program with `input` and gives its output, whatever its status.
pub(crate) fn output(command: &mut Command, input: &[u8], limit: Duration) -> Result<Output> {
    let what = named(command);
    process::run(command, input, limit).with_context(|| format!("cannot run `{what}`"))
}

/// Runs a program that must succeed and gives its standard output without the last newline.
pub(crate) fn text(command: &mut Command, input: &[u8], limit: Duration) -> Result<String> {
    let done = output(command, input, limit)?;
    if !done.status.success() {
        let stderr = String::from_utf8_lossy(&done.stderr);
        bail!("`{}` failed ({}): {}", named(command), done.status, tail(stderr.trim(), 2000));
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim_end().to_owned())
}

/// A program and its first argument, as messages name it: `docker rm`.
fn named(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args().take(1));
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn tail(text: &str, bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or(text)
}

/// A container engine that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Engine {
    /// `docker` or `podman`.
    pub(crate) program: &'static str,
    /// Whether the machine has cgroup v2 only.
    pub(crate) cgroup2: bool,
    /// Whether it runs without root on this machine.
    pub(crate) rootless: bool,
    /// Capabilities that a container may be given, as the kernel writes sets of them.
    pub(crate) bounds: u64,
}

/// Capabilities that hosts are given where the machine has them, by the bit of the kernel. A limit can only
/// be raised with the first. With the second a daemon gives CPUs to processes of others, as slurmd does.
pub(crate) const WANTED: &[(u64, &str)] = &[(1 << 24, "SYS_RESOURCE"), (1 << 23, "SYS_NICE")];

/// The bounding set in a process's `/proc/.../status`. A machine that is itself confined lacks some of it,
/// and an engine refuses to start what asks for that.
fn bounds(status: &str) -> u64 {
    status
        .lines()
        .find_map(|line| line.strip_prefix("CapBnd:"))
        .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .unwrap_or_default()
}

impl Engine {
    /// The one that answers, Docker first.
    pub(crate) fn find() -> Result<Self> {
        let probes = [
            ("docker", "{{.ServerVersion}}|{{.CgroupVersion}}|{{.SecurityOptions}}"),
            ("podman", "{{.Version.Version}}|{{.Host.CgroupVersion}}|{{.Host.Security.Rootless}}"),
        ];
        for (name, format) in probes {
            let asked = output(heard(name).args(["info", "--format", format]), b"", Duration::from_mins(1));
            if let Ok(done) = asked
                && done.status.success()
                && let Some(found) = Self::parse(name, &String::from_utf8_lossy(&done.stdout))
            {
                // The engine runs on this machine, in the same bounds.
                let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
                return Ok(Self { bounds: bounds(&status), ..found });
            }
        }
        Err(Lacking(
            "neither Docker nor Podman answers: start the daemon (`systemctl start docker`), \
             or run scripts/setup.sh as root, which installs and starts it"
                .to_owned(),
        )
        .into())
    }

    fn parse(name: &'static str, info: &str) -> Option<Self> {
        let mut fields = info.trim().splitn(3, '|');
        let version = fields.next()?;
        let cgroup = fields.next()?;
        let security = fields.next()?;
        if version.is_empty() {
            return None;
        }
        Some(Self {
            program: name,
            cgroup2: cgroup.trim_start_matches('v') == "2",
            rootless: security == "true" || security.contains("rootless"),
            bounds: 0,
        })
    }

    /// Starts a command of the engine.
    pub(crate) fn command<I, S>(&self, args: I) -> Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<std::ffi::OsStr>,
    {
        let mut command = heard(self.program);
        command.args(args);
        command
    }

    /// Runs an engine command that must succeed.
    pub(crate) fn run<I, S>(&self, args: I) -> Result<String>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<std::ffi::OsStr>,
    {
        text(&mut self.command(args), b"", USUAL)
    }

    /// Whether an engine command succeeds.
    pub(crate) fn answers<I, S>(&self, args: I) -> bool
    where
        I: IntoIterator<Item = S>,
        S: AsRef<std::ffi::OsStr>,
    {
        output(&mut self.command(args), b"", USUAL).is_ok_and(|done| done.status.success())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_engine_says_of_itself() {
        let docker =
            Engine::parse("docker", "20.10.24+dfsg1|1|[name=seccomp,profile=default]\n").expect("docker");
        assert!(!docker.cgroup2 && !docker.rootless);
        let rootless =
            Engine::parse("docker", "27.1|2|[name=seccomp,profile=builtin name=rootless]").expect("rootless");
        assert!(rootless.cgroup2 && rootless.rootless);
        let podman = Engine::parse("podman", "4.3.1|v2|true").expect("podman");
        assert!(podman.cgroup2 && podman.rootless);
        assert_eq!(Engine::parse("docker", "||"), None);
    }

    #[test]
    fn a_confined_machine_lacks_some_of_what_hosts_are_given() {
        let given = |status: &str| {
            let bounds = bounds(status);
            WANTED.iter().filter(|(bit, _)| bounds & bit != 0).map(|(_, name)| *name).collect::<Vec<_>>()
        };
        assert_eq!(given("Name:\tx\nCapBnd:\t000001ffffffffff\n"), ["SYS_RESOURCE", "SYS_NICE"]);
        assert_eq!(given("CapBnd:\t000001fffeffffff\n"), ["SYS_NICE"]);
        assert!(given("").is_empty());
    }
}
