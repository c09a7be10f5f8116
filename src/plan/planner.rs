//! One host's tasks against its facts.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::file::PathQuery;
use crate::facts::next_boot::NextBootQuery;
use crate::facts::{BaseQuery, CommandQuery, Facts, Known, Object, Query, Touches};
use crate::hostlist::fold;
use crate::inventory::Reboot;
use crate::project::{Instance, InstanceState, Step};
use crate::resources::{Change, Detail, Disruption, Resource, Unplannable};
use crate::template::Awaited;

/// Verdict on one task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskVerdict {
    /// Nothing.
    Unchanged,
    /// These changes; a second plan will prove them.
    Changes(Vec<Change>),
    /// A command that cannot be proven.
    Runs(Vec<Change>),
    /// Not for this host.
    Skipped(String),
    /// Cannot be done now.
    Blocked(String),
    /// An earlier pending change must come first; its name.
    KnownAfter(String),
    /// The facts do not allow a plan, or the task is wrong with them.
    Failed(String),
}

/// The plan of one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPlan {
    /// Verdict on the task.
    pub verdict: TaskVerdict,
    /// Beside changes: why the rest cannot be done now.
    pub blocked: Option<String>,
    /// Everything that it may touch.
    pub touches: Option<Touches>,
    /// The state before the changes, as far as they are lost with it.
    pub before: Before,
}

/// The state that a task's changes begin with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Before {
    /// Marks that tell that state from another one where no change shows the difference.
    pub unshown: Vec<String>,
    /// Whether tasks of an earlier stage may make it another one.
    pub moves: bool,
}

/// The plan of a task that touches nothing, or of which nobody knows yet what it touches.
impl From<TaskVerdict> for TaskPlan {
    fn from(verdict: TaskVerdict) -> Self {
        Self { verdict, blocked: None, touches: None, before: Before::default() }
    }
}

/// Plans the tasks of one host in order; remembers what earlier ones will touch.
#[derive(Debug)]
pub struct Planner {
    reboot: Reboot,
    pending: Vec<(Touches, String)>,
    blocked: Vec<(Touches, String)>,
    /// Registered answers that an earlier pending change may make others, with its name.
    answers: BTreeMap<String, String>,
    /// Pending tasks that change nothing as far as anybody can tell before they ran.
    perhaps: BTreeSet<String>,
    /// Number of pending tasks that are of earlier stages.
    earlier: usize,
    asks_again: bool,
}

impl Planner {
    /// For a host that may be rebooted or not.
    pub fn new(reboot: Reboot) -> Self {
        Self {
            reboot,
            pending: Vec::new(),
            blocked: Vec::new(),
            answers: BTreeMap::new(),
            perhaps: BTreeSet::new(),
            earlier: 0,
            asks_again: false,
        }
    }

    /// For tasks that are carried out: facts that one may have changed are asked again before the next.
    pub fn asking_again(reboot: Reboot) -> Self {
        Self { asks_again: true, ..Self::new(reboot) }
    }

    /// The tasks that are planned from here on are of another stage.
    pub fn next_stage(&mut self) {
        self.earlier = self.pending.len();
    }

