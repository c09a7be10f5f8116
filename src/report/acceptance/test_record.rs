//! Records of clusters that never were: the same ones each time, with numbers as an H200 has them.

use std::collections::BTreeMap;

use crate::accept::record::{
    By, FORMAT, Figure, Finding, HostRecord, Pair, Part, PartKind, Record, Samples, Stage, StageRecord,
    Threshold, Verdict,
};

/// GPUs of a host.
const GPUS: usize = 8;

/// Numbers that look random and are not (splitmix64).
pub(super) struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap()) / f64::from(u32::MAX)
    }

    /// About a normal distribution around 1, with a deviation of so many parts of a hundred.
    fn near_one(&mut self, percent: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.share()).sum();
        1.0 + (sum - 6.0) * percent / 100.0
    }
}

/// Name, usual number, unit, deviation in parts of a hundred, floor.
const OF_GPU: [(&str, f64, &str, f64, f64); 8] = [
    ("copy.from", 55.1, "GB/s", 0.3, 50.0),
    ("copy.inside", 4294.0, "GB/s", 0.4, 4000.0),
    ("copy.to", 55.5, "GB/s", 0.3, 50.0),
    ("matmul.bf16", 667.0, "TFLOP/s", 0.6, 600.0),
    ("matmul.fp32", 50.3, "TFLOP/s", 0.5, 45.0),
    ("matmul.fp8", 1210.0, "TFLOP/s", 0.7, 1100.0),
    ("memory.read", 3541.0, "GB/s", 0.4, 3300.0),
    ("train.step", 18_600.0, "tokens/s", 0.8, 0.0),
];

const OF_HOST: [(&str, f64, &str, f64, f64); 3] = [
    ("all_reduce.node", 478.0, "GB/s", 0.5, 450.0),
    ("latency.node", 21.4, "µs", 2.0, 0.0),
    ("stream.triad", 712.0, "GB/s", 1.2, 640.0),
];

/// A record of so many hosts, each of which sent to so many others.
pub(super) fn record(number: usize, partners: usize) -> Record {
    let mut numbers = Numbers(50);
    let width = number.to_string().len().max(2);
    let names: Vec<String> = (1..=number).map(|at| format!("gpu{at:0width$}")).collect();
    let hosts: BTreeMap<String, HostRecord> =
        names.iter().enumerate().map(|(at, name)| (name.clone(), host(at, number, &mut numbers))).collect();
    let failed = |stage: Stage| -> Vec<String> {
        let fell = |host: &&(&String, &HostRecord)| {
            host.1.verdict == Verdict::Failed && host.1.findings[0].stage == stage
        };
        hosts.iter().collect::<Vec<_>>().iter().filter(fell).map(|(name, _)| (*name).clone()).collect()
    };
    let stage = |stage: Stage, hosts: usize, seconds: f64, skipped: &str| StageRecord {
        stage,
        hosts,
        seconds,
        failed: failed(stage),
        skipped: skipped.to_owned(),
    };
    let away = hosts.values().filter(|host| host.verdict == Verdict::NotTested).count();
    let fell = failed(Stage::Node).len();
    let stages = vec![
        stage(Stage::Sanity, number - away, 21.4, ""),
        stage(Stage::Node, number - away, 612.0, ""),
        stage(Stage::Pairs, number - away - fell, 3004.0, ""),
        stage(Stage::Rails, number - away - fell, 250.0, ""),
        stage(Stage::Fabric, 0, 0.0, "no subnet manager answers: the fabric is RoCE"),
        stage(Stage::Collectives, number - away - fell, 900.0, ""),
        stage(Stage::Soak, number - away - fell, 259_200.0, ""),
    ];
    Record {
        format: FORMAT,
        id: "20261201-023000-1a2b3".to_owned(),
        cluster: "rhine".to_owned(),
        version: "0.1.0".to_owned(),
        began: "2026-12-01T02:30:00Z".parse().unwrap(),
        seconds: 263_987.4,
        stages,
        pairs: pairs(&names, &hosts, partners, &mut numbers),
        notes: vec!["matmul.bf16: the GPUs fall into two groups".to_owned()],
        hosts,
    }
}

/// The fault of a host: about each fortieth has something, and of four the second and the last.
fn fate(at: usize, number: usize) -> usize {
    if number < 40 { [0, 1, 0, 3][at % 4] } else { [1, 2, 3][(at / 37) % 3] * usize::from(at % 37 == 16) }
}

