//! The state directory of a host: what outlives a connection and a controller.
//!
//! `/run/provision` for root, `~/.cache/provision/MACHINE-NAME` otherwise, since hosts may share a home; what
//! has to outlive a boot (`notify`, `detached`) is in `/var/lib/provision` for root:
//!
//! ```text
//!   version, identity       format; machine id, boot id and product uuid it belongs to
//!   lock, owner             flock of the host shell; run, controller, pid, start time and number of that shell
//!   notify/KEY              a notified handler whose run was not seen; holds its id, the cluster and the boot
//!   detached/KEY            a detached task whose end was not seen; holds its name, the run and the boot
//!   spool/KEY/              one change: pid, out, tail, unread (some of it is lost), status, name, run
//!   spool/row.KEY/          several that were sent together, with the key of the first: src/engine/shell/batch.sh
//!   upload/KEY              a large file on its way, and KEY.writer for who writes it; what has too
//!                           little room here is in /var/tmp/provision-upload-UID/KEY, often as a link to beside
//!                           its target
//!   undo/NAME/              what a change of the way in replaced, and the timer that puts it back
//! ```
//!
//! The shell side is in `src/engine/shell/`; this file has its constants, scripts and the parser.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::hints::LEFT_OUT;
use crate::resources::Undo;
use crate::secrets::Secrets;
use crate::transport::{Arg, Script};
use crate::words::hex;

/// Functions that frames of the engine share.
pub const FUNCTIONS: &str = concat!(
    include_str!("../shell/base64.sh"),
    include_str!("../shell/state_directory.sh"),
    include_str!("shell/state_functions.sh")
);

/// The newest format of the state directory that this program knows.
pub const VERSION: u32 = 1;

/// State of a spool entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpoolState {
    /// Its process lives.
    Running,
    /// It ended with this status, and nobody took note of it yet.
    Ended(i32),
    /// Its process is gone without a status: killed, or the machine went down.
    Lost,
}

/// A change that an earlier connection or run started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpoolEntry {
    /// Its key, see [`spool_key`](crate::plan::spool_key).
    pub key: String,
    /// Its state.
    pub state: SpoolState,
    /// The run that started it.
    pub run: String,
    /// Name of its task.
    pub name: String,
}

/// A handler that was notified and not seen to run.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Notification {
    /// Its id.
    pub handler: String,
    /// The cluster whose run notified it; empty where that was not noted.
    pub cluster: String,
    /// Whether that was more than a week ago.
    pub old: bool,
    /// Name of its file.
    pub key: String,
    /// Whether the host was rebooted since.
    pub before: bool,
}

impl Notification {
    /// Whether a run of this cluster notified it.
    pub fn is_of(&self, cluster: &str) -> bool {
        self.cluster.is_empty() || self.cluster == cluster
    }
}

/// Contents of the state directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostState {
    /// Id of the host's boot; empty where it cannot be told.
    pub boot: String,
    /// Format; `None` when there is no directory yet.
    pub version: Option<u32>,
    /// Handlers that were notified and not seen to run, of all clusters.
    pub notified: BTreeSet<Notification>,
    /// Changes that nobody saw end.
    pub spool: Vec<SpoolEntry>,
    /// Large files that are on their way or were left there, by their keys.
    pub uploads: Vec<String>,
    /// Detached tasks that nobody saw end before the host went down: their keys and names.
    pub interrupted: BTreeMap<String, String>,
    /// Names of changes to the way in whose timer runs.
    pub armed: Vec<String>,
    /// Names of those that the host took back by itself.
    pub undone: Vec<String>,
    /// The run whose shell has the lock.
    pub holder: Option<LockOwner>,
    /// Tools that changes need and that the host does not have.
    pub missing: Vec<String>,
}

