//! Logins that stay after the run, against real sshds.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start the program")]

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::context::program;
use crate::sshd::{DEADLINE, Server, assert_gone, ends, frame, part, sh};
use camino::Utf8PathBuf;
use provision::config::{Sp, Span};
use provision::inventory::Host;
use provision::secrets::Secrets;
use provision::transport::{
    ConnectKind, Keep, Part, Remote, Script, Ssh, SshSettings, Transport as _, TransportError, WarmLogin,
};
use rustix::process::{Pid, Signal, kill_process};

/// How long logins of these tests stay.
const MINUTE: Duration = Duration::from_mins(1);

fn staying(server: &Server) -> Host {
    let mut host = server.host("gpu0");
    host.ssh.persist = Some(Sp::new(MINUTE, Span::NONE));
    host
}

fn keeping(server: &Server) -> SshSettings {
    let keep = Keep { cluster: "c".to_owned(), home: None };
    SshSettings { keep: Some(keep), ..server.settings() }
}

async fn start(server: &Server, host: &Host) -> Ssh {
    Ssh::start(keeping(server), std::slice::from_ref(host), Secrets::default()).await.unwrap()
}

async fn hello(remote: &mut dyn Remote) {
    assert_eq!(sh(remote, "echo there").await.unwrap().1, "there\n");
}

/// A run that logs in, works and ends.
async fn whole_run(server: &Server, host: &Host) {
    let ssh = start(server, host).await;
    let mut remote = ssh.open(host, DEADLINE).await.unwrap();
    hello(&mut *remote).await;
    remote.close().await;
    ssh.close().await;
}

async fn all(server: &Server) -> Vec<WarmLogin> {
    let dir = server.runtime_dir();
    let all = WarmLogin::all(Some(&dir)).await.unwrap();
    // Those below /tmp are of other programs.
    all.into_iter().filter(|login| login.host == "gpu0" && login.cluster == "c").collect()
}

