//! Rescue of a host whose shell hangs, by a second session.

use std::time::Duration;

use super::parser::Identity;
use super::shell::{HostShell, ShellError};
use super::{Frame, Part, Script};

/// Deadline for sending the processes of a stuck shell their signals.
const KILL_DEADLINE: Duration = Duration::from_secs(10);
/// `$1` process, `$2` group, `$3` start time of the stuck shell. A process in another group
/// (`timeout` makes one) is found as a descendant; one in another session is a spooled task, which
/// is not this shell's to end, unless an `su` of this session runs it. Nothing is waited for: a process
/// in an uninterruptible sleep takes its signal when it can.
const KILL: &str = r#"
stat=
{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || exit 0
set -- "$1" "$2" "$3" ${stat##*) }
[ "${23}" = "$3" ] || exit 0
session=$7
pids=
tree() {
  stat=
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return
  [ "$2" = any ] || in_session "$1" ${stat##*) } || return
  pids="$pids $1"
  case $stat in "$1 (su) "*) set -- "$1" any ;; esac
  for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do tree "$child" "$2"; done
}
in_session() { [ "$5" = "$session" ]; }
tree "$1" own
kill -KILL "-$2" 2>/dev/null || kill -KILL -- "-$2" 2>/dev/null
for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
exit 0
"#;

/// Ends everything that the stuck shell runs, through a fresh one.
pub(super) async fn kill(fresh: &mut HostShell, stuck: Identity) -> Result<(), ShellError> {
    if stuck.group == 0 || stuck.pid == 0 {
        return Ok(());
    }
    let script =
        Script::new(KILL).args([stuck.pid, stuck.group, stuck.started].map(|number| number.to_string()));
    let part = Part { name: "kill".to_owned(), script, deadline: KILL_DEADLINE, limit: 1024 };
    let frame = Frame { parts: vec![part], ..Frame::default() };
    fresh.run(&frame, &mut |_| {}).await
}
