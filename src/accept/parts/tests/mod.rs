mod ledger;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::*;
use crate::accept::record::{FORMAT, HostRecord, PartKind, Record};

fn cases() -> PathBuf {
    Path::new(file!()).parent().unwrap().join("../../../../tests/cases/parts")
}

fn text(name: &str) -> String {
    fs::read_to_string(cases().join(name)).unwrap()
}

fn moment(day: &str) -> Timestamp {
    format!("{day}T06:00:00Z").parse().unwrap()
}

fn host(name: &str, file: &str, day: &str) -> HostParts {
    read(name, moment(day), &text(file)).unwrap()
}

fn lines(host: &HostParts) -> Vec<String> {
    host.parts.iter().map(|part| format!("{} | {} | {}", part.key, part.model, part.place)).collect()
}

fn counters(host: &HostParts, part: &str) -> BTreeMap<String, u64> {
    let of = host.counters.iter().filter(|counter| counter.part == part);
    of.map(|counter| (counter.name.clone(), counter.value)).collect()
}

#[test]
fn a_recorded_gpu_is_read() {
    let host = host("vm", "h200-x1.txt", "2026-12-01");
    assert_eq!(
        lines(&host),
        [
            "board 3c1d9c52-7e0b-4c65-9b0a-6a4f40b1c0de | QEMU Standard PC (Q35 + ICH9, 2009) | machine",
            "gpu 1654024000001 | NVIDIA H200 | 0000:00:06.0",
            "nic 02:fc:00:00:00:01 | 0x1af4:0x0001 | 0000:00:03.0",
            "place vm DIMM 0 | 16 GB RAM | DIMM 0",
        ]
    );
    let counted = counters(&host, "gpu 1654024000001");
    let names: Vec<&str> = counted.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "ecc.corrected",
            "ecc.corrected_now",
            "ecc.threshold",
            "ecc.uncorrected",
            "ecc.uncorrected_now",
            "pcie.replay_rollovers",
            "pcie.replays",
            "remap.correctable",
            "remap.failure",
            "remap.pending",
            "remap.uncorrectable",
            "repair.channel",
            "repair.impossible",
            "repair.tpc",
        ]
    );
    assert!(counted.values().all(|value| *value == 0), "{counted:?}");
    let versions: Vec<String> =
        host.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    assert_eq!(
        versions,
        [
            "BIOS 1.16.3-debian-1.16.3-2",
            "CUDA 13.0",
            "VBIOS 96.00.A5.00.1A",
            "driver 580.159.04",
            "kernel 6.8.0-87-generic"
        ]
    );
    assert_eq!(host.unread.iter().collect::<Vec<_>>(), [&PartKind::Cable]);
    assert_eq!(host.notes.len(), 2, "{:?}", host.notes);
}

#[test]
fn all_kinds_of_parts_are_read() {
    let host = host("gpu04", "hgx-a.txt", "2026-12-01");
    assert_eq!(
        lines(&host),
        [
            "board OM23AS000001 | Supermicro X13DEG-OAD | mainboard",
            "board S950001X4000001 | Supermicro SYS-821GE-TNHR | machine",
            "gpu 1650223014501 | NVIDIA H200 | 0000:18:00.0",
            "gpu 1650223014512 | NVIDIA H200 | 0000:2a:00.0",
            "nic MT2314XZ0A01 | MCX75310AAS-NEAT | 0000:19:00.0",
            "nic MT2314XZ0A02 | MCX75310AAS-NEAT | 0000:2b:00.0",
            "cable C2604279049-2 | FS OSFPFL-400G-PC01 1m | mlx5_1",
            "cable MT2231VB01234 | Mellanox MCP1660-W002E30 2m | mlx5_0",
            "memory Samsung M321R8GA0BB0-CQKZJ 440FEB5D | 64 GB DDR5 M321R8GA0BB0-CQKZJ | P1-DIMMA1",
            "memory Samsung M321R8GA0BB0-CQKZJ 440FEB5E | 64 GB DDR5 M321R8GA0BB0-CQKZJ | P1-DIMMB1",
            "disk S64GNE0T100001 | SAMSUNG MZQL23T8HCLS-00A07 | 0000:c1:00.0",
            "disk S64GNE0T100002 | SAMSUNG MZQL23T8HCLS-00A07 | 0000:c2:00.0",
        ]
    );
    assert_eq!((host.notes.as_slice(), host.unread.len()), (&[][..], 0));
    let gpu = counters(&host, "gpu 1650223014512");
    for (name, value) in [
        ("remap.uncorrectable", 2),
        ("remap.correctable", 0),
        ("ecc.uncorrected", 2),
        ("nvlink.crc_errors", 7),
        ("nvlink.replay_errors", 0),
        ("pcie.correctable", 9),
        ("pcie.fatal", 0),
    ] {
        assert_eq!(gpu.get(name), Some(&value), "{name}");
    }
    // The link of a cable is that of its card.
    for part in ["nic MT2314XZ0A01", "cable MT2231VB01234"] {
        assert_eq!(counters(&host, part).get("link.symbol_error"), Some(&7), "{part}");
    }
    let board = counters(&host, "board S950001X4000001");
    assert_eq!(board.get("memory.corrected CPU_SrcID#0_MC#0_Chan#1_DIMM#0"), Some(&5), "{board:?}");
    let events: Vec<String> =
        host.events.iter().map(|event| format!("{} | {} | {}", event.part, event.name, event.text)).collect();
    assert_eq!(
        events,
        [
            "board S950001X4000001 | sxid | (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 MC TS crumbstore MCTO (First)",
            "gpu 1650223014512 | xid 63 | pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate.",
            "gpu 1650223014512 | xid 94 | pid=2503421, name=python3, Ch 00000008",
            "nic MT2314XZ0A01 | module event | Port module event: module 0, Cable unplugged",
        ]
    );
}