/// The only one, when no run uses it. A process that another test is just starting holds the lock of its run for a moment.
async fn free(server: &Server) -> WarmLogin {
    for _ in 0..100 {
        let login = all(server).await.remove(0);
        if !login.busy {
            return login;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("a run that has ended still uses the login");
}

/// Ends those of a test, and sees that nothing is left of them.
async fn end(server: &Server) {
    for login in all(server).await {
        login.end().await;
    }
    assert_eq!(all(server).await.len(), 0);
    server.assert_nothing_left().await;
}

/// The process of the only master.
fn master(server: &Server) -> Pid {
    let needle = server.path("run/provision/warm/");
    let title = format!("ssh: {needle}");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let masters: Vec<i32> = processes
        .filter(|process| {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).starts_with(&title)
        })
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .collect();
    assert_eq!(masters.len(), 1, "{masters:?}");
    Pid::from_raw(masters[0]).unwrap()
}

#[tokio::test]
async fn the_next_run_needs_no_login() {
    let server = Server::start();
    let host = staying(&server);
    whole_run(&server, &host).await;
    let dir = server.path("run/provision/warm");
    assert_eq!(dir.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(all(&server).await.len(), 1);
    let stays = free(&server).await;
    assert_eq!((stays.address.as_str(), stays.persist), ("127.0.0.1", MINUTE));

    let ssh = start(&server, &host).await;
    let mut seen = Vec::new();
    let (mut remote, result) = ssh
        .open_and_run(&host, DEADLINE, &frame(["echo $LC_ALL"]), &mut |end| seen.push(end.output))
        .await
        .unwrap();
    result.unwrap();
    assert_eq!(seen, [b"C\n"]);
    assert!(all(&server).await[0].busy);
    // All that a login of its own can do.
    let content: Vec<u8> = (0..=255).cycle().take(700_000).collect();
    let path = server.path("streamed");
    remote.stream(path.as_str(), &mut content.as_slice()).await.unwrap();
    assert!(std::fs::read(&path).unwrap() == content);
    let hang = Part { deadline: Duration::from_millis(200), ..part(Script::new("sleep 8764")) };
    let hang = provision::transport::Frame { parts: vec![hang], ..Default::default() };
    assert!(matches!(ends(&mut *remote, &hang).await, Err(TransportError::PartTimedOut { .. })));
    remote.revive().await.unwrap();
    assert_gone("sleep 8764").await;
    hello(&mut *remote).await;
    remote.close().await;
    assert_eq!(server.logins(), 1);
    end(&server).await;
}

#[tokio::test]
async fn a_login_stays_no_longer_than_it_should() {
    let server = Server::start();
    let mut host = staying(&server);
    host.ssh.persist = Some(Sp::new(Duration::from_secs(2), Span::NONE));
    // That it stays at all is seen by the others, for which two seconds are no matter of luck.
    whole_run(&server, &host).await;
    server.assert_nothing_left().await;
    assert_eq!(all(&server).await.len(), 0);
}

/// Without `keep`, and without `persist`, a login ends with its run.
#[tokio::test]
async fn only_who_asks_for_it_keeps_a_login() {
    let server = Server::start();
    let mut host = staying(&server);
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    remote.close().await;
    server.assert_nothing_left().await;
    host.ssh.persist = None;
    whole_run(&server, &host).await;
    server.assert_nothing_left().await;
    assert!(!server.path("run/provision/warm").exists());
}

/// Who logs in once more in a run wants to know whether a new login works and what it sees. The master that
/// stays is then the new one.
#[tokio::test]
async fn a_second_login_of_a_run_is_a_new_one() {
    let server = Server::start();
    let host = staying(&server);
    whole_run(&server, &host).await;
    let ssh = start(&server, &host).await;
    let mut remote = ssh.open(&host, DEADLINE).await.unwrap();
    assert_eq!(server.logins(), 1);
    let mut fresh = ssh.open(&host, DEADLINE).await.unwrap();
    assert_eq!(server.logins(), 2);
    // Until it is closed, the old one is still good.
    hello(&mut *remote).await;
    remote.stream(server.path("file").as_str(), &mut &b"x"[..]).await.unwrap();
    remote.close().await;
    hello(&mut *fresh).await;
    fresh.close().await;
    assert_eq!(all(&server).await.len(), 1);
    whole_run(&server, &host).await;
    assert_eq!(server.logins(), 2);
    end(&server).await;
}

#[tokio::test]
async fn a_lost_connection_is_not_trusted_again() {
    let server = Server::start();
    let host = staying(&server);
    whole_run(&server, &host).await;
    let ssh = start(&server, &host).await;
    let mut remote = ssh.open(&host, DEADLINE).await.unwrap();
    // The parent of the host shell is the sshd of the connection.
    let error = sh(&mut *remote, "kill -9 $PPID; sleep 20").await.unwrap_err();
    assert!(matches!(error, TransportError::Lost { .. }), "{error:?}");
    remote.close().await;
    let mut remote = ssh.open(&host, DEADLINE).await.unwrap();
    hello(&mut *remote).await;
    remote.close().await;
    assert_eq!(server.logins(), 2);
    end(&server).await;
}

#[tokio::test]
async fn a_master_that_ended_or_hangs_is_replaced() {
    let server = Server::start();
    let host = staying(&server);
    whole_run(&server, &host).await;
    // In the middle of a run, first over a login that it found, then over one that it made.
    for logins in 1..=2 {
        let ssh = start(&server, &host).await;
        let mut remote = ssh.open(&host, DEADLINE).await.unwrap();
        assert_eq!(server.logins(), logins);
        let pid = master(&server);
        let (error, ()) = tokio::join!(sh(&mut *remote, "sleep 20"), async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            kill_process(pid, Signal::KILL).unwrap();
        });
        let TransportError::Lost { message } = error.unwrap_err() else { panic!() };
        assert_eq!(message, "the login that stays (`ssh.persist`) ended");
        remote.close().await;
        ssh.close().await;
    }
    whole_run(&server, &host).await;
    for (number, signal) in [Signal::KILL, Signal::STOP, Signal::TERM].into_iter().enumerate() {
        let old = master(&server);
        kill_process(old, signal).unwrap();
        whole_run(&server, &host).await;
        assert_eq!(server.logins(), 4 + number, "{signal:?}");
        let new = master(&server);
        assert_ne!(old, new);
        whole_run(&server, &host).await;
        assert_eq!((server.logins(), master(&server)), (4 + number, new));
    }
    end(&server).await;
}

#[tokio::test]
async fn another_recorded_key_is_another_login() {
    let server = Server::start();
    let host = staying(&server);
    whole_run(&server, &host).await;
    server.trust(&server.path("known_hosts"), "id.pub");
    let ssh = start(&server, &host).await;
    let error = ssh.open(&host, DEADLINE).await.err().unwrap();
    assert!(matches!(&error, TransportError::Connect { kind: ConnectKind::HostKeyChanged, .. }), "{error:?}");
    drop(ssh);
    server.trust(&server.path("known_hosts"), "host_key.pub");
    whole_run(&server, &host).await;
    assert_eq!(server.logins(), 1);
    end(&server).await;
}

#[tokio::test]
async fn two_runs_share_it() {
    let server = Server::start();
    let host = staying(&server);
    whole_run(&server, &host).await;
    let (one, two) = (start(&server, &host).await, start(&server, &host).await);
    let mut first = one.open(&host, DEADLINE).await.unwrap();
    let mut second = two.open(&host, DEADLINE).await.unwrap();
    hello(&mut *first).await;
    hello(&mut *second).await;
    assert_eq!(server.logins(), 1);
    // One of them needs a new login; the other goes on.
    let mut fresh = one.open(&host, DEADLINE).await.unwrap();
    first.close().await;
    hello(&mut *second).await;
    fresh.close().await;
    drop(one);
    hello(&mut *second).await;
    second.close().await;
    assert_eq!((server.logins(), all(&server).await.len()), (2, 1));
    end(&server).await;
}

#[tokio::test]
async fn a_run_that_gets_no_session_logs_in() {
    let server = Server::with("MaxSessions 1");
    let host = staying(&server);
    whole_run(&server, &host).await;
    let (one, two) = (start(&server, &host).await, start(&server, &host).await);
    let mut first = one.open(&host, DEADLINE).await.unwrap();
    assert_eq!(server.logins(), 1);
    let mut second = two.open(&host, DEADLINE).await.unwrap();
    assert_eq!(server.logins(), 2);
    hello(&mut *first).await;
    hello(&mut *second).await;
    first.close().await;
    second.close().await;
    end(&server).await;
}

#[tokio::test]
async fn what_was_no_login_does_not_stay() {
    let server = Server::with("ForceCommand exit 3");
    let host = staying(&server);
    let ssh = start(&server, &host).await;
    let error = ssh.open(&host, DEADLINE).await.err().unwrap();
    assert!(matches!(&error, TransportError::Connect { kind: ConnectKind::NoShell, .. }), "{error:?}");
    server.assert_nothing_left().await;

    let server = Server::start();
    let host = staying(&server);
    let ssh = start(&server, &host).await;
    // Cancelled at any moment of a login: what is left is in the list.
    for millis in (0..200).step_by(10) {
        drop(tokio::time::timeout(Duration::from_millis(millis), ssh.open(&host, DEADLINE)).await);
    }
    drop(ssh);
    end(&server).await;
}

/// The way through a jump host ends with the run.
#[tokio::test]
async fn a_login_behind_a_jump_host_does_not_stay() {
    let server = Server::start();
    let mut host = staying(&server);
    let keys = std::fs::read_to_string(server.path("known_hosts")).unwrap();
    std::fs::write(server.path("known_hosts"), keys.clone() + &keys.replace("127.0.0.1", "localhost"))
        .unwrap();
    host.ssh.jump = vec![format!("localhost:{}", server.port)];
    let ssh = start(&server, &host).await;
    let mut remote = ssh.open(&host, DEADLINE).await.unwrap();
    hello(&mut *remote).await;
    assert_eq!((server.logins(), all(&server).await.len()), (2, 0));
    remote.close().await;
    ssh.close().await;
    server.assert_nothing_left().await;
}

/// What a killed run was doing ends with the next run, also where its login would have stayed.
#[tokio::test]
async fn the_login_of_a_killed_run_ends() {
    let server = Server::start();
    let host = staying(&server);
    whole_run(&server, &host).await;
    let dead = server.path("run/provision/0badcafe");
    std::fs::create_dir_all(&dead).unwrap();
    std::fs::write(dead.join("lock"), "").unwrap();
    let ssh = start(&server, &host).await;
    assert_eq!((all(&server).await.len(), dead.exists()), (1, false));
    let mut remote = ssh.open(&host, DEADLINE).await.unwrap();
    let mut fresh = ssh.open(&host, DEADLINE).await.unwrap();
    // Each login of its own that stays has a link in the directory of its run.
    let runs = server.path("run/provision").read_dir_utf8().unwrap().flatten();
    let links: Vec<Utf8PathBuf> = runs
        .filter(|run| run.file_name() != "warm")
        .flat_map(|run| run.path().read_dir_utf8().unwrap().flatten())
        .filter_map(|entry| entry.path().read_link_utf8().ok())
        .collect();
    assert_eq!(links.len(), 1, "{links:?}");
    remote.close().await;
    fresh.close().await;
    std::fs::create_dir_all(&dead).unwrap();
    std::fs::write(dead.join("lock"), "").unwrap();
    std::os::unix::fs::symlink(&links[0], dead.join("s0")).unwrap();
    drop(start(&server, &host).await);
    server.assert_nothing_left().await;
    assert_eq!(all(&server).await.len(), 0);
}

/// What an inventory asks for gets there.
#[tokio::test]
async fn the_program_keeps_a_login_that_its_inventory_asks_for() {
    for (persist, logins) in [("persist: 1m, ", 1), ("", 2)] {
        let server = Server::start();
        let host = staying(&server);
        let ssh = &host.ssh;
        let path = |path: &Option<Utf8PathBuf>| path.as_ref().unwrap().to_string();
        let inventory = format!(
            "cluster: c\nhosts: {{ gpu0: {{ address: {} }} }}\nssh: {{ {persist}become: none, port: {}, known_hosts: {}, identity_file: {} }}\n",
            host.address,
            ssh.port.unwrap(),
            path(&ssh.known_hosts),
            path(&ssh.identity_file),
        );
        std::fs::create_dir(server.runtime_dir()).unwrap();
        let file = server.path("inventory.yaml");
        std::fs::write(&file, inventory).unwrap();
        for _ in 0..2 {
            let output = program(&["exec", file.as_str(), "--", "true"])
                .env("XDG_RUNTIME_DIR", server.runtime_dir())
                .env("XDG_STATE_HOME", server.path("state"))
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(0), "{output:?}");
        }
        assert_eq!(server.logins(), logins);
        end(&server).await;
    }
}

