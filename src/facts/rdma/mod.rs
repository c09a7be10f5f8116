//! RDMA devices from sysfs: the source that needs no tool.
//!
//! `/sys/class/infiniband/D/{fw_ver,hca_type,...}`, `ports/P/{state,phys_state,rate,link_layer,...}`,
//! `gids`, `counters`, `hw_counters`; `/sys/class/net/IF/{operstate,carrier_changes}`; the MTU of a link is in
//! `facts.network`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::bounds;
use super::probe::Probe;
use super::section::{Sections, pair};
use super::{Gap, GapKind, Seen};
use crate::inventory::NicMatch;

/// One entry of the GID table that is not zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gid {
    /// Its index.
    pub index: u32,
    /// Eight groups of four hexadecimal digits.
    pub gid: String,
    /// Network device; empty for InfiniBand.
    pub netdev: String,
    /// `IB/RoCE v1`, `RoCE v2`.
    pub kind: String,
}

impl Gid {
    /// The IPv4 address in a GID that maps one.
    pub fn ipv4(&self) -> Option<std::net::Ipv4Addr> {
        self.ipv6()?.to_ipv4_mapped()
    }

    fn ipv6(&self) -> Option<std::net::Ipv6Addr> {
        self.gid.parse().ok()
    }

    /// The address that it is: an IPv4 one where it maps one.
    pub fn address(&self) -> Option<std::net::IpAddr> {
        Some(std::net::IpAddr::V6(self.ipv6()?).to_canonical())
    }

    /// Whether only neighbours on one link reach it, as `fe80::1`.
    pub fn is_link_local(&self) -> bool {
        self.ipv6().is_some_and(|address| address.is_unicast_link_local())
    }

    /// Whether other hosts may reach it: an IPv4 address, or an IPv6 one beyond the link.
    pub fn leads_out(&self) -> bool {
        self.ipv6().is_some_and(|address| {
            let v4 = address.to_ipv4_mapped();
            let local = |v4: std::net::Ipv4Addr| v4.is_loopback() || v4.is_unspecified();
            !address.is_unicast_link_local()
                && !address.is_loopback()
                && !address.is_unspecified()
                && !v4.is_some_and(local)
        })
    }
}

/// One port.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Port {
    /// Its number.
    pub number: u32,
    /// `ACTIVE`, `DOWN`, `INIT`, `ARMED`.
    pub state: String,
    /// `LinkUp`, `Polling`, `Disabled`.
    pub physical: String,
    /// Gb/s.
    pub rate_gbps: Option<f64>,
    /// The whole text: `200 Gb/sec (4X HDR)`.
    pub rate: String,
    /// `Ethernet` or `InfiniBand`.
    pub link_layer: String,
    /// Local identifier.
    pub lid: Option<u32>,
    /// Local identifier of the subnet manager.
    pub sm_lid: Option<u32>,
    /// The first partition key.
    pub pkey: Option<u32>,
    /// GIDs that are not zero.
    pub gids: Vec<Gid>,
    /// Error counters; those of `hw_counters/` begin with `hw.`.
    pub counters: BTreeMap<String, u64>,
}

/// One device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// `mlx5_0`.
    pub name: String,
    /// Firmware version; empty for software devices.
    pub firmware: String,
    /// `MT4123`.
    pub hca_type: String,
    /// Parameter-set id.
    pub board: String,
    /// Node GUID.
    pub guid: String,
    /// PCI address; empty for software devices.
    pub pci: String,
    /// Kernel driver of the PCI device.
    pub driver: String,
    /// Network devices of its PCI function.
    pub netdevs: Vec<String>,
    /// It stands on a GPU board, for the fabric manager to reach switches of NVLink 5; jobs do not use it.
    #[serde(default)]
    pub manages_switch: bool,
    /// Its ports.
    pub ports: Vec<Port>,
}

impl Device {
    /// Whether it is a `ConnectX` or `BlueField` card. rdma-core calls them `rocep25s0f0` or `ibp26s0` where it renames them.
    pub fn is_mlx5(&self) -> bool {
        self.driver == "mlx5_core" || self.name.starts_with("mlx5_")
    }

