use jiff::Timestamp;

use super::super::*;
use super::{host, is_safe, lines, moment, text};
use crate::accept::record::{Figure, Finding, Stage};

fn figure(part: &str, value: f64) -> Figure {
    Figure {
        name: "matmul.bf16".to_owned(),
        part: part.to_owned(),
        value,
        unit: "TFLOP/s".to_owned(),
        thresholds: Vec::new(),
        holds: None,
    }
}

pub(super) fn line(entry: &Entry) -> String {
    serde_json::to_string(entry).unwrap() + "\n"
}

#[test]
fn a_ledger_is_written_and_read_again() {
    let mut file = String::new();
    let mut ledger = Ledger::default();
    for (day, value) in [("2026-11-02", 781.0), ("2026-11-09", 779.5), ("2026-11-16", f64::NAN)] {
        for (name, text) in [("gpu04", "hgx-a.txt"), ("gpu17", "hgx-b.txt")] {
            let figures = [figure("gpu 1650223014512", value), figure("gpu 1650223014521", value)];
            let entry = entry(&ledger, day, &host(name, text, day), &figures);
            ledger.add(&entry);
            file += &line(&entry);
        }
    }
    let read = Ledger::read(file.as_bytes(), None);
    assert_eq!(read, ledger);
    let gpu = &read.parts["gpu 1650223014512"];
    assert_eq!((gpu.stays.len(), gpu.events.len(), gpu.model.as_str()), (1, 2, "NVIDIA H200"));
    assert_eq!((gpu.stays[0].since, gpu.stays[0].until), (moment("2026-11-02"), moment("2026-11-16")));
    let values: Vec<f64> = gpu.figures["matmul.bf16"].iter().map(|point| point.value).collect();
    assert_eq!(values, [781.0, 779.5]);
    // What did not change takes a word each.
    let last = file.lines().last().unwrap();
    assert!(last.len() < 900 && !last.contains("NVIDIA"), "{}: {last}", last.len());
    // Up to a day.
    let until = Ledger::read(file.as_bytes(), Some(moment("2026-11-05")));
    assert_eq!(until.parts["gpu 1650223014512"].figures["matmul.bf16"].len(), 1);
    // The hosts as they are in it.
    let hosts = read.hosts();
    assert_eq!(hosts.iter().map(|host| host.host.as_str()).collect::<Vec<_>>(), ["gpu04", "gpu17"]);
    assert_eq!(lines(&hosts[0]), lines(&host("gpu04", "hgx-a.txt", "2026-12-01")));
}

#[test]
fn parts_come_and_go_in_a_ledger() {
    let mut ledger = Ledger::default();
    let all = text("h200-x1.txt");
    let without = all.replace("|GPU 00000000:00:06.0", "|No GPU");
    let hangs = all.replace("=== gpus\n", "=== gpus\n|!124\n=== other\n");
    let mut is_there = Vec::new();
    for (day, text) in [
        ("2026-11-01", &all),
        ("2026-11-02", &hangs),
        ("2026-11-03", &without),
        ("2026-11-04", &without),
        ("2026-11-05", &all),
    ] {
        let host = read("vm", moment(day), text).unwrap();
        ledger.add(&entry(&ledger, day, &host, &[]));
        is_there.push(ledger.parts["gpu 1654024000001"].stays.iter().any(|stay| stay.is_there));
    }
    assert_eq!(is_there, [true, true, false, false, true]);
    let stays = &ledger.parts["gpu 1654024000001"].stays;
    let days: Vec<(Timestamp, Timestamp)> = stays.iter().map(|stay| (stay.since, stay.until)).collect();
    assert_eq!(
        days,
        [(moment("2026-11-01"), moment("2026-11-01")), (moment("2026-11-05"), moment("2026-11-05"))]
    );
}

