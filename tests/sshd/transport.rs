//! The transport against real sshds and shells.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::sshd::{
    self, DEADLINE, Server, assert_gone, ends, frame, free_port, host, is_root, key, part, run, sh,
};
use provision::inventory::Host;
use provision::placeholder;
use provision::secrets::Secrets;
use provision::transport::{
    Arg, ConnectKind, Frame, Gap, Local, Part, Script, Ssh, SshSettings, Transport as _, TransportError,
};

async fn refusal(server: &Server, host: &Host) -> (ConnectKind, String) {
    let Err(error) = server.open(host).await else { panic!("it opened") };
    server.assert_nothing_left().await;
    match error {
        TransportError::Connect { kind, message } => (kind, message),
        other @ (TransportError::Lost { .. }
        | TransportError::PartTimedOut { .. }
        | TransportError::Protocol { .. }) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn frames_run_one_after_another_on_one_login() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (ssh, mut remote) = server.open(&host).await.unwrap();
    assert_eq!(sh(&mut *remote, "echo one; exit 3").await.unwrap(), (3, "one\n".to_owned()));
    let two = ends(&mut *remote, &frame(["printf a", "false", "cat; echo $LC_ALL"])).await.unwrap();
    let seen: Vec<_> = two.iter().map(|end| (end.index, end.status, end.output.as_slice())).collect();
    assert_eq!(seen, [(0, 0, &b"a"[..]), (1, 1, b""), (2, 0, b"C\n")]);
    // 255 is what ssh itself ends with when a connection is lost.
    assert_eq!(sh(&mut *remote, "exit 255").await.unwrap().0, 255);
    assert!(ends(&mut *remote, &Frame::default()).await.unwrap().is_empty());
    remote.close().await;
    drop(remote);
    drop(ssh);
    assert_eq!(server.logins(), 1);
    server.assert_nothing_left().await;
}

/// What `ssh NAME` does with the user's own file, a run does, too.
#[tokio::test]
async fn a_name_of_the_users_own_file_logs_in() {
    let bastion = Server::start();
    let server = Server::start();
    std::fs::copy(server.path("id.pub"), bastion.path("authorized_keys")).unwrap();
    let user = run("id", &["-un"]).unwrap();
    let key = std::fs::read_to_string(server.path("host_key.pub")).unwrap();
    std::fs::write(server.path("own"), format!("machines {key}")).unwrap();
    let login = format!(
        "User {user}\n IdentityFile {}\n UserKnownHostsFile {}\n",
        server.path("id"),
        server.path("own")
    );
    let alias = format!(" HostName 127.0.0.1\n Port {}\n HostKeyAlias machines\n {login}", server.port);
    let door = format!(
        " HostName 127.0.0.1\n Port {}\n User {user}\n IdentityFile {}\n UserKnownHostsFile {}\n",
        bastion.port,
        server.path("id"),
        bastion.path("known_hosts")
    );
    let mine = server.path("mine");
    std::fs::write(
        &mine,
        format!(
            "Host gpu?\n{alias}Host door\n{door}Host inner\n ProxyJump door\n{alias}Host 127.0.0.*\n{alias}"
        ),
    )
    .unwrap();
    let hosts: Vec<Host> = [("gpu0", "gpu0"), ("gpu1", "127.0.0.1"), ("gpu2", "inner")]
        .into_iter()
        .map(|(name, address)| Host {
            address: address.to_owned(),
            ..host(name, provision::inventory::Ssh::default())
        })
        .collect();
    let settings = SshSettings { user_files: vec![mine], ..server.settings() };
    let ssh = Ssh::start(settings, &hosts, Secrets::default()).await.unwrap();
    for host in &hosts {
        let mut remote = ssh.open(host, DEADLINE).await.unwrap();
        assert_eq!(sh(&mut *remote, "echo there").await.unwrap().1, "there\n", "{}", host.name);
        remote.close().await;
        let by_hand = ["-F", ssh.config().as_str(), &host.address, "echo by hand"];
        assert_eq!(run("ssh", &by_hand).unwrap(), "by hand\n");
    }
    assert_eq!((server.logins(), bastion.logins()), (6, 2));
}

/// Its answer comes all the same, and the shell ends without being asked to.
#[tokio::test]
async fn behind_the_last_frame_the_shell_ends() {
    let server = Server::start();
    let host = server.host("gpu0");
    let ssh = server.ssh(std::slice::from_ref(&host)).await;
    let last = Frame { last: true, ..frame(["echo only; exec sleep 0.1", "echo and this"]) };
    let mut seen = Vec::new();
    let (mut remote, result) =
        ssh.open_and_run(&host, DEADLINE, &last, &mut |end| seen.push(end.output)).await.unwrap();
    result.unwrap();
    assert_eq!(seen, [&b"only\n"[..], b"and this\n"]);
    server.assert_nothing_left().await;
    assert!(matches!(sh(&mut *remote, "echo more").await, Err(TransportError::Lost { .. })));
    remote.close().await;
}

/// The host shell ends with its login, though nobody waits for it.
#[tokio::test]
async fn leaving_leaves_nothing() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    let (_, pid) = sh(&mut *remote, "echo $$").await.unwrap();
    let process = format!("/proc/{}", pid.trim());
    assert!(std::path::Path::new(&process).exists());
    remote.leave().await;
    server.assert_nothing_left().await;
    let until = tokio::time::Instant::now() + DEADLINE;
    while std::path::Path::new(&process).exists() {
        assert!(tokio::time::Instant::now() < until, "the host shell is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn the_first_frame_rides_along() {
    let server = Server::start();
    let host = server.host("gpu0");
    let ssh = server.ssh(std::slice::from_ref(&host)).await;
    let mut seen = Vec::new();
    let (mut remote, result) = ssh
        .open_and_run(&host, DEADLINE, &frame(["echo first"]), &mut |end| seen.push(end.output))
        .await
        .unwrap();
    result.unwrap();
    assert_eq!(seen, [b"first\n"]);
    assert_eq!(sh(&mut *remote, "echo second").await.unwrap().1, "second\n");
}

#[tokio::test]
async fn output_is_exact_and_bounded() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let script = Script::new("printf '%s' \"$1\" | base64 -d").arg(Arg::Bytes(bytes.clone()));
    let frame = Frame { parts: vec![part(script)], ..Frame::default() };
    let end = ends(&mut *remote, &frame).await.unwrap().remove(0);
    assert!(end.output == bytes && end.gap.is_none());

    let flood = "echo begin; head -c 50000000 /dev/zero; echo end";
    let flood = Part { limit: 1000, ..part(Script::new(flood)) };
    let frame = Frame { parts: vec![flood, part(Script::new("echo next"))], ..Frame::default() };
    let seen = ends(&mut *remote, &frame).await.unwrap();
    assert!(seen[0].output.starts_with(b"begin\n\0") && seen[0].output.ends_with(b"\0end\n"));
    assert_eq!(
        (seen[0].output.len(), seen[0].gap),
        (1000, Some(Gap { at: 500, bytes: 50_000_000 + 10 - 1000 }))
    );
    assert_eq!(seen[1].output, b"next\n");
}

#[tokio::test]
async fn a_lost_connection_is_no_status() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    // The parent of the host shell is the sshd of this session.
    let error = sh(&mut *remote, "kill -9 $PPID; sleep 20").await.unwrap_err();
    let TransportError::Lost { message } = error else { panic!("{error:?}") };
    assert!(message.contains("closed by remote host"), "{message}");
    assert!(matches!(sh(&mut *remote, "true").await, Err(TransportError::Lost { .. })));
    drop(remote);
    server.assert_nothing_left().await;
}