    /// Whether it speaks `iWARP`, which connects by `rdma_cm` and has no GIDs of `RoCE`.
    pub fn is_iwarp(&self) -> bool {
        // siw, and cxgb4, iw_cxgb4, i40iw of the kernel; eRDMA is of its own kind.
        let words = ["siw", "iw_cxgb4", "cxgb4", "i40iw"];
        words.contains(&self.driver.as_str())
            || ["siw", "cxgb4", "iw_cxgb4", "i40iw", "iwp", "iw"].iter().any(|stem| {
                let rest = self.name.strip_prefix(stem);
                rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '_'))
            })
            || self.name.starts_with("iwp")
    }

    /// Its network device: that of its PCI function, else that of its GID table.
    pub fn netdev(&self) -> Option<&str> {
        let from_gids = || self.ports.iter().flat_map(|port| &port.gids).map(|gid| gid.netdev.as_str());
        self.netdevs.first().map(String::as_str).or_else(|| from_gids().find(|name| !name.is_empty()))
    }

    /// Whether it is the card that an entry of `nics:` describes.
    pub fn is(&self, card: &NicMatch) -> bool {
        card.fits(|property, value| match property {
            "pci" => self.pci == value,
            // Of a bond the table of GIDs has the name.
            "netdev" => {
                let gids = || self.ports.iter().flat_map(|port| &port.gids);
                self.netdevs.iter().any(|name| name == value) || gids().any(|gid| gid.netdev == value)
            }
            "guid" => self.guid == value,
            "driver" => self.driver == value,
            _ => false,
        })
    }
}

/// One network device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Netdev {
    /// `up`, `down`, `unknown`.
    pub state: String,
    /// Number of times that the link changed since boot.
    pub carrier_changes: Option<u64>,
    /// Errors in receiving and sending.
    pub errors: Option<u64>,
    /// Priorities with congestion notification; `None` where the driver does not tell.
    pub ecn: Option<Vec<u32>>,
}

/// RDMA and network devices, as the kernel shows them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rdma {
    /// The devices in the order of their names.
    pub devices: Seen<Vec<Device>>,
    /// Network devices by name.
    pub netdevs: BTreeMap<String, Netdev>,
}

/// `4: ACTIVE` is `ACTIVE`.
fn word(value: &str) -> String {
    value.split_once(':').map_or(value, |(_, word)| word).trim().to_owned()
}

fn number(value: &str, possible: &RangeInclusive<u32>) -> Option<u32> {
    let number = match value.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => value.parse().ok(),
    };
    number.filter(|number| possible.contains(number))
}

fn gid(value: &str) -> Option<Gid> {
    let mut words = value.splitn(4, ' ');
    let index = number(words.next()?, &bounds::GIDS)?;
    let gid = words.next()?.to_owned();
    let netdev = words.next().filter(|name| *name != "-").unwrap_or("").to_owned();
    Some(Gid { index, gid, netdev, kind: words.next().unwrap_or("").to_owned() })
}

/// RDMA and network devices, as sysfs shows them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RdmaQuery;

pub(crate) const FAMILY: &super::Family = <RdmaQuery as super::Question>::FAMILY;

impl Probe for RdmaQuery {
    type Shown = Rdma;
    const NAME: &'static str = "rdma";
    const SCRIPT: &'static str = crate::shell!("facts/probe/ask.sh", "facts/rdma/rdma.sh");
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(20));

    fn read(sections: &Sections<'_>) -> Rdma {
        parse(sections)
    }
}

/// Reads the list.
pub fn parse(sections: &Sections<'_>) -> Rdma {
    let mut devices: Vec<Device> = Vec::new();
    let mut netdevs: BTreeMap<String, Netdev> = BTreeMap::new();
    let Some(section) = sections.get("sysfs") else {
        let gap = Gap::new(GapKind::Failed, "/sys/class/infiniband", "the list was cut short");
        return Rdma { devices: Err(gap), netdevs };
    };
    let mut net = String::new();
    for (key, value) in section.stdout.lines().filter_map(pair) {
        match key {
            "device" => devices.push(Device { name: value.to_owned(), ..Device::default() }),
            "net" => {
                value.clone_into(&mut net);
                netdevs.entry(net.clone()).or_default();
            }
            _ if !net.is_empty() => {
                if let Some(netdev) = netdevs.get_mut(&net) {
                    netdev_field(netdev, key, value);
                }
            }
            _ => {
                if let Some(device) = devices.last_mut() {
                    device_field(device, key, value);
                }
            }
        }
    }
    // As people count: mlx5_2 before mlx5_10.
    devices.sort_by_key(|device| {
        let digits = device.name.len() - device.name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, number) = device.name.split_at(device.name.len() - digits);
        (stem.to_owned(), number.parse::<u64>().unwrap_or(0))
    });
    Rdma { devices: Ok(devices), netdevs }
}

fn netdev_field(netdev: &mut Netdev, key: &str, value: &str) {
    match key {
        "operstate" => value.clone_into(&mut netdev.state),
        "carrier_changes" => netdev.carrier_changes = bounds::number(value, &bounds::COUNT),
        "rx_errors" | "tx_errors" => {
            if let Some(count) = bounds::number(value, &bounds::COUNT) {
                netdev.errors = Some(netdev.errors.unwrap_or(0).saturating_add(count));
            }
        }
        _ => {
            let priority = key.strip_prefix("ecn.");
            let priority = priority.and_then(|priority| bounds::number(priority, &bounds::PRIORITIES));
            if let Some(priority) = priority.map(u32::from) {
                let ecn = netdev.ecn.get_or_insert_default();
                if value == "1" {
                    ecn.push(priority);
                }
            }
        }
    }
}

