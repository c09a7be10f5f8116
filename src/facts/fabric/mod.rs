//! State of all that stands between GPUs, cards and the fabric: `PCIe` links, `ibv_devinfo`, `rdma system`,
//! traffic classes, `lspci`, settings.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::bounds;
use super::probe::Probe;
use super::section::{Sections, pair};
use super::{Seen, qos};

/// Reason why the tools were not asked.
const NOT_ASKED: &str = "the host has no RDMA device";

/// The `PCIe` link of a device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Lanes in use and possible.
    pub width: Option<(u32, u32)>,
    /// GT/s in use and possible.
    pub speed: Option<(f64, f64)>,
    /// Type of its IOMMU group: `identity`, `DMA`, `DMA-FQ`; none without IOMMU.
    pub iommu: Option<String>,
}

/// A device as user space sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verbs {
    /// Its name.
    pub name: String,
    /// `InfiniBand`, `iWARP`.
    pub transport: String,
    /// Path MTU by port.
    pub active_mtu: BTreeMap<u32, u32>,
}

/// Traffic classes of a network device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Qos {
    /// `dscp` or `pcp`; none where the tool does not tell.
    pub trust: Option<String>,
    /// Priorities with flow control.
    pub pfc: Vec<u32>,
}

/// Values that `lspci -vvv` shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lspci {
    /// `ACSCtl` of bridges, by address.
    pub acs: BTreeMap<String, String>,
    /// Bytes of `MaxReadReq`, by address.
    pub max_read: BTreeMap<String, u32>,
    /// Devices whose capabilities only root sees.
    pub denied: usize,
}

/// Settings that decide which cards are used and how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FabricSettings {
    /// `compat_mode` of the erdma module.
    pub erdma_compat: Option<String>,
    /// `arp_ignore`, `arp_announce`, `rp_filter` of all devices.
    pub sysctl: BTreeMap<String, String>,
    /// Variables of NCCL: file, name, value.
    pub nccl: Vec<(String, String, String)>,
    /// Options of `ib_core` in modprobe.d.
    pub ib_core: Vec<String>,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fabric {
    /// Links of GPUs and cards by PCI address.
    pub links: Seen<BTreeMap<String, Link>>,
    /// `ibv_devinfo -v`.
    pub verbs: Seen<Vec<Verbs>>,
    /// `shared` or `exclusive`.
    pub netns: Seen<String>,
    /// By network device.
    pub qos: BTreeMap<String, Seen<Qos>>,
    /// `lspci -vvv`.
    pub lspci: Seen<Lspci>,
    /// Settings.
    pub settings: Seen<FabricSettings>,
}

/// State of all that stands between GPUs, cards and the fabric.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FabricQuery;

pub(crate) const FAMILY: &super::Family = <FabricQuery as super::Question>::FAMILY;

impl Probe for FabricQuery {
    type Shown = Fabric;
    const NAME: &'static str = "fabric";
    const SCRIPT: &'static str = crate::shell!("facts/probe/ask.sh", "facts/fabric/fabric.sh");
    const DEADLINE: Option<Duration> = Some(Duration::from_mins(1));

    fn read(sections: &Sections<'_>) -> Fabric {
        parse(sections)
    }
}

/// Reads the sections.
pub fn parse(sections: &Sections<'_>) -> Fabric {
    let verbs = match sections.get("ibv_devinfo -v") {
        Some(section)
            if section.stdout.contains("No IB devices found")
                || section.stderr.contains("No IB devices found") =>
        {
            Ok(Vec::new())
        }
        _ => sections.read("ibv_devinfo -v", NOT_ASKED, verbs),
    };
    let mut by_netdev = BTreeMap::new();
    for (net, section) in sections.starting("mlnx_qos -i") {
        by_netdev.insert(net.to_owned(), section.read(mlnx_qos));
    }
    for (net, section) in sections.starting("dcb pfc show dev") {
        by_netdev.insert(net.to_owned(), section.read(dcb_pfc));
    }
    let trust = sections.get("trust").map(|section| section.stdout).unwrap_or_default();
    for (net, trust) in trust.lines().filter_map(pair) {
        if let Some(Ok(qos)) = by_netdev.get_mut(net) {
            qos.trust.get_or_insert_with(|| trust.to_owned());
        }
    }
    Fabric {
        links: sections.read("pcie", "the list was cut short", |text| Ok(links(text))),
        verbs,
        netns: sections.read("rdma system show", NOT_ASKED, netns),
        qos: by_netdev,
        lspci: sections.read("lspci -vvv", "the host has no RDMA device and fewer than two GPUs", |text| {
            Ok(lspci(text))
        }),
        settings: sections.read("settings", "the list was cut short", |text| Ok(settings(text))),
    }
}

