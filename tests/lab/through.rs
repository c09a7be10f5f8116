//! `verify --through` with launchers that really change what a process sees.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "these are tests, though not in functions that are marked so"
)]

use serde_json::Value as Json;

use super::support::Lab;

const NOTHING: &str = "name: nothing\ntasks: []\n";

/// What the checks of `job` find on a host: `fail job.memlock`.
fn findings(json: &Json, host: &str) -> Vec<String> {
    let checks = json["hosts"][host]["checks"].as_array().unwrap();
    let of_job = checks.iter().filter(|check| check["check"].as_str().unwrap().starts_with("job."));
    let found =
        of_job.filter(|check| ["fail", "warn", "unknown"].contains(&check["status"].as_str().unwrap()));
    found
        .map(|check| format!("{} {}", check["status"].as_str().unwrap(), check["check"].as_str().unwrap()))
        .collect()
}

#[test]
fn what_a_launcher_changes_is_found_behind_it_and_not_over_ssh() {
    let Some(lab) = Lab::up(&["gpu0", "gpu1"], "{ profile: a100-x8-cx6 }") else { return };
    let site = lab.site_with("site", NOTHING, "", "become: sudo", "");
    let through = |launcher: &str| {
        let json = site.run("verify", &["--json", "-", "--through", launcher]).json();
        assert_eq!(json["hosts"]["gpu0"]["status"], "ok", "{json:#}");
        (findings(&json, "gpu0"), json)
    };
    let (found, json) = through("sh");
    assert_eq!(found, Vec::<String>::new(), "{json:#}");
    assert_eq!(json["hosts"]["gpu0"]["through"]["launcher"], "sh");
    assert_eq!(through("prlimit --memlock=4096 sh").0, ["fail job.memlock"]);
    assert_eq!(through("prlimit --nofile=64 sh").0, ["warn job.nofile"]);
    assert_eq!(through("env NCCL_IB_DISABLE=1 sh").0, ["warn job.nccl"]);
    assert_eq!(through("env CUDA_VISIBLE_DEVICES=0,1,2 sh").0, ["fail job.devices"]);
    assert_eq!(through("sudo unshare --net sh").0, ["warn job.network"]);
    let (found, json) = through("no-such-launcher -w");
    assert_eq!(found, ["fail job.started"]);
    assert_eq!(json["exit_code"], 6);
    assert!(json.to_string().contains("no-such-launcher: not found"), "{json:#}");

    // From one place, once for each host: here it lands on that place for both.
    let json =
        site.run("verify", &["--json", "-", "--through", "env X={host} sh", "--through-at", "gpu1"]).json();
    assert_eq!(json["hosts"]["gpu0"]["through"]["launcher"], "env 'X=gpu0' sh");
    let names = json["hosts"]["gpu0"]["through"]["differences"].as_array().unwrap();
    assert!(names.iter().any(|row| row["what"] == "hostname" && row["job"] == "gpu1"), "{json:#}");
    // Without --through nothing is said of jobs.
    let json = site.run("verify", &["--json", "-"]).json();
    assert_eq!(findings(&json, "gpu0"), Vec::<String>::new());
    assert!(json["hosts"]["gpu0"].get("through").is_none());
}
