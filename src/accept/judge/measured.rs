//! Figures that are judged, and all that they are held against.

use std::collections::BTreeMap;

use crate::accept::record::Stage;

/// The better one of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Better {
    /// The higher one: bandwidths and rates.
    Higher,
    /// The lower one: latencies and times.
    Lower,
}

/// A figure of a run, with the part that it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The host.
    pub host: String,
    /// The stage that measured it.
    pub stage: Stage,
    /// The key of the part; empty for the host.
    pub part: String,
    /// Its model, or that of the host; only equal models are compared. Empty where it is unknown.
    pub model: String,
    /// Its name for people within its host: `GPU 3`.
    pub label: String,
    /// Its place in the host: `0000:18:00.0`.
    pub place: String,
    /// The figure's name: `matmul.bf16`.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit: `TFLOP/s`.
    pub unit: String,
    /// The better one of two; the same for each figure of this name.
    pub better: Better,
}

impl Better {
    /// The bound that lies a share on the worse side of a number.
    pub(super) fn behind(self, number: f64, share: f64) -> f64 {
        match self {
            Self::Higher => number * (1.0 - share),
            Self::Lower => number * (1.0 + share),
        }
    }

    /// Whether a value keeps to a bound.
    pub(super) fn keeps(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Higher => value >= bound,
            Self::Lower => value <= bound,
        }
    }
}

/// The number that a model is known to reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// The model, as its driver says it.
    pub model: String,
    /// The figure's name.
    pub name: String,
    /// The number; of a figure that is better when lower, the most.
    pub least: f64,
    /// Its source, and the day.
    pub source: String,
}

/// A threshold of the inventory, in place of one that is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limit {
    /// The model that it is for; empty for each.
    pub model: String,
    /// The figure's name.
    pub name: String,
    /// The least, or of a figure that is better when lower the most.
    pub least: Option<f64>,
    /// The share by which a part may stay behind the median of its fleet: 0.08. With 1 the fleet says nothing.
    pub behind_fleet: Option<f64>,
    /// The share by which a part may stay behind its own past. With 1 the past says nothing.
    pub behind_past: Option<f64>,
}

/// Something that is to be said of a run and of no part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The figure's name.
    pub name: String,
    /// A sentence.
    pub text: String,
}

/// Earlier values of parts, by the part's key and the figure's name, the oldest first.
pub type Past = BTreeMap<(String, String), Vec<f64>>;
