//! The NVIDIA driver with real packages, and a host of dnf.

use super::resources::converges;
use super::support::{Lab, TOOLS, outcome};

/// User space of branch 535 from Debian's non-free, by the built-in playbook, into a container.
#[test]
fn nvidia_user_space() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let node = lab.node("n0");
    let site = lab.site(
        "driver",
        "
name: driver
tasks:
  - include: nvidia-driver
    with: { branch: \"535\", modules: none }
",
    );
    let json = site.apply(0);
    assert_eq!(outcome(&json, "n0", "NVIDIA driver")["outcome"], "changed", "{json:#}");
    let again = site.apply(0);
    assert_eq!(again["summary"]["tasks"]["changed"], 0, "{again:#}");
    site.run("verify", &[]).expect(0);
    let version = node.sh("dpkg-query -W -f '${Version}' libcuda1");
    assert!(version.starts_with("535."), "{version}");
    let held = node.sh("apt-mark showhold");
    assert!(
        held.lines().any(|name| name == "nvidia-smi") && held.lines().any(|name| name == "libnvidia-ml1")
    );
    // The loader finds the library, and the tool says that there is no module.
    node.sh("ldconfig -p | grep -q libcuda.so.1");
    let said = node.sh("nvidia-smi 2>&1 || echo status $?");
    assert!(said.contains("NVIDIA") || said.contains("NVML"), "{said}");
    assert!(said.contains("status "), "{said}");

    // A hold that is gone and a part that is gone come back.
    node.sh("apt-mark unhold libnvidia-ml1 >/dev/null; dpkg --force-depends --force-hold -r nvidia-smi >/dev/null 2>&1");
    site.run("verify", &[]).expect(6).shows("nvidia-smi");
    let json = site.apply(0);
    assert_eq!(outcome(&json, "n0", "NVIDIA driver")["outcome"], "changed", "{json:#}");
    assert_eq!(site.apply(0)["summary"]["tasks"]["changed"], 0);

    // A branch that no repository has takes nothing away.
    site.playbook(
        "
name: driver
tasks:
  - name: driver
    nvidia_driver: { branch: \"999\", modules: none }
",
    );
    site.run("apply", &[]).expect(5);
    assert_eq!(node.sh("dpkg-query -W -f '${Version}' libcuda1"), version);

    // The module itself is not for containers.
    site.playbook(
        "
name: driver
tasks:
  - name: driver
    nvidia_driver: { branch: \"535\" }
  - name: fabric manager
    fabric_manager: { wanted: always }
  - name: command line
    kernel_cmdline: { name: x, args: [provision.test=1] }
",
    );
    let json = site.run("apply", &["--json", "-"]).expect(7).json();
    assert_eq!(outcome(&json, "n0", "driver")["outcome"], "blocked", "{json:#}");
    lab.assert_nothing_left();
}

/// DKMS builds the proprietary module of Debian against real headers: about 10 minutes.
///
/// `cargo test --test lab -- --ignored nvidia_module_is_built`
#[test]
#[ignore = "builds a kernel module for 10 minutes"]
fn nvidia_module_is_built() {
    let Some(lab) = Lab::up(&["n0"], "{ packages: [linux-headers-amd64] }") else { return };
    let node = lab.node("n0");
    let site = lab.site(
        "module",
        "
name: module
tasks:
  - name: non-free
    file:
      path: /etc/apt/sources.list.d/non-free.sources
      content: |
        Types: deb
        URIs: http://deb.debian.org/debian
        Suites: bookworm
        Components: contrib non-free non-free-firmware
        Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
  - name: driver
    nvidia_driver: { branch: \"535\", load: false }
",
    );
    let json = site.apply(0);
    assert_eq!(outcome(&json, "n0", "driver")["outcome"], "changed", "{json:#}");
    assert_eq!(site.apply(0)["summary"]["tasks"]["changed"], 0);
    let status = node.sh("dkms status");
    assert!(status.contains("nvidia-current/535.") && status.contains(": installed"), "{status}");
    let kernel = node.sh("ls /lib/modules");
    let version = node.sh(&format!("modinfo -k {kernel} -F version nvidia-current"));
    assert!(version.starts_with("535."), "{version}");

    // A module that is lost is built again.
    node.sh(&format!("dkms uninstall $(dkms status | sed -n 's/,.*//p;q') -k {kernel} >/dev/null"));
    let json = site.apply(0);
    assert_eq!(outcome(&json, "n0", "driver")["outcome"], "changed", "{json:#}");
    node.sh(&format!("modinfo -k {kernel} -F version nvidia-current"));

    // Loaded it cannot be.
    site.playbook(
        "
name: module
tasks:
  - name: driver
    nvidia_driver: { branch: \"535\" }
",
    );
    let json = site.run("apply", &["--json", "-"]).expect(7).json();
    assert_eq!(outcome(&json, "n0", "driver")["outcome"], "blocked", "{json:#}");
}

/// Names that Debian's packages provide: one that one provides, one of several, one that is there already.
#[test]
fn names_that_other_packages_provide() {
    let Some(lab) = Lab::up(&["n0"], "{}") else { return };
    let node = lab.node("n0");
    let site = lab.site(
        "provided",
        "
name: provided
tasks:
  - name: packages
    package: { names: [libz-dev, awk], hold: true }
",
    );
    site.run("plan", &[]).shows("(provides libz-dev)");
    converges(&site, &["packages"]);
    assert_eq!(node.sh("apt-mark showhold"), "mawk\nzlib1g-dev");
    site.playbook(
        "
name: provided
tasks:
  - name: packages
    package: { names: [mail-transport-agent] }
",
    );
    let said = site.run("apply", &[]).expect(5);
    said.says("no package is called mail-transport-agent, and several provide it").says("postfix");
}

/// A host of dnf: Debian's dnf and rpm, with dpkg out of sight, and a signed repository made on the spot.
#[test]
fn dnf_packages_and_repositories() {
    let Some(lab) = Lab::up(&["n0"], TOOLS) else { return };
    let node = lab.node("n0");
    node.sh(r#"
        set -e
        export GNUPGHOME=/root/keys HOME=/root
        mkdir -p -m 700 /root/keys /root/build /srv/repo
        gpg -q --batch --pinentry-mode loopback --passphrase '' --quick-gen-key 'Packages of the lab' rsa3072 sign never
        gpg -q --armor --export >/srv/repo/KEY
        for release in 1.0-1 2.0-1 2.0-2; do
            version=${release%-*}
            printf 'Name: tool\nVersion: %s\nRelease: %s\nSummary: a tool\nLicense: MIT\nBuildArch: noarch\n%%description\nA tool.\n%%install\nmkdir -p %%{buildroot}/opt\necho %s >%%{buildroot}/opt/tool\n%%files\n/opt/tool\n' $version ${release#*-} $release >tool.spec
            rpmbuild -bb --define '_topdir /root/build' tool.spec >/dev/null 2>&1
        done
        printf 'Name: other\nVersion: 1\nRelease: 1\nSummary: another\nLicense: MIT\nBuildArch: noarch\n%%description\nAnother.\n%%files\n' >other.spec
        rpmbuild -bb --define '_topdir /root/build' other.spec >/dev/null 2>&1
        for pair in new-name:old-name first:choice second:choice; do
            printf 'Name: %s\nVersion: 1\nRelease: 1\nSummary: a provider\nLicense: MIT\nBuildArch: noarch\nProvides: %s\n%%description\nA provider.\n%%files\n' "${pair%:*}" "${pair#*:}" >provider.spec
            rpmbuild -bb --define '_topdir /root/build' provider.spec >/dev/null 2>&1
        done
        cp /root/build/RPMS/noarch/*.rpm /srv/repo
        rpmsign --define '_gpg_name Packages of the lab' --define '__gpg /usr/bin/gpg' --addsign /srv/repo/*.rpm >/dev/null
        createrepo_c -q /srv/repo
        printf 'ID=rocky\nVERSION_ID=9.4\nID_LIKE="rhel centos fedora"\nPRETTY_NAME=Rocky\n' >/etc/os-release
        # Debian switches a plugin on whose repository has no key, which other systems do not.
        sed -i 's/^enabled *=.*/enabled = false/' /etc/dnf/plugins/local.conf
        mkdir -p /opt/off
        mv /usr/bin/dpkg-query /usr/bin/dpkg /usr/bin/apt-get /usr/bin/apt-cache /opt/off
    "#);
    let fingerprint = node.sh("GNUPGHOME=/root/keys gpg -q --list-keys --with-colons | sed -n 's/^fpr:::::::::\\(.*\\):/\\1/p' | head -n 1");
    let play = |fingerprint: &str, tool: &str| {
        format!(
            "
name: dnf
tasks:
  - name: repository
    repository: {{ name: lab, url: \"file:///srv/repo\", exclude: [other], key: {{ url: \"file:///srv/repo/KEY\", fingerprint: \"{fingerprint}\" }} }}
  - name: tool
    package: {{ names: [tool], {tool} }}
"
        )
    };
    // Somebody else's key is not taken, and nothing is installed by it.
    let site = lab.site("dnf", &play(&"AB".repeat(20), ""));
    site.run("apply", &[]).expect(5).says("not ABAB");
    assert_eq!(
        node.sh("ls /etc/pki/rpm-gpg 2>/dev/null; rpm -q tool || true"),
        "package tool is not installed"
    );

    site.playbook(&play(&fingerprint, "version: \"1.0-1\""));
    converges(&site, &["repository", "tool"]);
    assert_eq!(node.sh("cat /opt/tool; rpm -q tool"), "1.0-1\ntool-1.0-1.noarch");
    // Of a version without its release the newest is taken, and it stays.
    for version in ["2.0", "2.*"] {
        site.playbook(&play(&fingerprint, "version: \"1.0\""));
        site.apply(0);
        site.playbook(&play(&fingerprint, &format!("version: \"{version}\"")));
        converges(&site, &["tool"]);
        assert_eq!(node.sh("cat /opt/tool"), "2.0-2");
    }
    // An older version is a downgrade.
    for version in ["2.0-1", "1.0-1"] {
        site.playbook(&play(&fingerprint, &format!("version: \"{version}\"")));
        converges(&site, &["tool"]);
        assert_eq!(node.sh("cat /opt/tool"), version);
    }
    site.playbook(&play(&fingerprint, "state: latest"));
    converges(&site, &["tool"]);
    assert_eq!(node.sh("cat /opt/tool"), "2.0-2");
    // A key of another time in that place is not the one that was asked for.
    node.sh("echo other >/etc/pki/rpm-gpg/RPM-GPG-KEY-lab; sed -i '/^# signed/d' /etc/yum.repos.d/lab.repo");
    converges(&site, &["repository"]);
    node.sh("cmp /srv/repo/KEY /etc/pki/rpm-gpg/RPM-GPG-KEY-lab");
    site.playbook(&play(&fingerprint, "state: absent"));
    converges(&site, &["tool"]);

    // A name that another package provides stands for that package, and several are a question.
    let asks = |name: &str| play(&fingerprint, "").replace("names: [tool]", &format!("names: [{name}]"));
    site.playbook(&asks("old-name"));
    site.run("plan", &[]).shows("+ new-name (provides old-name)");
    converges(&site, &["tool"]);
    node.sh("rpm -q new-name");
    site.playbook(&asks("choice"));
    site.run("apply", &[]).expect(5).says("put one of these into `names` instead: first, second");
    // With no metadata at hand nothing is known before dnf asks the repositories.
    node.sh("dnf -q clean all");
    site.run("apply", &[]).expect(5).says("several provide it");
    node.sh("! rpm -q first && ! rpm -q second && dnf -q -y install second >/dev/null");
    assert_eq!(site.apply(0)["summary"]["tasks"]["changed"], 0);

    // What is excluded is not there, and what nobody signed is not installed.
    site.playbook(&play(&fingerprint, "").replace("names: [tool]", "names: [other]"));
    site.run("apply", &[]).expect(5);
    node.sh(
        "rpmsign --delsign /srv/repo/tool-2*.rpm >/dev/null && createrepo_c -q /srv/repo && dnf -q clean all",
    );
    site.playbook(&play(&fingerprint, "version: \"2.0-1\""));
    site.run("apply", &[]).expect(5);
    node.sh("! rpm -q tool");

    site.playbook(
        "
name: dnf
tasks:
  - name: repository
    repository: { name: lab, state: absent }
",
    );
    converges(&site, &["repository"]);
    lab.assert_nothing_left();
}
