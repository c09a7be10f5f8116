//! Hosts with their ports, and what is asked of them.

use std::collections::BTreeMap;

use crate::accept::judge::{Better, Floor, Limit};
use crate::accept::parts::HostParts;
use crate::accept::placed::Placed;
use crate::accept::record::PartKind;
use crate::active::perftest::{LATENCY_US, Way, threshold};
use crate::active::{Measure, Port};
use crate::inventory::expect::{ExpectAccept, ExpectActive};

/// Gb/s from which on somebody has published what GPU memory has to reach: 180 of 200 and 360 of 400
/// (Azure/azurehpc-health-checks, 2026-12-01).
const GPU_FLOOR: f64 = 200.0;

/// By so much a latency may stay behind: it grows with the switches on the way, and a rack may be further away than others.
const FAR: f64 = 0.5;
/// By so much a single pair may stay behind: where many pairs cross a fabric at once, some share a link by chance.
const CROWDED: f64 = 0.1;

/// A host that takes part.
#[derive(Debug, Clone, Default)]
pub struct Entrant {
    /// Its name and labels.
    pub placed: Placed,
    /// Its ports by device; none where it is not tested.
    pub ports: BTreeMap<String, Port>,
    /// Keys and models of its cards by their place in the host.
    pub cards: BTreeMap<String, (String, String)>,
    /// Thresholds of the inventory for it.
    pub limits: Vec<Limit>,
}

impl Entrant {
    /// A host with what is known of its parts.
    pub fn new(placed: Placed, ports: Vec<Port>, parts: Option<&HostParts>, limits: Vec<Limit>) -> Self {
        let cards =
            parts.into_iter().flat_map(|parts| &parts.parts).filter(|part| part.kind == PartKind::Nic);
        Self {
            placed,
            ports: ports.into_iter().map(|port| (port.device.clone(), port)).collect(),
            cards: cards.map(|part| (part.place.clone(), (part.key.clone(), part.model.clone()))).collect(),
            limits,
        }
    }

    /// The key of a card; one that is not known is named by its host.
    pub(super) fn key(&self, port: &Port) -> String {
        let known = self.cards.get(&port.pci).map(|(key, _)| key.clone());
        known.unwrap_or_else(|| format!("nic {} {}", self.placed.host, port.device))
    }

    /// The model of a port: that of its card, and its rate.
    pub(super) fn model(&self, port: &Port) -> String {
        let model =
            self.cards.get(&port.pci).map(|(_, model)| model.as_str()).filter(|model| !model.is_empty());
        let rate = port.rate.map_or_else(|| "no known rate".to_owned(), |rate| format!("{rate} Gb/s"));
        format!("{} at {rate}", model.unwrap_or("a port"))
    }
}

/// The name of a figure of two ports.
pub(super) fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::Write => "write",
        Measure::GpuWrite => "gpu_write",
        Measure::Latency => "read_latency",
    }
}

/// The unit of a figure.
pub(super) fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Write | Measure::GpuWrite => "Gb/s",
        Measure::Latency => "µs",
    }
}

/// The better one of two figures.
pub(super) fn better(measure: Measure) -> Better {
    match measure {
        Measure::Write | Measure::GpuWrite => Better::Higher,
        Measure::Latency => Better::Lower,
    }
}

/// Names under which a measure is judged: of two ports, and of one.
fn names(measure: Measure) -> Vec<String> {
    let name = name(measure);
    match measure {
        Measure::Write | Measure::GpuWrite => {
            vec![name.to_owned(), format!("{name}.out"), format!("{name}.in")]
        }
        Measure::Latency => vec![name.to_owned()],
    }
}

/// The floors of a port under the name of a model.
pub(super) fn floors(model: &str, port: &Port) -> Vec<Floor> {
    let mut floors = Vec::new();
    let mut add = |measure, least: f64, source: String| {
        for name in names(measure) {
            floors.push(Floor { model: model.to_owned(), name, least, source: source.clone() });
        }
    };
    if let Some(rate) = port.rate {
        let source = format!("90 % of the {rate} Gb/s of the link");
        add(Measure::Write, threshold(Way::One, rate), source.clone());
        if rate >= GPU_FLOOR {
            add(Measure::GpuWrite, threshold(Way::Gpu, rate), source);
        }
    }
    if port.is_fast {
        let source = "of ConnectX cards from 100 Gb/s on, `provision explain active.ib_read_lat`".to_owned();
        add(Measure::Latency, LATENCY_US, source);
    }
    floors
}

/// Thresholds of the inventory for a host.
pub fn limits(active: Option<&ExpectActive>, accept: Option<&ExpectAccept>) -> Vec<Limit> {
    let share = |percent: Option<u32>| percent.map(|percent| f64::from(percent) / 100.0);
    let all = [Measure::Write, Measure::GpuWrite, Measure::Latency].into_iter().flat_map(|measure| {
        let least = active.and_then(|active| match measure {
            Measure::Write => active.ib_write_bw,
            Measure::GpuWrite => active.gpu_write_bw,
            Measure::Latency => active.ib_read_lat,
        });
        names(measure).into_iter().map(move |name| {
            let usual = if measure == Measure::Latency {
                Some(FAR)
            } else {
                (name == self::name(measure)).then_some(CROWDED)
            };
            Limit {
                least: least.map(f64::from),
                behind_fleet: share(accept.and_then(|accept| accept.behind_fleet)).or(usual),
                behind_past: share(accept.and_then(|accept| accept.behind_past)).or(usual),
                name,
                ..Limit::default()
            }
        })
    });
    all.collect()
}

/// The limits of two hosts together: the milder ones.
pub(super) fn milder(one: &[Limit], other: &[Limit]) -> Vec<Limit> {
    let milder = |one: &Limit, other: &Limit| {
        let least = match (one.least, other.least) {
            (Some(own), Some(theirs)) if one.name == name(Measure::Latency) => Some(own.max(theirs)),
            (Some(own), Some(theirs)) => Some(own.min(theirs)),
            (own, theirs) => own.or(theirs),
        };
        Limit { least, ..one.clone() }
    };
    one.iter().zip(other).map(|(one, other)| milder(one, other)).collect()
}