impl HostState {
    /// Reads the lines of `src/facts/state/state.sh`.
    ///
    /// # Errors
    /// When the directory is of a newer format than this program knows.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut state = Self::default();
        for line in text.lines() {
            let mut fields = line.split('\t');
            match fields.next() {
                Some("version") => {
                    let version = fields.next().and_then(|v| v.parse().ok()).unwrap_or(0);
                    if version > VERSION {
                        return Err(format!(
                            "the state directory of this host has format {version}, newer than this program knows ({VERSION}); use the provision that wrote it"
                        ));
                    }
                    state.version = Some(version);
                }
                Some("boot") => fields.next().unwrap_or_default().trim().clone_into(&mut state.boot),
                Some("notify") => state.notified.extend(notification(fields)),
                Some("upload") => state.uploads.extend(fields.next().map(str::to_owned)),
                Some("interrupted") => {
                    let (key, name) = (fields.next().unwrap_or_default(), fields.nth(1).unwrap_or_default());
                    state.interrupted.insert(key.to_owned(), name.to_owned());
                }
                Some("armed") => state.armed.extend(fields.next().map(str::to_owned)),
                Some("undone") => state.undone.extend(fields.next().map(str::to_owned)),
                Some("holder") => state.holder = fields.next().and_then(LockOwner::parse),
                Some("missing") => state.missing.extend(fields.next().map(str::to_owned)),
                Some("spool") => state.spool.extend(spool_entry(fields)),
                _ => {}
            }
        }
        Ok(state)
    }
}

fn notification<'a>(mut fields: impl Iterator<Item = &'a str>) -> Option<Notification> {
    let handler = fields.next()?.to_owned();
    let mut field = || fields.next().unwrap_or_default().to_owned();
    Some(Notification {
        handler,
        cluster: field(),
        old: field() == "old",
        key: field(),
        before: field() == "before",
    })
}

fn spool_entry<'a>(mut fields: impl Iterator<Item = &'a str>) -> Option<SpoolEntry> {
    let key = fields.next()?.to_owned();
    let word = fields.next()?;
    let status = fields.next()?;
    let run = fields.next()?.to_owned();
    let name = fields.next().unwrap_or("").to_owned();
    let state = match word {
        "running" => SpoolState::Running,
        "ended" => SpoolState::Ended(status.parse().ok()?),
        _ => SpoolState::Lost,
    };
    Some(SpoolEntry { key, state, run, name })
}

/// The file name of a handler's notification. Handlers of two clusters may have the same id.
pub fn notify_key(cluster: &str, handler: &str) -> String {
    hex(&Sha256::digest(format!("{cluster}\0{handler}"))).chars().take(16).collect()
}

/// Report of a spool or follow script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpoolReport {
    /// The command ended with this status; its output.
    Ended(i32, String),
    /// The process is gone without a status; its output so far.
    Lost(String),
    /// The host's lock is not held: what is in the way.
    Refused(String),
    /// It goes on after its deadline, and the next run follows it.
    Left(String),
    /// The change could not be put into the spool.
    Failed(String),
    /// One of several that were sent together, and its turn did not come: it did not run.
    Unstarted,
}

impl SpoolReport {
    /// Reads the first line and the output behind it.
    pub fn parse(output: &[u8]) -> Self {
        Self::read(&String::from_utf8_lossy(output))
    }

    /// The same without the values of secrets that the command printed. They are taken out before
    /// anything is cut from the text.
    pub fn parse_redacted(output: &[u8], secrets: &Secrets) -> Self {
        Self::read(&secrets.redact_cut(&String::from_utf8_lossy(output), LEFT_OUT))
    }

    fn read(text: &str) -> Self {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let (word, argument) = first.split_once(' ').unwrap_or((first, ""));
        match word {
            "ended" => match argument.trim().parse() {
                Ok(status) => Self::Ended(status, rest.to_owned()),
                Err(_) => Self::Failed(format!("no status in {first:?}")),
            },
            "lost" => Self::Lost(rest.to_owned()),
            "refused" => Self::Refused(argument.to_owned()),
            "unstarted" => Self::Unstarted,
            "unwritable" => Self::Failed(
                format!("cannot write the state directory of the host: {argument}\n{rest}")
                    .trim_end()
                    .to_owned(),
            ),
            "failed" => {
                Self::Failed(format!("it could not be started: {argument}\n{rest}").trim_end().to_owned())
            }
            _ => Self::Failed(text.trim().to_owned()),
        }
    }
}