    /// Plans the next task, one of this step.
    pub fn plan(&mut self, instance: &Instance, step: &Step, facts: &Facts) -> TaskPlan {
        let resource = match &instance.state {
            InstanceState::Ready { condition: Ok(false), .. } => {
                return TaskVerdict::Skipped("its condition is false".to_owned()).into();
            }
            InstanceState::Skipped(reason) => {
                return TaskVerdict::Skipped(reason.clone()).into();
            }
            InstanceState::Failed(message) => {
                return TaskVerdict::Failed(message.clone()).into();
            }
            InstanceState::Waiting(names) => {
                let unreached = fold(names.iter().filter_map(|name| match name {
                    Awaited::FactsOf(host) => Some(host.as_str()),
                    Awaited::Fact(_) | Awaited::Hosts | Awaited::Register(_) => None,
                }));
                if !unreached.is_empty() {
                    let reason = format!("waits for the facts of {unreached}: not reached yet");
                    return TaskVerdict::Blocked(reason).into();
                }
                let text = format!("there is no answer for {}, which the task reads", listed(step, names));
                return self.waiting(instance, step, Touches::Everything, text);
            }
            InstanceState::Ready { resource, condition: Err(names) } => {
                let text =
                    format!("there is no answer for {}, which its condition reads", listed(step, names));
                return self.waiting(instance, step, resource.touches(), text);
            }
            InstanceState::Ready { resource, condition: Ok(true) } => resource,
        };
        let touches = resource.touches();
        let mut blocked = None;
        let verdict = match resource.plan(facts) {
            Ok(changes) if changes.is_empty() => TaskVerdict::Unchanged,
            Ok(changes) if self.reboot == Reboot::Never && reboots(&changes) => {
                let what = changes.last().map_or("", |change| change.summary.as_str());
                let reasons = what.trim_start_matches("~ reboot ");
                TaskVerdict::Blocked(format!("reboot pending {reasons}: `policy.reboot` is never"))
            }
            Ok(changes) if resource.provable() => TaskVerdict::Changes(changes),
            Ok(changes) => TaskVerdict::Runs(changes),
            Err(Unplannable::Unneeded(object)) => {
                let brings = self.meeting(&object, &all_queries(&**resource));
                brings.map_or(TaskVerdict::Unchanged, TaskVerdict::KnownAfter)
            }
            Err(Unplannable::Missing(object, text)) => self.missing(&object, &all_queries(&**resource), text),
            Err(Unplannable::Unknown(object, text)) => match self.meeting(&object, &all_queries(&**resource))
            {
                Some(name) => TaskVerdict::KnownAfter(name),
                None => TaskVerdict::Failed(text),
            },
            Err(Unplannable::Partly(changes, reason)) if !changes.is_empty() => {
                blocked = Some(reason);
                TaskVerdict::Changes(changes)
            }
            Err(Unplannable::Blocked(reason) | Unplannable::Partly(_, reason)) => {
                TaskVerdict::Blocked(reason)
            }
            Err(Unplannable::Failed(text)) => TaskVerdict::Failed(text),
        };
        let before = if let TaskVerdict::Changes(changes) = &verdict {
            self.before(&**resource, changes, facts)
        } else {
            Before::default()
        };
        match &verdict {
            TaskVerdict::Changes(_) | TaskVerdict::Runs(_) | TaskVerdict::KnownAfter(_) => {
                self.pending.push((touches.clone(), instance.name.clone()));
                if matches!(verdict, TaskVerdict::Runs(_)) {
                    self.perhaps.insert(instance.name.clone());
                } else {
                    self.perhaps.remove(&instance.name);
                }
            }
            TaskVerdict::Blocked(_)
            | TaskVerdict::Unchanged
            | TaskVerdict::Skipped(_)
            | TaskVerdict::Failed(_) => {}
        }
        if blocked.is_some() || matches!(verdict, TaskVerdict::Blocked(_)) {
            self.blocked.push((touches.clone(), instance.name.clone()));
        }
        TaskPlan { verdict, blocked, touches: Some(touches), before }
    }

    fn before(&self, resource: &dyn Resource, changes: &[Change], facts: &Facts) -> Before {
        let earlier = self.pending.get(..self.earlier).unwrap_or_default();
        let queries = all_queries(resource);
        let moves = earlier.iter().any(|(touches, _)| queries.iter().any(|query| query.touched_by(touches)));
        Before { unshown: changes.iter().filter_map(|change| unshown(change, facts)).collect(), moves }
    }

    /// Notes that a planned task was carried out: it is no longer pending.
    pub fn done(&mut self, name: &str) {
        self.pending.retain(|(_, pending)| pending != name);
    }

    /// Whether nothing is pending before a task that was planned just now.
    pub fn is_first(&self, name: &str) -> bool {
        self.pending.iter().all(|(_, pending)| pending == name)
    }

    /// Whether an earlier pending change may make a registered answer another one.
    pub fn is_pending(&self, register: &str) -> bool {
        self.answers.contains_key(register)
    }

    /// The facts that a step reads and that an earlier pending change may make others.
    pub fn unsure(&self, step: &Step) -> impl Iterator<Item = BaseQuery> {
        let facts = step.facts.iter().filter(|_| !self.asks_again).filter_map(|name| BaseQuery::named(name));
        facts.filter(|fact| self.pending.iter().any(|(touches, _)| fact.waits_for(touches)))
    }