fn host(at: usize, number: usize, numbers: &mut Numbers) -> HostRecord {
    let fate = fate(at, number);
    let mut host = HostRecord { verdict: Verdict::Passed, parts: parts(at), ..HostRecord::default() };
    host.software = software(at, number);
    if fate == 3 {
        host.verdict = Verdict::NotTested;
        host.parts.clear();
        host.findings.push(finding(
            Stage::Sanity,
            "",
            "a process of alice holds GPU 3 (python, 61 GiB)",
            "run it again when the job has ended",
        ));
        return host;
    }
    let gpus: Vec<String> =
        host.parts.iter().filter(|it| it.kind == PartKind::Gpu).map(|it| it.key.clone()).collect();
    for (gpu, key) in gpus.iter().enumerate() {
        // One GPU of a bad host is slow.
        let slow = if fate == 1 && gpu == 3 { 0.88 - 0.15 * numbers.share() } else { 1.0 };
        for of in OF_GPU {
            let share = if of.0.starts_with("matmul") || of.0 == "train.step" { slow } else { 1.0 };
            host.figures.push(figure(of, key, share, "GPUs", number * GPUS, numbers));
        }
        host.samples.push(samples(key, slow, numbers));
    }
    for of in OF_HOST {
        host.figures.push(figure(of, "", 1.0, "hosts", number, numbers));
    }
    if fate == 1 {
        host.verdict = Verdict::Failed;
        let figure = host.figures.iter().find(|it| it.part == gpus[3] && it.name == "matmul.bf16").unwrap();
        let text = format!("matmul.bf16 is {:.1} TFLOP/s, 667.1 are usual here", figure.value);
        host.findings.push(finding(
            Stage::Node,
            &gpus[3],
            &text,
            "reseat the GPU; where it stays slow, ask the vendor for another one",
        ));
        host.findings.push(finding(
            Stage::Node,
            &gpus[3],
            "its clock was held back for 412 s by thermal",
            "look at the fans and the heat sink",
        ));
    }
    if fate == 2 {
        host.verdict = Verdict::Failed;
        host.findings.push(finding(
            Stage::Pairs,
            &format!("cable MT{at:05}VS00007"),
            "the link came up with half its lanes: 2X of 4X",
            "clean the connectors, then swap the cable",
        ));
    }
    host
}

fn finding(stage: Stage, part: &str, text: &str, action: &str) -> Finding {
    Finding { stage, part: part.to_owned(), text: text.to_owned(), action: action.to_owned() }
}

fn figure(
    of: (&str, f64, &str, f64, f64),
    part: &str,
    share: f64,
    noun: &str,
    count: usize,
    numbers: &mut Numbers,
) -> Figure {
    let (name, usual, unit, percent, floor) = of;
    let value = usual * share * numbers.near_one(percent);
    let mut thresholds = Vec::new();
    if floor > 0.0 {
        thresholds.push(Threshold {
            by: By::Floor,
            least: floor,
            source: "H200 SXM, versions.yaml of 2026-11-20".to_owned(),
        });
    }
    if unit != "µs" {
        thresholds.push(Threshold {
            by: By::Fleet,
            least: usual * 0.95,
            source: format!("95 % of the median {usual} of {count} {noun}"),
        });
    }
    if name == "matmul.bf16" {
        thresholds.push(Threshold {
            by: By::History,
            least: usual * 0.97 * numbers.near_one(0.2),
            source: "97 % of run 20261120-101500-0c0de".to_owned(),
        });
    }
    let holds = (!thresholds.is_empty()).then(|| thresholds.iter().all(|it| value >= it.least));
    Figure { name: name.to_owned(), part: part.to_owned(), value, unit: unit.to_owned(), thresholds, holds }
}

fn samples(key: &str, slow: f64, numbers: &mut Numbers) -> Samples {
    let mut samples = Samples { part: key.to_owned(), ..Samples::default() };
    let own = numbers.near_one(1.0);
    for at in 0..60_u32 {
        // Tests with pauses between them, each of which heats.
        let (phase, load) = (at % 20, f64::from(at % 20) / 20.0);
        let busy = phase > 2;
        samples.at.push(f64::from(at) * 10.2);
        samples.mhz.push(if busy { (1980.0 - 190.0 * load) * slow * own } else { 1980.0 });
        samples.watts.push(if busy {
            690.0 * slow * own * numbers.near_one(0.7)
        } else {
            118.0 * numbers.near_one(2.0)
        });
        samples.celsius.push(34.0 * own + if busy { 26.0 * load.sqrt() + (1.0 - slow) * 90.0 } else { 4.0 });
    }
    samples.held.insert("power cap".to_owned(), 280.0 * own);
    if slow < 1.0 {
        samples.held.insert("thermal".to_owned(), 412.0);
    }
    samples
}