#[test]
fn foreign_lines_are_skipped_by_their_number() {
    let good = line(&entry(&Ledger::default(), "r", &host("gpu04", "hgx-a.txt", "2026-11-02"), &[]));
    let mut file = good.clone().into_bytes();
    let huge = format!("{{\"format\":1,\"x\":\"{}\"}}", "y".repeat(5 << 20));
    for bad in [
        &b"{\"format\":2,\"at\":\"2026-11-02T06:00:00Z\",\"host\":\"a\"}"[..],
        b"",
        b"\x00\xff\xfe binary",
        b"[1,2,3]",
        b"{\"format\":1}",
        b"{\"format\":1,\"at\":\"yesterday\",\"host\":\"a\"}",
        &good.as_bytes()[..200],
        "[".repeat(10_000).as_bytes(),
        huge.as_bytes(),
        b"null",
    ] {
        file.extend_from_slice(bad);
        file.push(b'\n');
    }
    file.extend_from_slice(good.replace("gpu04", "gpu05").as_bytes());
    let ledger = Ledger::read(&file, None);
    let lines: Vec<usize> = ledger.skipped.iter().map(|skipped| skipped.line).collect();
    assert_eq!(lines, [2, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(ledger.skipped[0].why, "it has form 2, and 1 is known");
    assert_eq!(ledger.hosts.keys().collect::<Vec<_>>(), ["gpu04", "gpu05"]);
}

#[test]
fn a_bundle_says_what_is_in_it_and_what_is_not() {
    let host = host("gpu17", "hgx-a.txt", "2026-12-01");
    let mut ledger = Ledger::default();
    ledger.add(&entry(
        &ledger,
        "r1",
        &self::host("gpu04", "hgx-a.txt", "2026-10-05"),
        &[figure("gpu 1650223014512", 702.5)],
    ));
    ledger.add(&entry(&ledger, "r2", &host, &[]));
    let finding = Finding {
        stage: Stage::Node,
        part: "gpu 1650223014512".to_owned(),
        text: "matmul.bf16 702.5 TFLOP/s, and 750 is the least".to_owned(),
        action: String::new(),
    };
    let request = Request {
        cluster: "hpc",
        at: moment("2026-12-01"),
        host: &host,
        ledger: &ledger,
        findings: &[finding],
        part: Some("gpu 1650223014512"),
    };
    let items = plan(&request);
    let text = |name: &str| {
        let item = items.iter().find(|item| item.name == name).unwrap();
        let Content::Text(text) = &item.content else { panic!("{item:?}") };
        text.clone()
    };
    let cover = text("README.txt");
    for line in [
        "Return of parts of host gpu17 of cluster hpc",
        "  gpu 1650223014512, NVIDIA H200, at 0000:2a:00.0",
        "    found: matmul.bf16 702.5 TFLOP/s, and 750 is the least",
        "  machine: board S950001X4000001 (Supermicro SYS-821GE-TNHR)",
        "  driver: 580.159.04",
        "    nvidia-bug-report.sh",
        "  lspci.txt: lspci -D -nn -vvv",
    ] {
        assert!(cover.lines().any(|other| other == line), "{line}\n{cover}");
    }
    assert!(cover.lines().all(|line| is_safe(line, 200)), "{cover}");
    let history = text("history.txt");
    for line in [
        "  2026-10-05 to 2026-10-05 in gpu04 (0000:2a:00.0): 2 remapped rows, 2 uncorrectable memory errors, 7 errors of NVLink, Xid 63 and Xid 94",
        "  2026-10-05 matmul.bf16 702.5 TFLOP/s in gpu04",
    ] {
        assert!(history.lines().any(|other| other == line), "{line}\n{history}");
    }
    // Without a part all are meant that something speaks against.
    let all = plan(&Request { part: None, findings: &[], ..request });
    let Content::Text(cover) = &all[0].content else { panic!() };
    assert!(cover.contains("gpu 1650223014512") && !cover.contains("gpu 1650223014501"), "{cover}");
    assert!(cover.contains("nic MT2314XZ0A01") && cover.contains("7 symbol errors"), "{cover}");
    assert_eq!(kept("a NVRM: x\nb\nc Xid\n", &["NVRM".to_owned(), "Xid".to_owned()]), "a NVRM: x\nc Xid\n");
    assert_eq!(kept("a\nb", &[]), "a\nb\n");
    let names: Vec<&str> = items.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names[..3], ["README.txt", "history.txt", "nvidia-smi-q.txt"]);
}
