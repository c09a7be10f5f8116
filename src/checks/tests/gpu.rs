//! Checks of cards, boards and links.

use super::*;

/// A function through which the fabric manager reaches the switches of NVLink is no card of the host.
#[test]
fn functions_that_manage_switches_are_no_cards() {
    let mut site = with_cards(&[("MT4129", "1: DOWN", "2.5 Gb/sec (1X SDR)")]);
    let findings = site.findings(None);
    assert!(findings.iter().any(|finding| finding.contains("rdma.")), "{findings:?}");
    site.probes.entry("rdma").and_modify(|text| {
        *text = text.replace("hca_type=MT4129\n", "hca_type=MT4129\nmanages_switch=1\n");
    });
    assert_eq!(site.findings(None), [""; 0]);
}

/// The two GPUs of a healthy host as boards of another kind, which `nvidia-smi` describes with less; the names
/// and forms are those of recorded ones, the numbers are made up.
fn boards(name: &str, edits: &[(&str, &str)]) -> Site {
    let name = format!("<product_name>{name}<");
    let mut site = healthy().expect(json!({})).with("nvidia", "<product_name>NVIDIA H200<", &name);
    for (old, new) in [("<state>Completed<", "<state>N/A<"), ("<status>Success<", "<status>N/A<")] {
        site.probes.entry("nvidia").and_modify(|text| *text = text.replace(old, new));
    }
    edits.iter().fold(site, |site, (old, new)| site.with("nvidia", old, new))
}

/// Recorded boards that were told to be at fault and are not.
#[test]
fn boards_of_other_kinds_are_well() {
    let whole = |site: &Site, begin: &str, end: &str| -> String {
        let text = &site.probes["nvidia"];
        let at = text.find(begin).unwrap();
        let length = text[at..].find(end).unwrap() + end.len();
        text[at..at + length].to_owned()
    };
    let of = |site: Site, check: &str| site.results(None).remove(check).unwrap();
    let counters = whole(&healthy(), "<volatile>", "</aggregate>");
    let zeros = |text: &str| text.replace(">0<", ">N/A<");
    // A board without error correction: everything about it is N/A.
    let no_ecc = [
        ("<current_ecc>Enabled", "<current_ecc>N/A"),
        ("<pending_ecc>Enabled", "<pending_ecc>N/A"),
        (counters.as_str(), &zeros(&counters)),
    ];
    let text = "these GPUs have no error correction";
    assert_eq!(of(boards("NVIDIA GeForce RTX 3080", &no_ecc), "gpu.ecc_errors"), (Skip, text.to_owned()));
    assert_eq!(of(boards("NVIDIA GeForce RTX 3080", &no_ecc), "gpu.ecc").0, Skip);
    // One whose model has it is not excused.
    assert_eq!(of(boards("NVIDIA H200", &no_ecc), "gpu.ecc_errors").0, Unknown);
    // Pascal and Volta count bits.
    let old = |double: &str| {
        format!(
            "<volatile><single_bit><device_memory>2</device_memory><total>2</total></single_bit><double_bit><device_memory>{double}</device_memory><total>{double}</total></double_bit></volatile><aggregate></aggregate>"
        )
    };
    let pascal = |double| boards("Tesla P100-PCIE-16GB", &[(counters.as_str(), &old(double))]);
    assert_eq!(of(pascal("0"), "gpu.ecc_errors"), (Pass, "none".to_owned()));
    assert_eq!(of(pascal("3"), "gpu.ecc_errors").0, Fail);
    // In multi-instance mode the instances count, and rows are not shown.
    let rows = whole(&healthy(), "<remapped_rows>", "</remapped_rows>");
    let instance = |count: &str| {
        format!(
            "<mig_devices><mig_device><ecc_error_count><volatile_count><sram_uncorrectable>{count}</sram_uncorrectable></volatile_count></ecc_error_count></mig_device></mig_devices>"
        )
    };
    let none = whole(&healthy(), "<mig_devices>", "</mig_devices>");
    let split = |count: &str| {
        let edits = [
            ("<current_mig>Disabled", "<current_mig>Enabled"),
            (none.as_str(), &instance(count)),
            (counters.as_str(), &zeros(&counters)),
            (rows.as_str(), "<remapped_rows>N/A</remapped_rows>"),
        ];
        boards("NVIDIA A100-SXM4-40GB", &edits)
    };
    assert_eq!(of(split("0"), "gpu.ecc_errors"), (Pass, "none".to_owned()));
    assert_eq!(of(split("1"), "gpu.ecc_errors").0, Fail);
    assert_eq!(of(split("0"), "gpu.row_remap").0, Skip);
    // Workstation boards are delivered with it off; two of them are still alike.
    let off = [
        ("<current_ecc>Enabled", "<current_ecc>Disabled"),
        ("<pending_ecc>Enabled", "<pending_ecc>Disabled"),
    ];
    assert_eq!(of(boards("NVIDIA RTX A6000", &off), "gpu.ecc").0, Skip);
    assert_eq!(
        of(boards("NVIDIA RTX A6000", &off).expect(json!({ "gpu": { "ecc": true } })), "gpu.ecc").0,
        Fail
    );
    assert_eq!(of(boards("NVIDIA A40", &off), "gpu.ecc").0, Fail);
    let mut mixed = boards("NVIDIA RTX A6000", &[]);
    let text = mixed.probes["nvidia"].replacen(off[0].0, off[0].1, 1);
    mixed.probes.insert("nvidia", text);
    assert_eq!(of(mixed, "gpu.ecc").0, Fail);
}