fn software(at: usize, number: usize) -> BTreeMap<String, String> {
    let driver = if at % 211 == 2 { "570.86.15" } else { "580.65.06" };
    let firmware = if number > 40 && at % 97 == 5 { "28.42.1000" } else { "28.43.2026" };
    [
        ("kernel", "6.8.0-64-generic"),
        ("driver", driver),
        ("CUDA", "13.0"),
        ("firmware of mlx5", firmware),
        ("NCCL", "2.28.3"),
    ]
    .map(|(name, version)| (name.to_owned(), version.to_owned()))
    .into()
}

fn parts(at: usize) -> Vec<Part> {
    let part = |kind: PartKind, key: String, model: &str, place: String| Part {
        kind,
        key,
        model: model.to_owned(),
        place,
    };
    let mut all = vec![part(PartKind::Board, format!("board S4{at:06}"), "ESC N8A-E12", String::new())];
    for gpu in 0..GPUS {
        let serial = 1_650_223_000_000 + at * 100 + gpu;
        all.push(part(
            PartKind::Gpu,
            format!("gpu {serial}"),
            "NVIDIA H200",
            format!("0000:{:02x}:00.0", 0x18 + 0x11 * gpu),
        ));
        all.push(part(
            PartKind::Nic,
            format!("nic MT24{:06}", at * 10 + gpu),
            "ConnectX-7",
            format!("0000:{:02x}:00.0", 0x17 + 0x11 * gpu),
        ));
        all.push(part(
            PartKind::Cable,
            if gpu == 0 { format!("cable MT{at:05}VS00007") } else { format!("cable MT{at:05}VS1{gpu:04}") },
            "MCP4Y10-N001",
            format!("mlx5_{gpu}"),
        ));
    }
    for slot in 0..16 {
        all.push(part(
            PartKind::Memory,
            format!("memory 8{:07X}", at * 32 + slot),
            "M321R8GA0PB0-CWMXH",
            format!("DIMM_{}{}", char::from(b'A' + u8::try_from(slot % 8).unwrap()), slot / 8),
        ));
    }
    for slot in 0..4 {
        all.push(part(
            PartKind::Disk,
            format!("disk S6WRNS0W{:06}", at * 8 + slot),
            "SAMSUNG MZQL23T8HCLS-00A07",
            format!("nvme{slot}n1"),
        ));
    }
    all.sort();
    all
}

fn pairs(
    names: &[String],
    hosts: &BTreeMap<String, HostRecord>,
    partners: usize,
    numbers: &mut Numbers,
) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let in_pairs: Vec<&String> =
        names.iter().filter(|name| hosts[*name].verdict != Verdict::NotTested).collect();
    for (at, from) in in_pairs.iter().enumerate() {
        for step in 1..=partners.min(in_pairs.len() - 1) {
            // Partners all over the fleet.
            let stride = if partners + 1 < in_pairs.len() { 37 } else { 1 };
            let to = in_pairs[(at + step * stride) % in_pairs.len()];
            let half = [from, &to]
                .iter()
                .any(|host| hosts[**host].findings.first().is_some_and(|it| it.stage == Stage::Pairs));
            let value = 388.0 * numbers.near_one(0.4) * if half { 0.5 } else { 1.0 };
            let pair = |name: &str, value: f64, unit: &str, holds| Pair {
                from: (*from).clone(),
                to: to.clone(),
                name: name.to_owned(),
                value,
                unit: unit.to_owned(),
                holds,
                from_port: String::new(),
                to_port: String::new(),
                said: String::new(),
            };
            if from != &to {
                pairs.push(pair("write.gpu", value, "Gb/s", Some(value >= 350.0)));
                if step == 1 {
                    pairs.push(pair("latency.read", 3.4 * numbers.near_one(2.0), "µs", None));
                }
            }
        }
    }
    pairs
}