#[test]
fn a_host_that_hardly_answers_is_no_host_without_parts() {
    let host = host("gpu17", "nothing-answers.txt", "2026-12-01");
    let kinds: Vec<PartKind> = host.unread.iter().copied().collect();
    assert_eq!(kinds, [PartKind::Gpu, PartKind::Memory]);
    // Both cards have the vital product data of one: they are one part.
    let cards: Vec<String> = lines(&host).into_iter().filter(|line| line.starts_with("nic ")).collect();
    assert_eq!(cards, ["nic MT2304XZ02VD | MCX713106AC-VEAT | 0000:19:00.0"]);
    let failed: Vec<&String> = host.notes.iter().filter(|note| note.contains(": it ")).collect();
    assert_eq!(
        failed,
        [
            "events: it cannot be read whole",
            "gpus: it took too long",
            "memory: it cannot be read whole",
            "nvlink: it took too long"
        ]
    );
    let before = [self::host("gpu17", "hgx-b.txt", "2026-11-02")];
    let found = changes(&before, &[host], &Ledger::default());
    let said: Vec<&str> = found.iter().map(|change| change.text.as_str()).collect();
    assert_eq!(
        said,
        [
            "gpu17: network card MT2314XZ0B01 at 0000:19:00.0 was replaced by MT2304XZ02VD",
            "gpu17: network card MT2314XZ0B02 at 0000:2b:00.0 is gone",
            "gpu17: cable MT2231VB02345 of mlx5_0 is gone, or does not answer",
        ]
    );
}

/// A case: hosts before and after with what was edited in them, and what is said.
#[derive(Default)]
struct Case {
    before: Vec<(String, String)>,
    after: Vec<(String, String)>,
    say: Vec<String>,
    sum: Vec<String>,
}

fn case(path: &Path) -> Case {
    let mut case = Case::default();
    for line in fs::read_to_string(path).unwrap().lines() {
        let (word, rest) = line.split_once(' ').unwrap();
        let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "#" => {}
            "before" => case.before.push((first.to_owned(), text(second))),
            "after" => case.after.push((first.to_owned(), text(second))),
            "in" | "was" => {
                let (old, new) = second.split_once(" => ").unwrap();
                let (old, new) = (old.replace("\\n", "\n"), new.replace("\\n", "\n"));
                let hosts = if word == "in" { &mut case.after } else { &mut case.before };
                let (_, text) = hosts.iter_mut().find(|(name, _)| name == first).unwrap();
                assert!(text.contains(&old), "{}: {old}", path.display());
                *text = text.replace(&old, &new);
            }
            "say" => case.say.push(rest.to_owned()),
            "sum" => case.sum.push(rest.to_owned()),
            _ => panic!("{}: {line}", path.display()),
        }
    }
    case
}

fn hosts(texts: &[(String, String)], day: &str) -> Vec<HostParts> {
    texts.iter().map(|(name, text)| read(name, moment(day), text).unwrap()).collect()
}

