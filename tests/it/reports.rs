//! Reports of `verify` over simulated fleets: what people and machines read must stay readable and
//! small with 1000 hosts and 60 checks.
//!
//! `PROVISION_WRITE_REPORTS=DIRECTORY cargo test --test it reports` keeps the pages, to look at.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests write what is looked at")]

use std::collections::BTreeMap;

use provision::checks;
use provision::events::{
    ChangeView, CheckCounts, CheckResult, CheckStatus, Event, EventKind, Evidence, Failure, HostStatus,
    Outcome, PairTest, PlannedTask, PlannedVerdict, Record, RunStats, TaskCounts, TaskRef,
};
use provision::report::{html, json, junit, prometheus};
use provision::transport::ConnectKind;

/// Every check of the catalogue, and as many more as make 60.
fn ids() -> Vec<String> {
    let known = checks::TABLE.iter().map(|check| check.id.to_owned());
    known.chain((0..60).map(|number| format!("more.check_{number:02}"))).take(60).collect()
}

fn result(check: &str, status: CheckStatus, message: impl Into<String>) -> CheckResult {
    CheckResult {
        check: check.to_owned(),
        status,
        message: message.into(),
        evidence: Vec::new(),
        hint: None,
        because: None,
        acknowledged: None,
    }
}

fn finding(check: &str, status: CheckStatus, message: &str, from: &str, line: String) -> CheckResult {
    let hint = checks::find(check).map_or("see its page", |check| check.hint);
    CheckResult {
        evidence: vec![Evidence { from: from.to_owned(), line }],
        hint: Some(hint.to_owned()),
        ..result(check, status, message)
    }
}

/// What the checks say of one host of a fleet as it is on a bad day.
fn on_a_bad_day(host: usize) -> Vec<CheckResult> {
    use CheckStatus::{Fail, Pass, Skip, Unknown, Warn};
    let mut all: Vec<CheckResult> = ids()
        .iter()
        .enumerate()
        .map(|(number, id)| match number % 10 {
            0 => result(id, Pass, format!("as it should be, {} seen", host * 60 + number)),
            1 => result(id, Skip, "does not apply"),
            _ => result(id, Pass, "as it should be"),
        })
        .collect();
    let mut set = |found: CheckResult| {
        let at = all.iter().position(|result| result.check == found.check).unwrap();
        all[at] = found;
    };
    let xml = format!("<bus_id>0000:{:02x}:00.0</bus_id> & <uuid>GPU-{host:08x}</uuid>", host % 200);
    if host % 40 == 7 {
        set(finding("gpu.count", Fail, "the driver: 7 of 8 GPUs", "nvidia-smi -q -x", xml.clone()));
    }
    if host % 55 == 3 {
        let message = format!("mlx5_{}: DOWN, Polling", host % 8);
        set(finding("rdma.port_active", Fail, &message, "/sys/class/infiniband", "1: DOWN".to_owned()));
    }
    if host % 90 == 11 {
        set(finding("gpu.ecc", Fail, "GPU[0-7]: off", "nvidia-smi -q -x", xml.clone()));
    }
    if host % 33 == 5 {
        set(finding("gpu.persistence", Warn, "GPU[0-7]: off", "nvidia-smi -q -x", xml));
    }
    if host % 100 == 42 {
        for id in ids().iter().filter(|id| id.starts_with("gpu.")).skip(1) {
            let because = Some("gpu.answers".to_owned());
            set(CheckResult { because, ..result(id, Unknown, "nvidia-smi did not answer within 20 s") });
        }
        let line = format!("no answer, pid {host}");
        set(finding("gpu.answers", Fail, "nvidia-smi did not answer within 20 s", "nvidia-smi -q -x", line));
    }
    all
}