fn links(text: &str) -> BTreeMap<String, Link> {
    let mut links: BTreeMap<String, Link> = BTreeMap::new();
    let mut address = String::new();
    // The file with the present value comes before the one with the highest.
    let (mut width, mut speed) = (None, None);
    for (key, value) in text.lines().filter_map(pair) {
        if key == "pci" {
            value.clone_into(&mut address);
            links.entry(address.clone()).or_default();
            (width, speed) = (None, None);
            continue;
        }
        let Some(link) = links.get_mut(&address) else { continue };
        // `32.0 GT/s PCIe`, or `Unknown`.
        let leading =
            || value.split(' ').next().and_then(|number| bounds::number(number, &bounds::TRANSFERS));
        match key {
            "current_link_width" => width = bounds::number(value, &bounds::LANES),
            "max_link_width" => link.width = width.zip(bounds::number(value, &bounds::LANES)),
            "current_link_speed" => speed = leading(),
            "max_link_speed" => link.speed = speed.zip(leading()),
            "iommu" => link.iommu = Some(value.to_owned()),
            _ => {}
        }
    }
    links
}

/// Reads `ibv_devinfo -v`: keys and values behind tabs, ports one level deeper.
///
/// # Errors
/// When there is no device in it.
pub fn verbs(text: &str) -> Result<Vec<Verbs>, String> {
    let mut devices: Vec<Verbs> = Vec::new();
    let mut port = 0;
    for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
        let (key, value) = (key.trim(), value.trim());
        if key == "hca_id" {
            devices.push(Verbs { name: value.to_owned(), ..Verbs::default() });
            port = 0;
            continue;
        }
        let Some(device) = devices.last_mut() else { continue };
        let first = value.split(' ').next().unwrap_or("");
        match key {
            "transport" => first.clone_into(&mut device.transport),
            "port" => port = bounds::number(first, &bounds::PORTS).unwrap_or(0),
            "active_mtu" => {
                if let Some(mtu) = bounds::number(first, &bounds::RDMA_MTU) {
                    device.active_mtu.insert(port, mtu);
                }
            }
            _ => {}
        }
    }
    if devices.is_empty() { Err("it shows no hca_id".to_owned()) } else { Ok(devices) }
}

/// `netns shared copy-on-fork on`.
fn netns(text: &str) -> Result<String, String> {
    let mut words = text.split_whitespace().skip_while(|word| *word != "netns").skip(1);
    match words.next() {
        Some(word @ ("shared" | "exclusive")) => Ok(word.to_owned()),
        _ => Err("it shows neither shared nor exclusive".to_owned()),
    }
}

fn mlnx_qos(text: &str) -> Result<Qos, String> {
    let classes = qos::mlnx_qos(text);
    let pfc = classes.pfc.ok_or("it has no row `enabled` of eight flags")?;
    Ok(Qos { trust: classes.trust, pfc: pfc.into_iter().map(u32::from).collect() })
}

fn dcb_pfc(text: &str) -> Result<Qos, String> {
    let pfc = qos::dcb_pfc(text).ok_or("it shows no prio-pfc of eight priorities")?;
    Ok(Qos { trust: None, pfc: pfc.into_iter().map(u32::from).collect() })
}

/// `0c:00.0` with its domain.
fn whole(address: &str) -> String {
    if address.matches(':').count() == 1 { format!("0000:{address}") } else { address.to_owned() }
}

fn lspci(text: &str) -> Lspci {
    let mut seen = Lspci::default();
    let mut address = String::new();
    for line in text.lines() {
        if !line.starts_with(char::is_whitespace) {
            address = whole(line.split(' ').next().unwrap_or(""));
        } else if let Some((_, flags)) = line.split_once("ACSCtl:") {
            seen.acs.insert(address.clone(), flags.trim().to_owned());
        } else if let Some((_, rest)) = line.split_once("MaxReadReq ") {
            let number = rest.split(' ').next();
            if let Some(bytes) = number.and_then(|number| bounds::number(number, &bounds::READ_REQUEST)) {
                seen.max_read.insert(address.clone(), bytes);
            }
        } else if line.contains("access denied") {
            seen.denied += 1;
        }
    }
    seen
}