/// Holder of a host's lock, from the line that `provision_lock` reports after `busy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockOwner {
    /// The run.
    pub run: String,
    /// Its controller, as the run's `Context::controller` has it.
    pub controller: String,
    /// Process of its host shell.
    pub pid: String,
    /// Start time of that process.
    pub start: String,
    /// Since when, in UTC; empty where that is not known.
    pub since: String,
}

impl LockOwner {
    /// Whether `provision unlock` took the lock.
    pub fn is_unlock(&self) -> bool {
        self.run == "unlock"
    }

    /// Reads the owner line.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().map(str::to_owned);
        let (run, controller, pid, start) = (words.next()?, words.next()?, words.next()?, words.next()?);
        // Behind the host and the number of the shell.
        let since = words.nth(2).unwrap_or_default();
        Some(Self { run, controller, pid, start, since })
    }
}

/// A lock of a host that somebody has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldLock {
    /// Holder of the lock, as the host has it written down; empty where it has not.
    pub owner: String,
    /// Since when, in UTC.
    pub since: String,
    /// Names of the tasks that run.
    pub tasks: Vec<String>,
}

impl HeldLock {
    /// Reads the lines of `src/engine/shell/lock_owner.sh`; `None` when the lock is free.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (owner, since) = lines.next()?.strip_prefix("owner\t")?.split_once('\t')?;
        let tasks = lines.filter_map(|line| line.strip_prefix("task\t").map(str::to_owned)).collect();
        Some(Self { owner: owner.to_owned(), since: since.to_owned(), tasks })
    }
}

/// The script that tells who has the lock.
pub fn lock_owner() -> Script {
    Script::new(include_str!("shell/lock_owner.sh"))
}

/// The script that takes the lock from `owner`, in the name of a controller.
pub fn unlock(owner: &str, controller: &str) -> Script {
    let parsed = LockOwner::parse(owner);
    let (pid, start) = parsed.map_or_else(Default::default, |it| (it.pid, it.start));
    Script::new(include_str!("shell/unlock.sh")).arg(owner).arg(pid).arg(start).arg(controller)
}

/// Everything that starts a change on a host.
#[derive(Debug, Clone)]
pub struct SpoolRequest<'a> {
    /// Key of the entry.
    pub key: &'a str,
    /// Name of the task.
    pub name: &'a str,
    /// The run.
    pub run: &'a str,
    /// Whether it becomes a unit of its own.
    pub detach: bool,
    /// User that it runs as, instead of the login or root.
    pub user: Option<&'a str>,
    /// The cluster that the run is about.
    pub cluster: &'a str,
    /// Script to run.
    pub script: Script,
    /// Handlers that it notifies.
    pub notify: &'a [String],
}

/// The script that runs a change in the spool.
pub fn spool(request: SpoolRequest<'_>) -> Script {
    let mut script = Script::new(include_str!("shell/spool.sh"))
        .arg(request.key)
        .arg(one_line(request.name))
        .arg(request.run)
        .arg(if request.detach { "detach" } else { "here" })
        .arg(request.user.unwrap_or(""))
        .arg(one_line(request.cluster))
        .arg(Arg::Script(Box::new(request.script)));
    for handler in request.notify {
        script = script.arg(notify_key(request.cluster, handler)).arg(one_line(handler));
    }
    script
}

/// All changes of a task as one script, behind the site's proxy where it has one.
pub(super) fn one_script(mut scripts: Vec<Script>, proxy: Option<(&str, String)>) -> Result<Script, String> {
    if scripts.len() == 1 && proxy.is_none() {
        return scripts.pop().ok_or_else(|| "nothing to run".to_owned());
    }
    let script = match proxy {
        Some((proxy, direct)) => {
            Script::new(crate::shell!("shell/base64.sh", "engine/shell/proxy.sh", "shell/each.sh"))
                .named("proxy", proxy)
                .named("direct", direct)
        }
        None => Script::new(crate::shell!("shell/base64.sh", "shell/each.sh")),
    };
    Ok(script.named("scripts", Arg::Scripts(scripts)))
}