fn device_field(device: &mut Device, key: &str, value: &str) {
    match key {
        "fw_ver" => value.clone_into(&mut device.firmware),
        "hca_type" => value.clone_into(&mut device.hca_type),
        "board_id" => value.clone_into(&mut device.board),
        "node_guid" => value.clone_into(&mut device.guid),
        "pci" => value.clone_into(&mut device.pci),
        "driver" => value.clone_into(&mut device.driver),
        "manages_switch" => device.manages_switch = true,
        "netdev" => device.netdevs.push(value.to_owned()),
        "port" => {
            let number = number(value, &bounds::PORTS).unwrap_or(0);
            device.ports.push(Port { number, ..Port::default() });
        }
        _ => {
            let Some(port) = device.ports.last_mut() else { return };
            match key {
                "state" => port.state = word(value),
                "phys_state" => port.physical = word(value),
                "rate" => {
                    value.clone_into(&mut port.rate);
                    let number = value.split(' ').next();
                    port.rate_gbps = number.and_then(|number| bounds::number(number, &bounds::RATE));
                }
                "link_layer" => value.clone_into(&mut port.link_layer),
                "lid" => port.lid = number(value, &bounds::LIDS),
                "sm_lid" => port.sm_lid = number(value, &bounds::LIDS),
                "pkey" => port.pkey = number(value, &bounds::PKEYS),
                "gid" => port.gids.extend(gid(value)),
                // `N/A (no PMA)` on some virtual functions is no number, hence no counter.
                _ => {
                    let name = key.strip_prefix("counter.").unwrap_or(key);
                    if let Ok(count) = value.parse() {
                        port.counters.insert(name.to_owned(), count);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\n\u{1e}ask sysfs\ndevice=mlx5_10\nfw_ver=28.39.1002\nhca_type=MT4129\npci=0000:9c:00.0\nnetdev=rdma1\nport=1\nstate=4: ACTIVE\nphys_state=5: LinkUp\nrate=400 Gb/sec (4X NDR)\nlink_layer=Ethernet\nlid=0x2a\ngid=3 0000:0000:0000:0000:0000:ffff:c0a8:d3f2 rdma1 RoCE v2\ncounter.link_downed=3\ncounter.symbol_error=N/A (no PMA)\nhw.out_of_sequence=7\ndevice=mlx5_2\nport=1\nstate=1: DOWN\nnet=rdma1\nmtu=9000\ncarrier_changes=4\nrx_errors=2\ntx_errors=1\necn.0=0\necn.3=1\n\n\u{1e}end 0\n";

    #[test]
    fn devices_and_ports() {
        let rdma = parse(&Sections::split(TEXT));
        let devices = rdma.devices.unwrap();
        let [first, second] = devices.as_slice() else { panic!("{devices:?}") };
        assert_eq!((first.name.as_str(), second.name.as_str()), ("mlx5_2", "mlx5_10"));
        let port = &second.ports[0];
        assert_eq!((port.state.as_str(), port.physical.as_str(), port.lid), ("ACTIVE", "LinkUp", Some(42)));
        assert_eq!(port.rate_gbps, Some(400.0));
        assert_eq!(port.gids[0].ipv4().unwrap().to_string(), "192.168.211.242");
        assert_eq!(port.gids[0].kind, "RoCE v2");
        assert_eq!(port.counters.len(), 2);
        let netdev = &rdma.netdevs["rdma1"];
        assert_eq!((netdev.errors, netdev.ecn.as_deref()), (Some(3), Some([3].as_slice())));
    }

    #[test]
    fn what_no_card_has_is_not_taken() {
        let text = TEXT
            .replace("port=1", "port=4294967295")
            .replace("rate=400", "rate=1e300")
            .replace("lid=0x2a", "lid=0xffffffff\npkey=0x10000")
            .replace("gid=3 ", "gid=4294967295 ")
            .replace("carrier_changes=4", "carrier_changes=18446744073709551615")
            .replace("rx_errors=2", "rx_errors=18446744073709551615")
            .replace("ecn.3=1", "ecn.4294967295=1");
        let rdma = parse(&Sections::split(&text));
        let port = &rdma.devices.unwrap()[1].ports[0];
        assert_eq!((port.number, port.rate_gbps, port.lid, port.pkey), (0, None, None, None));
        assert!(port.gids.is_empty());
        let netdev = &rdma.netdevs["rdma1"];
        assert_eq!(
            (netdev.carrier_changes, netdev.errors, netdev.ecn.as_deref()),
            (None, Some(1), Some([].as_slice()))
        );
    }
}
