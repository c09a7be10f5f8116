use super::*;

const XML: &str = include_str!("../../lab/profiles/recorded/h200-x2/nvidia-smi-q-x.xml");
const NVLINK: &str = include_str!("../../lab/profiles/recorded/h200-x2/nvidia-smi-nvlink-s.txt");
const TOPO: &str = include_str!("../../lab/profiles/recorded/h200-x2/nvidia-smi-topo-m.txt");

#[test]
fn two_h200() {
    let smi = smi(XML).unwrap();
    assert_eq!((smi.driver.as_str(), smi.cuda.as_deref()), ("580.159.04", Some("13.0")));
    let [gpu, _] = smi.gpus.as_slice() else { panic!("{}", smi.gpus.len()) };
    assert_eq!((gpu.bus.as_str(), gpu.name.as_str()), ("0000:00:06.0", "NVIDIA H200"));
    assert_eq!(gpu.memory_mib, Some(143_771));
    assert_eq!((gpu.ecc, gpu.persistence, gpu.mig), (Some(true), Some(true), Some(false)));
    assert_eq!((gpu.width, gpu.generation), (Some((16, 16)), Some((5, 5))));
    assert_eq!((gpu.uncorrected, gpu.remap_pending, gpu.remapped), (Some(0), Some(false), Some(0)));
    assert_eq!(gpu.power_limit, Some((700.0, 700.0)));
    assert_eq!((gpu.throttle.as_deref(), gpu.repairs.as_deref()), (Some([].as_slice()), Some([].as_slice())));
    assert_eq!((gpu.fabric_state.as_deref(), &gpu.recovery), (Some("Completed"), &None));
}

/// A driver under another's control says what it likes.
#[test]
fn what_no_gpu_has_is_not_taken() {
    let xml = XML
        .replace("143771 MiB", "18446744073709551615 MiB")
        .replace("700.00 W", "1e300 W")
        .replace("16x", "4294967295x")
        .replace("<replay_counter>0<", "<replay_counter>18446744073709551615<");
    let xml =
        regex::Regex::new("<gpu_temp>[0-9]+ C").unwrap().replace_all(&xml, "<gpu_temp>9223372036854775807 C");
    let smi = smi(&xml).unwrap();
    let gpu = &smi.gpus[0];
    assert_eq!((gpu.memory_mib, gpu.width, gpu.temperature, gpu.replays), (None, None, None, None));
    // What stands before the letter.
    assert_eq!(gpu.power_limit, Some((1.0, 1.0)));
    let many = format!(
        "<nvidia_smi_log><driver_version>1.1</driver_version>{}</nvidia_smi_log>",
        "<gpu id=\"00000000:00:1E.0\"></gpu>".repeat(257)
    );
    assert!(super::smi(&many).unwrap_err().contains("257 GPUs"));
    let mig = format!(
        "<nvidia_smi_log><driver_version>1.1</driver_version><gpu id=\"00000000:00:1E.0\"><mig_mode>\
         <current_mig>Enabled</current_mig></mig_mode><mig_devices>{}</mig_devices></gpu></nvidia_smi_log>",
        "<mig_device></mig_device>".repeat(1000)
    );
    assert_eq!(super::smi(&mig).unwrap().gpus[0].instances, Some(64));
    let links =
        nvlink("GPU 0: x\n Link 0: 1e300 GB/s\n Link 1: 26.562 GB/s\nGPU 4294967295: x\n Link 0: 1 GB/s\n")
            .unwrap();
    assert_eq!((links.len(), links[&0].as_slice()), (1, [None, Some(26.562)].as_slice()));
}

/// A process that only holds a GPU open does not work on it: the driver says what runs there. Its words for
/// that changed once.
#[test]
fn a_gpu_at_rest() {
    let gpu = |list: &str, entry: &str, idle: &str| {
        let xml = format!(
            "<nvidia_smi_log><driver_version>515.1</driver_version><gpu id=\"00000000:00:1E.0\">\
             <performance_state>P8</performance_state><{list}><{entry}_gpu_idle>{idle}</{entry}_gpu_idle>\
             <{entry}_sw_power_cap>Active</{entry}_sw_power_cap></{list}>\
             <processes><process_info><pid>725</pid><type>G</type></process_info></processes></gpu></nvidia_smi_log>"
        );
        let gpu = smi(&xml).unwrap().gpus.remove(0);
        assert_eq!(gpu.throttle.as_deref(), Some(["sw_power_cap".to_owned()].as_slice()));
        (gpu.processes, gpu.at_rest)
    };
    assert_eq!(gpu("clocks_throttle_reasons", "clocks_throttle_reason", "Active"), (1, true));
    assert_eq!(gpu("clocks_event_reasons", "clocks_event_reason", "Active"), (1, true));
    assert_eq!(gpu("clocks_event_reasons", "clocks_event_reason", "Not Active"), (1, false));
}

