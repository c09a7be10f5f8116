//! The judgement finds and misses parts of fleets that are made from numbers.
//!
//! `docs/evidence/acceptance.md` has the tables that come out of here.
#![expect(clippy::cast_precision_loss, reason = "counts of GPUs and of runs")]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::*;
use crate::accept::record::{By, Stage};

/// The page with the tables.
const PAGE: &str = include_str!("../../../docs/evidence/acceptance.md");

/// Nodes of eight GPUs, as many as the fleet of the page has.
const GPUS: usize = 8000;

/// A small generator of numbers (`SplitMix64`) that is the same everywhere.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number above 0 and up to 1.
    fn share(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
    }

    /// A number of the normal distribution with the mean 0 and the deviation 1 (Box and Muller).
    pub(super) fn normal(&mut self) -> f64 {
        let (one, other) = (self.share(), self.share());
        (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }
}

/// A GPU of a fleet.
pub(super) fn gpu(index: usize, name: &str, value: f64) -> Measured {
    Measured {
        host: format!("node{:04}", index / 8),
        stage: Stage::Node,
        part: format!("gpu {index}"),
        model: "NVIDIA H200".to_owned(),
        label: format!("GPU {}", index % 8),
        place: format!("0000:{:02x}:00.0", index % 8),
        name: name.to_owned(),
        value,
        unit: "TFLOP/s".to_owned(),
        better: Better::Higher,
    }
}

/// A fleet whose healthy GPUs are spread by a share of 667; `slow` are places and the share by which each is slower.
fn fleet(gpus: usize, spread: f64, slow: &[(usize, f64)], numbers: &mut Numbers) -> Vec<Measured> {
    let mut fleet: Vec<Measured> =
        (0..gpus).map(|index| gpu(index, "matmul.bf16", 667.0 * (1.0 + spread * numbers.normal()))).collect();
    for (place, share) in slow {
        fleet[*place].value *= 1.0 - share;
    }
    fleet
}

/// Places of the GPUs that the fleet blames.
fn blamed(fleet: &[Measured]) -> Vec<usize> {
    let judgement = judge(fleet, &[], &[], &Past::new());
    assert_eq!(judgement.notes, [], "one group");
    let judged = judgement.judged.iter().enumerate();
    judged.filter(|(_, judged)| judged.finding.is_some()).map(|(index, _)| index).collect()
}

/// The case of the page: 10 slow GPUs of 8000, 3 % to 30 % slower, with a spread of 0.5 %.
#[test]
fn ten_slow_gpus_of_eight_thousand() {
    let shares: Vec<f64> = (1..=10).map(|step| 0.03 * f64::from(step)).collect();
    let slow: Vec<(usize, f64)> =
        shares.iter().enumerate().map(|(at, share)| (at * 797 + 3, *share)).collect();
    let (mut missed, mut innocent) = (0, 0);
    for seed in 0..50 {
        let found = blamed(&fleet(GPUS, 0.005, &slow, &mut Numbers(seed)));
        missed += slow.iter().filter(|(place, share)| *share >= 0.05 && !found.contains(place)).count();
        innocent += found.iter().filter(|found| !slow.iter().any(|(place, _)| place == *found)).count();
    }
    assert_eq!((missed, innocent), (0, 0), "of 450 slow and 399 500 good GPUs");
}

/// Five percent is found at the edge as well, with the spread at which it still can be.
#[test]
fn five_percent_is_found_where_the_fleet_is_even() {
    let slow: Vec<(usize, f64)> = (0..10).map(|at| (at * 797 + 3, 0.05)).collect();
    for seed in 0..20 {
        let found = blamed(&fleet(GPUS, 0.004, &slow, &mut Numbers(seed)));
        assert_eq!(found.len(), 10, "{seed}");
    }
}

/// Small fleets blame no healthy GPU more often than large ones.
#[test]
fn few_gpus_are_judged_with_care() {
    for gpus in [4, 5, 8, 16, 64, 512] {
        for spread in [0.003, 0.005, 0.01, 0.02] {
            let runs: usize = (64_000 / gpus).clamp(400, 4000);
            let mut numbers = Numbers(7);
            let mut innocent = 0;
            for _ in 0..runs {
                let values = (0..gpus).map(|_| 667.0 * (1.0 + spread * numbers.normal())).collect();
                let values: Vec<f64> = values;
                let judged = fleet::look(values.clone(), Better::Higher, None);
                if let fleet::Fleet::One { bound, .. } = judged {
                    innocent += usize::from(values.iter().any(|value| *value < bound));
                }
            }
            let share = innocent as f64 / runs as f64;
            // One of a thousand is wanted, and 4000 runs tell it from three of a thousand.
            let most = if spread > 0.01 { 0.01 } else { 0.0025 };
            assert!(share <= most, "{gpus} GPUs, spread {spread}: {innocent} of {runs} runs");
        }
    }
}

const SLOWER: [u32; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30];
const SPREADS: [f64; 7] = [0.003, 0.004, 0.005, 0.0075, 0.01, 0.015, 0.02];
const SEEDS: u64 = 10;
const EACH: usize = 10;

