//! Builds from source on real hosts: an autotools project that is made on the spot.

use serde_json::Value as Json;

use super::support::{Lab, TOOLS, outcome};

/// A small project of autoconf and automake, packed by its own `make dist`. Its program takes its
/// time to compile when `SLOW` is in its environment, and every build leaves a line.
const PROJECT: &str = r#"
set -eu
rm -rf /root/hello && mkdir -p /root/hello/src && cd /root/hello
cat >configure.ac <<'END'
AC_INIT([hello], [1.0])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
AC_ARG_WITH([greeting], [AS_HELP_STRING([--with-greeting], [what it says])], [], [with_greeting=hello])
AC_DEFINE_UNQUOTED([GREETING], ["$with_greeting"], [what it says])
AC_CONFIG_HEADERS([config.h])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
cat >Makefile.am <<'END'
bin_PROGRAMS = hello
hello_SOURCES = src/hello.c
all-local: mark
mark: hello
	echo built >>/root/builds
	if test -n "$$SLOW"; then sleep "$$SLOW"; fi
	touch mark
END
cat >src/hello.c <<'END'
#include <stdio.h>
#include "config.h"
int main(void) { puts(GREETING); return 0; }
END
autoreconf -i >/root/autoreconf.log 2>&1
./configure >/dev/null && make dist >/dev/null
mkdir -p /usr/local/src && mv hello-1.0.tar.gz /usr/local/src/
rm -f /root/builds
"#;