#[tokio::test]
async fn a_killed_client_is_a_lost_connection() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    sh(&mut *remote, "true").await.unwrap();
    let needle = server.path("").into_string();
    run("pkill", &["-9", "-f", &format!("^ssh -M.*{needle}")]).unwrap();
    let error = sh(&mut *remote, "sleep 20").await.unwrap_err();
    let killed = "its ssh on this machine was ended by signal 9";
    assert!(matches!(&error, TransportError::Lost { message } if message == killed), "{error:?}");
}

/// Whoever ends the `ssh` while it logs in: that says nothing of the host.
#[tokio::test]
async fn a_client_that_is_killed_while_it_logs_in_logs_in_again() {
    let server = Server::start();
    for (times, opens) in [(2, true), (3, false)] {
        let host = server.host("gpu0");
        let (count, dir) = (server.path("count"), server.path(""));
        std::fs::write(&count, "").unwrap();
        // It stands for the way to the host, and ends the `ssh` that asked for it.
        let way = format!(
            "echo >>{count}; [ $(wc -l <{count}) -gt {times} ] || kill -9 $PPID; \
             exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{}; cat <&3 & cat >&3; kill $!'",
            server.port
        );
        std::fs::write(server.path("way"), way).unwrap();
        std::fs::write(server.path("own"), format!("Host *\n  ProxyCommand sh {dir}way\n")).unwrap();
        let settings = SshSettings { user_files: vec![server.path("own")], ..server.settings() };
        let ssh = Ssh::start(settings, std::slice::from_ref(&host), Secrets::default()).await.unwrap();
        let killed = "its ssh on this machine was ended by signal 9";
        match ssh.open(&host, DEADLINE).await {
            Ok(_) => assert!(opens),
            Err(error) => assert!(!opens && error.to_string().contains(killed), "{error:?}"),
        }
    }
}