#[test]
fn what_changed_is_told_by_serial_number() {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(cases().join("changes")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 14, "{}", paths.len());
    for path in paths {
        let case = case(&path);
        let (before, after) = (hosts(&case.before, "2026-11-02"), hosts(&case.after, "2026-12-01"));
        let found = changes(&before, &after, &Ledger::default());
        let said: Vec<&str> = found.iter().map(|change| change.text.as_str()).collect();
        assert_eq!(said, case.say, "{}", path.display());
        assert_eq!(summary(&found, "acceptance"), case.sum, "{}", path.display());
        // The same by way of a ledger.
        let mut ledger = Ledger::default();
        for host in &before {
            ledger.add(&entry(&ledger, "run", host, &[]));
        }
        let found = changes(&ledger.hosts(), &after, &ledger);
        let said: Vec<&str> = found.iter().map(|change| change.text.as_str()).collect();
        assert_eq!(said, case.say, "{} with a ledger", path.display());
    }
}

#[test]
fn a_ledger_says_where_a_part_was_long_ago() {
    let mut ledger = Ledger::default();
    // It was taken out in October, and nobody saw it until December.
    ledger.add(&entry(&ledger, "r1", &host("gpu04", "hgx-a.txt", "2026-10-05"), &[]));
    let other = text("hgx-a.txt").replace("1650223014512", "1650223014599");
    let before = read("gpu04", moment("2026-11-02"), &other).unwrap();
    ledger.add(&entry(&ledger, "r2", &before, &[]));
    let before = [before, host("gpu17", "hgx-b.txt", "2026-11-02")];
    let now = text("hgx-b.txt").replace("1650223014522", "1650223014512");
    let after = [read("gpu17", moment("2026-12-01"), &now).unwrap()];
    let found = changes(&before, &after, &ledger);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        found[0].text,
        "gpu17: GPU 1650223014522 at 0000:2a:00.0 was replaced by 1650223014512; 1650223014512 was in gpu04 until \
         2026-10-05 and had 2 remapped rows, 2 uncorrectable memory errors, 7 errors of NVLink, Xid 63 and Xid 94 there"
    );
    assert_eq!((found[0].what, found[0].kind), (ChangeKind::Replaced, PartKind::Gpu));
}

#[test]
fn gpus_of_one_board_and_cards_with_two_ports() {
    // Two GPUs with the number of their board are told apart by their UUID.
    let shared = text("hgx-a.txt").replace("1650223014512", "1650223014501");
    let host = read("gpu04", moment("2026-12-01"), &shared).unwrap();
    let gpus: Vec<&str> =
        host.parts.iter().filter(|part| part.kind == PartKind::Gpu).map(|part| part.key.as_str()).collect();
    assert_eq!(
        gpus,
        ["gpu GPU-a0000000-0000-0000-0000-000000000001", "gpu GPU-a0000000-0000-0000-0000-000000000002"]
    );
    assert!(host.notes[0].contains("is followed by its UUID"), "{:?}", host.notes);
    // Two functions with one number are one card, at the first address, with the counters of both.
    let twin =
        text("hgx-a.txt").replace("MT2314XZ0A02", "MT2314XZ0A01").replace("0000:2b:00.0", "0000:19:00.1");
    let twin = twin.replace(
        "infiniband/mlx5_1/ports/1/counters/symbol_error:0",
        "infiniband/mlx5_1/ports/1/counters/symbol_error:4",
    );
    let host = read("gpu04", moment("2026-12-01"), &twin).unwrap();
    let cards: Vec<String> = lines(&host).into_iter().filter(|line| line.starts_with("nic ")).collect();
    assert_eq!(cards, ["nic MT2314XZ0A01 | MCX75310AAS-NEAT | 0000:19:00.0"]);
    assert_eq!(counters(&host, "nic MT2314XZ0A01")["link.symbol_error"], 11);
    assert_eq!(counters(&host, "cable C2604279049-2")["link.symbol_error"], 4);
}

