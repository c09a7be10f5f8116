//! A private sshd per test, on a high port of 127.0.0.1, and what the tests send over it.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![expect(clippy::disallowed_methods, reason = "tests start the servers that they talk to")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "these are tests, though not in functions that are marked so"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use provision::inventory::{Become, Host, Ssh as SshOptions, TransportKind};
use provision::secrets::Secrets;
use provision::transport::{
    Frame, Part, PartEnd, Remote, Script, Ssh, SshSettings, Transport as _, TransportError,
};

/// What ssh and sudo say when something is wrong, said by a host before it lets anybody in.
pub(crate) const BANNER: &str = "\
Authorized use only. Exceeded MaxStartups. Too many authentication failures
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
No ED25519 host key is known for gpu0 and you have requested strict checking.
Host key verification failed.
ssh: Could not resolve hostname gpu0: Name or service not known
kex_exchange_identification: Connection closed by remote host
me@gpu0: Permission denied (publickey,password).
me is not in the sudoers file.
sudo: 3 incorrect password attempts
sudo: a password is required
";

impl Server {
    /// With a banner that says all of that.
    pub(crate) fn with_banner() -> (Self, tempfile::NamedTempFile) {
        let mut banner = tempfile::NamedTempFile::new().unwrap();
        banner.write_all(BANNER.as_bytes()).unwrap();
        (Self::with(&format!("Banner {}", banner.path().display())), banner)
    }
}

/// Long enough for a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// A server, its keys and the directory of the runs that talk to it.
pub(crate) struct Server {
    dir: tempfile::TempDir,
    tools: Option<tempfile::TempDir>,
    pub(crate) port: u16,
    child: Child,
}

/// Runs a program to its end; its output, or what it said.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Makes a key without a passphrase.
pub(crate) fn key(path: &Utf8Path) {
    run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", path.as_str()]).unwrap();
}

/// A port that nothing listened on a moment ago.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Whether the tests run as root.
pub(crate) fn is_root() -> bool {
    run("id", &["-u"]).is_ok_and(|uid| uid.trim() == "0")
}