/// Everything is wrong everywhere, and no two lines are equal.
fn on_the_worst_day(host: usize) -> Vec<CheckResult> {
    let evidence = |number: usize| Evidence {
        from: format!("command {number} of host {host}"),
        line: format!("<{host}-{number}> {}", "what it said & more ".repeat(12)),
    };
    ids()
        .iter()
        .enumerate()
        .map(|(number, id)| CheckResult {
            evidence: (0..8).map(|line| evidence(number * 8 + line)).collect(),
            hint: Some(format!("mend {id} of host {host}")),
            ..result(id, CheckStatus::Fail, format!("device {number} of host {host} is not as it should be"))
        })
        .collect()
}

fn drift(host: usize) -> PlannedTask {
    let change = ChangeView {
        object: "/etc/security/limits.d/90-rdma.conf".to_owned(),
        summary: "~ /etc/security/limits.d/90-rdma.conf".to_owned(),
        diff: format!("-* soft memlock {}\n+* soft memlock unlimited", 64 << (host % 3)),
        disruption: "none".to_owned(),
    };
    PlannedTask {
        task: TaskRef {
            id: "base/limits".to_owned(),
            item: None,
            name: "RDMA limits".to_owned(),
            resource: "file".to_owned(),
        },
        verdict: PlannedVerdict::Changes(vec![change]),
        blocked: None,
        pending_since: None,
        notified_by: Vec::new(),
    }
}

/// A `verify` of this many hosts as the engine would tell it.
fn fleet(number: usize, found: impl Fn(usize) -> Vec<CheckResult>) -> Record {
    let mut record = Record::default();
    let names: Vec<String> = (0..number).map(|host| format!("gpu{host:03}")).collect();
    let mut seq = 0;
    let mut add = |kind: EventKind| {
        seq += 1;
        let at = "2026-11-21T09:30:00Z".parse().unwrap();
        record.add(&Event { run: "20261121-093000-1a2b".to_owned(), seq, at, elapsed: 41.5, kind });
    };
    add(EventKind::RunStarted {
        command: "verify".to_owned(),
        inventory: "inventories/a100.yaml".to_owned(),
        options: Vec::new(),
        cluster: "roce-a100".to_owned(),
        version: "0".to_owned(),
        hosts: names.clone(),
        offline: BTreeMap::from([("gpu-spare".to_owned(), "RMA 4711".to_owned())]),
        playbooks: 1,
        tasks: 1,
        steps: indexmap::IndexMap::new(),
        stages: 1,
    });
    add(EventKind::PairsTested { pairs: pairs(&names) });
    let mut stats = RunStats { hosts: number as u64, offline: 1, ..RunStats::default() };
    for (host, name) in names.iter().enumerate() {
        let lost = host % 250 == 99;
        let status = if lost {
            stats.unreachable += 1;
            HostStatus::Unreachable {
                kind: ConnectKind::TimedOut,
                reason: "no answer within 15 s".to_owned(),
                hint: Some(format!("ssh {name} true")),
            }
        } else {
            stats.ok += 1;
            HostStatus::Ok
        };
        if !lost {
            let results = found(host);
            let mut counts = CheckCounts::default();
            for result in &results {
                counts.count(result.status);
            }
            stats.checks.pass += counts.pass;
            stats.checks.fail += counts.fail;
            stats.checks.warn += counts.warn;
            stats.checks.unknown += counts.unknown;
            stats.checks.skip += counts.skip;
            if host % 60 == 1 {
                stats.pending += 1;
                add(EventKind::HostPlanned { host: name.clone(), tasks: vec![drift(host)] });
            }
            add(EventKind::HostChecked { host: name.clone(), checks: results });
        }
        add(EventKind::HostFinished {
            host: name.clone(),
            status,
            tasks: TaskCounts::default(),
            seconds: 1.0,
        });
    }
    add(EventKind::RunFinished { stats, exit_code: 6, seconds: 41.5 });
    record
}

fn keep(name: &str, text: &str) {
    if let Some(folder) = std::env::var_os("PROVISION_WRITE_REPORTS") {
        std::fs::write(std::path::Path::new(&folder).join(name), text).unwrap();
    }
}