#[test]
fn serial_numbers_that_are_none_leave_what_is_stable() {
    let all = text("hgx-a.txt");
    for none in ["N/A", "0", "[N/A]", "Unknown Error", "", "Requested functionality has been deprecated"] {
        let host = read("gpu04", moment("2026-12-01"), &all.replace("1650223014501", none)).unwrap();
        let key = "gpu GPU-a0000000-0000-0000-0000-000000000001";
        assert!(host.parts.iter().any(|part| part.key == key), "{none}");
    }
    for none in ["N/A", "To be filled by O.E.M.", "Default string", ""] {
        let host = read("gpu04", moment("2026-12-01"), &all.replace("MT2314XZ0A01", none)).unwrap();
        assert!(host.parts.iter().any(|part| part.key == "nic a088:c203:00e3:0001"), "{none}");
        let host = read(
            "gpu04",
            moment("2026-12-01"),
            &all.replace("MT2314XZ0A01", none).replace("a088:c203:00e3:0001", "0000:0000:0000:0000"),
        );
        assert!(host.unwrap().parts.iter().any(|part| part.key == "nic a0:88:c2:e3:00:01"), "{none}");
    }
    let bare = all.replace("1650223014501", "0").replace("GPU-a0000000-0000-0000-0000-000000000001", "N/A");
    let host = read("gpu04", moment("2026-12-01"), &bare.replace("440FEB5D", "Not Specified")).unwrap();
    let placed: Vec<&str> =
        host.parts.iter().filter(|part| !can_be_followed(&part.key)).map(|part| part.key.as_str()).collect();
    assert_eq!(placed, ["place gpu04 0000:18:00.0", "place gpu04 P1-DIMMA1"]);
    assert!(
        host.notes.iter().any(|note| note.contains("the GPU at 0000:18:00.0 has no number of its own")),
        "{:?}",
        host.notes
    );
}

/// A sequence that looks like chance and is the same each time.
struct Sequence(u64);

impl Sequence {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below.max(1)
    }
}

