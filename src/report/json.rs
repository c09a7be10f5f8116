//! The one object of `--json`.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

use crate::events::{HostRecord, HostStatus, Outcome, PairTest, PlannedVerdict, Record, TaskRecord};

/// The object that `--json` writes when the run ends. Hosts become JSON while they are written: all
/// at once they would be most of the memory of a run.
pub fn object(record: &Record) -> impl Serialize + '_ {
    let stats = record.stats.clone().unwrap_or_default();
    Object {
        version: 1,
        run: &record.run,
        command: &record.command,
        cluster: &record.cluster,
        exit_code: record.exit_code,
        seconds: round(record.seconds),
        summary: json!({
            "hosts": stats.hosts + stats.offline,
            "ok": stats.ok,
            "failed": stats.failed,
            "unreachable": stats.unreachable,
            "offline": stats.offline,
            "not_started": stats.not_started,
            "pending": stats.pending,
            "tasks": stats.tasks,
            "checks": stats.checks,
        }),
        hosts: Hosts(record),
        left_drained: &record.left_drained,
        pairs: &record.pairs,
    }
}

#[derive(Serialize)]
struct Object<'a> {
    version: u32,
    run: &'a str,
    command: &'a str,
    cluster: &'a str,
    exit_code: Option<u8>,
    seconds: f64,
    summary: Json,
    hosts: Hosts<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_drained: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pairs: &'a [PairTest],
}

struct Hosts<'a>(&'a Record);

impl Serialize for Hosts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Record { hosts, offline, .. } = self.0;
        let online = hosts.iter().filter(|(name, _)| !offline.contains_key(*name));
        let offline = offline.iter().map(|(name, reason)| {
            (name, json!({ "status": "offline", "reason": reason, "tasks": [], "checks": [] }))
        });
        serializer.collect_map(online.map(|(name, host)| (name, host_object(host))).chain(offline))
    }
}

fn host_object(host: &HostRecord) -> Json {
    let mut object = Map::new();
    let status = host.status.as_ref().map_or("unknown", HostStatus::word);
    object.insert("status".to_owned(), json!(status));
    match &host.status {
        Some(HostStatus::Unreachable { reason, hint, kind }) => {
            object.insert("reason".to_owned(), json!(reason));
            object.insert("kind".to_owned(), json!(kind));
            object.insert("hint".to_owned(), json!(hint));
        }
        Some(
            HostStatus::Quarantined { reason } | HostStatus::NotStarted(reason) | HostStatus::Offline(reason),
        ) => {
            object.insert("reason".to_owned(), json!(reason));
        }
        Some(HostStatus::Ok | HostStatus::Failed) | None => {}
    }
    object.insert("seconds".to_owned(), json!(round(host.seconds)));
    object.insert("tasks".to_owned(), host.tasks.iter().map(task_object).collect());
    let planned: Vec<Json> = host
        .plan
        .iter()
        .filter(|planned| !matches!(planned.verdict, PlannedVerdict::Unchanged | PlannedVerdict::Skipped(_)))
        .map(|planned| {
            let mut object = json!({
                "name": planned.task.name,
                "id": planned.task.id,
                "resource": planned.task.resource,
                "plan": planned.verdict,
                "pending_since": planned.pending_since,
            });
            if let (Some(fields), Some(reason)) = (object.as_object_mut(), &planned.blocked) {
                fields.insert("blocked".to_owned(), json!(reason));
            }
            object
        })
        .collect();
    object.insert("plan".to_owned(), json!(planned));
    object.insert("checks".to_owned(), json!(host.checks));
    if let Some(through) = &host.through {
        object.insert("through".to_owned(), json!(through));
    }
    if let Some((phase, why)) = &host.maintenance {
        object.insert("maintenance".to_owned(), json!({ "phase": phase, "why": why }));
    }
    if !host.reboot.is_empty() {
        object.insert("reboot_pending".to_owned(), json!(host.reboot));
    }
    if !host.handlers.is_empty() {
        object.insert("handlers_pending".to_owned(), json!(host.handlers));
    }
    if !host.warnings.is_empty() {
        object.insert("warnings".to_owned(), json!(host.warnings));
    }
    Json::Object(object)
}

fn task_object(task: &TaskRecord) -> Json {
    let mut object = json!({
        "name": task.task.name,
        "id": task.task.id,
        "resource": task.task.resource,
        "outcome": task.outcome.word(),
        "seconds": round(task.seconds),
    });
    let Some(fields) = object.as_object_mut() else { return object };
    if let Some(item) = task.task.item {
        fields.insert("item".to_owned(), json!(item));
    }
    if task.attached {
        fields.insert("attached".to_owned(), json!(true));
    }
    match &*task.outcome {
        Outcome::Changed { changes, .. } | Outcome::Ran { changes, .. } => {
            fields.insert("changes".to_owned(), json!(changes));
            if let Some(reason) = task.outcome.blocked() {
                fields.insert("blocked".to_owned(), json!(reason));
            }
        }
        Outcome::Skipped(reason) | Outcome::Blocked(reason) => {
            fields.insert("reason".to_owned(), json!(reason));
        }
        Outcome::Failed(failure) => {
            fields.insert("failure".to_owned(), json!(failure));
        }
        Outcome::Unchanged => {}
    }
    object
}

fn round(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
