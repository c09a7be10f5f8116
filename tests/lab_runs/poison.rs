//! A secret is in the file that it belongs to, and nowhere else.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::support::{Lab, run};

const POISON: &str = "p01son-w1th-'quote";

/// Every file below a directory that holds the bytes.
fn holders(dir: &Path, needle: &[u8], found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            holders(&path, needle, found);
        } else if std::fs::read(&path).is_ok_and(|bytes| bytes.windows(needle.len()).any(|it| it == needle)) {
            found.insert(path.display().to_string());
        }
    }
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
    authorized_key: { user: mallory, key: \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA a@b\" }
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
    command: { script: \"test -n \\\"$TOKEN\\\"; ps -eo args >/root/ps; sleep 3; ps -eo args >>/root/ps; echo works with $TOKEN; printf %s \\\"$TOKEN\\\" | base64; printf %s \\\"$TOKEN\\\" | od -An -tx1\", env: { TOKEN: \"{{ secrets.token }}\" } }
  - name: fails
    command: { script: \"echo about to fail with $TOKEN; echo $TOKEN >&2; exit 3\", env: { TOKEN: \"{{ secrets.token }}\" } }
",
        "secrets: { token: { env: POISON_TOKEN }, sudo: { env: POISON_TOKEN } }",
        "become: { method: sudo, password: { secret: sudo } }",
        "",
    );
    let env = [("POISON_TOKEN", POISON), ("RUST_LOG", "trace")];
    let mut said = String::new();
    let plan = site.run_with("plan", &["-vvv"], &env, "").expect(0);
    said.extend([plan.out, plan.err]);

    // While it runs, nobody sees it in a list of processes here.
    let over = AtomicBool::new(false);
    let (seen, applied) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while !over.load(Ordering::Relaxed) {
                let lines = run("ps", &["-eo", "args"]).unwrap_or_default();
                seen.extend(lines.lines().filter(|line| line.contains("p01son")).map(str::to_owned));
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            seen
        });
        let junit = lab.text("junit.xml");
        let applied = site.run_with("apply", &["-vvv", "--json", "-", "--junit", &junit], &env, "");
        over.store(true, Ordering::Relaxed);
        (watcher.join().unwrap(), applied)
    });
    let applied = applied.expect(5).says("about to fail with");
    assert!(seen.is_empty(), "{seen:#?}");
    said.extend([applied.out, applied.err]);
    let log = said.split_whitespace().skip_while(|word| *word != "log:").nth(1);
    let log = std::fs::read_to_string(log.expect("a log is named")).unwrap();
    assert!(log.contains("failed: (secret ") && log.contains(" exec what=task "), "{log}");
    for (command, more) in
        [("report show", vec!["--output"]), ("report replay", vec!["-vv"]), ("verify", vec!["-vv"])]
    {
        let ran = site.run_with(command, &more, &env, "");
        said.extend([ran.out, ran.err]);
    }
    // A change of it shows that there is one, not what it was nor what it will be.
    node.sh("sed -i 's/token=.*/token=p01son-the-previous-one/' /etc/token");
    let drift = site
        .run_with("plan", &["-v", "--out", &lab.text("plan.json")], &env, "")
        .expect(0)
        .shows("/etc/token");
    said.extend([drift.out, drift.err]);

    // Both secrets have this value, so either name stands for it.
    assert!(said.contains("works with (secret "), "{said}");
    assert!(!said.contains("p01son"), "{said}");
    let mut found = BTreeSet::new();
    holders(&lab.path(""), b"p01son", &mut found);
    assert!(found.is_empty(), "{found:#?}");
    let encoded = "cDAxc29u";
    for form in [encoded, "70 30 31"] {
        assert!(!said.contains(form), "{said}");
    }

    assert_eq!(node.sh("grep -c p01son /root/ps || true"), "0");
    assert_eq!(
        node.sh("grep -rlI p01son /etc /root /run /tmp /var/log /home 2>/dev/null | sort"),
        "/etc/token"
    );
    assert_eq!(
        node.sh(&format!("grep -rlI {encoded} /etc /root /run /tmp /var/log /home 2>/dev/null || true")),
        ""
    );
    site.run_with("apply", &["--tags", "none"], &env, "");
    assert!(node.sh("stat -c %a /etc/token").ends_with("600"));
}
