//! A secret is in the file that it belongs to, and nowhere else.

#![expect(clippy::unwrap_used, reason = "these are tests, though not in functions that are marked so")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;

use super::support::{Lab, Node, run};

const POISON: &str = "p01son-w1th-'quote";
/// What a leak of it has: as it is, in base64 behind nought, one and two other bytes, in hex, and as `od` prints it.
const FORMS: [&str; 6] = ["p01son", "cDAxc29u", "AwMXNvb", "wMDFzb2", "703031736f6e", "70 30 31 73"];

fn leaks(bytes: &[u8]) -> bool {
    FORMS.iter().any(|form| bytes.windows(form.len()).any(|it| it == form.as_bytes()))
}

/// Every file below a directory with a leak in it.
fn leaking_files(dir: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => leaking_files(&path, found),
            // A pipe would be waited for.
            Ok(kind) if kind.is_file() && std::fs::read(&path).is_ok_and(|bytes| leaks(&bytes)) => {
                found.insert(path.display().to_string());
            }
            _ => {}
        }
    }
}

/// Looks at all argument lists and files of a host until it is told to stop: as root, and as a user without
/// rights. The forms are in a file, because whoever looks for them in arguments finds itself.
const WATCH: &str = r"
mkdir -p /opt/watch && cd /opt/watch && rm -f stop argv files others
id mallory >/dev/null 2>&1 || useradd -m mallory
: >others && chown mallory others && chmod 755 /opt/watch
cat >watch.sh <<'END'
while [ ! -e stop ]; do
    cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -a -f forms >>argv
    grep -rlaf forms /etc /root /run /tmp /var /home /dev/shm 2>/dev/null >>files
    sleep 0.1
done
END
cat >others.sh <<'END'
while [ ! -e stop ]; do
    { cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\0' '\n'; } 2>/dev/null | grep -a -f forms >>others
    grep -rlaf forms /etc /root /run /tmp /var /home /dev/shm 2>/dev/null >>others
    sleep 0.1
done
END
setsid sh watch.sh >/dev/null 2>&1 &
setsid su mallory -s /bin/sh -c 'cd /opt/watch && exec sh others.sh' >/dev/null 2>&1 &
";

/// Leaks into an argument list and a file of the host until both are seen, for five minutes at most: one look
/// at all files takes one on a busy machine.
const UNTIL_SEEN: &str = r"
printf p01son >/tmp/gone && chmod 644 /tmp/gone && cd /opt/watch
sh -c 'for i in $(seq 3000); do
    grep -q cDA argv && grep -q /tmp/gone files && grep -q cDA others && grep -q /tmp/gone others && break
    sleep 0.1
done' sh cDAxc29u
rm /tmp/gone
";

/// Does something; what leaks on both machines meanwhile, and the files of the host that root saw with it.
fn watched<T>(lab: &Lab, node: &Node, work: impl FnOnce() -> T) -> (T, BTreeSet<String>, BTreeSet<String>) {
    node.sh(&format!(
        "mkdir -p /opt/watch; printf '%s\\n' {} >/opt/watch/forms",
        FORMS.map(|form| format!("'{form}'")).join(" ")
    ));
    node.sh(WATCH);
    let over = AtomicBool::new(false);
    let (done, mut seen) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while !over.load(Ordering::Relaxed) {
                for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
                    let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                    // Lists of the host's own processes are seen there.
                    if leaks(&line) {
                        seen.insert(format!(
                            "arguments: {}",
                            String::from_utf8_lossy(&line).replace('\0', " ")
                        ));
                    }
                }
                leaking_files(&lab.path(""), &mut seen);
                std::thread::sleep(Duration::from_millis(50));
            }
            seen
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        (done, watcher.join().unwrap())
    });
    node.sh("touch /opt/watch/stop; sleep 0.5");
    let lines = |file: &str| -> BTreeSet<String> {
        node.sh(&format!("sort -u /opt/watch/{file} 2>/dev/null || true"))
            .lines()
            .map(str::to_owned)
            .collect()
    };
    seen.extend(lines("argv").into_iter().map(|line| format!("arguments on the host: {line}")));
    seen.extend(lines("others").into_iter().map(|line| format!("seen by another user: {line}")));
    (done, seen, lines("files"))
}

