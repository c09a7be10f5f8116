//! GPUs, `NVSwitches` and NICs from `/sys/bus/pci/devices`: no driver and no lspci is needed.
//!
//! Classes: PCI Code and ID Assignment Specification; device ids of NVIDIA: the PCI ID repository
//! (<https://pci-ids.ucw.cz>).

use serde_json::{Value as Json, json};

use super::{BaseFact, bus_touched};

pub(super) const FACT: BaseFact = BaseFact {
    name: "pci",
    doc: "GPUs, NVSwitches, other accelerators and NICs from sysfs, without any driver",
    script: crate::shell!("facts/pci.sh"),
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
            "nics": nics
        })
    },
};

/// Device ids of vendor 10de that training clusters have: the table in the README of NVIDIA's open kernel modules.
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
    ("3182", "B300"),
    ("31c2", "GB300"),
    ("31c3", "GB300"),
];

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
    Ok(json!({ "gpus": gpus, "nvswitches": switches, "accelerators": accelerators, "nics": nics }))
}