/// Several short changes that are started together.
#[derive(Debug, Clone)]
pub struct Together<'a> {
    /// Key, name and handlers of each, in their order.
    pub entries: Vec<(&'a str, &'a str, &'a [String])>,
    /// Script of each.
    pub scripts: Vec<Script>,
    /// The run.
    pub run: &'a str,
    /// The cluster that the run is about.
    pub cluster: &'a str,
    /// Directories on the ways to what they change, each behind the one that it is in: looked at once for all.
    pub directories: Vec<String>,
    /// The effect of each on directories; it is unknown for those that are missing here.
    pub ways: Vec<Way>,
}

/// The effect of a change on the directories on the ways of those behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// Nothing.
    Kept,
    /// It makes this one, in which nobody but its owner can change anything.
    Made(String),
    /// Anything.
    Unknown,
}

impl Way {
    fn word(&self) -> &str {
        match self {
            Self::Kept => "-",
            Self::Made(path) => path,
            Self::Unknown => "*",
        }
    }
}

/// The name of the entry that several changes have together, by the key of the first.
pub fn row_key(first: &str) -> String {
    format!("row.{first}")
}

/// The script that starts several short changes in the spool; its frame has made the pipe.
pub fn batch(together: Together<'_>) -> Script {
    let Together { entries, scripts, run, cluster, directories, ways } = together;
    let keys: Vec<&str> = entries.iter().map(|(key, ..)| *key).collect();
    let mut script = Script::new(include_str!("shell/batch.sh"))
        .arg(run)
        .arg(one_line(cluster))
        .arg(keys.join(" "))
        .arg(Arg::Tasks(scripts))
        .arg(directories.iter().fold(String::new(), |text, path| text + path + "\n"));
    for (number, (_, name, notify)) in entries.into_iter().enumerate() {
        let line = |handler: &String| format!("{} {}\n", notify_key(cluster, handler), one_line(handler));
        let way = ways.get(number).unwrap_or(&Way::Unknown);
        script = script.arg(one_line(name)).arg(notify.iter().map(line).collect::<String>()).arg(way.word());
    }
    script
}

/// The script that waits for one of them.
pub fn batch_next(key: &str) -> Script {
    Script::new("provision_next \"$1\"").arg(key).inline()
}

/// The script that waits for a spool entry.
pub fn follow(key: &str) -> Script {
    Script::new(include_str!("shell/follow.sh")).arg(key)
}

/// The script that ends a spool entry's processes.
pub fn end_task(key: &str) -> Script {
    Script::new(include_str!("shell/end_task.sh")).arg(key)
}

/// Describes what the script of [`end_task`] did.
pub fn ended(output: &str) -> String {
    let left: Vec<String> = output
        .lines()
        .filter_map(|line| line.strip_prefix("left ")?.split_once(' '))
        .map(|(pid, name)| format!("{pid} ({name})"))
        .collect();
    let known = output.lines().all(|line| line != "unit no");
    match (left.is_empty(), known) {
        (true, true) => "its processes on the host were ended".to_owned(),
        // Nothing tells such a one from other processes of the host.
        (true, false) => {
            "its processes on the host were ended; a daemon that left their session may still run".to_owned()
        }
        (false, _) => format!("still running on the host, SIGKILL has not ended it: {}", left.join(", ")),
    }
}

/// A script that does nothing, and says so as a spooled change does, unless its frame is for the shell that has
/// the lock.
pub fn fenced(script: Script) -> Script {
    Script::new(include_str!("shell/fence.sh")).then(script)
}

/// The script that keeps what a change may break. Without `timer` it only waits for a change that
/// starts one.
pub fn undo_keep(undo: &Undo, timer: Option<Duration>) -> Script {
    let packed = |script: &Option<Script>| match script {
        Some(script) => Arg::Script(Box::new(script.clone())),
        None => Arg::from(""),
    };
    Script::new(include_str!("shell/undo_keep.sh"))
        .arg(undo.name)
        .arg(timer.map_or(0, |timer| timer.as_secs()).to_string())
        .arg(packed(&undo.save))
        .arg(packed(&undo.restore))
        .args(undo.paths.iter().cloned())
}

/// The script that confirms a change to the way in, takes it back, or forgets that it was.
pub fn undo_end(act: &'static str, name: &str) -> Script {
    Script::new(include_str!("shell/undo_end.sh")).arg(act).arg(name)
}