#[test]
fn lanes_that_a_cloud_gives() {
    let half = ("<current_link_width>16x", "<current_link_width>8x");
    let bare = ("<virtualization_mode>Pass-Through", "<virtualization_mode>None");
    let of = |site: Site| site.results(None).remove("gpu.pcie_width").unwrap();
    for name in ["NVIDIA A10G", "Tesla T4", "NVIDIA L40S"] {
        let seen = of(boards(name, &[half]));
        assert_eq!(seen, (Pass, "x8 of x16, as clouds give this model".to_owned()), "{name}");
        assert_eq!(of(boards(name, &[half, bare])).0, Fail, "{name}");
        assert_eq!(of(boards(name, &[(half.0, "<current_link_width>4x")])).0, Fail, "{name}");
    }
    assert_eq!(of(boards("NVIDIA A100 80GB PCIe", &[half])).0, Fail);
    let declared = |width: u32| json!({ "gpu": { "pcie_width": width } });
    assert_eq!(of(boards("NVIDIA L4", &[half]).expect(declared(8))).0, Pass);
    assert_eq!(of(boards("NVIDIA L40S", &[half]).expect(declared(16))).0, Fail);
}

/// A display that only holds a GPU open leaves it at rest, and a GPU at rest lowers its link: nvidia-smi(1) says so of
/// the current generation.
#[test]
fn a_link_that_rests_is_not_slow() {
    let slow = ("<current_link_gen>5", "<current_link_gen>1");
    let held = (
        "<processes>",
        "<processes><process_info><pid>725</pid><type>G</type><process_name>/usr/lib/xorg/Xorg</process_name></process_info>",
    );
    let works = ("<clocks_event_reason_gpu_idle>Active", "<clocks_event_reason_gpu_idle>Not Active");
    let of = |name: &str, edits: &[(&str, &str)]| {
        boards(name, edits).results(None).remove("gpu.pcie_generation").unwrap()
    };
    // What holds the clocks of one at rest says nothing of how it is under load.
    let held_back = |edits: &[(&str, &str)]| boards("NVIDIA A10G", edits).results(None)["gpu.throttle"].0;
    assert_eq!((held_back(&[held]), held_back(&[held, works])), (Skip, Pass));
    let silent = |name: &str| {
        let mut site = boards(name, &[held, works]);
        site.probes.entry("nvidia").and_modify(|text| *text = text.replace("clocks_event_reason", "other"));
        site.results(None)["gpu.throttle"].0
    };
    assert_eq!((silent("NVIDIA A10G"), silent("NVIDIA H200")), (Skip, Unknown));
    let rests = (Skip, "the GPUs are idle and save power".to_owned());
    assert_eq!(of("NVIDIA A10G", &[slow]), rests);
    assert_eq!(of("NVIDIA A10G", &[slow, held]), rests);
    assert_eq!(of("NVIDIA A10G", &[slow, held, works]).0, Warn);
    // Boards of SXM keep theirs up.
    assert_eq!(of("NVIDIA H200", &[slow, held]).0, Warn);
}

