//! Builds from source on real hosts: an autotools project that is made on the spot.

use super::support::{Lab, outcome};

const LAB: &str = "{ packages: [gcc, libc6-dev, make, autoconf, automake] }";

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
    let Some(lab) = Lab::up(&["n0"], LAB) else { return };
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
    let Some(lab) = Lab::up(&["n0", "n1"], &LAB.replace(" }", ", shared: [/opt] }")) else { return };
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
