//! The one object of `--json` (design section 3).

use serde_json::{Map, Value as Json, json};

use super::record::{HostRecord, Record, TaskRecord};
use crate::events::{HostStatus, Outcome, PlannedVerdict};

/// The object that `--json` writes when the run ends.
pub fn object(record: &Record) -> Json {
    let stats = record.stats.clone().unwrap_or_default();
    let mut hosts = Map::new();
    for (name, host) in &record.hosts {
        hosts.insert(name.clone(), host_object(host));
    }
    for (name, reason) in &record.offline {
        hosts.insert(
            name.clone(),
            json!({ "status": "offline", "reason": reason, "tasks": [], "checks": [] }),
        );
    }
    let mut object = json!({
        "version": 1,
        "run": record.run,
        "command": record.command,
        "cluster": record.cluster,
        "exit_code": record.exit_code,
        "seconds": round(record.seconds),
        "summary": {
            "hosts": stats.hosts + stats.offline,
            "ok": stats.ok,
            "failed": stats.failed,
            "unreachable": stats.unreachable,
            "offline": stats.offline,
            "not_started": stats.not_started,
            "pending": stats.pending,
            "tasks": stats.tasks,
            "checks": stats.checks,
        },
        "hosts": hosts,
    });
    if let (false, Some(fields)) = (record.pairs.is_empty(), object.as_object_mut()) {
        fields.insert("pairs".to_owned(), json!(record.pairs));
    }
    object
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
            json!({
                "name": planned.task.name,
                "id": planned.task.id,
                "resource": planned.task.resource,
                "plan": planned.verdict,
                "pending_since": planned.pending_since,
            })
        })
        .collect();
    object.insert("plan".to_owned(), json!(planned));
    object.insert("checks".to_owned(), json!(host.checks));
    if !host.reboot.is_empty() {
        object.insert("reboot_pending".to_owned(), json!(host.reboot));
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
    match &task.outcome {
        Outcome::Changed { changes, .. } | Outcome::Ran { changes, .. } => {
            fields.insert("changes".to_owned(), json!(changes));
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
