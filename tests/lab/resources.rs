//! Every resource of the first set on a real host: made so, changed, undone, and nothing to do after.

#![expect(clippy::indexing_slicing, reason = "these are tests, though not in functions that are marked so")]

use super::support::{Lab, Site, outcome};

const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKTEK/qu0DYVv1OWlNF0IJIP8HLsusbUGeMhFoEzcs0b trainer@lab";

/// Applies twice: the first time everything of `changed` changes, the second time nothing.
#[track_caller]
pub(super) fn converges(site: &Site<'_>, changed: &[&str]) {
    let json = site.apply(0);
    for task in changed {
        assert_eq!(outcome(&json, "n0", task)["outcome"], "changed", "{json:#}");
    }
    assert_eq!(json["summary"]["tasks"]["changed"], changed.len(), "{json:#}");
    let again = site.apply(0);
    assert_eq!(again["summary"]["tasks"]["changed"], 0, "{again:#}");
    site.run("verify", &[]).expect(0);
}

#[test]
fn files_and_accounts() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let node = lab.node("n0");
    node.sh("echo old >/etc/gone; printf 'a=1\\nb=2\\n' >/etc/lines; install -m 600 /dev/null /etc/kept; chown provision /etc/kept");
    let play = |state: &str, mode: &str, target: &str| {
        format!(
            "
name: files
tasks:
  - name: file
    file: {{ path: /etc/made, content: \"one\\n\", mode: \"{mode}\", owner: provision, group: provision }}
  - name: gone
    file: {{ path: /etc/gone, state: absent }}
  - name: keeps
    file: {{ path: /etc/kept, content: \"kept {mode}\\n\" }}
  - name: directory
    directory: {{ path: /srv/place, mode: \"{mode}\" }}
  - name: link
    symlink: {{ path: /srv/link, target: {target} }}
  - name: line
    line: {{ path: /etc/lines, match: \"^a=\", line: \"a={mode}\" }}
  - name: tree
    copy: {{ src: tree, path: /srv/tree, mode: \"0644\" }}
  - name: big
    copy: {{ src: big, path: /srv/big, mode: \"{mode}\" }}
  - name: template
    template: {{ src: it.tera, path: /srv/rendered }}
  - name: group
    group: {{ name: crew, gid: 4242, state: {state} }}
  - name: user
    user: {{ name: pilot, uid: 4243, group: crew, groups: [audio], shell: /bin/sh, home: /home/pilot, state: {state} }}
  - name: key
    authorized_key: {{ user: provision, key: \"{KEY}\", state: {state} }}
  - name: of a service
    user: {{ name: exporter, system: true, state: {state} }}
"
        )
    };
    // A user is removed before its group.
    let undo = |text: String| {
        let (group, user) = (text.find("  - name: group").unwrap(), text.find("  - name: user").unwrap());
        let key = text.find("  - name: key").unwrap();
        format!(
            "{}{}{}{}",
            &text[..group],
            &text[user..key].replace(", group: crew", ""),
            &text[group..user],
            &text[key..]
        )
    };
    let site = lab.site("files", &play("present", "0750", "/etc"));
    std::fs::create_dir_all(lab.path("files/tree/deep er")).unwrap();
    site.write("tree/one", "1\n");
    site.write("tree/deep er/two", "2\n");
    site.write("big", &"0123456789abcdef\n".repeat(200_000));
    site.write(
        "it.tera",
        "host {{ host.name }} {{ facts.os.family }}\n{% for name in [1, 2] %}{{ name }}\n{% endfor %}",
    );
    let all = [
        "file",
        "gone",
        "keeps",
        "directory",
        "link",
        "line",
        "tree",
        "big",
        "template",
        "group",
        "user",
        "key",
        "of a service",
    ];
    converges(&site, &all);
    assert_eq!(
        node.sh("stat -c '%a %U %G' /etc/made; cat /etc/made; ! test -e /etc/gone"),
        "750 provision provision\none"
    );
    assert_eq!(node.sh("stat -c '%a %U' /etc/kept"), "600 provision");
    assert_eq!(node.sh("readlink /srv/link; cat /etc/lines"), "/etc\na=0750\nb=2");
    assert_eq!(
        node.sh("cat '/srv/tree/deep er/two' /srv/rendered; wc -c </srv/big"),
        "2\nhost n0 debian\n1\n2\n3400000"
    );
    assert_eq!(
        node.sh("id pilot; getent passwd pilot"),
        "uid=4243(pilot) gid=4242(crew) groups=4242(crew),29(audio)\npilot:x:4243:4242::/home/pilot:/bin/sh"
    );
    let service = "getent passwd exporter | cut -d: -f7; [ $(id -u exporter) -lt 1000 ] && [ $(id -g exporter) -lt 1000 ]; ls -d /home/exporter 2>&1 | cut -d: -f1";
    assert_eq!(node.sh(service), "/usr/sbin/nologin\nls");
    // The key that lets us in is still there.
    assert_eq!(node.sh("wc -l </home/provision/.ssh/authorized_keys"), "2");

    // Drift of every kind is one plan, and undone.
    node.sh("chmod 700 /etc/made /srv/place /srv/big; echo x >>/srv/tree/one; ln -sfn /tmp /srv/link; usermod -s /bin/bash pilot; gpasswd -d pilot audio; sed -i '/trainer/d' /home/provision/.ssh/authorized_keys; echo a=9 >/etc/lines; echo junk >>/srv/rendered");
    site.run("verify", &[]).expect(6).shows("(mode 0700 -> 0750)").shows("-junk").shows("audio");
    converges(&site, &["file", "directory", "link", "line", "tree", "big", "template", "user", "key"]);

    site.playbook(&undo(play("absent", "0700", "/usr")));
    converges(
        &site,
        &["file", "keeps", "directory", "link", "line", "big", "group", "user", "key", "of a service"],
    );
    // The account of this login stays.
    let away = lab
        .site("away", "\nname: away\ntasks:\n  - name: user\n    user: { name: provision, state: absent }\n");
    away.run("apply", &[]).expect(5).says("provision is the account of this login");
    node.sh("getent passwd provision");
    node.sh("! getent passwd pilot && ! getent group crew && test \"$(wc -l </home/provision/.ssh/authorized_keys)\" = 1");
    lab.assert_nothing_left();
}

/// systemd reads no units again where it would take the GPUs from a container, which is played by a scope.
fn a_container_keeps_its_gpus(lab: &Lab) {
    let node = lab.node("n0");
    let start = |allowed: &str| {
        node.sh(&format!(
            ": >/dev/nvidia-uvm; systemctl stop docker-0123456789abcdef0123.scope 2>/dev/null; \
             setsid systemd-run -q --scope --unit=docker-0123456789abcdef0123 -p DevicePolicy=strict \
             -p 'DeviceAllow={allowed} rwm' sh -c 'exec 3</dev/nvidia-uvm; exec sleep 600' >/dev/null 2>&1 </dev/null &"
        ));
        node.wait_for("ls -l /proc/[0-9]*/fd/3 | grep -q nvidia-uvm");
    };
    let site = lab.site(
        "units",
        "
name: units
tasks:
  - name: enabled
    service: { name: napper, enabled: true }
  - name: unit
    file: { path: /etc/systemd/system/more.service, content: \"[Service]\\nExecStart=/bin/true\\n\" }
  - name: by hand
    command: { script: systemctl daemon-reload && touch /var/tmp/reloaded, creates: /var/tmp/reloaded }
  - name: plain
    file: { path: /etc/plain, content: \"x\\n\" }
",
    );
    start("/dev/null");
    let json = site.run("apply", &["--json", "-"]).expect(7).json();
    for name in ["enabled", "unit", "by hand"] {
        let reason = outcome(&json, "n0", name)["reason"].as_str().unwrap_or_default().to_owned();
        assert!(reason.contains("sleep in docker-0123456789abcdef ("), "{json:#}");
    }
    assert_eq!(outcome(&json, "n0", "plain")["outcome"], "changed", "{json:#}");
    assert_eq!(
        node.sh("ls /etc/systemd/system/more.service || true; systemctl is-enabled napper || true"),
        "disabled"
    );
    start("/dev/char/195:0");
    converges(&site, &["enabled", "unit", "by hand"]);
    node.sh(
        "systemctl stop docker-0123456789abcdef0123.scope; rm /dev/nvidia-uvm; systemctl disable -q napper",
    );
}

/// A service of type simple counts as started before it has read its files.
fn what_dies_right_after_its_start_is_a_failure(lab: &Lab) {
    let play = |word: &str| {
        format!(
            "
name: dies
tasks:
  - name: unit
    file:
      path: /etc/systemd/system/picky.service
      content: |
        [Service]
        ExecStart=/bin/sh -c 'grep -q good /etc/picky || {{ echo cannot read picky; exit 7; }}; exec sleep inf'
        [Install]
        WantedBy=multi-user.target
  - name: settings
    notify: restart picky
    file: {{ path: /etc/picky, content: \"{word}\\n\" }}
  - name: picky
    service: {{ name: picky, enabled: true, state: started }}
handlers:
  - name: restart picky
    service: {{ name: picky, state: restarted }}
"
        )
    };
    let site = lab.site("dies", &play("good"));
    // The unit is there when its task is due.
    site.run("plan", &[]).expect(0).shows("known after task \"unit\"");
    site.apply(0);
    assert_eq!(site.apply(0)["summary"]["tasks"]["changed"], 0);
    site.playbook(&play("bad"));
    let why = "picky.service ended right after its start (exit-code, status 7)";
    site.run("apply", &[]).expect(5).says(why).says("cannot read picky");
    site.playbook(&play("good"));
    site.apply(0);
    assert_eq!(site.apply(0)["summary"]["tasks"]["changed"], 0);
    lab.node("n0").sh(
        "systemctl disable -q --now picky; rm /etc/systemd/system/picky.service; systemctl daemon-reload",
    );
}

/// A timer that is masked while it runs fails for good: its host would be degraded.
fn timers_that_run_are_masked_and_not_failed(lab: &Lab) {
    let node = lab.node("n0");
    let timers = "apt-daily.timer apt-daily-upgrade.timer";
    node.sh(&format!(
        "systemctl unmask {timers} apt-daily.service apt-daily-upgrade.service 2>/dev/null && systemctl start {timers}"
    ));
    let site = lab.site(
        "nights",
        "name: nights\ntasks:\n  - name: no timers\n    loop: [apt-daily.timer, apt-daily-upgrade.timer]\n    \
         service: { name: \"{{ item }}\", state: stopped, masked: true }\n",
    );
    site.apply(0);
    assert_eq!(site.apply(0)["summary"]["tasks"]["changed"], 0);
    node.sh("systemctl daemon-reload");
    assert_eq!(node.sh(&format!("systemctl is-active {timers} || true")), "inactive\ninactive");
}

#[test]
fn packages_services_modules_and_commands() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let node = lab.node("n0");
    node.sh(
        "for unit in napper other gone; do
            printf '[Service]\\nExecStart=/bin/sleep infinity\\n[Install]\\nWantedBy=multi-user.target\\n' >/usr/lib/systemd/system/$unit.service
        done; systemctl daemon-reload; systemctl start other gone
        rm /usr/lib/systemd/system/gone.service; systemctl daemon-reload",
    );
    let site = lab.site(
        "system",
        "
name: system
tasks:
  - name: packages
    package: { names: [bc, dc] }
  - name: held
    package: { names: [tree], hold: true }
  - name: napper
    service: { name: napper, enabled: true, state: started }
  - name: other
    service: { name: other, masked: true, state: stopped }
  - name: gone
    service: { name: gone, masked: true, state: stopped }
  - name: creates
    command: { run: [touch, /root/created], creates: /root/created }
  - name: unless
    command: { script: 'echo \"$WORD\" >/root/unless', unless: \"grep -q hello /root/unless\", env: { WORD: hello } }
  - name: check
    command: { script: \"#!/bin/bash\\nset -o pipefail\\necho checked | tee check\", check: [test, -s, /root/check], chdir: /root }
",
    );
    converges(&site, &["packages", "held", "napper", "other", "gone", "creates", "unless", "check"]);
    assert_eq!(node.sh("apt-mark showhold; systemctl is-active napper; systemctl is-enabled napper; systemctl is-enabled other || true; systemctl is-active other gone || true; echo 2+2 | bc"), "tree\nactive\nenabled\nmasked\ninactive\ninactive\n4");

    // A dpkg that was killed while it unpacked.
    for status in ["half-installed", "unpacked"] {
        node.sh(&format!("sed -i '/^Package: dc$/,/^$/s/^Status: .*/Status: install reinstreq {status}/' /var/lib/dpkg/status"));
        converges(&site, &["packages"]);
        assert_eq!(node.sh("dpkg-query -W -f '${db:Status-Abbrev}' dc; dpkg --audit").trim(), "ii");
    }

    node.sh("systemctl stop napper; apt-mark unhold tree >/dev/null");
    converges(&site, &["held", "napper"]);
    site.playbook(
        "
name: system
tasks:
  - name: packages
    package: { names: [bc, dc], state: absent }
  - name: held
    package: { names: [tree], hold: false }
  - name: napper
    service: { name: napper, enabled: false, state: stopped }
  - name: other
    service: { name: other, masked: false, state: started }
",
    );
    converges(&site, &["packages", "held", "napper", "other"]);
    assert_eq!(node.sh("apt-mark showhold; systemctl is-active napper || true; systemctl is-enabled napper || true; systemctl is-active other; command -v bc || true"), "inactive\ndisabled\nactive");

    timers_that_run_are_masked_and_not_failed(&lab);
    a_container_keeps_its_gpus(&lab);
    what_dies_right_after_its_start_is_a_failure(&lab);

    // What a container cannot have is said, and is no failure; an unprovable command is no drift.
    let site = lab.site(
        "blocked",
        "
name: blocked
tasks:
  - name: module
    kernel_module: { name: nvidia-peermem, state: loaded }
  - name: always
    command: { script: \"echo again >>/root/always\" }
  - name: bad
    on_failure: continue
    when: facts.os.family == \"suse\"
    command: { run: [\"false\"] }
",
    );
    let ran = site
        .run("apply", &["--json", "-"])
        .expect(7)
        .says("Blocked")
        .says("in a container (docker): do it on the machine that runs it")
        .says("1 blocked");
    let json = ran.json();
    assert_eq!(outcome(&json, "n0", "module")["outcome"], "blocked", "{json:#}");
    assert_eq!(outcome(&json, "n0", "always")["outcome"], "ran");
    assert_eq!(outcome(&json, "n0", "bad")["outcome"], "skipped");
    assert_eq!(json["hosts"]["n0"]["status"], "ok");
    site.run("apply", &[]).expect(7);
    assert_eq!(node.sh("cat /root/always"), "again\nagain");
    site.run("plan", &[]).expect(0).shows("runs every time");
    assert_eq!(node.sh("cat /root/always"), "again\nagain");
    lab.assert_nothing_left();
}