/// An sshd with the configuration of a directory, once it listens; nothing when it ends before.
fn listening(path: &Utf8Path) -> Option<Child> {
    let log = std::fs::File::create(path.join("sshd.log")).unwrap();
    let mut child = Command::new("/usr/sbin/sshd")
        .args(["-D", "-e", "-f", path.join("sshd_config").as_str()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .process_group(0)
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until && child.try_wait().unwrap().is_none() {
        if std::fs::read_to_string(path.join("sshd.log")).unwrap().contains("Server listening on") {
            return Some(child);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(child.kill());
    child.wait().unwrap();
    None
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with("")
    }

    /// With programs that print without end, where root takes its own from.
    pub(crate) fn start_with_endless(names: &[&str]) -> Self {
        let place = if is_root() { "/opt" } else { "/tmp" };
        let tools =
            tempfile::Builder::new().permissions(std::fs::Permissions::from_mode(0o755)).tempdir_in(place);
        let tools = tools.unwrap();
        for name in names {
            let program = tools.path().join(name);
            std::fs::write(&program, "#!/bin/sh\nexec yes 'lie=18446744073709551615 a b c'\n").unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = format!("SetEnv PATH={}:/usr/sbin:/usr/bin:/sbin:/bin", tools.path().display());
        let mut server = Self::with(&path);
        server.tools = Some(tools);
        server
    }

    /// With more lines for its configuration; they come first, so they win.
    pub(crate) fn with(more: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(dir.path()).unwrap();
        // The users of tests must be able to read what is in it.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        key(&path.join("host_key"));
        key(&path.join("id"));
        std::fs::copy(path.join("id.pub"), path.join("authorized_keys")).unwrap();
        if is_root() {
            drop(std::fs::create_dir("/run/sshd"));
        }
        let text = format!(
            "{more}\nHostKey {path}/host_key\n\
             AuthorizedKeysFile {path}/authorized_keys\nPidFile none\nUsePAM no\nStrictModes no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n\
             LogLevel VERBOSE\nMaxStartups 200\nAcceptEnv LANG LC_*\n"
        );
        // Another server may take the port in between, and answer in place of this one.
        let started = (0..5).find_map(|_| {
            let port = free_port();
            let whole = format!("{text}ListenAddress 127.0.0.1:{port}\n");
            std::fs::write(path.join("sshd_config"), whole).unwrap();
            listening(path).map(|child| (port, child))
        });
        let Some((port, child)) = started else {
            panic!("sshd does not listen: {}", std::fs::read_to_string(path.join("sshd.log")).unwrap())
        };
        let server = Self { dir, tools: None, port, child };
        server.trust(&server.path("known_hosts"), "host_key.pub");
        server
    }

    /// A path in the directory of the server.
    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.dir.path()).unwrap().join(name)
    }

    /// Writes a `known_hosts` file with one of the public keys.
    pub(crate) fn trust(&self, file: &Utf8Path, key: &str) {
        let key = std::fs::read_to_string(self.path(key)).unwrap();
        std::fs::write(file, format!("[127.0.0.1]:{} {key}", self.port)).unwrap();
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.path("sshd.log")).unwrap()
    }

    /// How many logins it has accepted.
    pub(crate) fn logins(&self) -> usize {
        self.log().lines().filter(|line| line.contains("Accepted publickey")).count()
    }

    /// The server as a host, for the user of the tests.
    pub(crate) fn host(&self, name: &str) -> Host {
        let ssh = SshOptions {
            port: Some(self.port),
            identity_file: Some(self.path("id")),
            known_hosts: Some(self.path("known_hosts")),
            ..SshOptions::default()
        };
        host(name, ssh)
    }

    /// Where runs put their sockets.
    pub(crate) fn runtime_dir(&self) -> Utf8PathBuf {
        self.path("run")
    }

    pub(crate) fn settings(&self) -> SshSettings {
        drop(std::fs::create_dir(self.runtime_dir()));
        SshSettings {
            runtime_dir: Some(self.runtime_dir()),
            config_dir: Some(self.path("")),
            user_files: Vec::new(),
            ..SshSettings::default()
        }
    }

    pub(crate) async fn ssh(&self, hosts: &[Host]) -> Ssh {
        Ssh::start(self.settings(), hosts, Secrets::default()).await.unwrap()
    }

    /// A run and its only host.
    pub(crate) async fn open(&self, host: &Host) -> Result<(Ssh, Box<dyn Remote>), TransportError> {
        let ssh = self.ssh(std::slice::from_ref(host)).await;
        let remote = ssh.open(host, DEADLINE).await?;
        Ok((ssh, remote))
    }

    /// Local ssh processes that know the directory of this server.
    pub(crate) fn clients(&self) -> Vec<String> {
        let needle = self.path("");
        processes()
            .into_iter()
            .filter(|line| {
                line.starts_with("ssh") && line.contains(needle.as_str()) && !line.contains("sshd")
            })
            .collect()
    }

    /// Sockets that runs have left.
    pub(crate) fn sockets(&self) -> Vec<Utf8PathBuf> {
        let Ok(runs) = self.runtime_dir().join("provision").read_dir_utf8() else { return Vec::new() };
        runs.flatten()
            .flat_map(|run| run.path().read_dir_utf8().unwrap().flatten())
            .map(|entry| entry.path().to_owned())
            .filter(|path| {
                path.file_name().is_some_and(|name| name.starts_with(['s', 'j']))
                    && path.extension().is_none()
            })
            .filter(|path| path.file_name() != Some("ssh_config"))
            .collect()
    }

    /// Waits until neither a client nor a socket is left.
    pub(crate) async fn assert_nothing_left(&self) {
        let until = Instant::now() + Duration::from_secs(5);
        while !self.clients().is_empty() || !self.sockets().is_empty() {
            assert!(Instant::now() < until, "left: {:?} {:?}", self.clients(), self.sockets());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Command lines of all processes.
pub(crate) fn processes() -> Vec<String> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .collect()
}

/// Waits until no process has this in its command line: a signal is sent, not awaited.
pub(crate) async fn assert_gone(needle: &str) {
    let until = Instant::now() + Duration::from_secs(10);
    while processes().iter().any(|line| line.contains(needle)) {
        assert!(Instant::now() < until, "`{needle}` still runs");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A host of that name at 127.0.0.1.
pub(crate) fn host(name: &str, ssh: SshOptions) -> Host {
    Host {
        name: name.to_owned(),
        index: 0,
        number: None,
        groups: BTreeSet::new(),
        labels: BTreeMap::new(),
        offline: None,
        address: "127.0.0.1".to_owned(),
        transport: TransportKind::Ssh,
        ssh: SshOptions { become_method: Become::None, ..ssh },
        vars: provision::inventory::Vars::default(),
        nics: Vec::new(),
        expect: provision::inventory::Expect::default(),
        mesh_user: None,
        span: provision::config::Span::NONE,
    }
}

/// A part with generous limits.
pub(crate) fn part(script: impl Into<Script>) -> Part {
    Part { name: "test".to_owned(), script: script.into(), deadline: DEADLINE, limit: 1 << 20 }
}

/// A frame of scripts.
pub(crate) fn frame<const N: usize>(scripts: [&'static str; N]) -> Frame {
    Frame { parts: scripts.map(|text| part(Script::new(text))).to_vec(), ..Frame::default() }
}

/// Runs a frame and collects its ends.
pub(crate) async fn ends(remote: &mut dyn Remote, frame: &Frame) -> Result<Vec<PartEnd>, TransportError> {
    let mut ends = Vec::new();
    remote.run(frame, &mut |end| ends.push(end)).await?;
    Ok(ends)
}

/// Runs one script; status and text.
pub(crate) async fn sh(
    remote: &mut dyn Remote,
    script: &'static str,
) -> Result<(i32, String), TransportError> {
    let end = ends(remote, &frame([script])).await?.remove(0);
    Ok((end.status, String::from_utf8_lossy(&end.output).into_owned()))
}

/// `ssh HOST true` for all hosts at once, as a person would in a loop with `&`.
pub(crate) async fn bare_logins(config: &str, hosts: &[Host]) {
    let logins = hosts.iter().map(|host| {
        let mut command = tokio::process::Command::new("ssh");
        command.args(["-F", config, &host.name, "true"]).stdin(Stdio::null()).status()
    });
    for status in futures::future::join_all(logins).await {
        assert!(status.unwrap().success());
    }
}

/// Runs an ignored test of this binary with a terminal (by `script`), answers its question, and
/// returns what the terminal showed. `None` where there is no `script`.
pub(crate) fn on_a_terminal(
    test: &str,
    env: &[(&str, &str)],
    question: &str,
    answer: &str,
) -> Option<String> {
    let exe = std::env::current_exe().unwrap();
    let line = format!("{} --exact {test} --ignored --nocapture", exe.display());
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &line, "/dev/null"]).envs(env.iter().copied());
    let Ok(mut child) = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    else {
        println!("skipped: no `script` here");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut seen = String::new();
    let mut asked = false;
    let mut chunk = [0; 1024];
    while let Ok(length @ 1..) = stdout.read(&mut chunk) {
        seen.push_str(&String::from_utf8_lossy(&chunk[..length]));
        if !asked && seen.contains(question) {
            asked = true;
            stdin.write_all(answer.as_bytes()).unwrap();
        }
    }
    assert!(child.wait().unwrap().success(), "{seen}");
    assert!(asked, "{seen}");
    Some(seen)
}

/// A user of this machine that goes with the test.
pub(crate) struct User {
    pub(crate) name: String,
}

impl User {
    pub(crate) fn new(name: &str, shell: &str) -> Option<Self> {
        if !is_root() {
            println!("skipped: only root can make users");
            return None;
        }
        if !std::path::Path::new(shell).exists() {
            println!("skipped: no {shell} here");
            return None;
        }
        let name = format!("pv{}{name}", std::process::id() % 100_000);
        drop(run("userdel", &["-r", &name]));
        // `*` is no password but does not lock the account, which sshd without PAM would refuse.
        run("useradd", &["-m", "-s", shell, "-p", "*", &name]).unwrap();
        Some(Self { name })
    }

    pub(crate) fn password(&self, password: &str) {
        let hash = run("openssl", &["passwd", "-6", password]).unwrap();
        run("usermod", &["-p", hash.trim(), &self.name]).unwrap();
    }

    /// Gives the user a password and a sudoers line; `false` where there is no sudo.
    pub(crate) fn sudo(&self, password: &str, rule: &str) -> bool {
        if run("sudo", &["-V"]).is_err() {
            println!("skipped: no sudo here");
            return false;
        }
        if !password.is_empty() {
            self.password(password);
        }
        let path = self.sudoers();
        std::fs::write(&path, rule.replace("USER", &self.name)).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o440)).unwrap();
        run("visudo", &["-cf", &path]).unwrap();
        true
    }

    pub(crate) fn sudoers(&self) -> String {
        format!("/etc/sudoers.d/{}", self.name)
    }

    pub(crate) fn home(&self, file: &str, text: &str) {
        let path = format!("/home/{}/{file}", self.name);
        std::fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        run("chown", &["-R", &self.name, &format!("/home/{}", self.name)]).unwrap();
    }

    pub(crate) fn host(&self, server: &Server) -> Host {
        let mut host = server.host("gpu0");
        host.ssh.user = Some(self.name.clone());
        host
    }
}

impl Drop for User {
    fn drop(&mut self) {
        drop(std::fs::remove_file(self.sudoers()));
        for _ in 0..20 {
            drop(run("pkill", &["-9", "-u", &self.name]));
            if run("userdel", &["-r", "-f", &self.name]).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
