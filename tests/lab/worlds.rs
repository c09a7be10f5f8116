//! Bad worlds: each ends with a clear message for its host, and the others are unharmed.

#![expect(
    clippy::indexing_slicing,
    clippy::format_push_string,
    reason = "these are tests, though not in functions that are marked so"
)]

use std::net::TcpListener;

use super::broken::wait_for_task;
use super::support::{Lab, Site, TOOLS, outcome, run};

const FILE: &str = "name: w\ntasks:\n  - name: file\n    file: { path: /etc/x, content: \"x\\n\" }\n";

/// What the program says of a host.
#[track_caller]
fn reason(json: &serde_json::Value, host: &str) -> String {
    json["hosts"][host]["reason"]
        .as_str()
        .unwrap_or_else(|| panic!("no reason: {:#}", json["hosts"][host]))
        .to_owned()
}

#[test]
fn logins_that_fail() {
    let Some(lab) = Lab::up(&["n0"], TOOLS) else { return };
    let node = lab.node("n0");
    let port = node.port;

    // One that accepts and is silent, one that closes at once, and one that nobody listens on.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let closing = TcpListener::bind("127.0.0.1:0").unwrap();
    let refused = { TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port() };
    let (silent_port, closing_port) =
        (silent.local_addr().unwrap().port(), closing.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for stream in closing.incoming() {
            drop(stream);
        }
    });

    // Logins of their own for every shell and every way to become root.
    let key = run("ssh-keygen", &["-y", "-f", lab.field("identity_file")]).unwrap();
    node.sh(&format!(
        "for user in fish csh tcsh nologin banner nosudo asks; do
            useradd -m $user; usermod -p '*' $user
            mkdir -p /home/$user/.ssh; echo '{}' >/home/$user/.ssh/authorized_keys; chown -R $user: /home/$user
            echo \"$user ALL=(ALL:ALL) NOPASSWD: ALL\" >/etc/sudoers.d/$user
        done
        rm /etc/sudoers.d/nosudo; echo 'asks ALL=(ALL:ALL) ALL' >/etc/sudoers.d/asks
        usermod -s /usr/bin/fish fish; usermod -s /bin/csh csh; usermod -s /bin/tcsh tcsh
        usermod -s /usr/sbin/nologin nologin
        usermod -s /bin/bash banner; (echo 'echo WELCOME TO THE CLUSTER; echo more on stderr >&2'; cat /home/banner/.bashrc) >/tmp/rc; cp /tmp/rc /home/banner/.bashrc",
        key.trim()
    ));
    let wrong = lab.text("wrong_known_hosts");
    let known = std::fs::read_to_string(lab.field("known_hosts")).unwrap();
    let other = run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &lab.text("other")])
        .map(|_| lab.text("other"))
        .unwrap();
    let other_key = std::fs::read_to_string(format!("{other}.pub")).unwrap();
    std::fs::write(&wrong, format!("# not ours\n[127.0.0.1]:{port} {other_key}")).unwrap();
    let here = format!("address: 127.0.0.1, ssh: {{ port: {port}");
    let mut hosts = format!(
        "  wrongkey: {{ {here}, known_hosts: {wrong}, user: a }} }}\n  unknown: {{ {here}, known_hosts: {wrong}.none, user: b }} }}\n  \
         keyrefused: {{ {here}, identity_file: {other}, user: root }} }}\n  nouser: {{ {here}, user: nobodyatall }} }}\n  \
         refused: {{ address: 127.0.0.1, ssh: {{ port: {refused} }} }}\n  silent: {{ address: 127.0.0.1, ssh: {{ port: {silent_port}, login_timeout: 15s }} }}\n  \
         closes: {{ address: 127.0.0.1, ssh: {{ port: {closing_port} }} }}\n  noname: {{ address: no.such.host.invalid }}\n"
    );
    for user in ["fish", "csh", "tcsh", "nologin", "banner", "nosudo", "asks"] {
        hosts += &format!("  {user}: {{ {here}, user: {user} }} }}\n");
    }
    assert!(known.contains(&port.to_string()));
    let play = "name: w\ntasks:\n  - name: file\n    file: { path: \"/etc/x-{{ host.name }}\", content: \"x\\n\" }\n";
    let groups = "  worlds: { hosts: [n0, wrongkey, unknown, keyrefused, nouser, refused, silent, closes, noname, fish, csh, tcsh, nologin, banner, nosudo, asks] }";
    let site = lab.site_with("logins", play, groups, "become: sudo", &hosts);
    // They are one machine with one lock, so one after another.
    let ran = site.run("apply", &["--json", "-", "--parallel", "1"]).expect(4);
    let json = ran.json();
    for host in ["n0", "fish", "csh", "tcsh", "banner"] {
        assert_eq!(json["hosts"][host]["status"], "ok", "{host}: {}", ran.err);
        node.sh(&format!("test -e /etc/x-{host}"));
    }
    for (host, words) in [
        ("wrongkey", format!("{wrong}:2")),
        ("unknown", "host key is known for".to_owned()),
        ("keyrefused", "Permission denied".to_owned()),
        ("nouser", "Permission denied".to_owned()),
        ("refused", "Connection refused".to_owned()),
        ("closes", "onnection".to_owned()),
        ("noname", "no.such.host.invalid".to_owned()),
        ("nologin", "This account is currently not available".to_owned()),
        ("nosudo", "sudo".to_owned()),
        ("asks", "sudo".to_owned()),
    ] {
        assert_eq!(json["hosts"][host]["status"], "unreachable", "{host}: {}", ran.err);
        assert!(reason(&json, host).contains(&words), "{host}: {:#}", json["hosts"][host]);
        assert!(json["hosts"][host]["hint"].is_string(), "{host}: {:#}", json["hosts"][host]);
    }
    // ssh has the same limit, and may be the first to say so.
    let silent_for = reason(&json, "silent");
    assert!(silent_for.contains("no login within 15s") || silent_for.contains("timed out"), "{silent_for}");
    let hint = |host: &str| json["hosts"][host]["hint"].as_str().unwrap_or_default().to_owned();
    assert!(hint("wrongkey").contains("inventory trust") && hint("wrongkey").contains("--replace"));
    assert!(hint("unknown").contains("provision inventory trust"));
    // With the keys of hosts that the inventory knows.
    let copy = format!("ssh-copy-id -o UserKnownHostsFile={} -i ", lab.field("known_hosts"));
    let said = hint("keyrefused");
    assert!(said.contains(&copy) && said.contains(&format!(" -p {port} root@127.0.0.1;")), "{said}");
    assert!(hint("asks").contains("--ask-become-pass") && hint("nosudo").contains("--ask-become-pass"));
    // The words of a person: host, what, what to do.
    ran.says("Unreached").says("hint: ").says("--hosts @unreachable");
    drop(silent);
    lab.assert_nothing_left();
    max_sessions(&site);
}

