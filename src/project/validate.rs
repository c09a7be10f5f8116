//! Everything filled in and read, without a host.
//!
//! A step is filled in once for each distinct set of what it reads: hosts that agree on those
//! variables and fields share the result. What reads facts is filled in with the specimens.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value as Json;

use super::Project;
use super::reads::Reads;
use super::world::{Fleet, Inputs};
use crate::config::{Diagnostic, Diagnostics, Span};
use crate::facts::Object;
use crate::inventory::Host;
use crate::playbook::{InstanceState, Step};

/// A step that reads the list of all hosts is filled in for so many hosts at most: each time
/// costs as much as there are hosts.
const WIDE: usize = 8;

/// What one result of a step wants of one thing.
struct Claim {
    step: usize,
    /// The hosts.
    members: Arc<Members>,
    wants: String,
}

/// Hosts that share a result.
type Members = BTreeSet<usize>;

/// What steps manage.
type Claims = BTreeMap<Object, Vec<Claim>>;

impl Project {
    /// Fills every step in for every host, reads every resource and looks for tasks at odds.
    pub fn validate(&self) -> Diagnostics {
        let mut diagnostics = self.warnings.clone();
        let mut specimens: Vec<(Option<&str>, Option<&Json>)> =
            self.language.specimens.iter().map(|(name, facts)| (Some(*name), Some(facts))).collect();
        if specimens.is_empty() {
            specimens.push((None, None));
        }
        // What reads no facts is the same with all specimens.
        let mut common = Claims::new();
        for (place, (name, facts)) in specimens.into_iter().enumerate() {
            let fleet = facts.map(|facts| {
                let all = if self.steps.iter().chain(&self.handlers).any(Step::reads_fleet) {
                    self.hosts.iter().map(|host| (host.index, facts.clone())).collect()
                } else {
                    BTreeMap::new()
                };
                Fleet::new(all)
            });
            let inputs = Inputs { facts, fleet: fleet.as_ref(), ..Inputs::none() };
            let mut own = Claims::new();
            for step in &self.steps {
                let asks = reads_facts(step);
                if asks || place == 0 {
                    let claims = if asks { &mut own } else { &mut common };
                    self.validate_step(step, &inputs, name, &mut diagnostics, Some(claims));
                }
            }
            for handler in &self.handlers {
                // Handlers repeat what tasks manage, which is what they are for.
                if place == 0 || !handler.facts.is_empty() {
                    self.validate_step(handler, &inputs, name, &mut diagnostics, None);
                }
            }
            if place == 0 {
                self.at_odds(&common, &Claims::new(), &mut diagnostics);
            }
            self.at_odds(&own, &common, &mut diagnostics);
        }
        diagnostics
    }

    /// Reads the resources of steps that depend on nothing, for a load that failed elsewhere:
    /// all mistakes at once, and none that follows from another.
    pub(super) fn validate_constant(&self, diagnostics: &mut Diagnostics) {
        for step in self.steps.iter().chain(&self.handlers) {
            let constant = step.program.items.is_none() && step.program.reads == Reads::default();
            let Some(host) = step.hosts.first().and_then(|index| self.seen_by(step, *index)) else {
                continue;
            };
            if constant {
                for (_, found) in self.fill(step, host, &Inputs::none()) {
                    diagnostics.append(found);
                }
            }
        }
    }

    fn validate_step(
        &self,
        step: &Step,
        inputs: &Inputs<'_>,
        specimen: Option<&str>,
        diagnostics: &mut Diagnostics,
        mut claims: Option<&mut Claims>,
    ) {
        let reads = &step.program.reads;
        let mut groups: BTreeMap<String, Members> = BTreeMap::new();
        for index in &step.hosts {
            if let Some(host) = self.seen_by(step, *index) {
                groups.entry(signature(step, host)).or_default().insert(*index);
            }
        }
        let limit = if reads.hosts { WIDE } else { usize::MAX };
        for members in groups.into_values().take(limit) {
            let Some(host) = members.first().and_then(|index| self.seen_by(step, *index)) else { continue };
            let members = Arc::new(members);
            for (instance, found) in self.fill(step, host, inputs) {
                for diagnostic in found.sorted() {
                    // One specimen and one host say it for all.
                    if diagnostics.says(diagnostic) {
                        continue;
                    }
                    diagnostics.push(explained(diagnostic.clone(), step, host, specimen));
                }
                match instance.state {
                    InstanceState::Failed(text) if !found.has_errors() => {
                        let diagnostic = Diagnostic::error(step.span, text);
                        if diagnostics.says(&diagnostic) {
                            continue;
                        }
                        diagnostics.push(explained(diagnostic, step, host, specimen));
                    }
                    InstanceState::Ready { resource, condition: Some(true) } => {
                        let Some(claims) = &mut claims else { continue };
                        for (object, wants) in resource.manages() {
                            let claim = Claim { step: step.index, members: members.clone(), wants };
                            claims.entry(object).or_default().push(claim);
                        }
                    }
                    InstanceState::Ready { .. }
                    | InstanceState::Skipped(_)
                    | InstanceState::Waiting(_)
                    | InstanceState::Failed(_) => {}
                }
            }
        }
    }

