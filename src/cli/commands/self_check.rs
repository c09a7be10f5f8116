//! `provision self-check`: whether this machine has what a controller needs. Nothing is changed, and no host
//! is asked.

use std::time::Duration;

use anyhow::Context as _;
use camino::Utf8Path;
use rustix::fs::{Access, access, statfs, statvfs};
use serde_json::{Value as Json, json};

use crate::cli::args::JsonReport;
use crate::cli::results;
use crate::process::{heard, run as start};
use crate::report::output;
use crate::report::rows::hanging;
use crate::report::style::{BAD, GOOD, HINT, paint, safe_line};
use crate::settings::Settings;
use crate::transport::{self, ssh_home};
use crate::{disk, events, exit, lab, put};

/// Longest that a program may take to say what it is.
const DEADLINE: Duration = Duration::from_secs(10);

/// Runs and locks are small; what is less than this is soon none.
const ROOM: u64 = 100 << 20;

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    name: &'static str,
    state: State,
    /// Observation.
    seen: String,
    /// Advice; empty where nothing has to be done.
    cure: String,
}

/// Severity of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ok,
    /// Something is not there that not everybody needs.
    Note,
    /// Runs fail.
    Wrong,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Wrong => "wrong",
        }
    }
}

impl Row {
    fn ok(name: &'static str, seen: impl Into<String>) -> Self {
        Self { name, state: State::Ok, seen: seen.into(), cure: String::new() }
    }

    fn note(name: &'static str, seen: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { name, state: State::Note, seen: seen.into(), cure: cure.into() }
    }

    fn wrong(name: &'static str, seen: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { name, state: State::Wrong, seen: seen.into(), cure: cure.into() }
    }
}

/// Runs the command; its exit code.
///
/// # Errors
/// When the answer cannot be written.
pub(crate) async fn run(settings: &Settings, reports: &JsonReport) -> anyhow::Result<u8> {
    let mut rows = vec![ssh(), ssh_keygen(), keys().await, processes()];
    rows.extend(state(&settings.state));
    rows.extend([sockets(settings), clock(), locale(settings.locale.as_deref())]);
    rows.extend(lab::wants().into_iter().map(|(name, found)| match found {
        Ok(seen) => Row::ok(name, seen),
        Err(error) => Row::note(name, "not possible here", format!("{error:#}; nothing else needs it")),
    }));
    let good = rows.iter().all(|row| row.state != State::Wrong);
    if let Some(file) = &reports.json {
        results::write_json(file, &json!({ "version": 1, "ok": good, "checks": objects(&rows) }))?;
    } else {
        output::data(&table(&rows, settings.page)).context("cannot write to stdout")?;
    }
    Ok(if good { exit::OK } else { exit::CONFIG })
}

fn objects(rows: &[Row]) -> Vec<Json> {
    rows.iter()
        .map(|row| json!({ "name": row.name, "state": row.state.word(), "seen": row.seen, "do": row.cure }))
        .collect()
}

fn table(rows: &[Row], width: Option<usize>) -> String {
    let mut text = String::new();
    for row in rows {
        let style = match row.state {
            State::Ok => GOOD,
            State::Note => HINT,
            State::Wrong => BAD,
        };
        let state = paint(style, &format!("{:>5}", row.state.word()));
        let line = format!("{state}  {:<22} {}", row.name, safe_line(&row.seen));
        put!(text, "{}\n", hanging(&line, 30, width));
        if !row.cure.is_empty() {
            let line = format!("{:30}to do: {}", "", safe_line(&row.cure));
            put!(text, "{}\n", hanging(&line, 37, width));
        }
    }
    text
}

/// Runs a program that describes itself, and returns its exit code and its output on both streams; or the
/// reason why it could not be run.
fn said(program: &str, args: &[&str]) -> Result<(Option<i32>, String), String> {
    match start(heard(program).args(args), b"", DEADLINE) {
        Ok(done) => {
            let both = [done.stdout, done.stderr].concat();
            Ok((done.status.code(), String::from_utf8_lossy(&both).trim().to_owned()))
        }
        Err(error) => Err(disk::short(&error)),
    }
}

fn ssh() -> Row {
    let name = "ssh";
    match said("ssh", &["-V"]) {
        Ok((Some(0), version)) => judged(name, &version),
        Ok((_, said)) => {
            Row::wrong(name, said, "install the client of OpenSSH: openssh-client or openssh-clients")
        }
        Err(error) => {
            Row::wrong(name, error, "install the client of OpenSSH: openssh-client or openssh-clients")
        }
    }
}

