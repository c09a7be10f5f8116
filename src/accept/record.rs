//! What an acceptance run found: one file that says which part did what, beside the numbers that were asked for.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The form of the file; another number is another form.
pub const FORMAT: u32 = 1;

/// The record of one acceptance run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`FORMAT`].
    pub format: u32,
    /// The run's ID, such as `20261201-023000-1a2b3`.
    pub id: String,
    /// Name of the cluster in its inventory.
    pub cluster: String,
    /// The version of provision that wrote it.
    pub version: String,
    /// When the run began.
    pub began: Timestamp,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Stages in the order in which they ran.
    pub stages: Vec<StageRecord>,
    /// Hosts by name.
    pub hosts: BTreeMap<String, HostRecord>,
    /// Traffic between hosts.
    pub pairs: Vec<Pair>,
    /// Sentences about the run that speak against no part.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A stage is a gate: a host that fails one is left out of those behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// What `verify` looks at, with nothing under load.
    Sanity,
    /// Each host by itself, under load.
    Node,
    /// Traffic between hosts, as `verify --active` tests it.
    Links,
    /// Two hosts at a time, each with many others.
    Pairs,
    /// All network cards of two hosts at once, and across.
    Rails,
    /// Cables, switches and managers.
    Fabric,
    /// All hosts together.
    Collectives,
    /// Hosts under load for as long as was asked.
    Soak,
}

impl Stage {
    /// The name of the stage.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sanity => "sanity",
            Self::Node => "node",
            Self::Links => "links",
            Self::Pairs => "pairs",
            Self::Rails => "rails",
            Self::Fabric => "fabric",
            Self::Collectives => "collectives",
            Self::Soak => "soak",
        }
    }
}

/// How a stage went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Which one.
    pub stage: Stage,
    /// How many hosts took part.
    pub hosts: usize,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Hosts that it left out of the stages behind it.
    pub failed: Vec<String>,
    /// Why it tested nothing; empty where it did.
    pub skipped: String,
}

/// What was found of one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Whether it may be given to users.
    pub verdict: Verdict,
    /// What speaks against it, the worst first; for [`Verdict::NotTested`] the reason.
    pub findings: Vec<Finding>,
    /// Parts that were seen.
    pub parts: Vec<Part>,
    /// Figures that were measured.
    pub figures: Vec<Figure>,
    /// How GPUs did meanwhile.
    pub samples: Vec<Samples>,
    /// Versions by name: kernel, driver, CUDA, firmware.
    pub software: BTreeMap<String, String>,
}

/// Whether a host may be given to users.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It did what was asked in each stage.
    Passed,
    /// It did not.
    Failed,
    /// It was away, busy, or left out.
    #[default]
    NotTested,
}

/// One thing that speaks against a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The stage that found it.
    pub stage: Stage,
    /// Key of the part ([`Part::key`]); empty where it is the host itself.
    pub part: String,
    /// A sentence.
    pub text: String,
    /// What to do; empty where nothing is known.
    pub action: String,
}

/// A part of a host that can be replaced or moved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Part {
    /// Kind of part.
    pub kind: PartKind,
    /// What tells it from all others, wherever it stands: `gpu 1650223014512`.
    pub key: String,
    /// Its model: `NVIDIA H200`.
    pub model: String,
    /// Where it stands in the host: `0000:18:00.0`.
    pub place: String,
}

/// Kinds of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartKind {
    /// The machine or its board.
    Board,
    /// A GPU.
    Gpu,
    /// A network card.
    Nic,
    /// A cable or transceiver.
    Cable,
    /// A module of memory.
    Memory,
    /// A disk.
    Disk,
}

/// A number that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its name: `matmul.bf16`.
    pub name: String,
    /// Key of the part that was measured; empty for the host.
    pub part: String,
    /// The number.
    pub value: f64,
    /// Its unit: `TFLOP/s`.
    pub unit: String,
    /// What it was held against.
    pub thresholds: Vec<Threshold>,
    /// Whether it holds; `None` where there was nothing to hold it against.
    pub holds: Option<bool>,
}

/// A number that a figure must reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// Who says so.
    pub by: By,
    /// The number.
    pub least: f64,
    /// Where it is from: a page with its day, or `median 781 of 64 GPUs`.
    pub source: String,
}

/// Who sets a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The inventory, in place of what is known of the model.
    Inventory,
    /// What is known of the model.
    Floor,
    /// The others of this run.
    Fleet,
    /// What this part did before.
    History,
}

/// What a GPU did meanwhile, one value for each moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// Key of the GPU.
    pub part: String,
    /// Seconds since the stage began.
    pub at: Vec<f64>,
    /// Clock of its processors, in MHz.
    pub mhz: Vec<f64>,
    /// Power, in W.
    pub watts: Vec<f64>,
    /// Temperature, in °C.
    pub celsius: Vec<f64>,
    /// Seconds for each reason to hold the clock back: `power cap`, `thermal`.
    pub held: BTreeMap<String, f64>,
}

/// Traffic between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The one that sent.
    pub from: String,
    /// The one that received.
    pub to: String,
    /// Its name: `gpu_write`.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit: `Gb/s`.
    pub unit: String,
    /// Whether it holds; `None` where there was nothing to hold it against.
    pub holds: Option<bool>,
    /// Device and port of the one that sent: `mlx5_0/1`; empty where all of them had a part in it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from_port: String,
    /// Device and port of the one that received.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub to_port: String,
    /// The reason why there is no figure; the number is 0 then.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
}