    /// Whether what is known only after a task may well stay as it is: that task may change nothing.
    pub fn may_stay(&self, after: &str) -> bool {
        self.perhaps.contains(after)
    }

    /// Notes of the task that was planned last, and is known only after another, what it touches where
    /// that is sure, and that it may well stay as it is.
    pub fn waits(&mut self, touches: Option<Touches>, stays: bool) {
        let Some((pending, name)) = self.pending.last_mut() else { return };
        if let Some(touches) = touches {
            *pending = touches;
        }
        if stays {
            self.perhaps.insert(name.clone());
        } else {
            self.perhaps.remove(name);
        }
    }

    /// Notes what the answer waits for that a planned task registers.
    pub fn register(&mut self, name: &str, instance: &Instance, plan: &TaskPlan) {
        let after = match (&plan.verdict, &instance.state) {
            // Another task may register it.
            (TaskVerdict::Skipped(_), _) => return,
            (TaskVerdict::KnownAfter(task), _) => Some(task.clone()),
            (_, InstanceState::Ready { resource, .. }) => {
                let queries = resource.queries();
                self.last(|touches| queries.iter().any(|query| query.touched_by(touches)))
            }
            (_, InstanceState::Skipped(_) | InstanceState::Waiting(_) | InstanceState::Failed(_)) => None,
        };
        match after {
            Some(task) => self.answers.insert(name.to_owned(), task),
            None => self.answers.remove(name),
        };
    }

    /// The plan of a task of which not all is known.
    fn waiting(&mut self, instance: &Instance, step: &Step, touches: Touches, text: String) -> TaskPlan {
        let answer = step.registers.iter().find_map(|name| self.answers.get(name)).cloned();
        let fact = || self.unsure(step).find_map(|fact| self.last(|touches| fact.waits_for(touches)));
        let Some(name) = answer.or_else(fact).or_else(|| self.last(|_| true)) else {
            return TaskVerdict::Failed(text).into();
        };
        self.pending.push((touches, instance.name.clone()));
        TaskVerdict::KnownAfter(name).into()
    }

    /// The name of the last pending task whose changes touch this.
    fn last(&self, meets: impl Fn(&Touches) -> bool) -> Option<String> {
        self.pending.iter().rev().find(|(touches, _)| meets(touches)).map(|(_, name)| name.clone())
    }

    /// The pending task that may bring a thing. A question of the playbook, or that about the next boot, may be about
    /// anything.
    fn meeting(&self, object: &Object, queries: &[Query]) -> Option<String> {
        self.last(|touches| {
            let broad = |query: &Query| query.is::<CommandQuery>() || query.is::<NextBootQuery>();
            let asks = |query: &Query| broad(query) && query.touched_by(touches);
            touches.may_bring(object) || queries.iter().any(asks)
        })
    }

    fn missing(&self, object: &Object, queries: &[Query], text: String) -> TaskVerdict {
        if let Some(name) = self.meeting(object, queries) {
            return TaskVerdict::KnownAfter(name);
        }
        let blocked = self.blocked.iter().rev().find(|(touches, _)| touches.may_bring(object));
        match blocked {
            Some((_, name)) => TaskVerdict::Blocked(format!("waits for `{name}`, which is blocked")),
            None => TaskVerdict::Failed(text),
        }
    }
}

/// Returns a mark that tells a file or a directory from another one, where the change that takes it away does
/// not show the difference.
fn unshown(change: &Change, facts: &Facts) -> Option<String> {
    let shown = match &change.detail {
        Detail::Text { before, .. } => before.is_some(),
        Detail::Attributes(attributes) => !attributes.is_empty(),
        Detail::Command(_) => true,
    };
    let Object::Path(path) = &change.object else { return None };
    let query = PathQuery(path.clone());
    let Known::Answer(Some(found)) = facts.get(&query) else { return None };
    (!shown).then(|| format!("{path} {} {} {:?}", found.size, found.written, found.target))
}