/// `MaxSessions 1`: streams and second looks must do without another session.
fn max_sessions(site: &Site<'_>) {
    let node = site.lab.node("n0");
    node.sh("echo 'MaxSessions 1' >/etc/ssh/sshd_config.d/00-one.conf; systemctl restart ssh");
    let big: String = "0123456789abcdef".repeat(1 << 17);
    let site = site.lab.site("sessions", "name: s\ntasks:\n  - name: big\n    copy: { src: big, path: /root/big }\n  - name: late\n    timeout: 2s\n    command: { script: sleep 30 }\n");
    site.write("big", &big);
    let json = site.apply(5);
    assert_eq!(outcome(&json, "n0", "big")["outcome"], "changed", "{json:#}");
    let failure = outcome(&json, "n0", "late")["failure"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(failure.contains("not finished within its deadline of 2s"), "{failure}");
    assert_eq!(node.sh("stat -c %s /root/big; pgrep -fx 'sleep 30' || true"), (16 << 17).to_string());
    node.sh("rm /etc/ssh/sshd_config.d/00-one.conf; systemctl restart ssh");
    site.lab.assert_nothing_left();
}

#[test]
fn hosts_that_misbehave() {
    let Some(lab) = Lab::up(&["n0", "n1"], "{}") else { return };
    let (node, other) = (lab.node("n0"), lab.node("n1"));

    // A tool that hangs costs only the tasks that need it.
    let site = lab.site(
        "hangs",
        "name: w\ntasks:\n  - name: service\n    service: { name: ssh, enabled: true }\n    on_failure: continue\n  - name: file\n    file: { path: /etc/x, content: \"x\\n\" }\n",
    );
    node.sh("mv /usr/bin/systemctl /usr/bin/systemctl.real; printf '#!/bin/sh\\nsleep 1000\\n' >/usr/bin/systemctl; chmod 755 /usr/bin/systemctl");
    let ran = site.run("apply", &["--json", "-"]).expect(5).says("gave no answer within 20s");
    let json = ran.json();
    assert_eq!(outcome(&json, "n0", "service")["outcome"], "failed", "{json:#}");
    assert_eq!(outcome(&json, "n0", "file")["outcome"], "changed");
    assert_eq!(json["hosts"]["n1"]["status"], "ok");
    node.sh("mv -f /usr/bin/systemctl.real /usr/bin/systemctl; ! pgrep -f 'sleep 1000'");
    site.run("apply", &[]).expect(0);

    // A full disk: where a file goes, and where the state stands.
    let site = lab.site(
        "full",
        "name: f\ntasks:\n  - name: big\n    file: { path: /mnt/x, content: \"{{ text }}\" }\n",
    );
    site.playbook(&format!(
        "name: f\ntasks:\n  - name: big\n    file: {{ path: /mnt/x, content: \"{}\" }}\n",
        "0123456789abcdef".repeat(4096)
    ));
    node.sh("mount -t tmpfs -o size=32k none /mnt");
    let json = site
        .run("apply", &["--json", "-"])
        .expect(5)
        .says("No space left on device")
        .says("1 host ok, 1 failed")
        .json();
    assert_eq!(outcome(&json, "n1", "big")["outcome"], "changed");
    assert_eq!(node.sh("ls -A /mnt"), "");
    node.sh("umount /mnt; mkdir -p /run/provision; mount -t tmpfs -o size=4k none /run/provision; head -c 8192 /dev/zero >/run/provision/junk; true");
    site.run("apply", &[])
        .expect(5)
        .says("cannot write the state directory /run/provision")
        .says("No space left on device")
        .says("1 host ok, 1 failed");
    node.sh("umount /run/provision");
    site.run("apply", &[]).expect(0);

    // Nothing can be written where a file belongs.
    let site = lab.site("readonly", FILE);
    node.sh("rm -f /etc/x; mount --bind /etc /etc && mount -o remount,bind,ro /etc");
    site.run("apply", &[]).expect(5).says("Read-only file system").says("mounted read-only");
    node.sh("umount /etc");
    site.run("apply", &[]).expect(0);

    // A host without bash and without flock.
    node.sh("usermod -s /bin/sh provision; mv /bin/bash /bin/bash.away; mv /usr/bin/flock /usr/bin/flock.away; rm /etc/x");
    site.run("apply", &[]).expect(0).says("there is no `flock` on this host").says("+ /etc/x");
    assert_eq!(site.counts(0)["changed"], 0);
    node.sh(
        "mv /bin/bash.away /bin/bash; mv /usr/bin/flock.away /usr/bin/flock; usermod -s /bin/bash provision",
    );

    // What a command prints: not text, and far too much.
    let site = lab.site(
        "prints",
        "name: p\ntasks:\n  - name: bytes\n    command: { script: \"printf 'a\\\\377\\\\000\\\\033[31mb\\\\n'\" }\n  - name: flood\n    command: { script: \"echo first; head -c 1000000000 /dev/zero | tr '\\\\0' x; echo; echo last\" }\n",
    );
    let mut run = site.spawn("apply", &["--json", "-"]);
    let mut most = 0;
    let mut spool = 0;
    while !run.has_ended() {
        most = most.max(run.memory_kib());
        spool = spool.max(node.sh("du -sk /run/provision | cut -f1").parse::<u64>().unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    let json = run.wait().expect(0).json();
    assert_eq!(outcome(&json, "n0", "flood")["outcome"], "ran", "{json:#}");
    assert!(most < 200 << 10, "{most} KiB of memory here");
    // 512 KiB of the beginning; of the end 64 KiB, and room for the NUL bytes that the runner may push behind them; all of
    // that once more while NUL bytes are taken out; and the small files of both entries and of the host.
    assert!(spool < 512 + 2 * 2240 + 256, "{spool} KiB in the spool there");
    let report =
        site.run("report show", &["--output", "--host", "n0"]).expect(0).shows("first").shows("last");
    assert!(
        report.out.contains("| a\u{fffd}") && !report.out.contains('\u{1b}'),
        "{:?}",
        report.out.get(..400)
    );
    assert!(report.out.len() < 2 << 20);

    // A user of the host; and a connection that is cut in the middle of a task.
    let site = lab.site(
        "cut",
        "name: c\ntasks:\n  - name: user\n    become_user: provision\n    command: { script: \"id -un >$HOME/whoami\", creates: /home/provision/whoami }\n  - name: slow\n    command: { script: \"echo begun; until test -e /root/go; do sleep 0.2; done; echo once >>/root/ledger; echo ended\", unless: \"grep -q once /root/ledger\" }\n",
    );
    let mut run = site.spawn("apply", &["--json", "-"]);
    wait_for_task(node, "slow");
    node.sh("pkill -f 'sshd: provision'");
    run.until("Lost");
    for node in [node, other] {
        node.sh("touch /root/go");
    }
    let ran = run.wait().expect(0);
    assert_eq!(outcome(&ran.json(), "n0", "slow")["outcome"], "changed", "{}", ran.err);
    assert_eq!(
        node.sh("cat /root/ledger; cat /home/provision/whoami; stat -c %U /home/provision/whoami"),
        "once\nprovision\nprovision"
    );
    assert_eq!(other.sh("cat /root/ledger"), "once");
    site.run("report show", &["--output", "--hosts", "n[0]"]).expect(0).shows("| ended");
    site.run("report show", &["--hosts", "n[0,7]"])
        .expect(2)
        .says("`n7` was not part of that run")
        .says("it had n");
    site.run("report show", &["20200101"]).expect(2).says("there is no run 20200101 of this cluster");
    assert_eq!(site.counts(0)["changed"], 0);
    site.run("report list", &[]).expect(0).shows("nothing changed").shows(" changed  ");
    lab.assert_nothing_left();
}