#[tokio::test]
async fn an_ended_shell_is_lost_and_a_broken_frame_a_bug() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    let error = sh(&mut *remote, "kill -9 $$").await.unwrap_err();
    assert!(
        matches!(&error, TransportError::Lost { message } if message == "the host shell ended"),
        "{error:?}"
    );
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    let error = sh(&mut *remote, "if true; then").await.unwrap_err();
    assert!(matches!(error, TransportError::Protocol { .. }), "{error:?}");
}

#[tokio::test]
async fn failed_logins_say_what_mends_them() {
    let server = Server::start();
    let host = server.host("gpu0");

    let mut unknown = host.clone();
    std::fs::write(server.path("empty"), "").unwrap();
    unknown.ssh.known_hosts = Some(server.path("empty"));
    let (kind, message) = refusal(&server, &unknown).await;
    assert_eq!(kind, ConnectKind::HostKeyUnknown, "{message}");
    assert!(message.contains("host key is known for"), "{message}");

    let mut changed = host.clone();
    server.trust(&server.path("other"), "id.pub");
    changed.ssh.known_hosts = Some(server.path("other"));
    let (kind, message) = refusal(&server, &changed).await;
    assert_eq!(kind, ConnectKind::HostKeyChanged, "{message}");

    let mut stranger = host.clone();
    key(&server.path("stranger"));
    stranger.ssh.identity_file = Some(server.path("stranger"));
    let (kind, message) = refusal(&server, &stranger).await;
    assert_eq!(kind, ConnectKind::KeyRefused, "{message}");
    assert!(message.contains("Permission denied (publickey)"), "{message}");

    let mut missing = host.clone();
    missing.ssh.identity_file = Some(server.path("no such key"));
    let (kind, message) = refusal(&server, &missing).await;
    assert_eq!(kind, ConnectKind::KeyMissing, "{message}");

    let mut open = host.clone();
    std::fs::copy(server.path("id"), server.path("open key")).unwrap();
    std::fs::set_permissions(server.path("open key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    open.ssh.identity_file = Some(server.path("open key"));
    let (kind, message) = refusal(&server, &open).await;
    assert_eq!(kind, ConnectKind::KeyUnreadable, "{message}");

    let mut closed = host.clone();
    closed.ssh.port = Some(free_port());
    let (kind, message) = refusal(&server, &closed).await;
    assert_eq!(kind, ConnectKind::Refused, "{message}");

    let mut nowhere = host.clone();
    nowhere.address = "no-such-host.invalid".to_owned();
    let (kind, message) = refusal(&server, &nowhere).await;
    assert_eq!(kind, ConnectKind::NameUnknown, "{message}");

    let mut kex = host;
    kex.ssh.kex = Some("diffie-hellman-group1-sha1".to_owned());
    let (kind, message) = refusal(&server, &kex).await;
    assert_eq!(kind, ConnectKind::Other, "{message}");
    assert!(message.contains("no matching key exchange"), "{message}");
}

#[tokio::test]
async fn a_banner_decides_nothing() {
    let (server, _banner) = Server::with_banner();
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    assert_eq!(sh(&mut *remote, "echo in").await.unwrap().1, "in\n");
    remote.close().await;

    let mut stranger = host.clone();
    key(&server.path("stranger"));
    stranger.ssh.identity_file = Some(server.path("stranger"));
    let (kind, message) = refusal(&server, &stranger).await;
    assert_eq!(kind, ConnectKind::KeyRefused, "{message}");
    assert!(message.ends_with("Permission denied (publickey)."), "{message}");

    let mut stranger = stranger.clone();
    stranger.ssh.jump = vec![format!("127.0.0.1:{}", server.port)];
    stranger.address = "localhost".to_owned();
    let (kind, message) = refusal(&server, &stranger).await;
    assert_eq!(kind, ConnectKind::Jump, "{message}");
    assert!(message.ends_with("Permission denied (publickey)."), "{message}");
}

#[tokio::test]
async fn silence_and_slammed_doors() {
    let server = Server::start();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut host = server.host("gpu0");
    host.ssh.port = Some(silent.local_addr().unwrap().port());
    let settings = SshSettings { connect_timeout: Duration::from_secs(2), ..server.settings() };
    let ssh = Ssh::start(settings, std::slice::from_ref(&host), Secrets::default()).await.unwrap();
    // Once ssh gives up first, once we do.
    for deadline in [DEADLINE, Duration::from_secs(1)] {
        let error = ssh.open(&host, deadline).await.err().unwrap();
        assert!(matches!(error, TransportError::Connect { kind: ConnectKind::TimedOut, .. }), "{error:?}");
    }
    host.ssh.login_timeout = Some(Duration::from_millis(1500));
    let error = ssh.open(&host, Duration::from_millis(1)).await.err().unwrap();
    assert!(error.to_string().contains("no login within 1.5s"), "{error}");
    host.ssh.login_timeout = None;

    let slam = TcpListener::bind("127.0.0.1:0").unwrap();
    host.ssh.port = Some(slam.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for connection in slam.incoming() {
            // Read, then close: closing with unread data resets.
            let mut buffer = [0; 256];
            drop(connection.unwrap().read(&mut buffer));
        }
    });
    let (kind, message) = refusal(&server, &host).await;
    assert_eq!(kind, ConnectKind::Closed, "{message}");
}

/// Logins go on after a refusal, and what is left of the time for the last one may be next to nothing.
#[tokio::test]
async fn a_refusal_is_told_when_the_last_login_has_no_time_left() {
    let server = Server::start();
    let once = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut host = server.host("gpu0");
    host.ssh.port = Some(once.local_addr().unwrap().port());
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for (number, connection) in once.incoming().enumerate() {
            let mut connection = connection.unwrap();
            if number == 0 {
                drop(connection.read(&mut [0; 256]));
            } else {
                silent.push(connection);
            }
        }
    });
    let ssh = server.ssh(std::slice::from_ref(&host)).await;
    let error = ssh.open(&host, Duration::from_secs(2)).await.err().unwrap();
    assert!(matches!(error, TransportError::Connect { kind: ConnectKind::Closed, .. }), "{error:?}");
}

