//! Docker or Podman, through their command line.

use std::io::Write as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// Longest that an ordinary engine command may take.
pub(crate) const USUAL: Duration = Duration::from_mins(1);

/// How a program of this machine is started for the lab.
#[expect(
    clippy::disallowed_methods,
    reason = "the lab drives the engine's command line; no host is reached this way"
)]
pub(crate) fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a program with `input` and gives its output, whatever its status.
pub(crate) fn output(command: &mut Command, input: &[u8], limit: Duration) -> Result<Output> {
    let what = command.get_program().to_string_lossy().into_owned();
    if !input.is_empty() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn().with_context(|| format!("cannot start {what}"))?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| stdin.map_or(Ok(()), |mut pipe| pipe.write_all(input)));
        let read_out = scope.spawn(|| drain(stdout));
        let read_err = scope.spawn(|| drain(stderr));
        let status = wait(&mut child, limit).with_context(|| format!("{what} was ended"))?;
        // A program that ends without reading its input has its reasons in its status.
        drop(writer.join());
        Ok(Output {
            status,
            stdout: read_out.join().unwrap_or_default(),
            stderr: read_err.join().unwrap_or_default(),
        })
    })
}

/// Runs a program that must succeed and gives its standard output without the last newline.
pub(crate) fn text(command: &mut Command, input: &[u8], limit: Duration) -> Result<String> {
    let done = output(command, input, limit)?;
    if !done.status.success() {
        let program = command.get_program().to_string_lossy().into_owned();
        let verb =
            command.get_args().next().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let stderr = String::from_utf8_lossy(&done.stderr);
        bail!("`{program} {verb}` failed ({}): {}", done.status, tail(stderr.trim(), 2000));
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim_end().to_owned())
}

fn drain(pipe: Option<impl std::io::Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What came before an error is still worth showing.
        drop(pipe.read_to_end(&mut bytes));
    }
    bytes
}

fn wait(child: &mut Child, limit: Duration) -> Result<std::process::ExitStatus> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > limit {
            drop(child.kill());
            drop(child.wait());
            bail!("no answer within {} s", limit.as_secs());
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(25));
    }
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
    /// Whether a container may be given `CAP_SYS_RESOURCE`, which raising a limit needs.
    pub(crate) may_raise_limits: bool,
}

/// Bit of `CAP_SYS_RESOURCE` in the capability sets of the kernel.
const SYS_RESOURCE: u64 = 1 << 24;

/// Whether a process's `/proc/.../status` has `CAP_SYS_RESOURCE` in its bounding set. A machine
/// that is itself confined lacks it, and an engine refuses to start what asks for it.
fn may_raise_limits(status: &str) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("CapBnd:"))
        .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .is_some_and(|set| set & SYS_RESOURCE != 0)
}

impl Engine {
    /// The one that answers, Docker first.
    pub(crate) fn find() -> Result<Self> {
        let probes = [
            ("docker", "{{.ServerVersion}}|{{.CgroupVersion}}|{{.SecurityOptions}}"),
            ("podman", "{{.Version.Version}}|{{.Host.CgroupVersion}}|{{.Host.Security.Rootless}}"),
        ];
        for (name, format) in probes {
            let asked =
                output(program(name).args(["info", "--format", format]), b"", Duration::from_secs(15));
            if let Ok(done) = asked
                && done.status.success()
                && let Some(found) = Self::parse(name, &String::from_utf8_lossy(&done.stdout))
            {
                // The engine runs on this machine, in the same bounds.
                let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
                return Ok(Self { may_raise_limits: may_raise_limits(&status), ..found });
            }
        }
        bail!(
            "neither Docker nor Podman answers: start the daemon (`systemctl start docker`), \
             or run scripts/setup.sh as root, which installs and starts it"
        )
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
            may_raise_limits: false,
        })
    }

    /// Starts a command of the engine.
    pub(crate) fn command<I, S>(&self, args: I) -> Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<std::ffi::OsStr>,
    {
        let mut command = program(self.program);
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
    fn a_confined_machine_cannot_raise_limits() {
        assert!(may_raise_limits("Name:\tx\nCapBnd:\t000001ffffffffff\n"));
        assert!(!may_raise_limits("CapBnd:\t000001fffeffffff\n"));
        assert!(!may_raise_limits(""));
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let error = output(program("sleep").arg("20"), b"", Duration::from_millis(50)).expect_err("must end");
        assert!(format!("{error:#}").contains("no answer within"), "{error:#}");
    }

    #[test]
    fn input_and_output_are_pumped_at_once() {
        let big = vec![b'x'; 1 << 20];
        let done = output(&mut program("cat"), &big, USUAL).expect("cat");
        assert_eq!(done.stdout.len(), big.len());
    }
}
