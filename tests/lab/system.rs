//! Settings of the system on a real host: made so, asked again, nothing to do; drift seen and undone.

use super::resources::converges;
use super::support::{Lab, outcome};

#[test]
fn kernel_limits_and_name() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let node = lab.node("n0");
    // The settings of the network are the container's own, once it may write them.
    node.sh("mount -o remount,rw,bind /proc/sys && sysctl -q -w net.ipv4.conf.all.arp_ignore=0 net.ipv4.tcp_rmem='4096 131072 6291456'");
    let playbook = "
name: system
tasks:
  - name: network
    sysctl:
      name: net
      values:
        net.ipv4.conf.all.arp_ignore: 1
        net.ipv4.tcp_rmem: \"4096 87380 4194304\"
        -net.ipv4.none: 1
  - name: limits
    limits: { name: rdma, values: { memlock: unlimited, nofile: 65536 }, services: true }
  - name: options
    modprobe_options: { module: ib_core, options: { netns_mode: 0 } }
  - name: hostname
    hostname: { name: renamed }
  - name: linked
    service: { name: linked, enabled: true }
  - name: script
    service: { name: old, enabled: true }
";
    // Two units that are known and that no boot starts.
    node.sh("printf '[Service]\\nExecStart=/bin/sleep inf\\n[Install]\\nWantedBy=multi-user.target\\n' >/opt/linked.service; systemctl -q link /opt/linked.service; \
             printf '#!/bin/sh\\n### BEGIN INIT INFO\\n# Provides: old\\n# Required-Start:\\n# Required-Stop:\\n# Default-Start: 2 3 4 5\\n# Default-Stop: 0 1 6\\n### END INIT INFO\\n' >/etc/init.d/old; \
             chmod +x /etc/init.d/old; systemctl daemon-reload");
    let site = lab.site("system", playbook);
    converges(&site, &["network", "limits", "options", "hostname", "linked", "script"]);
    node.sh("systemctl -q is-enabled linked && ls /etc/rc3.d/S??old");
    assert_eq!(
        node.sh("cat /proc/sys/net/ipv4/conf/all/arp_ignore /etc/sysctl.d/99-zz-provision-net.conf"),
        "1\nnet.ipv4.conf.all.arp_ignore = 1\nnet.ipv4.tcp_rmem = 4096 87380 4194304\n-net.ipv4.none = 1"
    );
    // The file is one that the tools of the system read.
    node.sh("sysctl -q -w net.ipv4.conf.all.arp_ignore=0; /usr/lib/systemd/systemd-sysctl /etc/sysctl.d/99-zz-provision-net.conf");
    assert_eq!(node.sh("cat /proc/sys/net/ipv4/conf/all/arp_ignore"), "1");
    // A boot reads all files, and the last word is ours.
    node.sh("echo net.ipv4.conf.all.arp_ignore=2 >>/etc/sysctl.conf; ln -sf ../sysctl.conf /etc/sysctl.d/99-sysctl.conf; /usr/lib/systemd/systemd-sysctl --prefix=/net/ipv4/conf/all/arp_ignore");
    assert_eq!(node.sh("cat /proc/sys/net/ipv4/conf/all/arp_ignore"), "1");
    assert_eq!(node.sh("hostname; cat /etc/hostname"), "renamed\nrenamed");
    assert_eq!(node.sh("cat /etc/modprobe.d/provision-ib_core.conf"), "options ib_core netns_mode=0");
    // What services get: as far as the machine that the container runs on allows it.
    assert_eq!(
        node.sh("systemctl show -p LimitMEMLOCK -p LimitNOFILE ssh"),
        "LimitNOFILE=65536\nLimitMEMLOCK=infinity"
    );

    node.sh("sysctl -q -w net.ipv4.conf.all.arp_ignore=2; hostname other; echo x >>/etc/security/limits.d/90-provision-rdma.conf; rm /etc/systemd/system.conf.d/90-provision-rdma.conf; systemctl daemon-reexec");
    site.run("verify", &[]).expect(6).shows("2 -> 1").shows("other -> renamed").shows("8388608");
    converges(&site, &["network", "limits", "hostname"]);

    site.playbook(
        "
name: system
tasks:
  - name: network
    sysctl: { name: net, state: absent }
  - name: limits
    limits: { name: rdma, services: true, state: absent }
  - name: options
    modprobe_options: { module: ib_core, state: absent }
",
    );
    converges(&site, &["network", "limits", "options"]);
    node.sh("! ls /etc/sysctl.d/90-* /etc/security/limits.d/90-* /etc/systemd/*.conf.d/90-* /etc/modprobe.d/provision-* 2>/dev/null | grep .");

    // A setting of the kernel below is blocked, not faked, and written for the next boot all the same.
    node.sh("mount -o remount,ro,bind /proc/sys; mount --bind /proc/sys/net /proc/sys/net; mount -o remount,rw,bind /proc/sys/net");
    let site = lab.site(
        "blocked",
        "
name: blocked
tasks:
  - name: below
    sysctl: { name: below, values: { vm.swappiness: 1, net.core.somaxconn: 7000 } }
  - name: file only
    sysctl: { name: file, values: { vm.swappiness: 1 }, live: false }
",
    );
    let json = site.run("apply", &["--json", "-"]).expect(7).json();
    let below = outcome(&json, "n0", "below");
    assert_eq!(below["outcome"], "changed", "{json:#}");
    assert!(
        below["blocked"].as_str().unwrap().contains("vm.swappiness cannot be set in a container"),
        "{below:#}"
    );
    let both = "cat /etc/sysctl.d/99-zz-provision-below.conf /proc/sys/net/core/somaxconn";
    assert_eq!(node.sh(both), "vm.swappiness = 1\nnet.core.somaxconn = 7000\n7000");
    // Whoever asks for the end learns it.
    site.run("verify", &[]).expect(7).shows("Unverified  1 task blocked, exit code 7");
    site.run("plan", &[]).expect(0).shows("nothing to change, 1 blocked");
    site.run("plan", &["--exit-code"]).expect(7);
    let again = site.run("apply", &["--json", "-"]).expect(7).json();
    assert_eq!(outcome(&again, "n0", "below")["outcome"], "blocked", "{again:#}");
    assert_eq!(outcome(&json, "n0", "file only")["outcome"], "changed", "{json:#}");
    lab.assert_nothing_left();
}

