//! GPUs, `NVSwitches` and NICs from `/sys/bus/pci/devices`: no driver and no lspci is needed.
//!
//! Classes: PCI Code and ID Assignment Specification; device ids of NVIDIA: the PCI ID repository
//! (<https://pci-ids.ucw.cz>).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact, bus_touched};

pub(super) const FACT: BaseFact = BaseFact {
    name: "pci",
    doc: "GPUs, NVSwitches, other accelerators and NICs from sysfs, without any driver",
    script: crate::shell!("facts/base/pci/pci.sh"),
    parse,
    touched_by: |touches| bus_touched(touches),
    specimen: |os| {
        let nics = if os == "alinux" {
            json!([
                {
                    "address": "0000:00:06.0",
                    "vendor": "1ded",
                    "device": "107f",
                    "driver": "erdma",
                    "numa_node": 0,
                    "netdevs": ["eth1"],
                    "rdma_devices": ["erdma_0"]
                },
                {
                    "address": "0000:00:05.0",
                    "vendor": "1af4",
                    "device": "1000",
                    "driver": "virtio-pci",
                    "numa_node": 0,
                    "netdevs": ["eth0"],
                    "rdma_devices": []
                }
            ])
        } else {
            json!([
                {
                    "address": "0000:18:00.0",
                    "vendor": "15b3",
                    "device": "101b",
                    "driver": "mlx5_core",
                    "numa_node": 0,
                    "netdevs": ["ens18f0np0"],
                    "rdma_devices": ["mlx5_0"]
                },
                {
                    "address": "0000:3b:00.0",
                    "vendor": "8086",
                    "device": "159b",
                    "driver": "ice",
                    "numa_node": 0,
                    "netdevs": ["eth0"],
                    "rdma_devices": []
                }
            ])
        };
        json!({
            "gpus": [
                {
                    "address": "0000:1b:00.0",
                    "vendor": "10de",
                    "device": "20b2",
                    "driver": "nvidia",
                    "numa_node": 0,
                    "model": "A100-SXM4-80GB"
                }
            ],
            "nvswitches": [
                {
                    "address": "0000:c4:00.0",
                    "vendor": "10de",
                    "device": "1af1",
                    "driver": "nvidia-nvswitch",
                    "numa_node": 1
                }
            ],
            "accelerators": [
                {
                    "address": "0000:4d:00.0",
                    "vendor": "1da3",
                    "device": "1020",
                    "driver": "habanalabs",
                    "numa_node": 0
                }
            ],
            "nics": nics,
            "gencode": "-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_80,code=compute_80"
        })
    },
};

/// Devices on the PCI bus.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pci {
    /// GPUs.
    pub gpus: Vec<PciDevice>,
    /// `NVSwitches`.
    pub nvswitches: Vec<PciDevice>,
    /// Other accelerators.
    pub accelerators: Vec<PciDevice>,
    /// Network cards.
    pub nics: Vec<PciDevice>,
    /// Arguments of nvcc for the GPUs of NVIDIA that are known here, with PTX of the newest of them for what comes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub gencode: String,
}

/// A device.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PciDevice {
    /// Its address.
    pub address: String,
    /// Number of its maker, four hexadecimal digits.
    pub vendor: String,
    /// Number of its kind.
    pub device: String,
    /// Kernel driver; empty where it has none.
    pub driver: String,
    /// Name of a GPU.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// RDMA devices of a network card.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rdma_devices: Vec<String>,
}

impl PciDevice {
    /// Whether NVIDIA made it.
    pub fn is_nvidia(&self) -> bool {
        self.vendor == "10de"
    }
}

impl Pci {
    /// The device number of a GPU of NVIDIA that is newer than all that are known here.
    pub fn newer_gpu(&self) -> Option<&str> {
        let mut gpus = self.gpus.iter().filter(|gpu| gpu.is_nvidia()).map(|gpu| gpu.device.as_str());
        gpus.find(|device| is_newer_gpu(device))
    }
}

impl Fact for Pci {
    const NAME: &'static str = "pci";
}

