//! The transport against real sshds, shells and sudo.

mod transport_support;

use provision::transport::{Local, Transport as _};
use transport_support::{DEADLINE, Server, ends, frame, host, sh};

#[tokio::test]
async fn frames_run_one_after_another_on_one_login() {
    let server = Server::start();
    let host = server.host("gpu0");
    let (ssh, mut remote) = server.open(&host).await.unwrap();
    assert_eq!(sh(&mut *remote, "echo one; exit 3").await.unwrap(), (3, "one\n".to_owned()));
    let two = ends(&mut *remote, &frame(["printf a", "false", "cat; echo $LC_ALL"])).await.unwrap();
    let seen: Vec<_> = two.iter().map(|end| (end.index, end.status, end.output.as_slice())).collect();
    assert_eq!(seen, [(0, 0, &b"a"[..]), (1, 1, b""), (2, 0, b"C\n")]);
    remote.close().await;
    drop(remote);
    drop(ssh);
    assert_eq!(server.logins(), 1);
    server.assert_nothing_left().await;
}

#[tokio::test]
async fn this_machine_is_a_host() {
    let mut remote = Local::default().open(&host("here", Default::default()), DEADLINE).await.unwrap();
    assert_eq!(sh(&mut *remote, "echo one; exit 3").await.unwrap(), (3, "one\n".to_owned()));
    remote.close().await;
}