    /// Reports tasks that want different things of one object on one host: `claims` among
    /// themselves and against `others`.
    fn at_odds(&self, claims: &Claims, others: &Claims, diagnostics: &mut Diagnostics) {
        let mut told: BTreeSet<(usize, usize)> = BTreeSet::new();
        for (object, list) in claims {
            let mut list: Vec<&Claim> = list.iter().chain(others.get(object).into_iter().flatten()).collect();
            list.sort_by_key(|claim| claim.step);
            if list.windows(2).all(|pair| matches!(pair, [a, b] if a.wants == b.wants)) {
                continue;
            }
            let mut firsts: BTreeMap<usize, &Claim> = BTreeMap::new();
            for second in list {
                for index in second.members.iter() {
                    let first = *firsts.entry(*index).or_insert(second);
                    if first.wants == second.wants || told.contains(&(first.step, second.step)) {
                        continue;
                    }
                    let Some(host) = self.at(*index) else { continue };
                    told.insert((first.step, second.step));
                    let span =
                        |claim: &Claim| self.steps.get(claim.step).map_or(Span::NONE, |step| step.span);
                    let one = first.step == second.step;
                    let diagnostic =
                        Diagnostic::error(span(second), format!("two tasks are at odds over {object}"))
                            .label(format!("on `{}`, this one wants something else", host.name))
                            .help("leave it to one of them, or keep them apart with `hosts` or `when`");
                    diagnostics.push(if one {
                        Diagnostic {
                            message: format!("two items of a loop are at odds over {object}"),
                            ..diagnostic
                        }
                    } else {
                        diagnostic.related(span(first), "the first one")
                    });
                }
            }
        }
    }
}

fn reads_facts(step: &Step) -> bool {
    !step.program.reads.facts.is_empty() || step.reads_fleet() || !step.registers.is_empty()
}

/// Says under which circumstances a mistake was found.
fn explained(diagnostic: Diagnostic, step: &Step, host: &Host, specimen: Option<&str>) -> Diagnostic {
    let reads = &step.program.reads;
    let diagnostic = match specimen {
        Some(name) if !reads.facts.is_empty() || reads.fleet => {
            diagnostic.note(format!("with facts as those of a {name} host"))
        }
        _ => diagnostic,
    };
    if reads.host.is_empty() && reads.vars.is_empty() {
        diagnostic
    } else {
        diagnostic.note(format!("on `{}`", host.name))
    }
}

/// What a step reads of a host, as a text that is equal for hosts that share its result.
fn signature(step: &Step, host: &Host) -> String {
    let reads = &step.program.reads;
    let mut text = String::new();
    for name in &reads.vars {
        // Where a variable comes from does not matter; a missing one is not an empty one.
        match host.vars.get(name) {
            Some(var) => drop(write!(text, "{}\u{1}", var.value)),
            None => text.push('\u{2}'),
        }
    }
    for field in &reads.host {
        let _ = match field.as_str() {
            "name" => write!(text, "{}\u{1}", host.name),
            "index" => write!(text, "{}\u{1}", host.index),
            "number" => write!(text, "{:?}\u{1}", host.number),
            "address" => write!(text, "{}\u{1}", host.address),
            "groups" => write!(text, "{:?}\u{1}", host.groups),
            "labels" => write!(text, "{:?}\u{1}", host.labels),
            "nics" => write!(text, "{}\u{1}", host.nics),
            _ => write!(text, "{}\u{1}", host.view()),
        };
    }
    text
}