/// Older drivers do not say whether a part waits for a repair; what nobody told is no pass.
#[test]
fn repairs_that_the_driver_does_not_tell() {
    let names = [("channel_repair_pending", "a"), ("tpc_repair_pending", "b"), ("unrepairable_memory", "c")];
    let mut site = healthy();
    for (old, new) in names {
        site.probes.entry("nvidia").and_modify(|text| *text = text.replace(old, new));
    }
    let seen = site.results(None).remove("gpu.repair").unwrap();
    assert_eq!(seen, (Skip, "these GPUs do not report repairs".to_owned()));
}

#[test]
fn boards_without_nvlink_print_nothing_of_it() {
    let of = |name: &str, edits: &[(&str, &str)]| {
        let mut site = boards(name, edits);
        site.probes.entry("nvidia").and_modify(|text| *text = text.replace(NVLINK, ""));
        site.results(None).remove("gpu.nvlink").unwrap()
    };
    assert_eq!(of("NVIDIA A10G", &[]), (Skip, "these GPUs report no NVLink".to_owned()));
    // Those that have it are not excused.
    assert_eq!(of("NVIDIA H200", &[]).0, Unknown);
    assert_eq!(of("Tesla V100-SXM2-32GB", &[]).0, Unknown);
    assert_eq!(of("NVIDIA B200", &[("<state>N/A<", "<state>Completed<")]).0, Unknown);
}

/// A GPU that the driver lost keeps its place in the list of nvidia-smi, and nothing else of it may be known.
#[test]
fn a_gpu_that_the_driver_lost() {
    let memory = ("<total>143771 MiB</total>", "<total>GPU is lost</total>");
    let mut site = boards("NVIDIA H200", &[]);
    let at = site.probes["nvidia"].rfind("<gpu id").unwrap();
    site.probes.entry("nvidia").and_modify(|text| {
        let second = text.split_off(at);
        text.push_str(&second.replace(memory.0, memory.1));
    });
    let results = site.results(None);
    assert_eq!(results["gpu.answers"], (Fail, "GPU1: the driver lost it".to_owned()));
    assert_eq!(results["gpu.memory"].0, Unknown);
    // A fabric that a lost GPU would tell of is no finding of its own.
    let state = ("<state>N/A<", "<state>GPU is lost<");
    let results = boards("NVIDIA B200", &[state, memory]).results(None);
    assert_eq!((results["gpu.answers"].0, results["gpu.fabric"].0), (Fail, Skip));
}

/// All links of all GPUs are down: of a model that is not in the table as well.
#[test]
fn a_board_whose_links_are_all_down() {
    let dark = |second: &str| {
        format!(
            "GPU 0: X (UUID: Y)\nNVML: Unable to retrieve NVLink information as all links are inActive\nGPU 1: X (UUID: Z)\n{second}"
        )
    };
    let none = dark("NVML: Unable to retrieve NVLink information as all links are inActive\n");
    let one = dark("\t Link 0: 50 GB/s\n");
    let of = |name: &str, state: &str, links: &str, expect: Json| {
        let mut site = boards(name, &[("<state>N/A<", state)]).expect(expect);
        site.probes.entry("nvidia").and_modify(|text| *text = text.replace(NVLINK, links));
        site.results(None).remove("gpu.nvlink").unwrap()
    };
    let ready = "<state>Completed<";
    let both = (Fail, "GPU[0-1]: no link is up".to_owned());
    assert_eq!(of("NVIDIA B200", ready, &none, json!({})), both);
    assert_eq!(of("Tesla V100-SXM2-32GB", "<state>N/A<", &none, json!({})), both);
    assert_eq!(of("NVIDIA B200", ready, &one, json!({})), (Fail, "GPU0: no link is up".to_owned()));
    // The number of the line counts, not its place.
    let (_, second) = none.split_once("GPU 1").unwrap();
    let late = (Fail, "GPU1: 0 of 18 links up".to_owned());
    assert_eq!(of("NVIDIA H200", ready, &format!("GPU 1{second}"), json!({})), late);
    // Boards without links, and those of which none is expected.
    assert_eq!(of("NVIDIA L40S", "<state>N/A<", &none, json!({})).0, Skip);
    assert_eq!(of("NVIDIA B200", ready, &none, json!({ "gpu": { "nvlinks": 0 } })).0, Pass);
}