/// `<health>` as nvidia-smi writes it on a GB200, of which NVIDIA published both (k8s-test-infra,
/// `qx-gb200-fabric-degraded.xml`), and on a GPU whose fabric has no health.
#[test]
fn health_of_the_fabric() {
    let troubles = |summary: &str,
                    bandwidth: &str,
                    recovery: &str,
                    route: &str,
                    timeout: &str,
                    wrong: &str| {
        let xml = format!(
            "<nvidia_smi_log><driver_version>580.1</driver_version><gpu id=\"00000000:0B:00.0\"><fabric>\
             <state>Completed</state><status>Success</status><health><summary>{summary}</summary>\
             <bandwidth>{bandwidth}</bandwidth><route_recovery_in_progress>{recovery}</route_recovery_in_progress>\
             <route_unhealthy>{route}</route_unhealthy><access_timeout_recovery>{timeout}</access_timeout_recovery>\
             <incorrect_configuration>{wrong}</incorrect_configuration></health></fabric></gpu></nvidia_smi_log>"
        );
        smi(&xml).unwrap().gpus[0].fabric_troubles.clone()
    };
    assert_eq!(troubles("Healthy", "Full", "False", "False", "False", "None"), Some(Vec::new()));
    assert_eq!(
        troubles("Unhealthy", "Full", "False", "True", "False", "None"),
        Some(vec!["summary Unhealthy".to_owned(), "route_unhealthy True".to_owned()])
    );
    assert_eq!(troubles("N/A", "N/A", "N/A", "N/A", "N/A", "N/A"), None);
}

/// Entries of `<ecc_errors>` of a GPU of today; of one that fell into an error they say what it needs instead.
#[test]
fn repairs() {
    let gpu = |channel: &str, threshold: &str| {
        let xml = format!(
            "<nvidia_smi_log><driver_version>595.1</driver_version><gpu id=\"00000000:0B:00.0\"><ecc_errors>\
             <aggregate><sram_threshold_exceeded>{threshold}</sram_threshold_exceeded></aggregate>\
             <channel_repair_pending>{channel}</channel_repair_pending><tpc_repair_pending>No</tpc_repair_pending>\
             </ecc_errors></gpu></nvidia_smi_log>"
        );
        let gpu = smi(&xml).unwrap().gpus.remove(0);
        (gpu.repairs, gpu.sram_exceeded, gpu.recovery)
    };
    assert_eq!(gpu("No", "N/A"), (Some(Vec::new()), false, None));
    assert_eq!(gpu("Yes", "Yes"), (Some(vec!["channel_repair_pending".to_owned()]), true, None));
    assert_eq!(gpu("GPU requires reset", "No"), (Some(Vec::new()), false, Some("Reset".to_owned())));
}

/// Of a GPU that it lost the driver still knows what it is; its values say that it is lost.
#[test]
fn a_lost_gpu() {
    let gpu = |said: &str| {
        let xml = format!(
            "<nvidia_smi_log><driver_version>580.1</driver_version><gpu id=\"00000000:1B:00.0\">\
             <product_name>NVIDIA B200</product_name><fb_memory_usage><total>{said}</total></fb_memory_usage>\
             <remapped_rows>{said}</remapped_rows><temperature><gpu_temp>{said}</gpu_temp></temperature>\
             <fabric><state>{said}</state><health><summary>{said}</summary></health></fabric></gpu></nvidia_smi_log>"
        );
        smi(&xml).unwrap().gpus.remove(0)
    };
    let lost = gpu("GPU is lost");
    assert_eq!((lost.lost, lost.name.as_str(), lost.temperature), (true, "NVIDIA B200", None));
    assert_eq!((lost.fabric_state, lost.fabric_troubles), (None, None));
    assert!(!gpu("N/A").lost);
}

