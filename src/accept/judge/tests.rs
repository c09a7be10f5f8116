use super::power::{Numbers, gpu};
use super::*;
use crate::accept::record::{By, Stage};

fn values(name: &str, values: &[f64]) -> Vec<Measured> {
    values.iter().enumerate().map(|(index, value)| gpu(index, name, *value)).collect()
}

/// So many healthy GPUs around 667, and then these.
fn with_others(healthy: usize, others: &[f64]) -> Vec<Measured> {
    let mut numbers = Numbers(5);
    let mut all: Vec<f64> = (0..healthy).map(|_| 667.0 * (1.0 + 0.003 * numbers.normal())).collect();
    all.extend(others);
    values("matmul.bf16", &all)
}

fn alone(measured: &[Measured]) -> Judgement {
    judge(measured, &[], &[], &Past::new())
}

fn texts(judgement: &Judgement) -> Vec<&str> {
    judgement
        .judged
        .iter()
        .filter_map(|judged| judged.finding.as_ref())
        .map(|found| found.text.as_str())
        .collect()
}

fn floor(model: &str, name: &str, least: f64) -> Floor {
    let source = "90 % of 667, docs/evidence/acceptance.md, 2026-12-01".to_owned();
    Floor { model: model.to_owned(), name: name.to_owned(), least, source }
}

#[test]
fn a_slow_gpu_is_named_with_its_place() {
    let mut measured = with_others(60, &[666.0, 598.2, 668.0, 667.0]);
    measured[61].part = "gpu 1650223014512".to_owned();
    measured[61].label = "GPU 3".to_owned();
    measured[61].place = "0000:18:00.0".to_owned();
    let judgement = alone(&measured);
    assert_eq!(
        texts(&judgement),
        [
            "GPU 3 (gpu 1650223014512, 0000:18:00.0) reached 598 TFLOP/s in matmul.bf16: the median of 64 is 667, and 647 \
          is the least that fits it"
        ]
    );
    let slow = &judgement.judged[61];
    assert_eq!((slow.figure.holds, slow.host.as_str()), (Some(false), "node0007"));
    assert_eq!(slow.finding.as_ref().unwrap().part, "gpu 1650223014512");
    assert!(!slow.finding.as_ref().unwrap().action.is_empty());
    let threshold = &slow.figure.thresholds[0];
    assert_eq!(
        (threshold.by, threshold.source.as_str()),
        (By::Fleet, "median 667 of 64 GPUs, 3.0 % behind it")
    );
    assert_eq!(judgement.judged[0].figure.holds, Some(true));
    assert_eq!(judgement.judged.len(), 64, "in the order in which they were given");
}

#[test]
fn few_are_not_judged_by_each_other() {
    for count in 1..4 {
        let judgement = alone(&values("matmul.bf16", &[667.0, 400.0, 667.0][..count]));
        assert_eq!(texts(&judgement), [""; 0]);
        assert!(judgement.judged.iter().all(|judged| judged.figure.holds.is_none()), "held against nothing");
    }
    let judgement = alone(&values("matmul.bf16", &[667.0, 400.0, 667.5, 666.8]));
    assert_eq!(texts(&judgement).len(), 1, "four are enough");
}

#[test]
fn other_models_are_others() {
    let mut measured = values("matmul.bf16", &[667.0, 667.0, 667.0, 667.0, 250.0, 251.0]);
    measured[4].model = "NVIDIA A100-SXM4-80GB".to_owned();
    measured[5].model = String::new();
    let judgement = alone(&measured);
    assert_eq!(texts(&judgement), [""; 0]);
    assert_eq!(judgement.judged[4].figure.holds, None);
    assert_eq!(judgement.judged[5].figure.holds, None, "a model that is not known is compared with none");
}