#[test]
fn clocks() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let node = lab.node("n0");
    let site = lab.site(
        "clock",
        "
name: clock
tasks:
  - name: clock
    time_sync: { servers: [192.0.2.1, 192.0.2.2] }
",
    );
    // Nobody keeps the clock yet, and what to do is said.
    site.run("apply", &[]).expect(5).says("install the package chrony");
    // The drop-in of the playbook `chrony`: measure without setting, since this is a container.
    node.sh(
        "mkdir -p /etc/systemd/system/chrony.service.d
        printf '[Unit]\\nConditionCapability=\\n[Service]\\nExecStart=\\nExecStart=!/usr/sbin/chronyd -F 1 -x\\n' >/etc/systemd/system/chrony.service.d/x.conf
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chrony >/dev/null 2>&1
        systemctl daemon-reload; systemctl restart chrony",
    );
    converges(&site, &["clock"]);
    assert_eq!(node.sh("chronyc -n sources | grep -o '192[.0-9]*' | sort"), "192.0.2.1\n192.0.2.2");
    node.sh("systemctl disable -q --now chrony; sed -i 's/192.0.2.2/192.0.2.3/' /etc/chrony/chrony.conf");
    site.run("verify", &[]).expect(6).shows("+server 192.0.2.2");
    converges(&site, &["clock"]);
    assert_eq!(node.sh("systemctl is-active chrony; chronyc -n sources | grep -c 192.0.2.2"), "active\n1");
    lab.assert_nothing_left();
}