#[test]
fn fields_that_say_nothing_are_nothing() {
    let xml = "<?xml version=\"1.0\"?><!DOCTYPE nvidia_smi_log SYSTEM \"x.dtd\"><nvidia_smi_log><driver_version>550.1</driver_version><attached_gpus>1</attached_gpus><gpu id=\"00000000:8A:00.0\"><ecc_mode><current_ecc>N/A</current_ecc></ecc_mode><persistence_mode>Requested functionality has been deprecated</persistence_mode><clocks_throttle_reasons><clocks_throttle_reason_hw_slowdown>Active</clocks_throttle_reason_hw_slowdown></clocks_throttle_reasons></gpu></nvidia_smi_log>";
    let smi = smi(xml).unwrap();
    let gpu = &smi.gpus[0];
    assert_eq!(
        (gpu.bus.as_str(), gpu.ecc, gpu.persistence, gpu.memory_mib),
        ("0000:8a:00.0", None, None, None)
    );
    assert_eq!(gpu.throttle.as_deref(), Some(["hw_slowdown".to_owned()].as_slice()));
    assert_eq!(gpu.repairs, None);
    let silent = xml.replace(">Active<", ">N/A<");
    assert_eq!(super::smi(&silent).unwrap().gpus[0].throttle, None);
    assert!(super::smi(&XML[..XML.len() / 2]).is_err());
    assert!(super::smi("Unable to determine the device handle for GPU 0000:CB:00.0: Unknown Error").is_err());
}

#[test]
fn links() {
    let gpus = nvlink(NVLINK).unwrap();
    assert_eq!(gpus.len(), 2);
    assert!(gpus.values().all(|links| links.len() == 18 && links.iter().all(|rate| *rate == Some(26.562))));
    let bad = nvlink("GPU 0: X (UUID: Y)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n").unwrap();
    assert_eq!(bad[&0], [Some(26.562), None]);
    // What is listed has its own number, whatever is left out before it.
    let late = nvlink("GPU 6: X (UUID: Y)\n\t Link 0: 25 GB/s\n\t Link 2: 25 GB/s\n").unwrap();
    assert_eq!(late, BTreeMap::from([(6, vec![Some(25.0), None, Some(25.0)])]));
    let far = nvlink("GPU 0: X (UUID: Y)\n\t Link 4000000000: 25 GB/s\n").unwrap();
    assert_eq!(far[&0], Links::new());
    let none =
        nvlink("GPU 0: X (UUID: Y)\nNVML: Unable to retrieve NVLink information as all links are inActive\n");
    assert_eq!(none.unwrap()[&0], Links::new());
    assert!(nvlink("").is_err());
}

#[test]
fn matrices() {
    let matrix = topology(TOPO).unwrap();
    assert_eq!(matrix["GPU0"]["GPU1"], "NV18");
    assert_eq!(matrix.len(), 2);
    // Named by the legend, a lost tab, escapes of a terminal.
    let text = "\t\u{1b}[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\u{1b}[0m\nGPU0\t X \tNV18\tPIXNODE\t0-47\t0\nGPU1\tNV18\t X \tNODE\tPIX\t\t0\nNIC0\tPIX\tNODE\t X \tSYS\nNIC1\tNODE\tPIX\tSYS\t X \n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n";
    let matrix = topology(text).unwrap();
    assert_eq!(matrix["GPU0"]["mlx5_0"], "PIX");
    assert_eq!(matrix["GPU0"]["mlx5_1"], "NODE");
    // Of an old driver, which names cards in the header.
    let old = "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\nGPU0\t X \tSOC\tPHB\t0-13\nGPU1\tSOC\t X \tSOC\t14-27\nmlx5_0\tPHB\tSOC\t X \t\n";
    assert_eq!(topology(old).unwrap()["GPU0"]["GPU1"], "SOC");
    assert!(topology("nonsense").is_err());
}

/// Branch 610: a note stands behind the version, later the field goes.
#[test]
fn versions_of_the_kernel_part_and_of_the_libraries() {
    let of = |fields: &str| smi(&format!("<nvidia_smi_log>{fields}</nvidia_smi_log>")).unwrap();
    let noted = "<driver_version>610.57.04 [Deprecated; will be removed. Use KMD Version instead]</driver_version><kmd_version>610.57.04</kmd_version><cuda_version>13.3 [Deprecated; use CUDA UMD Version]</cuda_version><cuda_umd_version>13.3</cuda_umd_version>";
    let alone = "<kmd_version>610.57.04</kmd_version><cuda_umd_version>13.3</cuda_umd_version>";
    let unknown = "<driver_version>Requested functionality has been deprecated</driver_version><kmd_version>610.57.04</kmd_version><cuda_version>N/A</cuda_version><cuda_umd_version>13.3</cuda_umd_version>";
    for fields in [noted, alone, unknown] {
        let smi = of(fields);
        assert_eq!((smi.driver.as_str(), smi.cuda.as_deref()), ("610.57.04", Some("13.3")), "{fields}");
    }
    let gpu = "<gpu><persistence_mode>Enabled [Deprecated; use the daemon]</persistence_mode><compute_mode>Requested functionality has been deprecated</compute_mode></gpu>";
    let gpus = of(&format!("{alone}{gpu}")).gpus;
    assert_eq!((gpus[0].persistence, gpus[0].compute_mode.as_deref()), (Some(true), None));
}