/// Each host with the next one on eight rails: one rail of one pair is half as fast, one pair is dead.
fn pairs(names: &[String]) -> Vec<PairTest> {
    let mut pairs = Vec::new();
    for rail in 0..8_usize {
        for (place, two) in names.windows(2).enumerate() {
            let [one, other] = two else { continue };
            let dead = rail == 2 && place == 1;
            let gbps = if rail == 5 && place == 0 {
                98.2
            } else {
                189.0 + f64::from(u8::try_from((place + rail) % 7).unwrap())
            };
            pairs.push(PairTest {
                rail: format!("mlx5_{rail}"),
                hosts: [one.clone(), other.clone()],
                gbps: (!dead).then_some(gbps),
                error: dead.then(|| "Couldn't connect to 10.0.0.1:18515 <b>".to_owned()),
            });
        }
    }
    pairs
}

#[test]
fn a_thousand_hosts_are_one_small_page() {
    let record = fleet(1000, on_a_bad_day);
    let page = html::page(&record).unwrap();
    keep("thousand.html", &page);
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    for wanted in [
        "gpu.answers",
        "gpu042",
        "RDMA limits",
        "no answer within 15 s",
        "RMA 4711",
        "gpu.count",
        "799 pairs that are no worse",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    keep("four.html", &html::page(&fleet(4, on_a_bad_day)).unwrap());
}

#[test]
fn the_worst_day_still_opens() {
    let record = fleet(1000, on_the_worst_day);
    let page = html::page(&record).unwrap();
    keep("worst.html", &page);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
}

/// An `apply` of a driver: each host changed something else, two failed, one was blocked, many are
/// away; `most` bytes of output of each.
fn applied(number: usize, most: usize) -> Record {
    let mut record = Record::default();
    let mut add = |kind: EventKind| {
        let at = "2026-11-21T09:30:00Z".parse().unwrap();
        record.add(&Event { run: "20261121-093000-1a2b".to_owned(), seq: 1, at, elapsed: 41.5, kind });
    };
    let names: Vec<String> = (0..number).map(|host| format!("gpu{host:03}")).collect();
    add(EventKind::RunStarted {
        command: "apply".to_owned(),
        inventory: "inventories/a100.yaml".to_owned(),
        options: Vec::new(),
        cluster: "roce-a100".to_owned(),
        version: "0".to_owned(),
        hosts: names.clone(),
        offline: BTreeMap::new(),
        playbooks: 1,
        tasks: 2,
        steps: indexmap::IndexMap::new(),
        stages: 1,
    });
    let mut stats = RunStats { hosts: number as u64, ..RunStats::default() };
    for (host, name) in names.iter().enumerate() {
        let status = match host {
            30.. => HostStatus::Unreachable {
                kind: ConnectKind::TimedOut,
                reason: format!("ssh: connect to 10.0.{host}.1 port 22: timed out"),
                hint: None,
            },
            20 | 25 => HostStatus::Failed,
            _ => HostStatus::Ok,
        };
        for task in ["accounts", "driver"] {
            let change = ChangeView {
                object: "x".to_owned(),
                summary: format!("~ /etc/{task}-{host}"),
                diff: "+x\n".repeat(most / 3),
                disruption: "none".to_owned(),
            };
            let outcome = match (host, task) {
                (30.., _) => continue,
                (20 | 25, "driver") => Outcome::Failed(Failure {
                    output: "x".repeat(most),
                    ..Failure::new(format!("E: no space left on device {host}"))
                }),
                (22, "driver") => Outcome::Blocked("the host is in use: python3".to_owned()),
                _ => Outcome::Changed { changes: vec![change], output: String::new(), blocked: None },
            };
            let task = TaskRef {
                id: format!("base/{task}"),
                item: None,
                name: task.to_owned(),
                resource: "package".to_owned(),
            };
            add(EventKind::TaskFinished { host: name.clone(), task, outcome, seconds: 1.0, attached: false });
        }
        match status {
            HostStatus::Unreachable { .. } => stats.unreachable += 1,
            HostStatus::Failed => stats.failed += 1,
            HostStatus::Ok
            | HostStatus::Quarantined { .. }
            | HostStatus::Offline(_)
            | HostStatus::NotStarted(_) => stats.ok += 1,
        }
        add(EventKind::HostFinished {
            host: name.clone(),
            status,
            tasks: TaskCounts::default(),
            seconds: 1.0,
        });
    }
    add(EventKind::RunFinished { stats, exit_code: 5, seconds: 41.5 });
    record
}

#[test]
fn what_was_changed_is_not_said_to_be_left() {
    let mut record = applied(4, 30);
    record.stats.as_mut().unwrap().pending = 8;
    assert!(!html::page(&record).unwrap().contains("tasks to change"));
    record.command = "plan".to_owned();
    assert!(html::page(&record).unwrap().contains("tasks to change"));
}

#[test]
fn what_cannot_be_planned_is_told_once() {
    let mut record = applied(21, 30);
    record.command = "verify".to_owned();
    let told = |record: &Record| html::page(record).unwrap().matches("no space left on device 20").count();
    assert_eq!(told(&record), 1);
    let host = record.hosts.get_mut("gpu020").unwrap();
    let ended = host.tasks.iter().find(|it| matches!(*it.outcome, Outcome::Failed(_))).unwrap();
    let Outcome::Failed(failure) = &*ended.outcome else { unreachable!() };
    let planned = PlannedTask {
        task: (*ended.task).clone(),
        verdict: PlannedVerdict::Failed(failure.clone()),
        blocked: None,
        pending_since: None,
        notified_by: Vec::new(),
    };
    host.plan.push(planned.into());
    assert_eq!(told(&record), 1);
}

#[test]
fn a_page_hides_nothing_that_went_wrong() {
    // With texts that are more than all that a page may hold, too.
    for (name, most) in [("apply.html", 30), ("apply-long.html", 60_000)] {
        let page = html::page(&applied(430, most)).unwrap();
        keep(name, &page);
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{name}: no {text}"));
        let first = at("10.0.30.1").min(at("/etc/accounts-0"));
        for (host, reason) in
            [("gpu020", "device 20"), ("gpu025", "device 25"), ("gpu022", "in use: python3")]
        {
            assert!(at(&format!("<span class=\"hosts\">{host}</span>")) < first, "{name}: {host}");
            assert!(at(reason) < first, "{name}: {reason} stands before all else");
        }
        assert!(
            at("device 25") < at("in use: python3"),
            "{name}: what failed stands before what was blocked"
        );
        for host in 30..430 {
            at(&format!("gpu{host:03}"));
            at(&format!("10.0.{host}.1 port 22: timed out"));
        }
        assert!(page.contains("other changes, see --json"), "{name}: changes are limited");
    }
}

#[test]
fn a_page_names_the_hosts_of_all_findings() {
    // Thirteen texts and more of one check, and nothing left of the budget of text.
    let page = html::page(&fleet(1000, on_the_worst_day)).unwrap();
    assert_eq!(page.matches("other texts on <span class=\"hosts\">gpu").count(), ids().len());
    let findings = page.split("<h2>Findings</h2>").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(!findings.contains("<span class=\"hosts\">(left out"), "hosts are never left out");
}

#[test]
fn a_page_shows_all_pairs_that_carry_nothing() {
    let mut record = fleet(4, on_a_bad_day);
    record.pairs = (0..300)
        .map(|pair| PairTest {
            rail: "mlx5_0".to_owned(),
            hosts: [format!("a{pair:03}"), format!("b{pair:03}")],
            gbps: (pair % 6 == 0).then_some(190.0),
            error: (pair % 6 != 0).then(|| "Couldn't connect".to_owned()),
        })
        .collect();
    let page = html::page(&record).unwrap();
    for pair in (0..300).filter(|pair| pair % 6 != 0) {
        assert!(page.contains(&format!("a{pair:03} – b{pair:03}")), "{pair}");
    }
    assert!(page.contains("50 pairs that are no worse"), "the good ones are limited");
}

#[test]
fn a_page_needs_nothing_and_obeys_no_host() {
    let evil = |_: usize| {
        let text = "</script><script>alert(1)</script><!-- \u{1b}[31m";
        vec![finding("gpu.count", CheckStatus::Fail, text, text, text.to_owned())]
    };
    let page = html::page(&fleet(3, evil)).unwrap();
    assert!(!page.contains("<script>alert") && !page.contains("<!-- ") && !page.contains('\u{1b}'));
    assert_eq!(page.matches("</script>").count(), 2);
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    // What the script reads is JSON.
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["hosts"].as_array().unwrap().len(), 3);
    assert_eq!(data["rows"][0][0], "gpu[000-002]");
}

