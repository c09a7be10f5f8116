//! Counters of RDMA ports against those of the last `verify`.

use crate::checks::shared::baseline::{Growth, Growths, from, growth};
use crate::checks::shared::verdict::{Checked, Findings};
use crate::checks::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::rdma::Device;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "rdma.flaps",
        title: "no link went down since the last verify",
        needs: Needs::Delta,
        severity: Fail,
        expects: "link_downed and carrier_changes have not grown",
        why: "A link that goes down for a moment ends the jobs that use it, and is up again when somebody looks.",
        hint: "clean or replace the cable; `mlxlink -d DEV -m -c -e` shows its quality; then look at the switch port",
        source: "Linux kernel: Documentation/ABI/stable/sysfs-class-infiniband; Linux kernel: Documentation/ABI/testing/sysfs-class-net",
        run: flaps,
    },
    Check {
        id: "rdma.errors",
        title: "error counters of RDMA ports did not grow since the last verify",
        needs: Needs::Delta,
        severity: Warn,
        expects: "counters of symbol errors, receive errors, discards, sequence errors and time-outs have not grown",
        why: "Growth means lost packets or a bad cable: collectives slow down long before anything fails. Growth of rx_icrc_encapsulated means damaged data and is a failure.",
        hint: "symbol and receive errors: cable; sequence errors and time-outs: flow control, MTU or a congested path; out_of_buffer: the receiver",
        source: "Linux kernel: Documentation/ABI/stable/sysfs-class-infiniband",
        run: errors,
    },
];

fn flaps(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let down = growth(subject, "rdma", |counter| counter.trim_start_matches("hw.") == "link_downed");
    let carrier = growth(subject, "net", |counter| counter == "carrier_changes");
    let Growths { grown, full, at } = match (down, carrier) {
        (Ok(mut one), Ok(other)) => {
            one.grown.extend(other.grown);
            one
        }
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => one,
        (Err(verdict), Err(_)) => return Err(verdict),
    };
    let mut findings = Findings::default();
    let grew = !grown.is_empty();
    for one in grown {
        let device = one.device.split('/').next().unwrap_or("").to_owned();
        let how = format!("{} +{}", one.counter, one.by);
        findings.wrong(&device, how.clone(), from(&one), format!("{how} since {at}"));
    }
    // A link of Ethernet that went down changed its carrier, too, which is counted without an end.
    cannot_grow(&devices, &full, &mut findings);
    let verdict = findings.verdict(format!("none since {at}"));
    Ok(if grew { verdict } else { verdict.counted_as(Warn) })
}

/// A full counter hides what happens; those of `InfiniBand` are set back by a tool.
fn cannot_grow(devices: &[&Device], full: &[Growth], findings: &mut Findings) {
    for one in full {
        let (name, port) = one.device.split_once('/').unwrap_or((&one.device, "1"));
        let mut ports = devices.iter().filter(|device| device.name == name).flat_map(|device| &device.ports);
        if ports.any(|port| port.link_layer == "InfiniBand") {
            let how = format!(
                "{} is full and cannot grow: `perfquery -C {name} -P {port} -R` sets it back",
                one.counter
            );
            findings.wrong(name, how, from(one), one.by);
        }
    }
}

/// Counters whose growth means trouble.
const TROUBLE: &[&str] = &[
    "symbol_error",
    "link_error_recovery",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_xmit_discards",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
    "hw.out_of_buffer",
    "hw.out_of_sequence",
    "hw.packet_seq_err",
    "hw.local_ack_timeout_err",
    "hw.rnr_nak_retry_err",
    "hw.req_transport_retries_exceeded",
    "hw.retry_exceeded_err",
    "hw.rx_icrc_encapsulated",
];

fn errors(subject: &Subject<'_>) -> Checked {
    let devices = subject.devices()?;
    let Growths { grown, full, at } = growth(subject, "rdma", |counter| TROUBLE.contains(&counter))?;
    let corrupt = grown.iter().any(|one| one.counter == "hw.rx_icrc_encapsulated");
    let mut findings = Findings::default();
    for one in &grown {
        let device = one.device.split('/').next().unwrap_or("");
        let how = format!("{} +{}", one.counter.trim_start_matches("hw."), one.by);
        findings.wrong(device, how.clone(), from(one), format!("{how} since {at}"));
    }
    cannot_grow(&devices, &full, &mut findings);
    let verdict = findings.verdict(format!("none since {at}"));
    Ok(if corrupt { verdict.counted_as(Fail) } else { verdict })
}