/// The program lists them and ends them, without an inventory.
#[tokio::test]
async fn the_program_lists_and_ends_them() {
    let server = Server::start();
    let host = staying(&server);
    whole_run(&server, &host).await;
    let logins = |arguments: &[&str]| {
        let output = program(&[&["logins"], arguments].concat())
            .env("XDG_RUNTIME_DIR", server.runtime_dir())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    let (list, _) = logins(&["--hosts", "gpu[0-3]"]);
    let row = list.lines().find(|line| line.starts_with("gpu0 ") && line.contains(" c ")).unwrap();
    assert!(list.starts_with("HOST") && row.contains("127.0.0.1") && row.ends_with('s'), "{list}");
    assert_eq!(logins(&["--hosts", "gpu1", "--end"]).1, "0 logins ended\n");
    assert_eq!(all(&server).await.len(), 1);
    let (json, _) = logins(&["--hosts", "gpu0", "--end", "--json", "-"]);
    assert!(json.contains("\"address\": \"127.0.0.1\"") && json.contains("\"ended\": true"), "{json}");
    server.assert_nothing_left().await;
    assert_eq!(all(&server).await.len(), 0);
    // What the dead have left is removed.
    assert_eq!(server.path("run/provision/warm").read_dir().unwrap().count(), 0);
}
