//! `provision self-check` says what a controller lacks, and leaves everything as it is.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start the program")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

/// Exit code, and the state of each row by its name.
fn check(home: &Path, variables: &[(&str, &Path)]) -> (i32, Json) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_provision"));
    command.args(["self-check", "--json", "-"]).env("HOME", home).env("LC_ALL", "C.UTF-8");
    command.env_remove("XDG_STATE_HOME").env_remove("XDG_RUNTIME_DIR").env_remove("SSH_AUTH_SOCK");
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let object: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["version"], 1);
    let rows = object["checks"].as_array().unwrap();
    for row in rows {
        assert_eq!(row["do"] == "", row["state"] == "ok", "what to do about it: {row}");
    }
    let of_row = |row: &Json| (row["name"].as_str().unwrap().to_owned(), row.clone());
    (output.status.code().unwrap(), Json::Object(rows.iter().map(of_row).collect()))
}

#[test]
fn a_controller_with_everything_is_good_and_stays_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let (code, rows) = check(home.path(), &[]);
    assert_eq!(code, 0, "{rows:#}");
    for name in ["ssh", "ssh-keygen", "/proc", "state folder", "free space", "folder for sockets", "locale"] {
        assert_eq!(rows[name]["state"], "ok", "{name}: {rows:#}");
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "something was made");
}

/// ssh looks in the home of the account, as after `sudo -E`.
#[test]
fn a_key_below_another_home_is_not_one_that_ssh_offers() {
    let home = tempfile::tempdir().unwrap();
    let (_, before) = check(home.path(), &[]);
    std::fs::create_dir(home.path().join(".ssh")).unwrap();
    std::fs::write(home.path().join(".ssh/id_ed25519"), "").unwrap();
    assert_eq!(check(home.path(), &[]).1["keys"], before["keys"]);
}

#[test]
fn what_keeps_runs_from_working_is_wrong() {
    let home = tempfile::tempdir().unwrap();
    let nothing = home.path().join("nothing");
    std::fs::create_dir(&nothing).unwrap();
    let (code, rows) = check(home.path(), &[("PATH", &nothing)]);
    assert_eq!(code, 3);
    assert_eq!((&rows["ssh"]["state"], &rows["ssh-keygen"]["state"]), (&"wrong".into(), &"wrong".into()));

    // A state folder in which others may write is refused by every run, and not mended here.
    let state = home.path().join("state");
    std::fs::create_dir_all(state.join("provision")).unwrap();
    std::fs::set_permissions(state.join("provision"), std::fs::Permissions::from_mode(0o777)).unwrap();
    let (code, rows) = check(home.path(), &[("XDG_STATE_HOME", &state)]);
    assert_eq!(code, 3);
    assert_eq!(rows["state folder"]["state"], "wrong");
    let mode = state.join("provision").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o777);

    // What is no folder cannot become one.
    let file = home.path().join("file");
    std::fs::write(&file, "").unwrap();
    let (code, rows) = check(home.path(), &[("XDG_STATE_HOME", &file)]);
    assert_eq!((code, &rows["state folder"]["state"]), (3, &"wrong".into()), "{rows:#}");
}