#[tokio::test]
async fn a_hanging_part_is_ended_and_the_login_lives() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    for _ in 1..=2 {
        let hang = Part {
            name: "hang".to_owned(),
            deadline: Duration::from_millis(300),
            // `timeout` makes a process group of its own.
            ..part(
                Script::new("echo $$ >\"$1\"; timeout 7654 sleep 7654 & sleep 7654")
                    .arg(server.path("pid").as_str()),
            )
        };
        let frame = Frame {
            parts: vec![part(Script::new("echo before")), hang, part(Script::new("touch \"$0.ran\""))],
            ..Frame::default()
        };
        let mut seen = 0;
        let error = remote.run(&frame, &mut |_| seen += 1).await.unwrap_err();
        assert_eq!(seen, 1);
        assert!(
            matches!(&error, TransportError::PartTimedOut { index: 1, part, .. } if part == "hang"),
            "{error:?}"
        );
        assert!(matches!(sh(&mut *remote, "true").await, Err(TransportError::Protocol { .. })));
        remote.revive().await.unwrap();
        assert_eq!(sh(&mut *remote, "echo alive").await.unwrap().1, "alive\n");
        assert_gone("sleep 7654").await;
    }
    assert_eq!(server.logins(), 1);
    remote.close().await;
    server.assert_nothing_left().await;
}

