//! Everything filled in and read, without a host.
//!
//! A step is filled in once for each distinct set of what it reads: hosts that agree on those
//! variables and fields share the result. What reads facts is filled in with the specimens.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::Project;
use super::inputs::Reads;
use super::step::{InstanceState, Step};
use super::world::{Fleet, Inputs, Registered};
use crate::config::{Diagnostic, Diagnostics, Span};
use crate::facts::Object;
use crate::inventory::Host;

/// A step that reads the list of all hosts is filled in for so many hosts at most: each time
/// costs as much as there are hosts.
const WIDE: usize = 8;

/// The most that is filled in, tasks times hosts: 10 000 hosts with 400 tasks that each host has otherwise.
const MOST_FILLINGS: usize = 4_000_000;

/// Another thread is worth its start from so many fillings on.
const SHARE: usize = 500;

/// State that a step wants for one object on some of its hosts.
struct Claim {
    step: usize,
    hosts: Vec<usize>,
    wants: String,
    /// Whether it runs there; what its condition asks of an answer is known in a run only.
    sure: bool,
}

/// Claims of steps by the objects that they manage.
type Claims = BTreeMap<Object, Vec<Claim>>;

impl Project {
    /// Fills every step in for every host, reads every resource and looks for tasks at odds.
    pub fn validate(&self) -> Diagnostics {
        let mut diagnostics = self.warnings.clone();
        if let Some(much) = self.too_much() {
            diagnostics.push(much);
            return diagnostics;
        }
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
            let due = |step: &&Step| place == 0 || reads_facts(step);
            let tasks: Vec<&Step> = self.steps.iter().filter(due).collect();
            let all: Vec<&Step> = tasks.iter().copied().chain(self.handlers.iter().filter(due)).collect();
            let filled = on_all_cores(&all, |step| self.validate_step(step, &inputs, name));
            let mut own = Claims::new();
            for (nth, (step, (found, wants))) in all.iter().zip(filled).enumerate() {
                diagnostics.append_new(found);
                // Handlers repeat what tasks manage, which is what they are for.
                if nth < tasks.len() {
                    let claims = if reads_facts(step) { &mut own } else { &mut common };
                    for (object, wants) in wants {
                        claims.entry(object).or_default().extend(wants);
                    }
                }
            }
            if place == 0 {
                self.at_odds(&common, &Claims::new(), &mut diagnostics);
            }
            self.at_odds(&own, &common, &mut diagnostics);
        }
        diagnostics
    }

    /// Says so where there would be more to fill in than anybody waits for: items times hosts.
    fn too_much(&self) -> Option<Diagnostic> {
        let facts = self.language.specimens.first().map(|(_, facts)| facts);
        let inputs = Inputs { facts, ..Inputs::none() };
        let size = |step| {
            let step: &Step = step;
            let _looking = self.budget.looks_at(step.span);
            let host = self.seen_by(step, *step.hosts.first()?)?;
            let most = if step.program.reads.hosts { WIDE } else { usize::MAX };
            Some((step, self.number_of_items(step, host, &inputs), step.hosts.len().min(most)))
        };
        let mut sizes: Vec<(&Step, usize, usize)> =
            self.steps.iter().chain(&self.handlers).filter_map(size).collect();
        let product = |(_, items, hosts): &(&Step, usize, usize)| items.saturating_mul(*hosts);
        let sum = |sizes: &[(&Step, usize, usize)]| sizes.iter().map(product).fold(0, usize::saturating_add);
        if sum(&sizes) <= MOST_FILLINGS {
            self.budget.tasks(sum(&sizes));
            return None;
        }
        // Hosts that agree on what a step reads share the result.
        for (step, _, hosts) in &mut sizes {
            let seen = step.hosts.iter().filter_map(|index| self.seen_by(step, *index));
            let groups: BTreeSet<String> = seen.map(|host| signature(step, host)).collect();
            *hosts = groups.len().min(*hosts);
        }
        let number = sum(&sizes);
        let (step, items, hosts) = sizes.iter().max_by_key(|size| product(size))?;
        self.budget.tasks(number.min(MOST_FILLINGS));
        (number > MOST_FILLINGS).then(|| {
            Diagnostic::error(
                step.span,
                format!("{number} tasks on all hosts, and {MOST_FILLINGS} are the most"),
            )
            .label(format!(
                "this one has {items} items on each of {hosts} hosts that differ in what it reads"
            ))
            .help(
                "write one file from the whole list by `template` in place of a loop, or part the inventory",
            )
        })
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
                    diagnostics.append_elsewhere(found);
                }
            }
        }
    }

    /// Returns the mistakes of a step on any of its hosts, and its claims on them.
    fn validate_step(
        &self,
        step: &Step,
        inputs: &Inputs<'_>,
        specimen: Option<&str>,
    ) -> (Diagnostics, Claims) {
        let mut diagnostics = Diagnostics::default();
        let mut claims = Claims::new();
        let _looking = self.budget.looks_at(step.span);
        let reads = &step.program.reads;
        let mut groups: IndexMap<(String, Vec<&str>), Vec<usize>> = IndexMap::new();
        for index in &step.hosts {
            if let Some(host) = self.seen_by(step, *index) {
                let group = (signature(step, host), self.registered_before(step, *index));
                groups.entry(group).or_default().push(*index);
            }
        }
        let limit = if reads.hosts { WIDE } else { usize::MAX };
        for ((_, names), members) in groups.into_iter().take(limit) {
            let Some(host) = members.first().and_then(|index| self.seen_by(step, *index)) else { continue };
            let registers = names.into_iter().map(|name| (name.to_owned(), Registered::Waits)).collect();
            let inputs = Inputs { registers: Some(&registers), ..*inputs };
            for (instance, found) in self.fill(step, host, &inputs) {
                for diagnostic in found.sorted() {
                    // One specimen and one host say it for all.
                    if diagnostics.contains(diagnostic) {
                        continue;
                    }
                    diagnostics.push(explained(diagnostic.clone(), step, host, specimen));
                }
                match instance.state {
                    InstanceState::Failed(text) if !found.has_errors() => {
                        let diagnostic = Diagnostic::error(step.span, text);
                        if diagnostics.contains(&diagnostic) {
                            continue;
                        }
                        diagnostics.push(explained(diagnostic, step, host, specimen));
                    }
                    InstanceState::Ready { resource, condition: condition @ (Ok(true) | Err(_)) } => {
                        let sure = condition.is_ok();
                        for (object, wants) in resource.manages() {
                            let known = claims.entry(object).or_default();
                            match known.last_mut() {
                                Some(last) if last.wants == wants && last.sure == sure => {
                                    last.hosts.extend(&members);
                                }
                                _ => known.push(Claim {
                                    step: step.index,
                                    hosts: members.clone(),
                                    wants,
                                    sure,
                                }),
                            }
                        }
                    }
                    InstanceState::Waiting(_) => {
                        diagnostics.append_new(self.mistakes_beside(step, host, &inputs));
                    }
                    InstanceState::Ready { .. } | InstanceState::Skipped(_) | InstanceState::Failed(_) => {}
                }
            }
        }
        (diagnostics, claims)
    }

    /// Returns the registered answers that a step reads and that earlier tasks register on a host.
    fn registered_before<'a>(&self, step: &'a Step, index: usize) -> Vec<&'a str> {
        let own = self.steps.get(step.index).filter(|own| own.id == step.id);
        // A handler runs after all tasks.
        let end = own.map_or(self.steps.len(), |own| own.index);
        let registered = |name: &&String| {
            let mut earlier = self.steps.iter().take(end);
            earlier.any(|task| task.conduct.register.as_ref() == Some(*name) && task.hosts.contains(&index))
        };
        step.registers.iter().filter(registered).map(String::as_str).collect()
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
            // Two that both wait for an answer may well keep apart by it.
            let (sure, unsure): (Vec<&Claim>, Vec<&Claim>) = list.into_iter().partition(|claim| claim.sure);
            for second in sure.into_iter().chain(unsure) {
                for index in &second.hosts {
                    if !second.sure && !firsts.contains_key(index) {
                        continue;
                    }
                    let first = *firsts.entry(*index).or_insert(second);
                    if first.wants == second.wants || told.contains(&(first.step, second.step)) {
                        continue;
                    }
                    let Some(host) = self.at(*index) else { continue };
                    told.insert((first.step, second.step));
                    let span =
                        |claim: &Claim| self.steps.get(claim.step).map_or(Span::NONE, |step| step.span);
                    if !second.sure {
                        diagnostics.push(
                            Diagnostic::warning(
                                span(second),
                                format!("two tasks may want different states of {object}"),
                            )
                            .label(format!(
                                "on `{}`, this one wants something else where its condition on an answer holds",
                                host.name
                            ))
                            .help("each run would then change it twice: leave it to one of them, or keep them apart with `when`")
                            .related(span(first), "this one always runs"),
                        );
                        continue;
                    }
                    let one = first.step == second.step;
                    let diagnostic = Diagnostic::error(
                        span(second),
                        format!("two tasks want different states of {object}"),
                    )
                    .label(format!("on `{}`, this one wants something else", host.name))
                    .help("leave it to one of them, or keep them apart with `hosts` or `when`");
                    diagnostics.push(if one {
                        Diagnostic {
                            message: format!("two items of a loop want different states of {object}"),
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

/// Runs `work` for each of the steps on all cores; the results are in the order of the steps.
fn on_all_cores<T: Send>(steps: &[&Step], work: impl Fn(&Step) -> T + Sync) -> Vec<T> {
    let fillings: usize = steps.iter().map(|step| step.hosts.len()).sum();
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(step) = steps.get(place) else { return done };
            done.push((place, work(step)));
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..cores.min(fillings / SHARE)).map(|_| scope.spawn(worker)).collect();
        let mut done = worker();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

fn reads_facts(step: &Step) -> bool {
    !step.program.reads.facts.is_empty() || step.reads_fleet() || !step.registers.is_empty()
}

/// Says under which circumstances a mistake was found.
fn explained(diagnostic: Diagnostic, step: &Step, host: &Host, specimen: Option<&str>) -> Diagnostic {
    let reads = &step.program.reads;
    let diagnostic = match specimen {
        Some(name) if !reads.facts.is_empty() || reads.fleet => {
            diagnostic.note(format!("with the facts of a {name} host"))
        }
        _ => diagnostic,
    };
    if reads.host.is_empty() && reads.vars.is_empty() && reads.registers.is_empty() {
        diagnostic
    } else {
        diagnostic.note(format!("on `{}`", host.name))
    }
}

/// Returns the values that a step reads of a host, as a text that is equal for hosts that share its result.
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
            "nics" => write!(text, "{:?}\u{1}", host.nics),
            _ => write!(text, "{}\u{1}", host.view()),
        };
    }
    text
}