/// What leaks now: what was said, files of this machine, files of the host.
fn scan(lab: &Lab, node: &Node, said: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if leaks(said.as_bytes()) {
        found.insert("said".to_owned());
    }
    leaking_files(&lab.path(""), &mut found);
    let there =
        node.sh("grep -rlaf /opt/watch/forms /etc /root /run /tmp /var /home /dev/shm 2>/dev/null || true");
    found.extend(there.lines().map(|path| format!("host: {path}")));
    found
}

/// An account without rights writes down what stands for a secret in our texts; what provision
/// then writes beside it holds that very text and no secret.
#[test]
fn an_account_on_a_host_cannot_ask_for_a_secret() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let node = lab.node("n0");
    node.sh(
        "useradd -m mallory; install -d -o mallory -m 700 ~mallory/.ssh; echo '# {{provision-secret:token}}' >~mallory/.ssh/authorized_keys; chown mallory ~mallory/.ssh/authorized_keys; chmod 600 ~mallory/.ssh/authorized_keys; printf '# {{provision-secret:token}}\\nkept\\n' >/etc/shared.conf",
    );
    let site = lab.site_with(
        "mallory",
        "
name: mallory
tasks:
  - name: key
    authorized_key: { user: mallory, key: \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKTEK/qu0DYVv1OWlNF0IJIP8HLsusbUGeMhFoEzcs0b a@b\" }
  - name: line
    line: { path: /etc/shared.conf, line: added }
  - name: token
    file: { path: /etc/token, content: \"{{ secrets.token }}\", mode: \"0600\" }
",
        "secrets: { token: { env: POISON_TOKEN } }",
        "become: sudo",
        "",
    );
    let env = [("POISON_TOKEN", "p01son")];
    site.run_with("apply", &[], &env, "").expect(0);
    assert_eq!(node.sh("cat /etc/token"), "p01son");
    for (path, added) in [("~mallory/.ssh/authorized_keys", "ssh-ed25519"), ("/etc/shared.conf", "added")] {
        let text = node.sh(&format!("cat {path}"));
        assert!(text.contains("# {{provision-secret:token}}") && text.contains(added), "{text}");
        assert!(!text.contains("p01son"), "{text}");
    }
}

/// All that a host is sent is kept by its login shell: no host gets a secret that only another one's task names, nor
/// the password of sudo of another one.
#[test]
fn a_host_is_sent_only_the_secrets_of_its_own_tasks() {
    let Some(lab) = Lab::up(&["n0", "n1"], "{}") else { return };
    for node in &lab.nodes {
        node.sh("cat >/opt/recorder <<'END'
#!/bin/bash
umask 077
exec /bin/sh \"$@\" < <(exec tee \"$HOME/sent-$$\")
END
chmod 755 /opt/recorder; usermod -s /opt/recorder provision");
    }
    lab.node("n1").sh(
        "printf 'provision:sud0-of-n1' | chpasswd; echo 'provision ALL=(ALL:ALL) ALL' >/etc/sudoers.d/10-lab",
    );
    let port = lab.node("n1").port;
    let site = lab.site_with(
        "own",
        "
name: own
tasks:
  - name: one
    hosts: n0
    file: { path: /etc/token, content: \"{{ secrets.one }}\", mode: \"0600\" }
  - name: two
    hosts: n1
    command: { script: \"test -n \\\"$TOKEN\\\"\", env: { TOKEN: \"{{ secrets.two }}\" } }
",
        "secrets: { one: { env: ONE }, two: { env: TWO }, sudo: { env: SUDO } }",
        "become: sudo",
        &format!(
            "  n1: {{ address: 127.0.0.1, ssh: {{ port: {port}, become: {{ method: sudo, password: {{ secret: sudo }} }} }} }}\n"
        ),
    );
    let env = [("ONE", "alpha-s3cret"), ("TWO", "bravo-s3cret"), ("SUDO", "sud0-of-n1")];
    for command in ["plan", "verify", "apply", "apply"] {
        site.run_with(command, &[], &env, "").expect(if command == "verify" { 6 } else { 0 });
    }
    assert_eq!(lab.node("n0").sh("cat /etc/token"), "alpha-s3cret");
    let sent = |node: &str, secret: &str| {
        let text = lab.node(node).sh("cat ~provision/sent-*");
        // Data travels in base64 as well, behind nought, one and two other bytes.
        let mut forms = vec![secret.to_owned()];
        forms.extend((0..3).map(|shift: usize| {
            let text = BASE64_STANDARD_NO_PAD.encode("?".repeat(shift) + secret);
            text[(shift * 8).div_ceil(6)..text.len() - 1].to_owned()
        }));
        forms.iter().any(|form| text.contains(form))
    };
    for (node, secret, own) in [
        ("n0", "alpha-s3cret", true),
        ("n0", "bravo-s3cret", false),
        ("n0", "sud0-of-n1", false),
        ("n1", "alpha-s3cret", false),
        ("n1", "bravo-s3cret", true),
        ("n1", "sud0-of-n1", true),
    ] {
        assert_eq!(sent(node, secret), own, "{secret} to {node}");
    }
}

#[test]
fn a_secret_is_nowhere_but_in_its_file() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let node = lab.node("n0");
    // sudo wants the same poison as its password.
    node.sh(&format!(
        "cat >/root/pw <<'END'\nprovision:{POISON}\nEND\nchpasswd </root/pw; rm /root/pw; usermod -U provision 2>/dev/null; echo 'provision ALL=(ALL:ALL) ALL' >/etc/sudoers.d/10-lab"
    ));
    let site = lab.site_with(
        "poison",
        "
name: poison
tasks:
  - name: file
    file: { path: /etc/token, content: \"token={{ secrets.token }}\\n\", mode: \"0600\" }
  - name: works
    command: { script: \"test -n \\\"$TOKEN\\\"; sleep 3; echo works with $TOKEN; printf %s \\\"$TOKEN\\\" | base64; printf %s \\\"$TOKEN\\\" | od -An -tx1\", env: { TOKEN: \"{{ secrets.token }}\" } }
  - name: fails
    command: { script: \"echo about to fail with $TOKEN; echo $TOKEN >&2; exit 3\", env: { TOKEN: \"{{ secrets.token }}\" } }
",
        "secrets: { token: { env: POISON_TOKEN }, sudo: { env: POISON_TOKEN } }",
        "become: { method: sudo, password: { secret: sudo } }",
        "",
    );
    // Temporary files, too, are where they are looked for.
    std::fs::create_dir(lab.path("tmp")).unwrap();
    let tmp = lab.text("tmp");
    let env = [("POISON_TOKEN", POISON), ("RUST_LOG", "trace"), ("TMPDIR", &tmp)];
    let reports = ["page.html", "junit.xml", "run.prom", "plan.json"].map(|name| lab.text(name));
    let [html, junit, prometheus, plan] = &reports;
    let mut said = String::new();
    let planned = site.run_with("plan", &["-vvv", "--out", plan], &env, "").expect(0);
    said.extend([planned.out, planned.err]);

    let (applied, seen, files) = watched(&lab, node, || {
        let reports = ["--html", html, "--junit", junit, "--prometheus", prometheus];
        site.run_with("apply", &[&["-vvv", "--json", "-"][..], &reports].concat(), &env, "")
    });
    let applied = applied.expect(5).says("about to fail with");
    assert!(seen.is_empty(), "{seen:#?}");
    // Until the controller has it, what a task is and prints is in the spool of root.
    let kept = |path: &str| path.starts_with("/etc/token") || path.starts_with("/run/provision/spool/");
    let elsewhere: Vec<&String> = files.iter().filter(|path| !kept(path)).collect();
    assert!(files.contains("/etc/token") && elsewhere.is_empty(), "{files:#?}");
    said.extend([applied.out, applied.err]);
    let log = said.split_whitespace().skip_while(|word| *word != "log:").nth(1).map(PathBuf::from);
    let log = log.expect("a log is named");
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("failed: (secret ") && text.contains(" exec what=task "), "{text}");
    for (command, more) in
        [("report show", vec!["--output"]), ("report replay", vec!["-vv"]), ("verify", vec!["-vv"])]
    {
        let ran = site.run_with(command, &more, &env, "");
        said.extend([ran.out, ran.err]);
    }
    // A change of it shows that there is one, not what it was nor what it will be.
    node.sh("sed -i 's/token=.*/token=p01son-the-previous-one/' /etc/token");
    let drift = site.run_with("plan", &["-v", "--out", plan], &env, "").expect(0).shows("/etc/token");
    said.extend([drift.out, drift.err]);

    // Both secrets have this value, so either name stands for it.
    assert!(said.contains("works with (secret "), "{said}");
    assert_eq!(scan(&lab, node, &said), ["host: /etc/token".to_owned()].into(), "{said}");
    site.run_with("apply", &["--tags", "none"], &env, "");
    assert!(node.sh("stat -c %a /etc/token").ends_with("600"));

    // Who finds nothing has to be able to find something: a leak in each place is seen, and nothing else.
    let events = log.with_file_name("events.jsonl");
    assert!(events.exists() && reports.iter().all(|report| Path::new(report).exists()));
    let below = lab.path("tmp/deep/er");
    std::fs::create_dir_all(&below).unwrap();
    let mut places = vec![events, log, below.join("file"), lab.path("core.4711"), lab.path("run/left")];
    places.extend(reports.iter().map(PathBuf::from));
    for (place, form) in places.iter().zip(FORMS.into_iter().cycle()) {
        let before = std::fs::read(place).unwrap_or_default();
        std::fs::write(place, [&before[..], b"\0\xff", form.as_bytes(), b"\0"].concat()).unwrap();
        let expected = [place.display().to_string(), "host: /etc/token".to_owned()];
        assert_eq!(scan(&lab, node, &said), expected.into(), "{form}");
        std::fs::write(place, before).unwrap();
    }
    for form in FORMS {
        assert!(scan(&lab, node, &format!("{said}\n{form}")).contains("said"), "{form}");
    }
    for place in
        ["/tmp/deep/file", "/var/tmp/core.1", "/var/log/log", "/dev/shm/x", "/run/provision/spool/left"]
    {
        node.sh(&format!("mkdir -p $(dirname {place}); printf 'a\\0%s\\0' p01son >{place}"));
        assert!(scan(&lab, node, &said).contains(&format!("host: {place}")), "{place}");
        node.sh(&format!("rm {place}"));
    }
    // What goes again before the end of a run is seen as well.
    let gone = lab.text("tmp/gone");
    let ((), seen, files) = watched(&lab, node, || {
        std::fs::write(&gone, POISON).unwrap();
        std::thread::scope(|scope| {
            let while_it_is = "while [ -e \"$1\" ]; do sleep 0.1; done";
            let here = scope.spawn(|| run("sh", &["-c", while_it_is, "sh", &gone, POISON]));
            node.sh(UNTIL_SEEN);
            std::thread::sleep(Duration::from_secs(1));
            std::fs::remove_file(&gone).unwrap();
            here.join().unwrap().unwrap();
        });
    });
    assert!(files.contains("/tmp/gone"), "{files:#?}");
    for what in [
        "arguments: sh ",
        "arguments on the host: cDAxc29u",
        "seen by another user: /tmp/gone",
        "seen by another user: cDAxc29u",
        &gone,
    ] {
        assert!(seen.iter().any(|line| line.starts_with(what)), "{what} is not in {seen:#?}");
    }
}
