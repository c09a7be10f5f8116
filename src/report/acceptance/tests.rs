//! The page as a whole; its pieces are tested beside their code.

use serde_json::Value as Json;

use super::page;
use super::test_record::record;
use crate::accept::record::{Record, Verdict};

fn of_json(record: &Record, change: impl Fn(&mut Json)) -> Record {
    let mut json = serde_json::to_value(record).unwrap();
    change(&mut json);
    serde_json::from_value(json).unwrap()
}

/// The page without its style, in which each `<` begins a tag of ours.
fn body(record: &Record) -> String {
    let page = page(record).unwrap();
    page.split_once("</style>").unwrap().1.to_owned()
}

#[test]
fn it_says_what_two_sides_sign() {
    let page = page(&record(4, 3)).unwrap();
    for piece in [
        "<title>acceptance rhine · 2 of 4 hosts passed; 1 failed, 1 was not tested</title>",
        r#"<header class="bad">"#,
        "✕ 2 of 4 hosts passed; 1 failed, 1 was not tested",
        "run 20261201-023000-1a2b3 · began 2026-12-01 02:30:00 UTC · took 73h 19m · provision 0.1.0",
        "no subnet manager answers: the fabric is RoCE",
        r#"<span class="part">GPU 1650223000103 at 0000:4b:00.0</span> <small>NVIDIA H200</small>"#,
        "667.1 are usual here",
        "reseat the GPU",
        "a process of alice holds GPU 3",
        "✕ 1 of 24 GPUs fail",
        "H200 SXM, versions.yaml of 2026-11-20",
        "at least 600.0 TFLOP/s",
        "<dt>median</dt>",
        "<b>write.gpu</b>",
        "570.86.15",
        "<li><b>1650223000103</b> 0000:4b:00.0",
        "For the side that takes over",
        "ssh-keygen -Y verify -f ALLOWED_SIGNERS -I IDENTITY -n provision-acceptance -s record.json.sig &lt; record.json",
    ] {
        assert!(page.contains(piece), "{piece} is missing");
    }
    // It needs nothing but itself, and nothing in it acts.
    for piece in ["<script", "http:", "https:", "@import", "url(", "src=", "onload"] {
        assert!(!page.contains(piece), "{piece}");
    }
}