/// A deviation of nothing, and one that is tiny: what is 0.5 % behind is no fault.
#[test]
fn equal_ones_are_judged_with_an_allowance() {
    for (last, blamed) in [(55.22, 0), (54.0, 0), (53.7, 1), (27.0, 1)] {
        let mut all = vec![55.5; 63];
        all.push(last);
        assert_eq!(texts(&alone(&values("copy.to", &all))).len(), blamed, "{last}");
        let mut all: Vec<f64> = (0..63).map(|index| 55.5 + 0.001 * f64::from(index % 3)).collect();
        all.push(last);
        assert_eq!(texts(&alone(&values("copy.to", &all))).len(), blamed, "{last}");
    }
    let counters = alone(&values("errors", &[0.0, 0.0, 0.0, 0.0, 0.0, -7.0]));
    assert_eq!(texts(&counters), [""; 0], "there is no share of nothing");
}

#[test]
fn two_groups_are_said_and_nobody_is_blamed() {
    let mut numbers = Numbers(9);
    for slow in [20, 28, 32, 40] {
        let spread = |center: f64, numbers: &mut Numbers| center * (1.0 + 0.005 * numbers.normal());
        let mut all: Vec<f64> = (0..64 - slow).map(|_| spread(667.0, &mut numbers)).collect();
        all.extend((0..slow).map(|_| spread(600.0, &mut numbers)));
        let judgement = alone(&values("matmul.bf16", &all));
        assert_eq!(texts(&judgement), [""; 0]);
        let text = &judgement.notes[0].text;
        let fast = 64 - slow;
        assert!(text.starts_with("64 GPUs of NVIDIA H200 are two groups in matmul.bf16: "), "{text}");
        assert!(
            text.contains(&format!(": {fast} around 66")) && text.contains(&format!(" {slow} around ")),
            "{text}"
        );
        assert!(judgement.judged.iter().all(|judged| judged.figure.holds.is_none()));
    }
    // A fifth of them is no group but slow: each is named.
    let mut all: Vec<f64> = (0..52).map(|_| 667.0 * (1.0 + 0.005 * numbers.normal())).collect();
    all.extend([600.0; 12]);
    let judgement = alone(&values("matmul.bf16", &all));
    assert_eq!((texts(&judgement).len(), judgement.notes.len()), (12, 0));
    // Neither one normal group nor an even one is two.
    for seed in 0..200 {
        let mut numbers = Numbers(seed);
        let normal: Vec<f64> = (0..64).map(|_| 667.0 * (1.0 + 0.02 * numbers.normal())).collect();
        assert_eq!(alone(&values("matmul.bf16", &normal)).notes, []);
        let even: Vec<f64> = (0..64).map(|index| 600.0 + f64::from(index)).collect();
        assert_eq!(alone(&values("matmul.bf16", &even)).notes, []);
    }
}

#[test]
fn a_fleet_that_is_slow_as_a_whole_falls_below_the_floor() {
    let measured = values("matmul.bf16", &[580.0; 64]);
    assert_eq!(texts(&alone(&measured)), [""; 0], "its own median is no help");
    let floors =
        [floor("NVIDIA A100-SXM4-80GB", "matmul.bf16", 228.0), floor("NVIDIA H200", "matmul.bf16", 600.3)];
    let judgement = judge(&measured, &floors, &[], &Past::new());
    assert_eq!(texts(&judgement).len(), 64);
    assert_eq!(
        texts(&judgement)[0],
        "GPU 0 (gpu 0, 0000:00:00.0) reached 580 TFLOP/s in matmul.bf16: 600 is the least for NVIDIA H200 (90 % of \
         667, docs/evidence/acceptance.md, 2026-12-01)"
    );
    let by: Vec<By> = judgement.judged[0].figure.thresholds.iter().map(|threshold| threshold.by).collect();
    assert_eq!(by, [By::Floor, By::Fleet], "each stands in the record");
}