/// Lists the answers that a step waits for, as its author wrote them.
fn listed(step: &Step, names: &BTreeSet<Awaited>) -> String {
    let spelled = |name: &Awaited| {
        let is_fact = matches!(name, Awaited::Fact(fact) if step.facts.contains(fact));
        format!("`{}{name}`", if is_fact { "facts." } else { "" })
    };
    names.iter().map(spelled).collect::<Vec<_>>().join(", ")
}

/// All that a task asks, at first or last.
fn all_queries(resource: &dyn Resource) -> Vec<Query> {
    let mut queries = resource.queries();
    queries.extend(resource.last_questions());
    queries
}

/// Whether one of these changes is a reboot.
pub fn reboots(changes: &[Change]) -> bool {
    changes.iter().any(|change| change.disruption == Disruption::Reboot)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::project::Project;
    use crate::project::testing::load;
    use crate::resources::Planned;
    use crate::transport::Script;

    /// A resource with this answer.
    #[derive(Debug)]
    struct Says(Result<Vec<Change>, Unplannable>);

    impl Resource for Says {
        fn queries(&self) -> Vec<Query> {
            Vec::new()
        }
        fn plan(&self, _: &Facts) -> Planned {
            self.0.clone()
        }
        fn touches(&self) -> Touches {
            Touches::one(Object::Path("/a".to_owned()))
        }
        fn manages(&self) -> Vec<(Object, String)> {
            Vec::new()
        }
    }

    fn change() -> Change {
        Change::new(
            Object::Path("/a".to_owned()),
            "+ /a".to_owned(),
            Detail::Command("true".to_owned()),
            Script::new("true"),
        )
    }

    fn project() -> Project {
        load("--- inventory.yaml\ncluster: c\nplaybooks: [./p.yaml]\nhosts: { n0: {} }\n--- p.yaml\nname: p\ntasks:\n- name: one\n  file: { path: /a }\n").unwrap()
    }

    fn instance(name: &str, state: InstanceState) -> Instance {
        Instance { step: 0, item: None, name: name.to_owned(), state }
    }

    fn says(planned: Planned) -> InstanceState {
        InstanceState::Ready { resource: Arc::new(Says(planned)), condition: Ok(true) }
    }

    #[test]
    fn each_answer_has_its_verdict() {
        let project = project();
        let why = || "why".to_owned();
        for (planned, verdict, blocked) in [
            (Ok(vec![]), TaskVerdict::Unchanged, None),
            (Ok(vec![change()]), TaskVerdict::Changes(vec![change()]), None),
            (Err(Unplannable::Blocked(why())), TaskVerdict::Blocked(why()), None),
            (
                Err(Unplannable::Partly(vec![change()], why())),
                TaskVerdict::Changes(vec![change()]),
                Some(why()),
            ),
            // The part that can be done is done.
            (Err(Unplannable::Partly(vec![], why())), TaskVerdict::Blocked(why()), None),
            (Err(Unplannable::Failed(why())), TaskVerdict::Failed(why()), None),
        ] {
            let plan = Planner::new(Reboot::Allow).plan(
                &instance("one", says(planned)),
                &project.steps[0],
                &Facts::default(),
            );
            assert_eq!((plan.verdict, plan.blocked), (verdict, blocked));
        }
    }

    #[test]
    fn what_is_waited_for_is_named_as_it_was_written() {
        let project = project();
        let mut step = project.steps[0].clone();
        step.facts.insert("os".to_owned());
        let fact = |name: &str| Awaited::Fact(name.to_owned());
        let facts_of = |host: &str| Awaited::FactsOf(host.to_owned());
        let answer = || Awaited::Register("answer".to_owned());
        let waits = |names: &[Awaited]| {
            let names = names.iter().cloned().collect();
            let instance = instance("two", InstanceState::Waiting(names));
            Planner::new(Reboot::Allow).plan(&instance, &step, &Facts::default()).verdict
        };
        assert_eq!(
            waits(&[answer(), fact("os"), fact("other")]),
            TaskVerdict::Failed(
                "there is no answer for `facts.os`, `other`, `answer`, which the task reads".to_owned()
            )
        );
        assert_eq!(
            waits(&[facts_of("n0"), facts_of("n1"), answer()]),
            TaskVerdict::Blocked("waits for the facts of n[0-1]: not reached yet".to_owned())
        );
    }
}