/// The share of slow GPUs that is found, by how slow they are and how much healthy ones differ.
///
/// Ten of each slowness stand in one fleet: they are 1.75 % of it and move its median by a fiftieth of its spread.
fn curve() -> String {
    let slow: Vec<(usize, f64)> = SLOWER
        .iter()
        .flat_map(|percent| std::iter::repeat_n(f64::from(*percent) / 100.0, EACH))
        .enumerate()
        .map(|(at, share)| (at * 53 + 11, share))
        .collect();
    let mut found = vec![[0_usize; SPREADS.len()]; SLOWER.len()];
    let mut innocent = [0_usize; SPREADS.len()];
    let mut bounds = [0.0; SPREADS.len()];
    for (column, spread) in SPREADS.iter().enumerate() {
        for seed in 0..SEEDS {
            let fleet = fleet(GPUS, *spread, &slow, &mut Numbers(1000 + seed));
            let judgement = judge(&fleet, &[], &[], &Past::new());
            for (index, judged) in judgement.judged.iter().enumerate() {
                if judged.finding.is_none() {
                    continue;
                }
                match slow.iter().position(|(place, _)| *place == index) {
                    Some(at) => found[at / EACH][column] += 1,
                    None => innocent[column] += 1,
                }
            }
            let of_fleet =
                judgement.judged[0].figure.thresholds.iter().find(|it| it.by == By::Fleet).unwrap();
            bounds[column] += 1.0 - of_fleet.least / 667.0;
        }
    }
    let mut text = String::from("| slower by |");
    for spread in &SPREADS {
        write!(text, " {:.2} % |", spread * 100.0).unwrap();
    }
    text.push_str("\n|---|");
    for _ in &SPREADS {
        text.push_str("---|");
    }
    for (row, percent) in found.iter().zip(SLOWER) {
        write!(text, "\n| {percent} % |").unwrap();
        let all = EACH as f64 * SEEDS as f64;
        for found in row {
            write!(text, " {:.0} % |", 100.0 * *found as f64 / all).unwrap();
        }
    }
    text.push_str("\n| healthy ones blamed |");
    for count in &innocent {
        write!(text, " {count} |").unwrap();
    }
    text.push_str("\n| behind the median, at most |");
    for bound in &bounds {
        write!(text, " {:.1} % |", 100.0 * bound / SEEDS as f64).unwrap();
    }
    text.push('\n');
    text
}

const PRODUCTS: [(&str, f64); 3] = [("matmul.fp32", 50.3), ("matmul.bf16", 667.0), ("matmul.fp8", 1210.0)];
const TOGETHER: [u32; 6] = [2, 3, 4, 5, 6, 8];
/// The share of the spread of a GPU's products that is the same in all of them.
const COMMON: [f64; 3] = [1.0, 0.5, 0.0];
const FLEETS: u64 = 4;

/// The share of slow GPUs that is found by three products, with a spread of 1 % of each.
fn together() -> String {
    let slow: Vec<(usize, f64)> = TOGETHER
        .iter()
        .flat_map(|percent| std::iter::repeat_n(f64::from(*percent) / 100.0, 2 * EACH))
        .enumerate()
        .map(|(at, share)| (at * 61 + 7, share))
        .collect();
    let mut found = vec![[0_usize; COMMON.len()]; TOGETHER.len()];
    let mut innocent = [0_usize; COMMON.len()];
    for (column, common) in COMMON.iter().enumerate() {
        for seed in 0..FLEETS {
            let mut numbers = Numbers(2000 + seed);
            let mut fleet = Vec::new();
            for index in 0..GPUS {
                let own = numbers.normal();
                let share = slow.iter().find(|(place, _)| *place == index).map_or(0.0, |(_, share)| *share);
                for (name, middle) in PRODUCTS {
                    let spread = common.sqrt() * own + (1.0 - common).sqrt() * numbers.normal();
                    fleet.push(gpu(index, name, middle * (1.0 + 0.01 * spread) * (1.0 - share)));
                }
            }
            let judgement = judge(&fleet, &[], &[], &Past::new());
            let blamed = judgement.judged.iter().filter(|judged| judged.finding.is_some());
            let blamed: BTreeSet<&str> = blamed.map(|judged| judged.figure.part.as_str()).collect();
            for part in blamed {
                let place: usize = part.strip_prefix("gpu ").unwrap().parse().unwrap();
                match slow.iter().position(|(slow, _)| *slow == place) {
                    Some(at) => found[at / (2 * EACH)][column] += 1,
                    None => innocent[column] += 1,
                }
            }
        }
    }
    let mut text = String::from(
        "| slower by | the same in all products | half of it | its own in each |\n|---|---|---|---|\n",
    );
    for (row, percent) in found.iter().zip(TOGETHER) {
        write!(text, "| {percent} % |").unwrap();
        let all = 2.0 * EACH as f64 * FLEETS as f64;
        for found in row {
            write!(text, " {:.0} % |", 100.0 * *found as f64 / all).unwrap();
        }
        text.push('\n');
    }
    text.push_str("| healthy ones blamed |");
    for count in &innocent {
        write!(text, " {count} |").unwrap();
    }
    text.push('\n');
    text
}

/// Holds that the page has a table.
fn assert_on_page(name: &str, table: &str) {
    let begin = format!("<!-- table: {name} -->\n");
    let rest = PAGE.split_once(&begin).and_then(|(_, rest)| rest.split_once("<!-- end -->"));
    let (there, _) = rest.unwrap();
    assert_eq!(there, table, "docs/evidence/acceptance.md is not what the code gives:\n{table}");
}

#[test]
fn the_page_has_the_curve() {
    assert_on_page("curve", &curve());
}

#[test]
fn the_page_has_what_products_find_together() {
    assert_on_page("together", &together());
}