#[tokio::test]
async fn a_part_that_never_stops_writing_misses_its_deadline() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    let flood = Part { deadline: Duration::from_millis(500), ..part(Script::new("yes flood-24680")) };
    let frame = Frame { parts: vec![flood], ..Frame::default() };
    assert!(matches!(ends(&mut *remote, &frame).await, Err(TransportError::PartTimedOut { .. })));
    remote.revive().await.unwrap();
    assert_gone("flood-24680").await;
    assert_eq!(sh(&mut *remote, "echo alive").await.unwrap().1, "alive\n");
}

#[tokio::test]
async fn one_session_is_enough() {
    let server = Server::with("MaxSessions 1");
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    let content: Vec<u8> = (0..=255).cycle().take(700_000).collect();
    let path = server.path("streamed");
    remote.stream(path.as_str(), &mut content.as_slice()).await.unwrap();
    assert!(std::fs::read(&path).unwrap() == content);
    // What comes next is appended.
    remote.stream(path.as_str(), &mut &b"end"[..]).await.unwrap();
    remote.stream(path.as_str(), &mut &b""[..]).await.unwrap();
    assert!(std::fs::read(&path).unwrap() == [&content[..], b"end"].concat());
    assert_eq!(server.logins(), 1);

    let hang = Part { deadline: Duration::from_millis(200), ..part(Script::new("sleep 8765")) };
    let frame = Frame { parts: vec![hang], ..Frame::default() };
    assert!(matches!(ends(&mut *remote, &frame).await, Err(TransportError::PartTimedOut { .. })));
    remote.revive().await.unwrap();
    assert_eq!(sh(&mut *remote, "echo alive").await.unwrap().1, "alive\n");
    assert_gone("sleep 8765").await;
    assert_eq!(server.logins(), 2);
    remote.close().await;
    server.assert_nothing_left().await;
}

#[tokio::test]
async fn streams_go_beside_the_shell() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    let content: Vec<u8> = (0..=255).cycle().take(20_000_000).collect();
    let path = server.path("streamed");
    remote.stream(path.as_str(), &mut content.as_slice()).await.unwrap();
    assert!(std::fs::read(&path).unwrap() == content);
    remote.stream(path.as_str(), &mut &b"end"[..]).await.unwrap();
    assert!(std::fs::read(&path).unwrap() == [&content[..], b"end"].concat());
    let error = remote.stream("/no-such-directory/file", &mut content.as_slice()).await.unwrap_err();
    assert!(
        error.to_string().contains("nonexistent") || error.to_string().contains("No such file"),
        "{error}"
    );
    for path in ["relative", "/tmp/a\nb", "/tmp/a\0b"] {
        assert!(remote.stream(path, &mut &b""[..]).await.is_err(), "{path}");
    }
    assert_eq!(sh(&mut *remote, "echo alive").await.unwrap().1, "alive\n");
}

/// What `df` says is full is said to be full, with the name of the file: over a session of its own, and
/// where the server allows one session only.
#[tokio::test]
async fn a_full_file_system_is_said() {
    if !is_root() {
        println!("not run: only root can mount a small file system");
        return;
    }
    for more in ["", "MaxSessions 1"] {
        let server = Server::with(more);
        let small = server.path("small");
        std::fs::create_dir(&small).unwrap();
        run("mount", &["-t", "tmpfs", "-o", "size=2m", "none", small.as_str()]).unwrap();
        let host = server.host("gpu0");
        let (_ssh, mut remote) = server.open(&host).await.unwrap();
        let content: Vec<u8> = (0..=255).cycle().take(20_000_000).collect();
        let path = small.join("streamed");
        let error = remote.stream(path.as_str(), &mut content.as_slice()).await;
        let error = error.map_err(|error| error.to_string());
        let full = remote.stream(path.as_str(), &mut &b"x"[..]).await.map_err(|error| error.to_string());
        let alive = sh(&mut *remote, "echo alive").await;
        remote.close().await;
        run("umount", &["-l", small.as_str()]).unwrap();
        let error = error.unwrap_err();
        assert!(error.contains("No space left on device") && error.contains(path.as_str()), "{more} {error}");
        assert!(full.is_err_and(|full| full.contains("No space left on device")), "{more}");
        assert_eq!(alive.unwrap().1, "alive\n");
    }
}