/// In multi-instance mode nvidia-smi refuses the question: what nobody saw is not up.
#[test]
fn instances_use_no_nvlink() {
    let refused = "GPU 0: X (UUID: Y)\nNvlink queries are not supported for Devices in MIG mode\nGPU 1: X (UUID: Z)\nNvlink queries are not supported for Devices in MIG mode\n";
    let of = |split: usize| {
        let mut site = boards("NVIDIA H200", &[]);
        site.probes.entry("nvidia").and_modify(|text| {
            *text = text.replace(NVLINK, refused).replacen(
                "<current_mig>Disabled",
                "<current_mig>Enabled",
                split,
            );
        });
        site.results(None).remove("gpu.nvlink").unwrap()
    };
    assert_eq!(of(2), (Skip, "GPUs in multi-instance mode do not use NVLink".to_owned()));
    // The one that is whole is not excused.
    assert_eq!(of(1), (Fail, "GPU1: 0 of 18 links up".to_owned()));
}

#[test]
fn what_cards_say_of_their_cables() {
    let of = |lines: &str, expect: Json| {
        let log = format!("ask dmesg\n{}", lines.replace("mlx5_core ", "[ 4711.1] mlx5_core "));
        healthy().expect(expect).with("log", "ask dmesg\n", &log).results(None).remove("rdma.log").unwrap()
    };
    let unplugged = "mlx5_core 0000:01:00.0: Port module event: module 0, Cable unplugged\n";
    let plugged = "mlx5_core 0000:01:00.0: Port module event: module 0, Cable plugged\n";
    assert_eq!(of(unplugged, json!({})), (Warn, "0000:01:00.0: Cable unplugged".to_owned()));
    assert_eq!(of(&format!("{unplugged}{plugged}"), json!({})).0, Pass);
    assert_eq!(of(unplugged, json!({ "rdma": { "ignore": ["mlx5_1"] } })).0, Pass);
    // A second port that never had a cable, and one that lost it.
    let second = unplugged.replace("01:00.0", "01:00.1");
    assert_eq!(of(&second, json!({})).0, Pass);
    let lost = plugged.replace("01:00.0", "01:00.1") + &second;
    assert_eq!(of(&lost, json!({})).0, Warn);
    let hot = "mlx5_core 0000:01:00.0: temp_warn:167:(pid 0): High temperature on sensors with bit set 0 1\n";
    assert_eq!(of(hot, json!({})), (Warn, "0000:01:00.0: it is hot".to_owned()));
}

#[test]
fn a_slot_that_gives_enough_power_again() {
    let few = "mlx5_core 0000:01:00.0: mlx5_pcie_event:299:(pid 412): Detected insufficient power on the PCIe slot (27W).\n";
    let enough = "mlx5_core 0000:01:00.0: mlx5_pcie_event:304:(pid 412): PCIe slot advertised sufficient power (75W).\n";
    let site = healthy().with("log", "ask dmesg\n", &format!("ask dmesg\n{few}{enough}"));
    assert_eq!(site.results(None)["rdma.slot_power"].0, Pass);
}

#[test]
fn a_gpu_that_fell_off_the_bus_is_told_once() {
    let lines = "NVRM: Xid (PCI:0000:8a:00): 79, pid=7, GPU has fallen off the bus.\nNVRM: GPU 0000:8a:00.0: GPU has fallen off the bus.\n";
    let site = healthy().with("log", "ask dmesg\n", &format!("ask dmesg\n{lines}"));
    assert_eq!(site.results(None)["gpu.xid"], (Fail, "0000:8a:00: Xid 79".to_owned()));
}

/// nvidia-smi has no words for it; the kernel has.
#[test]
fn what_keeps_the_driver_from_answering() {
    let silent = |line: &str| {
        let mut site = healthy().with("log", "ask dmesg\n", &format!("ask dmesg\n{line}\n"));
        let failed = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.";
        site.probes.insert("nvidia", section("nvidia-smi -q -x", failed, "9"));
        site.hint("gpu.answers")
    };
    assert!(silent("NVRM: GPU 0000:07:00.0 is already bound to NovaCore.").contains("nova_core"));
    let xid = "NVRM: Xid (PCI:0000:8a:00): 79, pid=7, GPU has fallen off the bus.";
    assert!(silent(xid).starts_with("drain the host and power-cycle it"));
    let flavour = "NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:2c58)\n               NVRM: installed in this system requires use of the NVIDIA open kernel modules.";
    assert!(silent(flavour).contains("the GPU is sound"));
    assert!(silent("eth0: link up").contains("driver.log"));
}