/// The script that tells which boot this is.
pub fn which_boot() -> Script {
    Script::new("provision_boot; printf '%s\\n' \"$boot\"")
}

/// The script that tells which boot this is, and whether systemd is done with it.
pub fn booted() -> Script {
    Script::new(include_str!("shell/booted.sh"))
}

/// The script that forgets notifications, by the names of their files, and spool entries.
pub fn tidy(notifications: &[String], spool: &[String]) -> Script {
    // What is there may be of a run that comes back for it.
    fenced(Script::new(include_str!("shell/tidy.sh")))
        .args(notifications.iter().cloned())
        .arg("--")
        .args(spool.iter().cloned())
}

/// The script that finds the place of a large file and says how much of it is there.
pub fn upload(key: &str, sha256: &str, size: u64, target: &str) -> Script {
    Script::new(crate::shell!("shell/reach.sh", "engine/shell/upload.sh"))
        .named("key", key)
        .named("digest", sha256)
        .named("size", size.to_string())
        .named("target", target)
}

/// The script that takes large files away, by their keys.
pub fn upload_drop(keys: &[String]) -> Script {
    Script::new(include_str!("shell/upload_drop.sh")).args(keys.iter().cloned())
}

/// The script that frees the lock of a dead controller's host shell.
pub fn take_over(owner: &LockOwner) -> Script {
    Script::new(include_str!("shell/take_over.sh")).arg(owner.pid.as_str()).arg(owner.start.as_str())
}

/// The script that takes the lock and says how that went, where uploads go, and why there is no lock.
pub fn report_lock() -> Script {
    Script::new(
        "provision_dir; printf '%s\\n%s\\n%s\\n' \"${provision_locked-}\" \"$d\" \"${provision_why-}\"",
    )
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_lines() {
        let text = "version\t1\nnotify\tbase/reload sshd\nnotify\tx/y\tother\told\tk1\nspool\tabc\trunning\t\tr1\tbuild nccl\nspool\tdef\tended\t3\tr1\tx\nspool\tghi\tlost\t\tr1\t\narmed\tsshd\nundone\tnetwork\nmissing\tmkfifo\nupload\tk.d\n";
        let state = HostState::parse(text).unwrap();
        assert_eq!(state.version, Some(1));
        let told: Vec<_> =
            state.notified.iter().map(|it| (it.handler.as_str(), it.is_of("c"), it.old)).collect();
        assert_eq!(told, [("base/reload sshd", true, false), ("x/y", false, true)]);
        let states: Vec<_> = state.spool.iter().map(|entry| entry.state).collect();
        assert_eq!(states, [SpoolState::Running, SpoolState::Ended(3), SpoolState::Lost]);
        assert_eq!((state.armed, state.undone), (vec!["sshd".to_owned()], vec!["network".to_owned()]));
        assert_eq!(state.missing, ["mkfifo"]);
        assert_eq!(state.uploads, ["k.d"]);
        assert_eq!(HostState::parse("").unwrap(), HostState::default());
        assert!(HostState::parse("version\t9\n").is_err());
    }

    #[test]
    fn spool_reports() {
        assert_eq!(SpoolReport::parse(b"ended 0\nhello\n"), SpoolReport::Ended(0, "hello\n".to_owned()));
        assert_eq!(SpoolReport::parse(b"lost 0\npart"), SpoolReport::Lost("part".to_owned()));
        assert_eq!(
            SpoolReport::parse(b"refused busy r c 1 2\n"),
            SpoolReport::Refused("busy r c 1 2".to_owned())
        );
        assert!(matches!(SpoolReport::parse(b""), SpoolReport::Failed(_)));
        // A value that was cut where the host left something out.
        let secrets = Secrets::new(BTreeMap::from([("pw".to_owned(), "SuperSecretToken".to_owned().into())]));
        assert!(FUNCTIONS.contains(&LEFT_OUT.replace('\n', "\\n")));
        let cut = format!("ended 0\na SuperSec{LEFT_OUT}retToken z\n");
        let shown = format!("a (secret pw){LEFT_OUT}(secret pw) z\n");
        assert_eq!(SpoolReport::parse_redacted(cut.as_bytes(), &secrets), SpoolReport::Ended(0, shown));
    }
}
