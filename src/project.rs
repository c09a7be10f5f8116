//! Everything loaded and checked: where every command starts.
use crate::inventory::Host;
use crate::playbook::{Instance, Step};
use camino::Utf8PathBuf;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
#[derive(Debug)]
pub struct Inputs<'a> {
    pub facts: Option<&'a Json>,
    pub registers: &'a BTreeMap<String, Json>,
    pub fleet: &'a BTreeMap<String, Json>,
}
#[derive(Debug)]
pub enum MaxFailed {
    Number(usize),
    Percent(u32),
}
#[derive(Debug)]
pub struct Rollout {
    pub parallel: usize,
    pub canary: usize,
    pub batch: Option<usize>,
    pub max_failed: Option<MaxFailed>,
}
#[derive(Debug)]
pub struct Project {
    pub inventory: Utf8PathBuf,
    pub cluster: String,
    pub hosts: Vec<Host>,
    pub selected: BTreeSet<usize>,
    pub steps: Vec<Step>,
    pub handlers: Vec<Step>,
    pub rollout: Rollout,
    pub playbooks: usize,
}
impl Project {
    pub fn stages(&self) -> Vec<Range<usize>> {
        Vec::new()
    }
    pub fn instantiate(&self, step: &Step, host: &Host, inputs: &Inputs<'_>) -> Vec<Instance> {
        let _ = (step, host, inputs);
        Vec::new()
    }
}