/// Device ids of vendor 10de that training clusters have: the table in the README of NVIDIA's open kernel modules, last
/// looked at in 595.45.04 (2026-03-05). That of VR200 is in none of them yet: it counts as newer than all.
const NVIDIA: &[(&str, &str)] = &[
    ("1db1", "Tesla V100-SXM2-16GB"),
    ("1db5", "Tesla V100-SXM2-32GB"),
    ("1eb8", "Tesla T4"),
    ("20b0", "A100-SXM4-40GB"),
    ("20b2", "A100-SXM4-80GB"),
    ("20b5", "A100 80GB PCIe"),
    ("20f3", "A800-SXM4-80GB"),
    ("2236", "A10"),
    ("2237", "A10G"),
    ("230e", "H20 NVL16"),
    ("2321", "H100 NVL"),
    ("2324", "H800"),
    ("2329", "H20"),
    ("232c", "H20-3e"),
    ("2330", "H100 80GB HBM3"),
    ("2331", "H100 PCIe"),
    ("2335", "H200"),
    ("2339", "H100"),
    ("233b", "H200 NVL"),
    ("2342", "GH200"),
    ("2348", "GH200 144G HBM3e"),
    ("26b9", "L40S"),
    ("27b8", "L4"),
    ("2901", "B200"),
    ("2909", "B200"),
    ("2941", "GB200"),
    ("2bb1", "RTX PRO 6000 Blackwell Workstation Edition"),
    ("2bb3", "RTX PRO 5000 Blackwell"),
    ("2bb4", "RTX PRO 6000 Blackwell Max-Q Workstation Edition"),
    ("2bb5", "RTX PRO 6000 Blackwell Server Edition"),
    ("2e12", "GB10"),
    ("3182", "B300"),
    ("31c2", "GB300"),
    ("31c3", "GB300"),
];

/// Compute capabilities by the start of the model's name, longer ones first (<https://developer.nvidia.com/cuda-gpus>).
const CAPABILITIES: &[(&str, u16)] = &[
    ("Tesla V100", 70),
    ("Tesla T4", 75),
    ("A100", 80),
    ("A800", 80),
    ("A10", 86),
    ("L4", 89),
    ("H100", 90),
    ("H20", 90),
    ("H800", 90),
    ("GH200", 90),
    ("B200", 100),
    ("GB200", 100),
    ("B300", 103),
    ("GB300", 103),
    ("RTX PRO", 120),
    ("GB10", 121),
];

/// Arguments of nvcc for GPUs of these models; empty where it knows none of them.
fn gencode<'a>(models: impl Iterator<Item = &'a str>) -> String {
    let capability = |model: &str| CAPABILITIES.iter().find(|(start, _)| model.starts_with(start));
    let all: BTreeSet<u16> = models.filter_map(capability).map(|(_, capability)| *capability).collect();
    let code = |of: &u16| format!("-gencode=arch=compute_{of},code=sm_{of}");
    let ptx = all.last().map(|newest| format!("-gencode=arch=compute_{newest},code=compute_{newest}"));
    all.iter().map(code).chain(ptx).collect::<Vec<_>>().join(" ")
}

/// Whether a GPU of NVIDIA is newer than all that are known here: a generation has numbers above those of the one before.
fn is_newer_gpu(device: &str) -> bool {
    let number = |text: &str| u16::from_str_radix(text, 16).ok();
    let newest = NVIDIA.iter().filter_map(|(id, _)| number(id)).max();
    number(device) > newest
}

#[derive(Default)]
struct Device<'a> {
    address: &'a str,
    class: u32,
    vendor: &'a str,
    id: &'a str,
    node: i64,
    driver: &'a str,
    netdevs: Vec<&'a str>,
    rdma: Vec<&'a str>,
}