/// Who waits no longer drops the future: the file keeps what has arrived, its writer ends, and the host
/// shell works.
#[tokio::test]
async fn a_dropped_stream_ends_its_writer() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    let path = server.path("streamed");
    // A source that gives one line and then nothing.
    let (mut ours, mut theirs) = tokio::io::duplex(1 << 10);
    tokio::io::AsyncWriteExt::write_all(&mut ours, b"first\n").await.unwrap();
    let arrived = async {
        while std::fs::read_to_string(&path).unwrap_or_default() != "first\n" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        () = arrived => {}
        ended = remote.stream(path.as_str(), &mut theirs) => panic!("{ended:?}"),
        () = tokio::time::sleep(DEADLINE) => panic!("nothing arrived"),
    }
    let writer = std::fs::read_to_string(format!("{path}.writer")).unwrap();
    let words: Vec<&str> = writer.split_whitespace().collect();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(words[2], boot.trim());
    let process = std::path::PathBuf::from(format!("/proc/{}", words[0]));
    let until = std::time::Instant::now() + DEADLINE;
    while process.exists() {
        assert!(std::time::Instant::now() < until, "{writer} is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(sh(&mut *remote, "echo alive").await.unwrap().1, "alive\n");
}

#[tokio::test]
async fn dropping_leaves_nothing() {
    let server = Server::start();
    let host = server.host("gpu0");
    let ssh = server.ssh(std::slice::from_ref(&host)).await;
    let mut remote = ssh.open(&host, DEADLINE).await.unwrap();
    let running = frame(["sleep 30"]);
    assert!(tokio::time::timeout(Duration::from_millis(300), ends(&mut *remote, &running)).await.is_err());
    drop(remote);
    server.assert_nothing_left().await;
    // Cancelled at any moment of a login.
    for millis in (0..200).step_by(10) {
        drop(tokio::time::timeout(Duration::from_millis(millis), ssh.open(&host, DEADLINE)).await);
    }
    server.assert_nothing_left().await;
    drop(ssh);
    let runs = server.runtime_dir().join("provision").read_dir_utf8().unwrap().count();
    assert_eq!(runs, 0);
}

#[tokio::test]
async fn closing_does_not_wait_for_what_hangs() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    // It keeps the session's output open.
    let (_, pid) = sh(&mut *remote, "sleep 8642 & echo $!").await.unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    remote.close().await;
    // It runs still, so nobody waited for it.
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    server.assert_nothing_left().await;
}

#[tokio::test]
async fn hosts_behind_a_jump_host_share_its_login() {
    let bastion = Server::start();
    let inner = Server::with("MaxSessions 1");
    let target = Server::start();
    let mut hosts: Vec<Host> = (0..6).map(|index| target.host(&format!("gpu{index}"))).collect();
    // One known_hosts and one key for all, as an inventory has.
    let known: String = [&bastion, &inner, &target]
        .iter()
        .map(|server| std::fs::read_to_string(server.path("known_hosts")).unwrap())
        .collect();
    std::fs::write(target.path("known_hosts"), known).unwrap();
    for server in [&bastion, &inner] {
        std::fs::copy(target.path("id.pub"), server.path("authorized_keys")).unwrap();
    }
    for host in &mut hosts {
        host.ssh.jump = vec![format!("127.0.0.1:{}", bastion.port), format!("127.0.0.1:{}", inner.port)];
        // A jump host is known by its name, which must not be that of the host itself.
        host.address = "localhost".to_owned();
    }
    let keys = std::fs::read_to_string(target.path("known_hosts")).unwrap();
    std::fs::write(target.path("known_hosts"), keys.clone() + &keys.replace("127.0.0.1", "localhost"))
        .unwrap();
    let ssh = target.ssh(&hosts).await;
    let opened = futures::future::join_all(hosts.iter().map(|host| ssh.open(host, DEADLINE))).await;
    let mut remotes: Vec<_> = opened.into_iter().map(Result::unwrap).collect();
    for remote in &mut remotes {
        assert_eq!(sh(&mut **remote, "echo there").await.unwrap().1, "there\n");
    }
    assert_eq!((bastion.logins(), inner.logins(), target.logins()), (1, 1, 6));

    // What a person would type.
    let config = ssh.config().to_string();
    assert_eq!(run("ssh", &["-F", &config, "gpu3", "echo by hand"]).unwrap(), "by hand\n");
    assert_eq!((bastion.logins(), inner.logins(), target.logins()), (1, 1, 7));

    for remote in &mut remotes {
        remote.close().await;
    }
    ssh.close().await;
    target.assert_nothing_left().await;
}

