//! The result as a file for the textfile collector of Prometheus' `node_exporter`.
//!
//! ```text
//!   provision verify INVENTORY --prometheus /var/lib/prometheus/node-exporter/provision.prom
//! ```

use super::style::duration;
use crate::events::{CheckStatus, HostRecord, HostStatus, PlannedVerdict, Record};
use crate::put;

/// The run as metrics in Prometheus' text format.
pub fn text(record: &Record) -> String {
    let mut text = String::new();
    let cluster = escape(&record.cluster);
    let command = escape(&record.command);
    let run = format!("cluster=\"{cluster}\",command=\"{command}\"");
    if let Some(at) = record.at {
        let ended = at.saturating_add(duration(record.seconds)).unwrap_or(at);
        let (seconds, millis) = (ended.as_second(), ended.subsec_millisecond());
        head(&mut text, "provision_last_run_timestamp_seconds", "When the last run ended.");
        put!(text, "provision_last_run_timestamp_seconds{{{run}}} {seconds}.{millis:03}\n");
    }
    head(&mut text, "provision_last_run_duration_seconds", "How long the last run took.");
    put!(text, "provision_last_run_duration_seconds{{{run}}} {:.3}\n", record.seconds);
    if let Some(code) = record.exit_code {
        head(
            &mut text,
            "provision_last_run_exit_code",
            "Its exit code: 0 success, 6 drift or a failed check.",
        );
        put!(text, "provision_last_run_exit_code{{{run}}} {code}\n");
    }
    head(&mut text, "provision_info", "Version of provision that wrote this file.");
    put!(text, "provision_info{{version=\"{}\"}} 1\n", escape(env!("CARGO_PKG_VERSION")));

    let hosts: Vec<(String, &HostRecord)> = record
        .hosts
        .iter()
        .map(|(name, host)| (format!("cluster=\"{cluster}\",node=\"{}\"", escape(name)), host))
        .collect();
    head(&mut text, "provision_host_up", "Whether the host was reached: 1, else 0.");
    for (labels, host) in &hosts {
        put!(text, "provision_host_up{{{labels}}} {}\n", u8::from(reached(host)));
    }
    head(
        &mut text,
        "provision_host_pending_tasks",
        "Tasks of the inventory that would change something on the host (drift).",
    );
    for (labels, host) in hosts.iter().filter(|(_, host)| reached(host)) {
        let pending =
            host.plan.iter().filter(|planned| matches!(planned.verdict, PlannedVerdict::Changes(_))).count();
        put!(text, "provision_host_pending_tasks{{{labels}}} {pending}\n");
    }
    head(&mut text, "provision_host_reboot_pending", "Whether the host waits for a reboot: 1, else 0.");
    for (labels, host) in hosts.iter().filter(|(_, host)| reached(host)) {
        put!(text, "provision_host_reboot_pending{{{labels}}} {}\n", u8::from(!host.reboot.is_empty()));
    }
    if record.hosts.values().all(|host| host.checks.is_empty()) {
        return text;
    }
    head(
        &mut text,
        "provision_check_status",
        "A check of the host: 0 pass, 1 warn, 2 fail, 3 unknown. What does not apply is left out.",
    );
    for (labels, host) in &hosts {
        for result in &host.checks {
            let value = match result.status {
                CheckStatus::Pass => 0,
                CheckStatus::Warn => 1,
                CheckStatus::Fail => 2,
                CheckStatus::Unknown => 3,
                CheckStatus::Skip => continue,
            };
            put!(text, "provision_check_status{{check=\"{}\",{labels}}} {value}\n", escape(&result.check));
        }
    }
    text
}

fn reached(host: &HostRecord) -> bool {
    matches!(host.status, Some(HostStatus::Ok | HostStatus::Failed)) || !host.checks.is_empty()
}

fn head(text: &mut String, name: &str, help: &str) {
    put!(text, "# HELP {name} {}\n# TYPE {name} gauge\n", help.replace('\\', "\\\\").replace('\n', "\\n"));
}

/// The value of a label: backslash, quote and line end are escaped, as the format wants.
fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_are_escaped() {
        assert_eq!(escape("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
    }
}
