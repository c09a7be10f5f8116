//! Quality of service of a link for RoCE: trust, PFC, ECN, DSCP, ToS and traffic class.
//!
//! Formats: `mlnx_qos -i LINK`, dcb-pfc(8) and dcb-app(8) `show`, and small files of sysfs,
//! configfs and debugfs (`cc_params` of `mlx5_ib`, drivers/infiniband/hw/mlx5/cong.c), each line
//! behind its source (`src/facts/roce/roce.sh`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bounds::{DSCPS, PRIORITIES, number};
use super::{Answers, Family, Query, Question, Touches, after, answers, lines, of_type, qos};
use crate::transport::Script;

/// Settings of a link for RoCE; `None` where nothing here tells.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Roce {
    /// Its RDMA device.
    pub device: Option<String>,
    /// `pcp` or `dscp`.
    pub trust: Option<String>,
    /// Lossless priorities, as eight digits.
    pub pfc: Option<Vec<u8>>,
    /// Priorities of DSCPs.
    pub dscp: Option<BTreeMap<u8, u8>>,
    /// Whether ECN is on for a priority, on both sides.
    pub ecn: BTreeMap<u8, bool>,
    /// ToS of connections of `rdma_cm`; `None` when there is no RDMA device.
    pub tos: Option<String>,
    /// Global traffic class; `None` when the kernel has none.
    pub traffic_class: Option<String>,
    /// DSCP of the congestion notification packets that it sends; `None` when nothing tells.
    pub cnp_dscp: Option<String>,
    /// Priority of these packets.
    pub cnp_priority: Option<String>,
    /// Reason why a value is not told, in a tool's words.
    pub refused: Option<String>,
}

/// Quality of service of a network link; `None` when there is no link of that name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoceQuery(pub String);

impl Question for RoceQuery {
    type Answer = Option<Roce>;
    const FAMILY: &'static Family = FAMILY;

    fn label(&self) -> String {
        format!("roce {}", self.0)
    }

    fn touched_by(&self, touches: &Touches) -> bool {
        touches.links()
    }
}

pub(crate) const FAMILY: &Family = &Family {
    tools: "`ls` and the kernel",
    chunk: 64,
    ..Family::new("roce", script, parse, |label| Some(RoceQuery(after("roce", label)?.to_owned()).into()))
};

fn script(queries: &[Query]) -> Script {
    let names = of_type(queries).map(|RoceQuery(name)| name.as_str());
    Script::new(crate::shell!("shell/roce_device.sh", "facts/roce/roce.sh")).args(names)
}

/// Flow control of these priorities, as eight digits.
pub fn digits(lossless: &[u8]) -> Vec<u8> {
    (0..8).map(|priority| u8::from(lossless.contains(&priority))).collect()
}

impl Roce {
    fn mlnx_qos(&mut self, text: &str) {
        let classes = qos::mlnx_qos(text);
        self.trust = self.trust.take().or(classes.trust);
        self.pfc = classes.pfc.as_deref().map(digits);
        self.dscp = classes.dscp;
    }

    fn dcb_pfc(&mut self, text: &str) {
        let complaint = |line: &&str| line.contains("not supported") || line.contains("rror");
        self.refused = text.lines().find(complaint).map(|line| format!("dcb: {}", line.trim()));
        self.pfc = qos::dcb_pfc(text).as_deref().map(digits);
        if self.pfc.is_some() {
            self.dscp.get_or_insert_default();
        }
    }

    fn dcb_app(&mut self, line: &str) {
        if line.contains("not supported") || line.contains("rror") {
            return;
        }
        let pairs = line.split_whitespace().filter_map(|word| {
            let (dscp, priority) = word.split_once(':')?;
            Some((number(dscp, &DSCPS)?, number(priority, &PRIORITIES)?))
        });
        self.dscp.get_or_insert_default().extend(pairs);
    }

    fn line(&mut self, key: &str, value: &str) {
        match key {
            "device" => self.device = Some(value.to_owned()),
            "app" => self.dcb_app(value),
            "trust" => self.trust = Some(value.to_owned()),
            "ecn" => {
                if let [_, priority, on] = value.split(' ').collect::<Vec<_>>().as_slice()
                    && let Some(priority) = number(priority, &PRIORITIES)
                {
                    let both = self.ecn.entry(priority).or_insert(true);
                    *both &= *on == "1";
                }
            }
            "cnp-dscp" => self.cnp_dscp = Some(value.to_owned()),
            "cnp-priority" => self.cnp_priority = Some(value.to_owned()),
            "tos" => self.tos = Some(value.to_owned()),
            "class" => {
                let class = value.strip_prefix("Global tclass=").unwrap_or(value);
                self.traffic_class = Some(class.to_owned());
            }
            _ => {}
        }
    }
}

fn parse(queries: &[Query], output: &str, _: i32) -> Answers {
    if lines(output).last() != Some("end") {
        return Vec::new();
    }
    let mut found: BTreeMap<&str, Option<Roce>> = BTreeMap::new();
    // What a tool says of a link is read as a whole.
    let mut said: BTreeMap<(&str, &str), String> = BTreeMap::new();
    let mut link = "";
    for line in lines(output) {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        match key {
            "link" => {
                link = value;
                found.insert(link, None);
            }
            "there" => drop(found.insert(link, Some(Roce::default()))),
            "mlnx_qos" | "pfc" => {
                let text = said.entry((link, key)).or_default();
                text.push_str(value);
                text.push('\n');
            }
            _ => {
                if let Some(Some(roce)) = found.get_mut(link) {
                    roce.line(key, value);
                }
            }
        }
    }
    for ((link, tool), text) in said {
        match found.get_mut(link) {
            Some(Some(roce)) if tool == "pfc" => roce.dcb_pfc(&text),
            Some(Some(roce)) => roce.mlnx_qos(&text),
            _ => {}
        }
    }
    answers(queries, |RoceQuery(name)| found.remove(name.as_str()).map(Ok))
}