#[test]
fn a_host_turns_no_text_around_and_writes_no_line_of_another() {
    let evil = |_: usize| {
        let text = "bad\u{2066}\u{202e}\u{feff}\n      fail  gpu.count  gpu7  forged\r\u{2028}end";
        vec![finding("gpu.count", CheckStatus::Fail, text, text, text.to_owned())]
    };
    let mut record = fleet(3, evil);
    let reason = "gone\u{2069}\ngpu7  failed: forged".to_owned();
    let status = HostStatus::Quarantined { reason };
    record.hosts.values_mut().for_each(|host| host.status = Some(status.clone()));
    let strip = |text: String| anstream::adapter::strip_str(&text).to_string();
    let checks = strip(provision::report::checks::text(&record, true, None));
    let show = strip(provision::report::show::text(&record, true, None));
    for text in [&checks, &show, &html::page(&record).unwrap(), &junit::xml(&record).unwrap()] {
        let hidden =
            |c: char| matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\r');
        assert!(!text.contains(hidden), "{text}");
    }
    assert!(checks.lines().chain(show.lines()).all(|line| !line.starts_with("gpu7")), "{checks}{show}");
    assert!(checks.lines().all(|line| !line.starts_with("      fail  gpu.count  gpu7")), "{checks}");
}

