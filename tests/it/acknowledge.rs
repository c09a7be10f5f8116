//! `provision acknowledge` on this machine: what is known stays quiet, is in every report, and comes back.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use serde_json::Value as Json;

use crate::context::Context;
use crate::this_host;

/// No machine is called so, and has so many GPUs.
const INVENTORY: &str =
    "cluster: c\ntransport: local\nhosts: { here: { expect: { gpu: { count: 4711 } } } }\n";

/// Checks of the last verify that keep the host from being verified.
fn bad(site: &Context) -> Vec<String> {
    let json: Json = serde_json::from_str(&site.text("verify.json")).unwrap();
    let checks = json["hosts"]["here"]["checks"].as_array().unwrap();
    let bad = checks.iter().filter(|check| check["status"] == "fail" || check["status"] == "unknown");
    bad.map(|check| check["check"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_finding_is_quiet_until_its_day_and_in_every_report() {
    let _alone = this_host::alone();
    let site = Context::new();
    site.write("site.yaml", INVENTORY);
    let verify = ["verify", "site.yaml", "--json", "verify.json", "--html", "verify.html"];
    let said = site.ends(
        2,
        &["acknowledge", "site.yaml", "here", "gpu.count", "--until", "2026-12-24", "--because", "x"],
    );
    assert!(said.contains("no recorded verify has looked at here"), "{said}");
    site.ends(6, &verify);
    let checks = bad(&site);
    assert!(checks.contains(&"gpu.count".to_owned()), "{checks:?}");
    for check in &checks {
        let words = ["--until", "2026-12-24", "--because", "the cards <come> in December", "--any-text"];
        let said = site.ends(0, &[&["acknowledge", "site.yaml", "here", check][..], &words].concat());
        assert!(said.contains("until 2026-12-24, whatever it says: the cards <come> in December"), "{said}");
    }
    let said = site.ends(0, &["verify", "site.yaml"]);
    assert!(said.contains("known  gpu.count  here  "), "{said}");
    assert!(said.contains("until 2026-12-24: the cards <come> in December ("), "{said}");
    site.ends(0, &verify);
    assert_eq!(bad(&site), Vec::<String>::new());
    let json: Json = serde_json::from_str(&site.text("verify.json")).unwrap();
    let known = json["hosts"]["here"]["checks"].as_array().unwrap();
    let known: Vec<&Json> = known.iter().filter(|check| !check["acknowledged"].is_null()).collect();
    assert_eq!(known.len(), checks.len());
    assert_eq!(known[0]["status"], "skip");
    let page = site.text("verify.html");
    assert!(page.contains("Acknowledged findings") && page.contains("the cards &lt;come&gt; in December"));
    let said = site.ends(0, &["acknowledge", "site.yaml", "--json", "-"]);
    let json: Json = serde_json::from_str(&said).unwrap();
    assert_eq!(json["acknowledged"].as_array().unwrap().len(), checks.len());
    assert_eq!(json["acknowledged"][0]["expired"], false);

    // The day after: everything is told, with the reason why it was quiet.
    let after =
        site.command(&["verify", "site.yaml"]).env("SOURCE_DATE_EPOCH", "1798200000").output().unwrap();
    let said = crate::context::said(&after);
    assert_eq!(after.status.code(), Some(6), "{said}");
    assert!(said.contains("it was acknowledged until 2026-12-24 (the cards <come> in December, "), "{said}");
    let list =
        site.command(&["acknowledge", "site.yaml"]).env("SOURCE_DATE_EPOCH", "1798200000").output().unwrap();
    assert!(crate::context::said(&list).contains("expired  gpu.count  here"));

    // What follows from a finding is quiet with it, and told with it.
    site.ends(0, &["acknowledge", "site.yaml", "here", "gpu.count", "--end"]);
    site.ends(0, &verify);
    site.ends(0, &["acknowledge", "site.yaml", "here", "gpu.answers", "--end"]);
    site.ends(6, &verify);
    assert!(bad(&site).contains(&"gpu.answers".to_owned()), "{:?}", bad(&site));
    let said = site.ends(2, &["acknowledge", "site.yaml", "hree", "--end"]);
    assert!(said.contains("nothing of the kind is acknowledged of hree"), "{said}");
}

#[test]
fn what_cannot_be_acknowledged_is_said() {
    let _alone = this_host::alone();
    let site = Context::new();
    site.write("site.yaml", INVENTORY);
    site.ends(6, &["verify", "site.yaml"]);
    let why = ["--because", "x"];
    for (words, said) in [
        (&["here", "gpu.cuont", "--until", "2026-12-24"][..], "there is no check `gpu.cuont`"),
        (&["here", "gpu.count", "--until", "2026-11-29"], "2026-11-29 is over: today is 2026-11-30"),
        (&["here", "gpu.count", "--until", "2028-01-01"], "2028-01-01 is more than a year away"),
        (&["here", "gpu.count", "--until", "soon"], "invalid value 'soon'"),
        (
            &["here", "rdma.rate", "--until", "2026-12-24"],
            "here has no finding of rdma.rate in the verify of",
        ),
        (&["here", "job.host", "--until", "2026-12-24"], "no recorded verify made job.host on here"),
        (&["there", "gpu.count", "--until", "2026-12-24"], "no recorded verify has looked at there"),
        (&["here", "--until", "2026-12-24"], "the check is missing"),
    ] {
        let told = site.ends(2, &[&["acknowledge", "site.yaml"], words, &why[..]].concat());
        assert!(told.contains(said), "{words:?}: {told}");
    }
    let told = site.ends(2, &["acknowledge", "site.yaml", "here", "gpu.count"]);
    assert!(told.contains("say until when, and why"), "{told}");
    assert_eq!(site.ends(0, &["acknowledge", "site.yaml"]), "nothing is acknowledged\n");
    // What somebody else wrote there is not written over.
    site.write("state/provision/c/acknowledged.json", "{ cut");
    let told = site.ends(
        3,
        &["acknowledge", "site.yaml", "here", "gpu.count", "--until", "2026-12-24", "--because", "x"],
    );
    assert!(told.contains("acknowledged.json is not understood ("), "{told}");
    assert_eq!(site.text("state/provision/c/acknowledged.json"), "{ cut");
}

#[test]
fn two_at_once_lose_nothing() {
    let _alone = this_host::alone();
    let site = Context::new();
    site.write("site.yaml", INVENTORY.replace("{ gpu:", "{ rdma: { count: 4711 }, gpu:"));
    site.ends(6, &["verify", "site.yaml"]);
    for _ in 0..3 {
        let started = ["gpu.count", "rdma.devices"].map(|check| {
            let words =
                ["acknowledge", "site.yaml", "here", check, "--until", "2026-12-24", "--because", "x", "-q"];
            site.command(&words).spawn().unwrap()
        });
        for mut run in started {
            assert!(run.wait().unwrap().success());
        }
        let all = site.ends(0, &["acknowledge", "site.yaml"]);
        assert!(all.contains("gpu.count") && all.contains("rdma.devices"), "{all}");
        site.ends(0, &["acknowledge", "site.yaml", "here", "--end"]);
    }
}