fn settings(text: &str) -> FabricSettings {
    let mut settings = FabricSettings::default();
    for (key, value) in text.lines().filter_map(pair) {
        match key {
            "erdma_compat" => settings.erdma_compat = Some(value.to_owned()),
            "ib_core" => settings.ib_core.push(value.to_owned()),
            "nccl" => {
                let Some((file, assignment)) = value.split_once(' ') else { continue };
                let Some((name, value)) = assignment.split_once('=') else { continue };
                // Those of /etc/environment may be quoted; NCCL takes quotes as they are.
                let value = value.trim();
                let bare = if file == "/etc/environment" { value.trim_matches(['"', '\'']) } else { value };
                settings.nccl.push((file.to_owned(), name.to_owned(), bare.to_owned()));
            }
            _ => drop(settings.sysctl.insert(key.to_owned(), value.to_owned())),
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::GapKind;

    const IRDMA: &str = include_str!("../../lab/profiles/quoted/ibv_devinfo-v-irdma0.txt");
    const RXE: &str = include_str!("../../lab/profiles/recorded/rxe-debian12/ibv_devinfo-mtu4200.txt");

    #[test]
    fn recorded_devices() {
        let irdma = verbs(IRDMA).unwrap();
        assert_eq!((irdma[0].name.as_str(), irdma[0].transport.as_str()), ("irdma0", "InfiniBand"));
        assert_eq!(irdma[0].active_mtu, BTreeMap::from([(1, 1024)]));
        assert_eq!(verbs(RXE).unwrap()[0].active_mtu, BTreeMap::from([(1, 4096)]));
        let none = "\n\u{1e}ask ibv_devinfo -v\n\n\u{1e}end 255\nNo IB devices found\n";
        assert_eq!(parse(&Sections::split(none)).verbs, Ok(Vec::new()));
        assert_eq!(parse(&Sections::split("")).verbs.unwrap_err().kind, GapKind::Absent);
    }

    #[test]
    fn what_no_card_has_is_not_taken() {
        let text = "pci=0000:4b:00.0\ncurrent_link_width=4294967295\nmax_link_width=16\ncurrent_link_speed=1e300 GT/s PCIe\nmax_link_speed=nan GT/s PCIe\n";
        assert_eq!(links(text)["0000:4b:00.0"], Link::default());
        assert!(lspci("0000:0c:00.0 x\n\tMaxReadReq 4294967295 bytes\n").max_read.is_empty());
        let devices = verbs("hca_id: mlx5_0\nport: 4294967295\nactive_mtu: 4294967295 (5)\n").unwrap();
        assert!(devices[0].active_mtu.is_empty());
        assert_eq!(qos::dcb_pfc("prio-pfc 0:on 1:on 2:on 3:on 4:on 5:on 6:on 255:on"), None);
    }

    #[test]
    fn links_and_bridges() {
        let text = "pci=0000:4b:00.0\ncurrent_link_width=8\nmax_link_width=16\ncurrent_link_speed=16.0 GT/s PCIe\nmax_link_speed=32.0 GT/s PCIe\niommu=DMA-FQ\npci=0000:00:06.0\ncurrent_link_width=0\nmax_link_width=255\ncurrent_link_speed=Unknown\n";
        let links = links(text);
        assert_eq!(links["0000:4b:00.0"].width, Some((8, 16)));
        assert_eq!(links["0000:4b:00.0"].speed, Some((16.0, 32.0)));
        assert_eq!(links["0000:00:06.0"], Link::default());
        let text = "00:10.0 PCI bridge: Broadcom\n\t\tACSCtl:\tSrcValid+ ReqRedir+\n0001:0c:00.0 Ethernet controller: Mellanox\n\t\t\tMaxPayload 256 bytes, MaxReadReq 512 bytes\n\tCapabilities: <access denied>\n";
        let seen = lspci(text);
        assert_eq!(seen.acs["0000:00:10.0"], "SrcValid+ ReqRedir+");
        assert_eq!((seen.max_read["0001:0c:00.0"], seen.denied), (512, 1));
        assert_eq!(netns("netns exclusive copy-on-fork on\n").as_deref(), Ok("exclusive"));
        let kept = settings(
            "nccl=/etc/nccl.conf NCCL_IB_HCA==mlx5_0,mlx5_3\narp_ignore=1\nnccl=/etc/environment NCCL_IB_HCA=\"=mlx5_0\"\n",
        );
        assert_eq!(kept.nccl[0].2, "=mlx5_0,mlx5_3");
        assert_eq!(kept.nccl[1].2, "=mlx5_0");
    }
}