#[test]
fn the_terminal_shows_a_thousand_hosts_on_a_screen() {
    let record = fleet(1000, on_a_bad_day);
    let text =
        provision::report::plan::text(&record, None) + &provision::report::checks::text(&record, false, None);
    let text = anstream::adapter::strip_str(&text).to_string();
    keep("thousand.txt", &text);
    assert!(text.lines().count() <= 50, "{} lines:\n{text}", text.lines().count());
    assert!(text.contains("gpu.answers"));
}

#[test]
fn the_terminal_spares_no_line_by_hiding_one_text() {
    let text = |hosts: usize| {
        let message = |host| format!("device {host} is down");
        let record = fleet(hosts, |host| {
            vec![finding("gpu.count", CheckStatus::Fail, &message(host), "x", "y".into())]
        });
        anstream::adapter::strip_str(&provision::report::checks::text(&record, false, None)).to_string()
    };
    assert!(text(4).contains("gpu003  device 3 is down"), "{}", text(4));
    assert!(text(5).contains("gpu[003-004]  2 other texts"), "{}", text(5));
}

/// What passed is the proof: with `-v` it is told with what was seen.
#[test]
fn the_terminal_tells_what_passed() {
    let text = |verbose| {
        let record = fleet(5, |host| {
            vec![
                result("gpu.count", CheckStatus::Pass, "8 GPUs"),
                result("driver.version", CheckStatus::Pass, if host < 4 { "550.54.15" } else { "550.90.07" }),
                result("gpu.ecc", CheckStatus::Pass, format!("{host} corrected")),
            ]
        });
        anstream::adapter::strip_str(&provision::report::checks::text(&record, verbose, None)).to_string()
    };
    let told = text(true);
    for line in [
        "pass  gpu.count  gpu[000-004]  8 GPUs",
        "pass  driver.version  gpu[000-003]  550.54.15",
        "pass  driver.version  gpu004  550.90.07",
        "pass  gpu.ecc  gpu[000-004]  5 texts, see --json or --html",
    ] {
        assert!(told.contains(line), "{told}");
    }
    assert!(!text(false).contains("8 GPUs"));
}