/// Judges the version of a client. `ProxyJump` came with 7.3 (release notes of OpenSSH).
fn judged(name: &'static str, version: &str) -> Row {
    let first = version.split([',', '\n']).next().unwrap_or(version);
    let number = first.strip_prefix("OpenSSH_").and_then(|rest| {
        let (major, rest) = rest.split_once('.')?;
        let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    match number {
        Some(number) if number >= (7, 3) => Row::ok(name, first),
        Some(_) => {
            Row::wrong(name, first, "hosts behind others need OpenSSH 7.3 or later: install a newer one")
        }
        None => Row::note(name, first, "it is not OpenSSH, and only that is tested"),
    }
}

fn ssh_keygen() -> Row {
    // It has no option that does nothing: an unknown one says how it is used.
    match said("ssh-keygen", &["-?"]) {
        Ok(_) => Row::ok("ssh-keygen", "answers"),
        Err(error) => Row::wrong(
            "ssh-keygen",
            error,
            "install it with the client of OpenSSH; `inventory trust` needs it",
        ),
    }
}

/// Whether ssh has a key to log in with: in its agent, or in a file where it looks by itself (`IdentityFile` of
/// `ssh_config(5)`).
async fn keys() -> Row {
    let name = "keys";
    // 0: the agent has keys. 1: it has none. 2: there is no agent (ssh-add(1)).
    if let Ok((Some(0), keys)) = said("ssh-add", &["-l"]) {
        return Row::ok(
            name,
            format!("{} in the agent", crate::words::count(keys.lines().count() as u64, "key")),
        );
    }
    let files = ["id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"];
    let folder = ssh_home().await.map(|home| home.join(".ssh"));
    let found =
        folder.and_then(|folder| files.iter().map(|file| folder.join(file)).find(|file| file.is_file()));
    match found {
        Some(file) if has_passphrase(&file) => Row::note(
            name,
            format!("{file} has a passphrase, and no agent has it"),
            format!("`eval $(ssh-agent) && ssh-add {file}`, in the shell that starts provision"),
        ),
        Some(file) => Row::ok(name, file.as_str()),
        None => Row::note(
            name,
            "no agent with keys, and none in ~/.ssh",
            "`ssh-keygen -t ed25519` makes one; or name a file as `ssh.identity_file` of the inventory",
        ),
    }
}

/// Whether nobody can log in with a private key but who types its passphrase (`-y` of ssh-keygen(1) reads it).
fn has_passphrase(file: &Utf8Path) -> bool {
    said("ssh-keygen", &["-y", "-P", "", "-f", file.as_str()])
        .is_ok_and(|(status, said)| status != Some(0) && said.contains("passphrase"))
}

fn processes() -> Row {
    match disk::user() {
        Ok(user) => Row::ok("/proc", format!("user {user}")),
        Err(error) => Row::wrong("/proc", disk::short(&error), "mount it: mount -t proc proc /proc"),
    }
}

/// The nearest folder above that is there.
fn above(path: &Utf8Path) -> &Utf8Path {
    path.ancestors().find(|path| path.exists()).unwrap_or(Utf8Path::new("/"))
}

/// Returns the reason why a private folder cannot be used or made.
fn unusable(path: &Utf8Path) -> Option<String> {
    let there = above(path);
    if there == path
        && let Err(error) = disk::check_private(path)
    {
        return Some(disk::short(&error));
    }
    if !there.is_dir() {
        return Some(format!("{there} is no folder"));
    }
    let error = access(there.as_std_path(), Access::WRITE_OK | Access::EXEC_OK).err()?;
    Some(format!("{there} cannot be written: {}", disk::short(&error.into())))
}

/// Checks the folder in which runs are kept: how much room is there, and whether its locks can be trusted.
fn state(path: &Utf8Path) -> Vec<Row> {
    let name = "state folder";
    if let Some(why) = unusable(path) {
        let cure = "set XDG_STATE_HOME to a folder of your own on a local disk";
        return vec![Row::wrong(name, format!("{path}: {why}"), cure)];
    }
    let there = above(path).as_std_path();
    // Numbers of statfs(2).
    let shared = statfs(there).ok().and_then(|system| match u32::try_from(system.f_type) {
        Ok(0x6969) => Some("NFS"),
        Ok(0xff53_4d42) => Some("CIFS"),
        Ok(0xfe53_4d42) => Some("SMB"),
        Ok(_) | Err(_) => None,
    });
    let kind = match shared {
        Some(kind) => Row::note(
            name,
            format!("{path} is on {kind}"),
            "two runs may not see each other's locks there: set XDG_STATE_HOME to a local disk",
        ),
        None => Row::ok(name, path.as_str()),
    };
    let name = "free space";
    let room = match statvfs(there) {
        Ok(system) => {
            let free = system.f_bavail.saturating_mul(system.f_frsize);
            let seen = crate::words::bytes(free);
            if free < ROOM {
                Row::wrong(name, seen, format!("make room at {path}, or set XDG_STATE_HOME to another disk"))
            } else {
                Row::ok(name, seen)
            }
        }
        Err(error) => Row::note(name, disk::short(&error.into()), format!("look at it yourself: df {path}")),
    };
    vec![kind, room]
}

fn sockets(settings: &Settings) -> Row {
    let name = "folder for sockets";
    let cure = "set XDG_RUNTIME_DIR to a folder of your own with a short path";
    match transport::socket_directories(settings.runtime_dir.as_deref()) {
        Ok(folders) => {
            let tried: Vec<String> =
                folders.iter().filter_map(|path| Some(format!("{path}: {}", unusable(path)?))).collect();
            match folders.iter().find(|path| unusable(path).is_none()) {
                Some(path) => Row::ok(name, path.as_str()),
                None => Row::wrong(name, tried.join("; "), cure),
            }
        }
        Err(error) => Row::wrong(name, disk::short(&error), cure),
    }
}

/// Runs are ordered by their time, and keys of repositories are valid from a day on.
fn clock() -> Row {
    let (name, now) = ("clock", events::now());
    let seen = format!("{now:.0}");
    let cure = "set it, and let chrony or systemd-timesyncd keep it";
    let made = crate::process::this_program().ok().and_then(|path| path.metadata().ok()?.modified().ok());
    let made = made.and_then(|made| jiff::Timestamp::try_from(made).ok());
    // An archive may keep the times of another zone.
    if made.is_some_and(|made| made.as_second() > now.as_second() + 24 * 3600) {
        return Row::wrong(name, format!("{seen} is before this program was made"), cure);
    }
    match said("timedatectl", &["show", "--property=NTPSynchronized", "--value"]) {
        Ok((Some(0), answer)) if answer == "no" => Row::note(name, format!("{seen}, not synchronised"), cure),
        Ok((Some(0), answer)) if answer == "yes" => Row::ok(name, format!("{seen}, synchronised")),
        Ok(_) | Err(_) => Row::ok(name, format!("{seen}; nothing here says whether it is synchronised")),
    }
}

/// Names and texts of hosts are UTF-8 and shown as they are.
fn locale(locale: Option<&str>) -> Row {
    let letters = locale.and_then(|locale| locale.split_once('.')).map(|(_, letters)| letters.to_lowercase());
    if letters.is_some_and(|letters| letters == "utf-8" || letters == "utf8") {
        return Row::ok("locale", locale.unwrap_or_default());
    }
    Row::note(
        "locale",
        locale.unwrap_or("none is set"),
        "export LC_ALL=C.UTF-8, if letters beyond ASCII are shown wrongly",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_ssh() {
        let state = |version| judged("ssh", version).state;
        assert_eq!(state("OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.17 1 Jul 2025"), State::Ok);
        assert_eq!(state("OpenSSH_10.0p2, OpenSSL 3.5.1"), State::Ok);
        assert_eq!(state("OpenSSH_6.6.1, OpenSSL 1.0.1e-fips 11 Feb 2013"), State::Wrong);
        assert_eq!(state("Dropbear v2022.83"), State::Note);
    }

    #[test]
    fn a_locale_is_good_when_it_is_utf_8() {
        for good in ["C.UTF-8", "en_US.utf8", "de_DE.UTF-8"] {
            assert_eq!(locale(Some(good)).state, State::Ok, "{good}");
        }
        for bad in [None, Some("C"), Some("POSIX"), Some("de_DE@euro")] {
            assert_eq!(locale(bad).state, State::Note, "{bad:?}");
        }
    }
}
