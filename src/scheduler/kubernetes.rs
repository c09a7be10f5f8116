//! Kubernetes, through kubectl.
//!
//! A node is drained by one patch: `spec.unschedulable`, as `kubectl cordon` sets it, and an annotation with the reason, so
//! that there is never one without the other. Pods that somebody starts again elsewhere are evicted by `kubectl drain`
//! (<https://kubernetes.io/docs/reference/kubectl/generated/kubectl_drain>), which respects their disruption budgets; all
//! others are jobs, and are waited for.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Load, Node, Scheduler, few, part};
use crate::inventory::{Host, Kubernetes as Settings};
use crate::transport::{Part, Script};

/// The annotation that holds the reason.
const ANNOTATION: &str = "provision";
/// Columns that are printed of a node. The reason may hold spaces, so it is last.
const NODE: &str = "NAME:.metadata.name,HELD:.spec.unschedulable,\
                    READY:.status.conditions[?(@.type==\"Ready\")].status,REASON:.metadata.annotations.provision";
/// Columns that are printed of a pod.
const POD: &str = "NODE:.spec.nodeName,PHASE:.status.phase,KIND:.metadata.ownerReferences[*].kind,\
                   NAMESPACE:.metadata.namespace,NAME:.metadata.name";
/// Owners that start a pod elsewhere once it is evicted.
const MOVABLE: &[&str] = &["ReplicaSet", "StatefulSet", "ReplicationController"];
/// Owners of a pod that belongs to its node and is not moved: static pods are owned by their node.
const OF_THE_NODE: &[&str] = &["DaemonSet", "Node"];

/// Kubernetes.
#[derive(Debug)]
pub struct Kubernetes(pub Settings);

impl Kubernetes {
    fn script(&self, text: &'static str) -> Script {
        Script::new(text).arg(self.0.kubeconfig.as_deref().unwrap_or_default())
    }

    fn patch(&self, name: &str, hosts: &[&Host], patch: &serde_json::Value) -> Part {
        let script = self.script(crate::shell!("scheduler/kubectl.sh", "scheduler/kubectl_patch.sh"));
        let hosts = hosts.iter().map(|host| host.name.as_str());
        part(name, hosts.fold(script.arg(patch.to_string()), Script::arg))
    }
}

/// Reads a row of a node.
fn node(line: &str) -> Option<(String, Node)> {
    let mut rest = line.trim();
    let mut field = || {
        let (field, left) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = left.trim_start();
        field
    };
    let (name, held, ready) = (field(), field(), field());
    let held = match held {
        "true" => true,
        "false" | "<none>" => false,
        _ => return None,
    };
    if !matches!(ready, "True" | "False" | "Unknown" | "<none>") {
        return None;
    }
    let ready = ready == "True";
    let reason = if rest == "<none>" { "" } else { rest };
    let state = match (ready, held) {
        (true, false) => "Ready",
        (true, true) => "Ready,SchedulingDisabled",
        (false, false) => "NotReady",
        (false, true) => "NotReady,SchedulingDisabled",
    };
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    let node = Node {
        held,
        usable: ready && !held,
        silent: !ready && !held,
        away: !ready || held,
        emptied: true,
        counted: false,
        told: format!("Kubernetes has the node as {state}{because}"),
        reason: reason.to_owned(),
    };
    Some((name.to_owned(), node))
}

impl Scheduler for Kubernetes {
    fn name(&self) -> &'static str {
        "Kubernetes"
    }

    fn none_counted(&self) -> Option<String> {
        let selector = self.0.selector.as_ref()?;
        Some(format!("no node of Kubernetes has the labels `{selector}`"))
    }

    fn ask_nodes(&self) -> Part {
        let script = self.script(crate::shell!("scheduler/kubectl.sh", "scheduler/kubectl_nodes.sh"));
        part("nodes", script.arg(NODE).arg(self.0.selector.as_deref().unwrap_or_default()))
    }

    fn nodes(&self, text: &str) -> BTreeMap<String, Node> {
        let mut nodes: BTreeMap<String, Node> = text.lines().filter_map(node).collect();
        for name in text.lines().filter_map(|line| line.trim().strip_prefix("node/")) {
            if let Some(node) = nodes.get_mut(name) {
                node.counted = true;
            }
        }
        nodes
    }

    fn ask_load(&self, hosts: &[&Host]) -> Vec<Part> {
        let script = self.script(crate::shell!("scheduler/kubectl.sh", "scheduler/kubectl_pods.sh"));
        let script = hosts.iter().map(|host| host.name.as_str()).fold(script.arg(POD), Script::arg);
        vec![part("pods", script)]
    }

    fn load(&self, _hosts: &[&Host], texts: &[String]) -> BTreeMap<String, Load> {
        let mut pods: BTreeMap<&str, (Vec<String>, Vec<String>)> = BTreeMap::new();
        for line in texts.iter().flat_map(|text| text.lines()) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [node, "Pending" | "Running" | "Unknown", kinds, namespace, name] = fields.as_slice() else {
                continue;
            };
            let is = |wanted: &[&str]| kinds.split(',').any(|kind| wanted.contains(&kind));
            let (jobs, movable) = pods.entry(node).or_default();
            if is(MOVABLE) {
                movable.push(format!("pod {namespace}/{name}"));
            } else if !is(OF_THE_NODE) {
                jobs.push(format!("pod {namespace}/{name}"));
            }
        }
        let load = |(jobs, movable): (Vec<_>, Vec<_>)| Load { jobs: few(&jobs), movable: few(&movable) };
        pods.into_iter().map(|(node, pods)| (node.to_owned(), load(pods))).collect()
    }

    fn drain(&self, hosts: &[&Host], reason: &str) -> Vec<Part> {
        let patch = serde_json::json!({
            "metadata": { "annotations": { ANNOTATION: reason } },
            "spec": { "unschedulable": true },
        });
        vec![self.patch("drain", hosts, &patch)]
    }

    fn say(&self, host: &Host, reason: &str) -> Part {
        let patch = serde_json::json!({ "metadata": { "annotations": { ANNOTATION: reason } } });
        self.patch("reason", &[host], &patch)
    }

    fn resume(&self, host: &Host) -> Part {
        let patch = serde_json::json!({
            "metadata": { "annotations": { ANNOTATION: null } },
            "spec": { "unschedulable": null },
        });
        self.patch("resume", &[host], &patch)
    }

    fn evict(&self, hosts: &[&Host]) -> Option<Part> {
        let script = self.script(crate::shell!("scheduler/kubectl.sh", "scheduler/kubectl_drain.sh"));
        Some(part("evict", hosts.iter().map(|host| host.name.as_str()).fold(script, Script::arg)))
    }

    fn kept(&self, text: &str) -> BTreeMap<String, String> {
        let rows = text.lines().filter_map(|line| line.split_once('|'));
        rows.map(|(node, why)| (node.to_owned(), why.trim().to_owned())).collect()
    }

    fn leaves_within(&self) -> Duration {
        self.0.evict
    }

    fn by_hand(&self, host: &Host) -> String {
        let name = &host.name;
        format!("kubectl uncordon {name} && kubectl annotate node {name} {ANNOTATION}-")
    }
}
