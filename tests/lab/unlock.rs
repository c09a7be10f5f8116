//! A run whose connection is cut without anybody telling its hosts: who gets its lock, and how.

#![expect(clippy::unwrap_used, reason = "these are tests, though not in functions that are marked so")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use super::broken::wait_for_task;
use super::support::{Lab, Node, outcome};

/// How the line to one host is.
struct Line {
    /// How often it was cut.
    cuts: usize,
    is_cut: bool,
}

/// The way to a host through which nothing comes while it is cut. What was open by then is never heard of
/// again, and neither end is told.
struct Lines {
    line: Arc<(Mutex<Line>, Condvar)>,
    port: u16,
}

impl Lines {
    fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let lines = Self {
            line: Arc::new((Mutex::new(Line { cuts: 0, is_cut: false }), Condvar::new())),
            port: listener.local_addr().unwrap().port(),
        };
        let line = lines.line.clone();
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let mut now = line.0.lock().unwrap();
                while now.is_cut {
                    now = line.1.wait(now).unwrap();
                }
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let (line, cuts) = (line.clone(), now.cuts);
                    std::thread::spawn(move || carry(&line, cuts, from, to));
                }
            }
        });
        lines
    }

    fn cut(&self) {
        let mut line = self.line.0.lock().unwrap();
        (line.cuts, line.is_cut) = (line.cuts + 1, true);
    }

    fn mend(&self) {
        self.line.0.lock().unwrap().is_cut = false;
        self.line.1.notify_all();
    }
}

fn carry(line: &(Mutex<Line>, Condvar), cuts: usize, mut from: TcpStream, mut to: TcpStream) {
    let mut chunk = [0; 8192];
    loop {
        let read = from.read(&mut chunk);
        if line.0.lock().unwrap().cuts != cuts {
            // Closing it would tell the other end.
            std::mem::forget((from, to));
            return;
        }
        let Ok(length @ 1..) = read else { break };
        if to.write_all(chunk.get(..length).unwrap()).is_err() {
            break;
        }
    }
    drop(to.shutdown(std::net::Shutdown::Both));
}

const PLAY: &str = "
name: cut
tasks:
  - name: slow
    command: { script: \"echo slow >>/root/ledger; until test -e /root/go; do sleep 0.1; done\", unless: \"test -e /root/go\" }
  - name: after
    command: { script: \"echo after >>/root/ledger\", unless: \"grep -q after /root/ledger\" }
";

/// Whether the shell that has the lock still runs, with sshd above it.
fn is_orphaned(node: &Node) -> bool {
    node.sh("read -r run controller pid rest </run/provision/owner
        while read -r name ppid <<END
$(ps -o comm=,ppid= -p $pid)
END
        do
            case $name in sshd*) echo yes; exit ;; '') exit ;; esac
            pid=$ppid
        done")
        == "yes"
}

#[test]
fn the_lock_of_a_run_that_is_cut_off_is_told_and_taken() {
    let Some(lab) = Lab::up(&["n0", "n1"], "{}") else { return };
    let lines: Vec<Lines> = lab.nodes.iter().map(|node| Lines::to(node.port)).collect();
    let site = lab.site("cut", PLAY);
    // The first controller goes through the lines, the second one does not.
    let direct = std::fs::read_to_string(&site.inventory).unwrap();
    let known = lab.field("known_hosts");
    let mut keys = std::fs::read_to_string(known).unwrap();
    let mut through = direct.clone();
    for (node, line) in lab.nodes.iter().zip(&lines) {
        let (old, new) = (node.port.to_string(), line.port.to_string());
        keys += &keys.replace(&format!("]:{old} "), &format!("]:{new} "));
        through = through.replace(&format!("port: {old}"), &format!("port: {new}"));
    }
    std::fs::write(known, keys).unwrap();
    let first = lab.text("cut/through.yaml");
    std::fs::write(&first, through).unwrap();
    let other = lab.text("other");
    let second =
        |command: &str, more: &[&str]| site.run_with(command, more, &[("XDG_STATE_HOME", &other)], "");
    let (n0, n1) = (lab.node("n0"), lab.node("n1"));

    let mut run = lab.spawn(&["apply", &first, "--yes", "--json", "-"]);
    for node in &lab.nodes {
        wait_for_task(node, "slow");
    }
    for line in &lines {
        line.cut();
    }
    run.until("Lost");
    // On one host the task ends meanwhile, on the other one it goes on.
    n0.sh("touch /root/go");
    n0.wait_for("for s in /run/provision/spool/*/; do test -e $s/status || exit 1; done");
    assert!(is_orphaned(n0) && is_orphaned(n1));

    // Another controller learns whose lock it is and what to do.
    let owner =
        n0.sh("read -r run controller rest </run/provision/owner; echo run $run of controller $controller");
    second("apply", &["--hosts", "n0"]).expect(8).says(&owner).says("provision unlock");
    second("unlock", &["--hosts", "n0"])
        .expect(2)
        .says(&format!("n0: {owner} has it since 20"))
        .says("the same command with `--yes`");
    assert!(is_orphaned(n0), "nobody agreed");
    second("unlock", &["--yes"])
        .expect(0)
        .says(&format!("n0: {owner} has it since 20"))
        .says("n0: taken; it is free")
        .says("n1: taken; the next run follows `./play.yaml/slow`");
    assert!(!is_orphaned(n0) && !is_orphaned(n1));
    second("unlock", &["--hosts", "n0", "--yes"]).expect(0).says("n0: free");
    let ran = second("apply", &["--hosts", "n0", "--json", "-"]).expect(0);
    let json = ran.json();
    assert_eq!(outcome(&json, "n0", "after")["outcome"], "changed", "{json:#}");
    let worked =
        n0.sh("read -r run controller rest </run/provision/owner; echo run $run of controller $controller");
    assert_ne!(worked, owner);

    // The first one comes back.
    run.still_runs();
    for line in &lines {
        line.mend();
    }
    let ran = run.wait();
    let json = ran.expect(5).json();
    let told = |host: &str| {
        outcome(&json, host, "slow")["failure"]["message"].as_str().unwrap_or_default().to_owned()
    };
    assert!(
        told("n0").contains(&format!("while it was out of reach, {worked} worked on this host")),
        "{json:#}"
    );
    assert!(
        told("n1").contains("`provision unlock` of controller ") && told("n1").contains("took its lock"),
        "{json:#}"
    );
    assert_eq!(n0.sh("cat /root/ledger"), "slow\nafter");
    assert_eq!(n1.sh("cat /root/ledger"), "slow");

    n1.sh("touch /root/go");
    let json = second("apply", &["--json", "-"]).expect(0).json();
    assert_eq!(outcome(&json, "n1", "slow")["attached"], true, "{json:#}");
    assert_eq!(outcome(&json, "n1", "after")["outcome"], "changed", "{json:#}");
    for node in &lab.nodes {
        assert_eq!(node.sh("cat /root/ledger"), "slow\nafter");
        assert_eq!(node.leftovers(), "free");
    }
    lab.assert_nothing_left();
}