/// The last line is what is read at three in the morning.
#[test]
fn the_last_line_of_a_verify_says_what_its_exit_code_says() {
    let last = |record: &Record| {
        let text =
            anstream::adapter::strip_str(&provision::report::checks::text(record, false, None)).to_string();
        text.lines().last().unwrap().to_owned()
    };
    let pass = |_| vec![result("gpu.count", CheckStatus::Pass, "8")];
    // Every check passes, and on each sixtieth host there is something to do.
    let drifted = fleet(62, pass);
    assert_eq!(last(&drifted), "Unverified  2 tasks to change, exit code 6");
    let bad = fleet(100, |_| vec![result("gpu.count", CheckStatus::Fail, "7 of 8")]);
    assert_eq!(
        last(&bad),
        "Unverified  2 tasks to change, 99 checks failed, 1 host not reached, exit code 6"
    );
    let mut good = fleet(1, pass);
    good.exit_code = Some(0);
    assert_eq!(last(&good), "  Verified  1 host");
}

#[test]
fn junit_counts_what_fails_and_what_is_not_known() {
    let record = fleet(101, on_a_bad_day);
    let xml = junit::xml(&record).unwrap();
    keep("hundred.xml", &xml);
    let stats = record.stats.clone().unwrap();
    let head = xml.lines().nth(1).unwrap();
    let drifted = record.hosts.values().filter(|host| !host.plan.is_empty()).count() as u64;
    assert!(head.contains(&format!("failures=\"{}\"", stats.checks.fail + drifted)), "{head}");
    assert!(head.contains(&format!("errors=\"{}\"", stats.checks.unknown + stats.unreachable)), "{head}");
    assert!(xml.contains("<testcase name=\"gpu.count\" classname=\"check\">"), "{xml}");
}

#[test]
fn metrics_are_as_prometheus_wants_them() {
    let record = fleet(101, on_a_bad_day);
    let text = prometheus::text(&record);
    keep("hundred.prom", &text);
    let mut families: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(kind, "gauge");
            assert!(!families.contains(&name), "{name} is declared once");
            families.push(name);
        } else if !line.starts_with('#') {
            // All samples of a family stand together, below its type.
            let name = line.split('{').next().unwrap();
            assert_eq!(families.last(), Some(&name), "{line}");
            line.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
        }
    }
    let sample = "provision_check_status{check=\"gpu.count\",cluster=\"roce-a100\",node=\"gpu007\"} 2";
    assert!(text.lines().any(|line| line == sample), "{text}");
    assert!(text.contains("provision_host_up{cluster=\"roce-a100\",node=\"gpu099\"} 0"));
    assert!(text.contains(
        "provision_last_run_timestamp_seconds{cluster=\"roce-a100\",command=\"verify\"} 1795253441.500"
    ));
    assert!(text.ends_with('\n'));
}

#[test]
fn all_reports_agree_on_the_numbers() {
    let record = fleet(200, on_a_bad_day);
    let object = serde_json::to_value(json::object(&record)).unwrap();
    let fails = object["summary"]["checks"]["fail"].as_u64().unwrap();
    let text = prometheus::text(&record);
    let told =
        text.lines().filter(|line| line.starts_with("provision_check_status{") && line.ends_with(" 2"));
    assert_eq!(told.count() as u64, fails);
}

/// What scrolls or is cut on a screen has a rule of its own for paper.
#[test]
fn nothing_is_cut_on_paper() {
    let style = include_str!("../../src/report/html/style.css");
    let (screen, print) = style.split_once("@media print {").unwrap();
    let mut seen = 0;
    for rule in screen.split('}') {
        let Some((selector, body)) = rule.rsplit_once('{') else { continue };
        let cuts = [
            "overflow: auto",
            "overflow-x: auto",
            "overflow: hidden",
            "max-height:",
            "position: sticky",
            "position: fixed",
        ];
        if cuts.iter().any(|cut| body.contains(cut)) {
            seen += 1;
            let selector = selector.trim().trim_end_matches(":first-child");
            assert!(print.contains(selector), "{selector} is cut on paper");
        }
    }
    assert!(seen >= 5, "{seen} rules");
}