impl Device<'_> {
    fn common(&self) -> Json {
        json!({
            "address": self.address,
            "vendor": self.vendor,
            "device": self.id,
            "driver": self.driver,
            "numa_node": self.node,
        })
    }

    fn with(&self, name: &str, value: &Json) -> Json {
        let mut json = self.common();
        if let Some(object) = json.as_object_mut() {
            object.insert(name.to_owned(), value.clone());
        }
        json
    }

    /// A display controller of NVIDIA, a 3D controller, or a processing accelerator of AMD.
    fn is_gpu(&self) -> bool {
        match self.class >> 8 {
            0x0300 => self.vendor == "10de",
            0x0302 => true,
            0x0380 | 0x1200 => matches!(self.vendor, "10de" | "1002"),
            _ => false,
        }
    }
}

fn parse(output: &str) -> Result<Json, String> {
    let mut devices: Vec<Device<'_>> = Vec::new();
    let mut ended = false;
    for line in output.lines() {
        let Some((key, value)) = line.split_once('=') else {
            ended |= line == "end";
            continue;
        };
        if key == "device" {
            devices.push(Device { address: value, node: -1, ..Device::default() });
            continue;
        }
        let Some(device) = devices.last_mut() else { continue };
        let hex = value.strip_prefix("0x").unwrap_or(value);
        match key {
            "class" => device.class = u32::from_str_radix(hex, 16).unwrap_or(0),
            "vendor" => device.vendor = hex,
            "id" => device.id = hex,
            "node" => device.node = value.parse().unwrap_or(-1),
            "driver" => device.driver = value,
            "netdev" => device.netdevs.push(value),
            "rdma" => device.rdma.push(value),
            _ => {}
        }
    }
    if !ended {
        return Err("the list of PCI devices was cut short".to_owned());
    }
    let model = |device: &Device<'_>| {
        let known = NVIDIA.iter().find(|(id, _)| device.vendor == "10de" && *id == device.id);
        json!(
            known.map_or_else(|| format!("{}:{}", device.vendor, device.id), |(_, name)| (*name).to_owned())
        )
    };
    let gpus: Vec<Json> = devices.iter().filter(|d| d.is_gpu()).map(|d| d.with("model", &model(d))).collect();
    let switches: Vec<Json> = devices
        .iter()
        .filter(|device| device.vendor == "10de" && device.class >> 8 == 0x0680)
        .map(Device::common)
        .collect();
    let nics: Vec<Json> = devices
        .iter()
        .filter(|device| device.class >> 16 == 0x02)
        .map(|device| {
            let mut nic = device.with("netdevs", &json!(device.netdevs));
            if let Some(object) = nic.as_object_mut() {
                object.insert("rdma_devices".to_owned(), json!(device.rdma));
            }
            nic
        })
        .collect();
    // Display controllers that are no VGA card, 3D controllers and processing accelerators of other makers.
    let accelerators: Vec<Json> = devices
        .iter()
        .filter(|device| matches!(device.class >> 8, 0x0302 | 0x0380 | 0x1200) && !device.is_gpu())
        .map(Device::common)
        .collect();
    let gencode = gencode(gpus.iter().filter_map(|gpu| gpu.get("model")?.as_str()));
    Ok(
        json!({ "gpus": gpus, "nvswitches": switches, "accelerators": accelerators, "nics": nics, "gencode": gencode }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_has_code_for_each_gpu_and_ptx_for_what_comes() {
        for (models, codes) in [
            (&["H100 80GB HBM3", "H100 80GB HBM3"][..], "90,code=sm_90 90,code=compute_90"),
            (
                &["B300", "A100-SXM4-80GB", "A10G"],
                "80,code=sm_80 86,code=sm_86 103,code=sm_103 103,code=compute_103",
            ),
            (&["10de:ffff"], ""),
            (&["10de:ffff", "L40S"], "89,code=sm_89 89,code=compute_89"),
        ] {
            assert_eq!(
                gencode(models.iter().copied()).replace("-gencode=arch=compute_", ""),
                codes,
                "{models:?}"
            );
        }
        // Each GPU that has a name has a capability.
        for (_, model) in NVIDIA {
            assert!(CAPABILITIES.iter().any(|(start, _)| model.starts_with(start)), "{model}");
        }
    }
}