fn play(kind: &str, greeting: &str, slow: &str) -> String {
    format!(
        "
name: builds
tasks:
  - name: hello
    {kind}:
      source: /usr/local/src/hello-1.0.tar.gz
      prefix: /opt/hello
      options: [\"--with-greeting={greeting}\"]
      space: 16
      env: {{ SLOW: \"{slow}\" }}
"
    )
}

#[test]
fn a_build_is_made_once_again_and_after_a_kill() {
    let Some(lab) = Lab::up(&["n0"], TOOLS) else { return };
    let node = lab.node("n0");
    node.sh(PROJECT);
    let site = lab.site("builds", &play("build", "one", ""));
    let changed = |code| site.apply(code)["summary"]["tasks"]["changed"].as_u64().unwrap_or(99);
    site.run("plan", &[]).expect(0).shows("+ /opt/hello (build of hello-1.0.tar.gz)");
    assert_eq!(changed(0), 1);
    assert_eq!(node.sh("/opt/hello/bin/hello; wc -l </root/builds"), "one\n1");
    assert_eq!(changed(0), 0);
    site.run("verify", &[]).expect(0);
    assert_eq!(node.sh("wc -l </root/builds"), "1", "nothing was built again");

    // Another option.
    site.playbook(&play("build", "two", ""));
    site.run("plan", &[]).expect(0).shows("~ /opt/hello (build again: option)");
    assert_eq!(changed(0), 1);
    assert_eq!(node.sh("/opt/hello/bin/hello"), "two");

    // A build that is killed half-way leaves the old prefix, and is repeated cleanly.
    site.playbook(&play("build", "three", "300"));
    let running = site.spawn("apply", &[]);
    node.wait_for("test \"$(wc -l </root/builds)\" = 3");
    node.sh("systemctl list-units --no-legend 'provision-*' | grep -q running");
    node.sh("systemctl kill --signal=KILL 'provision-*'");
    running.wait().expect(5).says("it was killed");
    assert_eq!(node.sh("/opt/hello/bin/hello; ls -A /opt"), "two\nhello", "the prefix is whole");
    site.playbook(&play("build", "three", ""));
    assert_eq!(changed(0), 1);
    assert_eq!(changed(0), 0);
    assert_eq!(
        node.sh("/opt/hello/bin/hello; ls -A /opt /var/cache/provision/build/hello"),
        "three\n/opt:\nhello\n\n/var/cache/provision/build/hello:\nlog"
    );

    // The controller dies: the build goes on, and the next run takes its result.
    site.playbook(&play("build", "four", "8"));
    let running = site.spawn("apply", &[]);
    node.wait_for("test \"$(wc -l </root/builds)\" = 5");
    running.kill();
    let json = site.apply(0);
    assert_eq!(outcome(&json, "n0", "hello")["outcome"], "changed", "{json:#}");
    assert_eq!(node.sh("/opt/hello/bin/hello; wc -l </root/builds"), "four\n5", "it was not repeated");

    // A failure shows the last lines of its log.
    site.playbook(&play("build", "five", "").replace("env:", "targets: [nosuch]\n      env:"));
    site.run("apply", &[])
        .expect(5)
        .says("No rule to make target")
        .says("/var/cache/provision/build/hello/log");
    assert_eq!(node.sh("/opt/hello/bin/hello"), "four");
    lab.assert_nothing_left();
}

#[test]
fn a_shared_prefix_is_built_by_one_host() {
    let Some(lab) = Lab::up(&["n0", "n1"], &TOOLS.replace(" }", ", shared: [/opt] }")) else { return };
    lab.node("n0").sh(PROJECT);
    lab.node("n0").sh("mkdir /opt/src && mv /usr/local/src/hello-1.0.tar.gz /opt/src/");
    let site = lab.site("builds", &play("build", "shared", "2").replace("/usr/local/src", "/opt/src"));
    let json = site.apply(0);
    assert_eq!(json["summary"]["tasks"]["changed"], 1, "{json:#}");
    assert_eq!(json["summary"]["tasks"]["unchanged"], 1, "{json:#}");
    let built: Vec<String> =
        lab.nodes.iter().map(|node| node.sh("cat /root/builds 2>/dev/null || :")).collect();
    assert_eq!(built.iter().filter(|lines| !lines.is_empty()).count(), 1, "{built:?}");
    for node in &lab.nodes {
        assert_eq!(node.sh("/opt/hello/bin/hello"), "shared");
    }
    assert_eq!(site.apply(0)["summary"]["tasks"]["changed"], 0);
    site.run("verify", &[]).expect(0);
}

/// One host builds, the others take it from those who have it; a host of another kind builds for itself.
#[test]
fn one_host_builds_for_all_of_its_kind() {
    let Some(lab) = Lab::up(&["n0", "n1", "n2"], TOOLS) else { return };
    // The archive is the same on all hosts, byte by byte.
    let first = lab.node("n0");
    first.sh(PROJECT);
    let archive = first.sh("base64 -w 0 /usr/local/src/hello-1.0.tar.gz");
    for name in ["n1", "n2"] {
        lab.node(name).sh(&format!(
            "mkdir -p /usr/local/src; echo {archive} | base64 -d >/usr/local/src/hello-1.0.tar.gz"
        ));
    }
    let play = |greeting: &str| {
        format!(
            "
name: builds
tasks:
  - include: ssh-mesh
  - name: hello
    build_once:
      build:
        source: /usr/local/src/hello-1.0.tar.gz
        prefix: /opt/hello
        options: [\"--with-greeting={greeting}\"]
        space: 16
"
        )
    };
    let all = |command: &str| -> Vec<String> { lab.nodes.iter().map(|node| node.sh(command)).collect() };
    let site = lab.site("builds", &play("once"));
    let json = site.apply(0);
    let from = |host: &str| outcome(&json, host, "hello")["changes"].to_string().contains("(from n");
    assert_eq!(["n0", "n1", "n2"].into_iter().filter(|host| from(host)).count(), 2, "{json:#}");
    assert_eq!(all("/opt/hello/bin/hello"), ["once"; 3]);
    assert_eq!(all("cat /root/builds 2>/dev/null || :").concat(), "built", "one host compiled");
    let digests: std::collections::BTreeSet<String> =
        all("cd /opt/hello && find . -type f -exec sha256sum {} + | sort").into_iter().collect();
    assert_eq!(digests.len(), 1, "{digests:?}");
    assert_eq!(site.counts(0)["changed"], 0);

    // A host that lost a file gets it from another one.
    lab.node("n1").sh("rm /opt/hello/bin/hello");
    let json = site.apply(0);
    assert!(outcome(&json, "n1", "hello")["changes"].to_string().contains("(from n"), "{json:#}");
    assert_eq!(all("cat /root/builds 2>/dev/null || :").concat(), "built");

    // Another system is another kind.
    lab.node("n2").sh("sed -i 's/^VERSION_ID=.*/VERSION_ID=\"99\"/' /etc/os-release; rm -f /root/builds");
    lab.node("n0").sh("rm -f /root/builds");
    lab.node("n1").sh("rm -f /root/builds");
    site.playbook(&play("twice"));
    site.apply(0);
    assert_eq!(all("/opt/hello/bin/hello"), ["twice"; 3]);
    assert_eq!(lab.node("n2").sh("cat /root/builds"), "built");
    assert_eq!(all("cat /root/builds 2>/dev/null || :").concat(), "builtbuilt");
    assert_eq!(site.counts(0)["changed"], 0);
    lab.assert_nothing_left();
}

/// Open MPI from Debian's source archive, compiled by one host for three, starts a process on each.
#[test]
#[ignore = "compiles Open MPI for 15 minutes: cargo test --test lab open_mpi -- --ignored"]
fn open_mpi_is_built_once_and_starts_on_all() {
    let packages = "{ packages: [gcc, g++, libc6-dev, make, perl, xz-utils, file, libevent-dev, libhwloc-dev, zlib1g-dev] }";
    let Some(lab) = Lab::up(&["n0", "n1", "n2"], packages) else { return };
    for node in &lab.nodes {
        node.sh(
            "cd /usr/local/src; \
             for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do \
                 [ ! -f $list ] || sed -n 's/^deb /deb-src /p' $list >>/etc/apt/sources.list.d/source.list; done; \
             apt-get -qq update && apt-get -qq source --download-only openmpi && mv openmpi_*.orig.tar.xz openmpi.tar.xz",
        );
    }
    let play = "
name: mpi
tasks:
  - include: ssh-mesh
  - name: Open MPI
    build_once:
      build:
        source: /usr/local/src/openmpi.tar.xz
        prefix: /opt/openmpi
        options: [--enable-mpirun-prefix-by-default, --disable-mpi-fortran, --without-verbs, --enable-mca-no-build=btl-openib]
";
    let site = lab.site_with("mpi", play, "", "become: sudo", "");
    let json = site.apply(0);
    let from = |host: &str| outcome(&json, host, "Open MPI")["changes"].to_string().contains("(from n");
    assert_eq!(["n0", "n1", "n2"].into_iter().filter(|host| from(host)).count(), 2, "{json:#}");
    assert_eq!(site.counts(0)["changed"], 0);
    let version = lab.node("n2").sh("/opt/openmpi/bin/mpirun --version | head -n 1");
    assert!(version.contains("(Open MPI) 4.1."), "{version}");
    let started = site.run("verify", &["--active", "--json", "-"]).json();
    for host in ["n0", "n1", "n2"] {
        let checks = started["hosts"][host]["checks"].as_array().unwrap();
        let status =
            checks.iter().find(|check| check["check"] == "active.mpirun").map(|check| &check["status"]);
        assert_eq!(status.and_then(Json::as_str), Some("pass"), "{checks:#?}");
    }
}