#[test]
fn all_that_passed_are_good_news() {
    let good = of_json(&record(4, 3), |json| {
        for host in json["hosts"].as_object_mut().unwrap().values_mut() {
            host["verdict"] = "passed".into();
        }
    });
    let page = page(&good).unwrap();
    assert!(page.contains("✓ All 4 hosts passed") && page.contains(r#"<header class="good">"#));
    assert!(!page.contains("id=\"failed\"") && !page.contains("id=\"not-tested\""));
    assert!(page.contains("gpu[01-04]"));
}

#[test]
fn a_record_of_nothing_is_a_page() {
    let mut none = record(4, 3);
    none.hosts.clear();
    none.pairs.clear();
    none.stages.clear();
    let page = page(&none).unwrap();
    assert!(page.contains("There was no host to test") && page.contains("No stage ran"));
}

/// Adds to each text of the record what a browser would obey: keys of maps among them.
fn poison(json: &mut Json, evil: &str) {
    match json {
        Json::String(text) => text.push_str(evil),
        Json::Array(items) => items.iter_mut().for_each(|item| poison(item, evil)),
        Json::Object(map) => {
            let is_map = map.keys().all(|key| {
                key.starts_with("gpu0")
                    || matches!(
                        key.as_str(),
                        "kernel" | "driver" | "CUDA" | "firmware of mlx5" | "NCCL" | "power cap" | "thermal"
                    )
            });
            let old = std::mem::take(map);
            for (key, mut value) in old {
                // Words of ours, which a record with others is refused for.
                if !matches!(key.as_str(), "began" | "stage" | "verdict" | "kind" | "by") {
                    poison(&mut value, evil);
                }
                map.insert(if is_map { format!("{key}{evil}") } else { key }, value);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

#[test]
fn nothing_of_a_host_is_obeyed_wherever_it_stands() {
    let evil = "</title></style><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{202e}\u{1b}[2J\n{{ 7 * 7 }}{% raw %}";
    let hostile = of_json(&record(4, 3), |json| poison(json, evil));
    assert!(hostile.hosts.keys().all(|name| name.ends_with(evil)) && hostile.pairs[0].unit.ends_with(evil));
    let page = page(&hostile).unwrap();
    for piece in ["<script", "<img", "\u{202e}", "\u{1b}", "alert(1)</script", "\"'>"] {
        assert!(!page.contains(piece), "{piece}");
    }
    assert_eq!((page.matches("</style>").count(), page.matches("</title></style>").count()), (1, 0));
    assert!(page.contains("&lt;script&gt;") && page.contains("{{ 7 * 7 }}"));
    // No attribute ends early either: quotes of hosts are written as entities.
    let tags = body(&hostile);
    let odd = tags
        .split('<')
        .skip(1)
        .filter_map(|rest| rest.split_once('>'))
        .find(|(tag, _)| tag.matches('"').count() % 2 == 1);
    assert_eq!(odd, None);
}

#[test]
fn a_thousand_hosts_are_a_page_that_opens() {
    let fleet = record(1000, 8);
    let page = page(&fleet).unwrap();
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    assert!(!page.contains("left out, see"), "nothing is cut for want of room");
    for name in fleet.hosts.iter().filter(|(_, host)| host.verdict == Verdict::Failed).map(|(name, _)| name) {
        assert!(page.contains(&format!(r#"✕ failed</span> <span class="hosts">{name}</span>"#)), "{name}");
    }
    assert!(page.contains("A cell stands for up to") && page.contains("from p5 to p95"));
}

#[test]
fn a_record_without_bounds_has_a_page_with_bounds() {
    let mut fleet = record(40, 3);
    for host in fleet.hosts.values_mut() {
        let finding = crate::accept::record::Finding {
            stage: crate::accept::record::Stage::Node,
            part: "x".repeat(10_000),
            text: "<&\"".repeat(10_000),
            action: "y".repeat(10_000),
        };
        host.verdict = Verdict::Failed;
        host.findings = vec![finding; 50];
        host.software = (0..500).map(|at| (format!("s{at}"), "v".repeat(10_000))).collect();
        host.parts.iter_mut().for_each(|part| part.model = "m".repeat(10_000));
        for figure in &mut host.figures {
            figure.unit = "u".repeat(10_000);
        }
    }
    let shown = page(&fleet).unwrap();
    assert!(shown.len() < 5_000_000, "{} bytes", shown.len());
    assert!(shown.contains("38 other findings, see the JSON file"));
}

#[test]
fn numbers_of_a_liar_break_no_drawing() {
    for value in [0.0, -1.0, 1e-320, 1e300, f64::MAX] {
        let mut odd = record(4, 3);
        for host in odd.hosts.values_mut() {
            for figure in &mut host.figures {
                figure.value = value;
            }
            for samples in &mut host.samples {
                samples.at[0] = value;
                samples.mhz.fill(value);
                samples.watts.truncate(1);
                samples.celsius.clear();
            }
        }
        odd.pairs.iter_mut().for_each(|pair| pair.value = value);
        odd.seconds = value;
        let body = body(&odd);
        assert!(!body.contains("NaN") && !body.contains("inf ") && !body.contains("inf\""), "{value}");
    }
}

#[test]
fn a_fleet_of_which_each_host_fails_has_a_page_with_all_of_them() {
    let mut fleet = record(1000, 1);
    for host in fleet.hosts.values_mut() {
        let finding = crate::accept::record::Finding {
            stage: crate::accept::record::Stage::Node,
            part: String::new(),
            text: "<&\"'".repeat(300),
            action: "<&\"'".repeat(300),
        };
        host.verdict = Verdict::Failed;
        host.findings = vec![finding; 20];
    }
    let page = page(&fleet).unwrap();
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    assert_eq!(page.matches(r#"<span class="badge fail">✕ failed</span>"#).count(), 1000);
}

#[test]
fn what_is_remarked_of_a_host_that_passed_is_said() {
    let mut fleet = record(4, 3);
    let mut finding = fleet.hosts["gpu02"].findings[0].clone();
    finding.text = "one row was remapped <long ago>".to_owned();
    fleet.hosts.get_mut("gpu01").unwrap().findings.push(finding);
    let page = page(&fleet).unwrap();
    assert!(
        page.contains("Remarks on hosts that passed")
            && page.contains("one row was remapped &lt;long ago&gt;")
    );
}