/// Whether text of a host is one line of printable ASCII, and not long.
fn is_safe(text: &str, most: usize) -> bool {
    text.len() <= most && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

#[test]
fn whatever_a_host_says_is_made_safe() {
    let evil = [
        "\u{1b}[2J\u{1b}]0;x\u{7}",
        "\u{202e}",
        "\r",
        "\0",
        "é日本",
        "@",
        "!",
        "=== ",
        "|",
        ":",
        " : ",
        "\u{9b}31m",
        "-1",
        "99999999999999999999999",
        "/",
        "..",
        "'; rm -rf /",
        "\u{fffd}",
        "NaN",
        "=== end",
    ];
    let mut chance = Sequence(7);
    for file in ["h200-x1.txt", "hgx-a.txt"] {
        let all = text(file);
        let lines: Vec<&str> = all.lines().collect();
        for round in 0..30 {
            let mut changed: Vec<String> = Vec::new();
            for line in &lines {
                match chance.next(40) {
                    0 => {}
                    1 => {
                        let at = line.char_indices().nth(chance.next(line.len())).map_or(0, |(at, _)| at);
                        let (left, right) = line.split_at(at);
                        changed.push(format!("{left}{}{right}", evil[chance.next(evil.len())]));
                    }
                    2 => changed.push(format!(
                        "{line}{}",
                        evil[chance.next(evil.len())].repeat(1 + chance.next(3000))
                    )),
                    3 => changed.push(lines[chance.next(lines.len())].to_owned()),
                    _ => changed.push((*line).to_owned()),
                }
            }
            changed.push("=== end".to_owned());
            let Ok(host) = read("gpu04", moment("2026-12-01"), &changed.join("\n")) else { continue };
            for part in &host.parts {
                assert!(is_safe(&part.key, 240) && !part.key.is_empty(), "{round} {part:?}");
                assert!(is_safe(&part.model, 80) && is_safe(&part.place, 80), "{round} {part:?}");
            }
            for counter in &host.counters {
                assert!(is_safe(&counter.name, 120) && is_safe(&counter.part, 240), "{round} {counter:?}");
            }
            for event in &host.events {
                assert!(is_safe(&event.text, 160) && is_safe(&event.moment, 60), "{round} {event:?}");
            }
            let said = host.versions.iter().flat_map(|(name, version)| [name, version]).chain(&host.notes);
            for text in said {
                assert!(is_safe(text, 1000), "{round} {text:?}");
            }
            let before = read("gpu04", moment("2026-11-02"), &all).unwrap();
            for change in changes(&[before], std::slice::from_ref(&host), &Ledger::default()) {
                assert!(is_safe(&change.text, 2000), "{round} {change:?}");
            }
            let ledger =
                Ledger::read(ledger::line(&entry(&Ledger::default(), "r", &host, &[])).as_bytes(), None);
            assert!(ledger.skipped.is_empty(), "{:?}", ledger.skipped);
        }
    }
    assert!(read("a", moment("2026-12-01"), &"\u{1b}[31m".repeat(1_000_000)).is_err());
    let long = format!("=== gpus\n{}=== end\n", "|GPU 0000:18:00.0\n".repeat(99_990));
    assert!(read("a", moment("2026-12-01"), &long).unwrap().parts.len() <= 2_000);
}

#[test]
fn swaps_of_many_gpus_are_each_told_once() {
    let mut chance = Sequence(3);
    for round in 0..60 {
        let count = 2 + chance.next(6);
        let host = |index: usize, serials: &[usize]| {
            let parts = serials.iter().enumerate().map(|(slot, serial)| crate::accept::record::Part {
                kind: PartKind::Gpu,
                key: format!("gpu 16500000{serial:04}"),
                model: "NVIDIA H200".to_owned(),
                place: format!("0000:{slot:02x}:00.0"),
            });
            HostParts { host: format!("gpu{index:02}"), parts: parts.collect(), ..HostParts::default() }
        };
        let mut serials: Vec<Vec<usize>> =
            (0..count).map(|index| (index * 8..index * 8 + 8).collect()).collect();
        let before: Vec<HostParts> =
            serials.iter().enumerate().map(|(index, serials)| host(index, serials)).collect();
        // Each slot takes part once at most, so that pairs stay pairs.
        let mut used = std::collections::BTreeSet::new();
        let mut expected = Vec::new();
        for _ in 0..chance.next(10) {
            let (a, b) = ((chance.next(count), chance.next(8)), (chance.next(count), chance.next(8)));
            if a.0 == b.0 || used.contains(&a) || used.contains(&b) {
                continue;
            }
            used.extend([a, b]);
            let (one, other) = (serials[a.0][a.1], serials[b.0][b.1]);
            expected.push((one.min(other), one.max(other)));
            serials[a.0][a.1] = other;
            serials[b.0][b.1] = one;
        }
        let after: Vec<HostParts> =
            serials.iter().enumerate().map(|(index, serials)| host(index, serials)).collect();
        let found = changes(&before, &after, &Ledger::default());
        assert!(found.iter().all(|change| change.what == ChangeKind::Swapped), "{round} {found:?}");
        let number = |key: &String| key.trim_start_matches("gpu 16500000").parse::<usize>().unwrap();
        let mut pairs: Vec<(usize, usize)> = found
            .iter()
            .map(|change| (number(&change.parts[0]), number(&change.parts[1])))
            .map(|(one, other)| (one.min(other), one.max(other)))
            .collect();
        pairs.sort_unstable();
        expected.sort_unstable();
        assert_eq!(pairs, expected, "{round}");
    }
}

#[test]
fn a_record_is_compared_with_hosts_of_today() {
    let at = moment("2026-11-02");
    let mut accepted = host("gpu3", "hgx-a.txt", "2026-11-02");
    // At that time there was no program to read cables.
    accepted.parts.retain(|part| part.kind != PartKind::Cable);
    let of_host = HostRecord { parts: accepted.parts, ..HostRecord::default() };
    let record = Record {
        format: FORMAT,
        id: "20261102-060000-00000".to_owned(),
        cluster: "hpc".to_owned(),
        version: "0".to_owned(),
        began: at,
        seconds: 1.0,
        stages: Vec::new(),
        hosts: BTreeMap::from([("gpu3".to_owned(), of_host), ("gpu4".to_owned(), HostRecord::default())]),
        pairs: Vec::new(),
        notes: Vec::new(),
    };
    let before = of_record(&record);
    assert_eq!(before.len(), 1);
    let text = text("hgx-a.txt").replace("1650223014512", "1650223014599");
    let after = [read("gpu3", moment("2026-12-01"), &text).unwrap()];
    let found = changes(&before, &after, &Ledger::default());
    let said: Vec<&str> = found.iter().map(|change| change.text.as_str()).collect();
    assert_eq!(said, ["gpu3: GPU 1650223014512 at 0000:2a:00.0 was replaced by 1650223014599"]);
}

#[test]
fn counters_that_grew() {
    let before = host("gpu04", "hgx-a.txt", "2026-11-02");
    let text = text("hgx-a.txt").replace("Link 0: CRC Errors: 3", "Link 0: CRC Errors: 5");
    let after = read("gpu04", moment("2026-12-01"), &text).unwrap();
    let grown = grown(&before, &after);
    assert_eq!(grown.len(), 1, "{grown:?}");
    assert_eq!((grown[0].name.as_str(), grown[0].before, grown[0].now), ("nvlink.crc_errors", 7, 9));
    assert!(super::grown(&after, &before).is_empty());
}