#[tokio::test]
async fn what_is_wrong_at_a_jump_host_is_said() {
    let bastion = Server::with("AllowTcpForwarding no");
    let mut host = bastion.host("gpu0");
    host.ssh.jump = vec![format!("localhost:{}", bastion.port)];
    let (kind, message) = refusal(&bastion, &host).await;
    assert_eq!(kind, ConnectKind::Jump, "{message}");
    assert!(message.contains("host key is known for"), "{message}");
    let keys = std::fs::read_to_string(bastion.path("known_hosts")).unwrap();
    std::fs::write(bastion.path("known_hosts"), keys.clone() + &keys.replace("127.0.0.1", "localhost"))
        .unwrap();
    let (kind, message) = refusal(&bastion, &host).await;
    assert_eq!(kind, ConnectKind::Jump, "{message}");
    assert!(message.contains("administratively prohibited"), "{message}");

    let open = Server::start();
    let keys = std::fs::read_to_string(open.path("known_hosts")).unwrap();
    std::fs::write(open.path("known_hosts"), keys.clone() + &keys.replace("127.0.0.1", "localhost")).unwrap();
    let mut host = open.host("gpu0");
    host.ssh.jump = vec![format!("localhost:{}", open.port)];
    host.ssh.port = Some(free_port());
    let (kind, message) = refusal(&open, &host).await;
    assert_eq!(kind, ConnectKind::Refused, "{message}");
}

/// The inner half of the next test: runs below `script`, so it has a terminal.
#[tokio::test]
#[ignore = "started by `a_jump_host_may_ask_on_the_terminal`"]
async fn asks_on_the_terminal() {
    #[expect(clippy::disallowed_methods, reason = "told by the outer test")]
    let (Ok(dir), Ok(port)) = (std::env::var("WIRE_DIR"), std::env::var("WIRE_PORT")) else {
        println!("skipped: no outer test");
        return;
    };
    let ssh = provision::inventory::Ssh {
        port: port.parse().ok(),
        known_hosts: Some(format!("{dir}/known_hosts").into()),
        identity_file: Some(format!("{dir}/locked").into()),
        jump: vec![format!("127.0.0.1:{port}")],
        ..provision::inventory::Ssh::default()
    };
    let host = Host { address: "localhost".to_owned(), ..host("gpu0", ssh) };
    let settings = SshSettings {
        runtime_dir: Some(format!("{dir}/run").into()),
        user_files: Vec::new(),
        terminal: true,
        ..SshSettings::default()
    };
    let ssh = Ssh::start(settings, std::slice::from_ref(&host), Secrets::default()).await.unwrap();
    // Behind the jump host nothing asks any more: there the locked key is no key.
    let error = ssh.open(&host, DEADLINE).await.err().unwrap();
    println!("seen: {error}");
    ssh.close().await;
}

#[tokio::test]
async fn a_jump_host_may_ask_on_the_terminal() {
    let server = Server::start();
    server.settings();
    let keys = std::fs::read_to_string(server.path("known_hosts")).unwrap();
    std::fs::write(server.path("known_hosts"), keys.clone() + &keys.replace("127.0.0.1", "localhost"))
        .unwrap();
    let locked = server.path("locked");
    run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "open sesame", "-f", locked.as_str()]).unwrap();
    std::fs::copy(server.path("locked.pub"), server.path("authorized_keys")).unwrap();
    let Some(seen) = sshd::on_a_terminal(
        "transport::asks_on_the_terminal",
        &[("WIRE_DIR", server.path("").as_str()), ("WIRE_PORT", &server.port.to_string())],
        "Enter passphrase",
        "open sesame\n",
    ) else {
        return;
    };
    assert_eq!(server.logins(), 1, "{seen}");
    assert!(seen.contains("seen: ") && seen.contains("Permission denied"), "{seen}");
    server.assert_nothing_left().await;
}