#[test]
fn the_inventory_has_the_last_word() {
    let floors = [floor("NVIDIA H200", "matmul.bf16", 600.3)];
    let name = "matmul.bf16".to_owned();
    let limits = [
        Limit { name: name.clone(), least: Some(500.0), ..Limit::default() },
        Limit { name: name.clone(), model: "NVIDIA H200".to_owned(), least: Some(570.0), ..Limit::default() },
        Limit { name: "copy.to".to_owned(), least: Some(9999.0), ..Limit::default() },
    ];
    let measured = values("matmul.bf16", &[580.0, 580.0, 580.0, 560.0, 540.0]);
    let judgement = judge(&measured, &floors, &limits, &Past::new());
    let text = "GPU 3 (gpu 3, 0000:03:00.0) reached 560 TFLOP/s in matmul.bf16: 570 is the least that the inventory \
                allows; the median of 5 is 580, and 563 is the least that fits it";
    assert_eq!(texts(&judgement)[0], text);
    assert_eq!(judgement.judged[0].figure.thresholds[0].by, By::Inventory, "in place of the floor");
    let wide = [Limit { name: name.clone(), behind_fleet: Some(0.1), ..Limit::default() }];
    assert_eq!(texts(&judge(&measured, &[], &wide, &Past::new())), [""; 0]);
    let off = [Limit { name, behind_fleet: Some(1.0), ..Limit::default() }];
    let judgement = judge(&measured, &[], &off, &Past::new());
    assert!(judgement.judged.iter().all(|judged| judged.figure.thresholds.is_empty()));
}

fn past(of: &[(&str, &[f64])]) -> Past {
    let key = |part: &str| (part.to_owned(), "matmul.bf16".to_owned());
    of.iter().map(|(part, values)| (key(part), values.to_vec())).collect()
}

#[test]
fn a_part_is_held_against_its_own_past() {
    let earlier = past(&[
        ("gpu 0", &[667.0, 670.0, 668.0, 300.0]),
        ("gpu 1", &[667.0, 670.0]),
        ("gpu 2", &[620.0, 621.0, 622.0]),
    ]);
    let measured = values("matmul.bf16", &[630.0, 630.0, 630.0]);
    let judgement = judge(&measured, &[], &[], &earlier);
    assert_eq!(
        texts(&judgement),
        [
            "GPU 0 (gpu 0, 0000:00:00.0) reached 630 TFLOP/s in matmul.bf16: the median of its 4 earlier values is 668, and \
          634 is the least that fits it"
        ]
    );
    assert_eq!(judgement.judged[1].figure.holds, None, "two are no past");
    assert_eq!(judgement.judged[2].figure.holds, Some(true));
    let other_name = judge(&values("copy.to", &[1.0]), &[], &[], &earlier);
    assert_eq!(other_name.judged[0].figure.holds, None);
    let off = [Limit { name: "matmul.bf16".to_owned(), behind_past: Some(1.0), ..Limit::default() }];
    assert_eq!(judge(&measured, &[], &off, &earlier).judged[0].figure.holds, None);
}

#[test]
fn what_changed_for_all_blames_nobody() {
    let keys: Vec<String> = (0..16).map(|index| format!("gpu {index}")).collect();
    let earlier: Vec<(&str, &[f64])> =
        keys.iter().map(|key| (key.as_str(), [667.0, 668.0, 669.0].as_slice())).collect();
    let measured = values("matmul.bf16", &[610.0; 16]);
    let judgement = judge(&measured, &[], &[], &past(&earlier));
    assert_eq!(texts(&judgement), [""; 0]);
    let text = &judgement.notes[0].text;
    assert!(
        text.starts_with("16 of 16 GPUs of NVIDIA H200 with a past are behind it in matmul.bf16, half of"),
        "{text}"
    );
    assert!(text.contains(" 8.7 % "), "{text}");
    // Half of them are not most, and each is named by its own past.
    for slow in [5, 8] {
        let mut some = vec![667.0; 16 - slow];
        some.extend(vec![610.0; slow]);
        let judgement = judge(&values("matmul.bf16", &some), &[], &[], &past(&earlier));
        assert_eq!((texts(&judgement).len(), judgement.notes.len()), (slow, 1), "{:?}", judgement.notes);
    }
}

