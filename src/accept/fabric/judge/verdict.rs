//! The judgement of a whole fabric.

use super::super::model::{Fabric, Section};
use super::finding::{FabricFault, FabricFinding, Severity};
use super::view::View;
use super::wanted::Wanted;
use super::{absent, cabling, errors, keys, links, managers, plan, uplinks};

/// Judges a fabric: what keeps hosts out comes first.
pub fn judge(fabric: &Fabric, wanted: &Wanted) -> Vec<FabricFinding> {
    let view = View::new(fabric, wanted);
    let mut findings = Vec::new();
    unread(&view, &mut findings);
    if fabric.nodes.is_empty() {
        return findings;
    }
    let is_managed = managers::judge(&view, &mut findings);
    absent::hosts(&view, &mut findings);
    if wanted.plan.is_empty() {
        let layout = cabling::Layout::new(&view);
        absent::adapters(&view, &layout, &mut findings);
        cabling::judge(&view, &layout, &mut findings);
        uplinks::judge(&view, &mut findings);
    } else {
        plan::judge(&view, &mut findings);
    }
    links::judge(&view, is_managed, &mut findings);
    if is_managed {
        keys::judge(&view, &mut findings);
    }
    errors::judge(&view, &mut findings);
    findings.sort_by_key(|finding| (finding.severity, finding.fault));
    findings
}

/// Parts that could not be read: without nodes nothing is known of the fabric.
fn unread(view: &View<'_>, findings: &mut Vec<FabricFinding>) {
    for (section, reason) in &view.fabric.unread {
        let (severity, what) = match section {
            Section::Nodes => (Severity::Fail, "nodes and cables of the fabric (`ibnetdiscover`)"),
            Section::Links => (Severity::Warn, "states of links (`iblinkinfo`)"),
            Section::Managers => (Severity::Warn, "managers of the subnet (`sminfo`)"),
            Section::Keys => (Severity::Warn, "partition keys (`smpquery pkeys`)"),
            Section::Counters => (Severity::Warn, "counters of errors (`ibqueryerrors`)"),
        };
        let hosts = if *section == Section::Nodes { view.wanted.hosts.clone() } else { Vec::new() };
        findings.push(FabricFinding {
            severity,
            fault: FabricFault::Unread,
            hosts,
            cables: Vec::new(),
            text: format!("{what} could not be read: {reason}"),
            action: "run the program as root on a host whose port is active".to_owned(),
        });
    }
}