#[tokio::test]
async fn a_killed_run_is_cleaned_up() {
    let server = Server::start();
    server.settings();
    let dead = server.runtime_dir().join("provision/0badcafe");
    std::fs::create_dir_all(&dead).unwrap();
    std::fs::set_permissions(server.runtime_dir().join("provision"), std::fs::Permissions::from_mode(0o700))
        .unwrap();
    std::fs::write(dead.join("lock"), "").unwrap();
    let socket = dead.join("j0").into_string();
    let known = format!("UserKnownHostsFile={}", server.path("known_hosts"));
    let port = server.port.to_string();
    let id = server.path("id").into_string();
    run(
        "ssh",
        &[
            "-F",
            "/dev/null",
            "-f",
            "-N",
            "-M",
            "-S",
            &socket,
            "-o",
            &known,
            "-p",
            &port,
            "-i",
            &id,
            "127.0.0.1",
        ],
    )
    .unwrap();
    assert_eq!(server.clients().len(), 1);
    let _ssh = server.ssh(&[]).await;
    assert!(!dead.exists());
    server.assert_nothing_left().await;
}

#[tokio::test]
async fn secrets_reach_the_host_and_no_command_line() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (_ssh, mut remote) = server.open(&host).await.unwrap();
    let secrets = Secrets::new(BTreeMap::from([("token".to_owned(), "poison-4711'\"".to_owned().into())]));
    // The pattern does not find itself.
    let look = "printf '%s' \"$1\"; cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -c 'poison-47[1]1'";
    let script = Script::new(look).arg(placeholder::of("token"));
    let frame = Frame { parts: vec![part(script)], secrets, ..Frame::default() };
    let end = ends(&mut *remote, &frame).await.unwrap().remove(0);
    assert_eq!(String::from_utf8_lossy(&end.output), "poison-4711'\"0\n");
}

#[tokio::test]
async fn this_machine_is_a_host() {
    let here = host("here", provision::inventory::Ssh::default());
    let mut remote = Local::default().open(&here, DEADLINE).await.unwrap();
    assert_eq!(sh(&mut *remote, "echo one; exit 3").await.unwrap(), (3, "one\n".to_owned()));
    let hang = Part {
        deadline: Duration::from_millis(300),
        ..part(Script::new("timeout 6543 sleep 6543 & sleep 6543"))
    };
    let frame = Frame { parts: vec![hang], ..Frame::default() };
    assert!(matches!(ends(&mut *remote, &frame).await, Err(TransportError::PartTimedOut { .. })));
    remote.revive().await.unwrap();
    assert_eq!(sh(&mut *remote, "echo alive").await.unwrap().1, "alive\n");
    assert_gone("sleep 6543").await;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    remote.stream(path.to_str().unwrap(), &mut &b"content"[..]).await.unwrap();
    assert_eq!(std::fs::read(path).unwrap(), b"content");
    assert!(remote.stream("/no-such-directory/file", &mut &b""[..]).await.is_err());
    remote.close().await;
}

/// A host whose programs answer without end: the controller keeps no more of that than a question may have. It takes
/// about 25 MiB in an optimised program, and 30 more in one that is not.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test starts the program")]
fn a_host_that_answers_without_end_takes_little_memory() {
    let server = Server::start_with_endless(&["ip"]);
    let place = tempfile::tempdir().unwrap();
    let text = format!(
        "cluster: c\nssh: {{ port: {}, identity_file: {}, known_hosts: {} }}\nhosts: {{ n0: {{ address: 127.0.0.1 }} }}\n",
        server.port,
        server.path("id"),
        server.path("known_hosts")
    );
    std::fs::write(place.path().join("site.yaml"), text).unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_provision"))
        .args(["facts", "site.yaml"])
        .current_dir(place.path())
        .env("HOME", place.path())
        .env("XDG_STATE_HOME", place.path().join("state"))
        .stdout(std::process::Stdio::null())
        .stderr(std::fs::File::create(place.path().join("said")).unwrap())
        .spawn()
        .unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<u64>().ok());
        most = most.max(peak.unwrap_or(0) >> 10);
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("{most} MiB");
    assert!((1..100).contains(&most), "{most} MiB");
    let said = std::fs::read_to_string(place.path().join("said")).unwrap();
    assert!(said.contains("`base.network` gave no answer"), "nothing was endless: {said}");
}