#[test]
fn lower_is_better_for_latencies() {
    let mut measured = values("latency", &[1.9, 1.91, 1.89, 1.9, 1.9, 1.4, 2.6]);
    for one in &mut measured {
        (one.unit, one.better) = ("us".to_owned(), Better::Lower);
    }
    let judgement = judge(&measured, &[floor("NVIDIA H200", "latency", 2.5)], &[], &past(&[]));
    let text = "GPU 6 (gpu 6, 0000:06:00.0) came to 2.6 us in latency: 2.5 is the most for NVIDIA H200 (90 % of 667, \
                docs/evidence/acceptance.md, 2026-12-01); the median of 7 is 1.9, and 2.08 is the most that fits it";
    assert_eq!(texts(&judgement), [text]);
}

#[test]
fn no_number_is_no_figure() {
    let mut measured = values("matmul.bf16", &[667.0, f64::NAN, 667.0, 667.0, 667.0]);
    measured[0].part = String::new();
    measured[0].label = String::new();
    measured[0].place = String::new();
    let judgement = judge(&measured, &[floor("NVIDIA H200", "matmul.bf16", 700.0)], &[], &Past::new());
    let texts = texts(&judgement);
    assert!(
        texts[0].starts_with("node0000 reached 667 TFLOP/s in matmul.bf16: 700 is the least"),
        "{texts:?}"
    );
    assert_eq!(texts[1], "GPU 1 (gpu 1, 0000:01:00.0) gave no number in matmul.bf16");
    let figure = &judgement.judged[1].figure;
    assert_eq!((figure.holds, figure.value), (Some(false), 0.0));
    assert!(serde_json::to_string(figure).is_ok_and(|text| !text.contains("null,")), "a record is read back");
}

/// Each figure by itself is within the fleet's bounds, and all of them together are not.
#[test]
fn slow_in_all_products() {
    let mut numbers = Numbers(3);
    let mut measured = Vec::new();
    for (name, middle) in [("matmul.fp32", 50.3), ("matmul.bf16", 667.0), ("matmul.fp8", 1210.0)] {
        for index in 0..512 {
            let slower = if index == 100 { 0.955 } else { 1.0 };
            let value = middle * slower * (1.0 + 0.01 * numbers.normal());
            // The numbers of this one are those of its slowness alone.
            let value = if index == 100 { middle * slower } else { value };
            measured.push(gpu(index, name, value));
        }
    }
    let judgement = alone(&measured);
    let found = texts(&judgement);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("GPU 4 (gpu 100, 0000:04:00.0) reached 0.955 of the median in matmul: the"),
        "{found:?}"
    );
    assert_eq!(judgement.judged.len(), 4 * 512);
    let means = &judgement.judged[3 * 512..];
    assert!(means.iter().all(|judged| judged.figure.name == "matmul" && judged.figure.holds.is_some()));
    // Who is slow in one of them as well is named once, for that one.
    measured[100].value = 40.0;
    let judgement = alone(&measured);
    let found = texts(&judgement);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(" reached 40 TFLOP/s in matmul.fp32: "), "{found:?}");
    let mean = judgement.judged[3 * 512..].iter().find(|judged| judged.figure.part == "gpu 100").unwrap();
    assert_eq!(mean.figure.holds, Some(false), "it stands in the record all the same");
    // A part that lacks one of them has no mean, and one figure is no family.
    measured.truncate(3 * 512 - 1);
    assert_eq!(alone(&measured).judged.len(), 4 * 512 - 2);
    measured.truncate(512);
    assert_eq!(alone(&measured).judged.len(), 512);
}

/// A number and its bound never look alike.
#[test]
fn digits_tell_the_difference() {
    let limits = [Limit { name: "copy.to".to_owned(), least: Some(50.0), ..Limit::default() }];
    let judgement = judge(&values("copy.to", &[49.996]), &[], &limits, &Past::new());
    assert!(
        texts(&judgement)[0].contains("reached 49.996 TFLOP/s in copy.to: 50 is"),
        "{:?}",
        texts(&judgement)
    );
}

#[test]
fn nothing_is_judged_of_nothing() {
    assert_eq!(alone(&[]), Judgement::default());
    assert_eq!(gpu(0, "a", 1.0).stage, Stage::Node);
}
