//! Selection of the short tasks that are sent with the one before them.
//!
//! They are planned before the first of them is made. So each must stand on answers that none of those before it
//! may change; a task between them that has nothing to do, too, or the row ends there. Two answers are taken for
//! granted: a directory that an earlier one makes will be there, with nothing in it; and a directory that is
//! there stays what it is when something below it is changed.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::batch::{self, SentTask, ShortChange};
use super::connection::{Gone, Stuck};
use super::hints::{HOST_LOST, failure};
use super::row::ChangeEnd;
use super::session::{Containers, Session};
use super::shared_write::places;
use super::state::{self, SpoolReport, Way};
use super::work::{Later, Work, depends, queries, task_id, task_ref};
use super::writers::{Claim, Duty};
use crate::events::{ChangeView, EventKind};
use crate::facts::file::{Attributes, FileKind, PathQuery};
use crate::facts::{self, Facts, Object, Query, Touches};
use crate::plan::{Planner, change_view, spool_key};
use crate::project::{Instance, InstanceState};
use crate::resources::{Change, Detail, Disruption, LoginEffect, Resource};
use crate::transport::{Arg, Script};

/// Number of tasks that are sent together at most. A first Ctrl-C lets all of them end, so that must not take
/// long.
const MEMBERS: usize = 64;
/// Bytes that they send together.
const SIZE: usize = 256 << 10;

/// One of those that are sent together.
#[derive(Debug)]
struct Member<'a> {
    item: &'a Work,
    instance: Instance,
    changes: Vec<Change>,
    touches: Touches,
    /// The effect of its changes on directories.
    way: Way,
    /// The right to write; the first one has its own.
    duty: Option<Duty>,
}

/// State when the turn of a task comes: the facts, and what those before it may have changed.
struct Stand<'a> {
    facts: Cow<'a, Facts>,
    changed: Vec<(Touches, Option<String>)>,
}

impl Stand<'_> {
    /// Whether an answer is the same by then, or is known.
    fn keeps(&self, query: &Query) -> bool {
        self.changed.iter().all(|(touches, made)| {
            !query.touched_by(touches)
                || made.as_deref().is_some_and(|made| query.is_below(made) || is_about(query, made))
                || self.is_above(query, touches)
        })
    }

    /// Whether a question is about a directory that is there when what is below it is changed: it stays what
    /// it is.
    fn is_above(&self, query: &Query, touches: &Touches) -> bool {
        let (Some(path), Touches::Objects(objects)) = (query.get::<PathQuery>(), touches) else {
            return false;
        };
        let is_there = matches!(self.facts.get(path).answer(), Some(Some(_)));
        is_there && objects.iter().all(|object| is_below(object, &path.0))
    }

    /// Whether a task changes a directory that is only taken for granted.
    fn remakes(&self, touches: &Touches) -> bool {
        let mut made = self.changed.iter().filter_map(|(_, made)| made.as_deref());
        made.any(|made| match touches {
            Touches::Everything => true,
            Touches::Objects(objects) => objects
                .iter()
                .any(|object| object.meets(&Object::Path(made.to_owned())) && !is_below(object, made)),
        })
    }

    /// A task is made before the next ones. Gives the directory that it makes.
    fn add(&mut self, resource: &dyn Resource, touches: &Touches) -> Option<&str> {
        let made = resource.makes_directory(&self.facts).map(str::to_owned);
        if let Some(path) = &made {
            let root = || "root".to_owned();
            let directory = Attributes {
                kind: FileKind::Directory,
                mode: 0o755,
                uid: 0,
                gid: 0,
                owner: root(),
                group: root(),
                size: 0,
                written: 0,
                target: None,
            };
            self.facts.to_mut().put(PathQuery(path.clone()), Some(directory));
        }
        self.changed.push((touches.clone(), made));
        self.changed.last().and_then(|(_, made)| made.as_deref())
    }
}

impl Session {
    /// Sends the changes of a task, with those of tasks after it that are as short. How each went is in
    /// `ahead`; what is not there was not made.
    ///
    /// # Errors
    /// Why the host refuses the first one.
    pub(super) async fn send_together(
        &mut self,
        item: &Work,
        instance: &Instance,
        changes: &[Change],
        later: Later<'_>,
        planner: &Planner,
    ) -> Result<(), Stuck> {
        if self.ahead.is_refused() || !self.is_brief(item, instance, changes) {
            return Ok(());
        }
        if self.lock.uploads(&self.connection).is_none() {
            let own: BTreeSet<Query> = self
                .members(item, instance, changes, later, planner)
                .iter()
                .flat_map(|member| queries(std::slice::from_ref(&member.instance)))
                .collect();
            let (connection, known) = (&mut self.connection, &mut self.known);
            self.lock.take(connection, known, instance, &own, changes).await?;
        }
        let mut members = self.members(item, instance, changes, later, planner);
        self.claim(&mut members);
        let Ok(shorts) = members.iter().map(|member| self.short(member)).collect::<Result<Vec<_>, _>>()
        else {
            return Ok(());
        };
        let after = later.queries();
        let mut again = BTreeSet::new();
        for member in &members {
            let own = queries(std::slice::from_ref(&member.instance));
            again.extend(self.known.touched(&member.touches, &own, &after));
        }
        let views: Vec<Vec<ChangeView>> =
            members.iter().map(|member| member.changes.iter().map(change_view).collect()).collect();
        let mut begun = 0;
        let context = self.context.clone();
        let host = self.host.name.clone();
        let mut starts = |number: usize| {
            if let (Some(member), Some(changes)) = (members.get(number), views.get(number)) {
                begun = begun.max(number + 1);
                let task = task_ref(&member.item.step, &member.instance);
                let (host, changes) = (host.clone(), changes.clone());
                context.emitter.emit(EventKind::TaskStarted { host, task, changes });
            }
        };
        let ran = batch::run(&mut self.connection, &mut self.known, &shorts, &again, &mut starts).await;
        self.saw(&shorts, &ran);
        let went = match ran {
            Ok(went) => went,
            Err(gone) => {
                // The first one is told by its own turn.
                for member in members.iter().take(begun).skip(1) {
                    let outcome = failure(HOST_LOST.to_owned(), None, "");
                    let task = task_ref(&member.item.step, &member.instance);
                    self.progress.finish_task(&self.connection, task, outcome, 0.0, false);
                }
                return Err(gone.into());
            }
        };
        if matches!(went.first().map(|went| &went.report), Some(SpoolReport::Unstarted)) {
            self.ahead.refuse();
        }
        for (number, ((member, went), views)) in members.into_iter().zip(went).zip(views).enumerate() {
            let Member { item, instance, changes, duty, .. } = member;
            let id = task_id(&item.step, &instance);
            if number < begun {
                self.ahead.begins(id.clone(), views);
            }
            if went.report != SpoolReport::Unstarted {
                let sent = SentTask { instance, changes, report: went.report, seconds: went.seconds, duty };
                self.ahead.went(id, sent);
            }
        }
        Ok(())
    }

    /// Nobody wants the row any more; where it may not have been ours, only the changes of it that are.
    fn saw(&mut self, shorts: &[ShortChange], ran: &Result<Vec<ChangeEnd>, Gone>) {
        let began = ran.as_ref().is_ok_and(|went| {
            went.first()
                .is_some_and(|went| matches!(went.report, SpoolReport::Ended(..) | SpoolReport::Lost(_)))
        });
        match shorts.first() {
            Some(first) if began => self.spool.forget([state::row_key(&first.key)]),
            _ => self.spool.forget(shorts.iter().map(|short| short.key.clone())),
        }
    }

    /// Whether a task can be sent with others: it is over at once, and needs nothing around it.
    fn is_brief(&self, item: &Work, instance: &Instance, changes: &[Change]) -> bool {
        let InstanceState::Ready { resource, condition: Ok(true) } = &instance.state else { return false };
        let conduct = &item.step.conduct;
        let plain = !conduct.detach
            && conduct.become_user.is_none()
            && conduct.run_once.is_none()
            && conduct.register.is_none()
            && conduct.on_deadline.is_none()
            && conduct.retries.attempts <= 1;
        !item.handler
            && plain
            && resource.brief()
            && resource.provable()
            && !resource.leave()
            && resource.settle().is_none()
            && resource.spread(self.known.facts()).is_none()
            && resource.login(self.known.facts()) == LoginEffect::Same
            && !changes.is_empty()
            && changes.iter().all(|it| it.upload.is_none() && self.interrupts_nothing(it))
            && !self.spool.has_inherited(&task_id(&item.step, instance))
    }

    fn interrupts_nothing(&self, change: &Change) -> bool {
        let safe = self.containers == Containers::Safe;
        change.disruption == Disruption::None || (safe && change.disruption == Disruption::Reload)
    }

    /// A task and those after it that are sent with it.
    fn members<'a>(
        &self,
        item: &'a Work,
        instance: &Instance,
        changes: &[Change],
        later: Later<'a>,
        planner: &Planner,
    ) -> Vec<Member<'a>> {
        let mut stand = Stand { facts: Cow::Borrowed(self.known.facts()), changed: Vec::new() };
        let mut members = Vec::new();
        let mut room = SIZE.saturating_sub(size(changes));
        if let InstanceState::Ready { resource, .. } = &instance.state {
            let touches = resource.touches();
            let way = way(stand.add(&**resource, &touches), changes);
            let (instance, changes) = (instance.clone(), changes.to_vec());
            members.push(Member { item, instance, changes, touches, way, duty: None });
        }
        let rest = later.instances.iter().map(|instance| (item, Cow::Borrowed(instance)));
        let after = later
            .work
            .iter()
            .flat_map(|item| self.filled_in(item, planner).into_iter().map(move |instance| (item, instance)));
        for (item, instance) in rest.chain(after) {
            if members.len() >= MEMBERS || item.handler || !self.stands(item, &stand) {
                break;
            }
            let resource = match &instance.state {
                InstanceState::Skipped(_) | InstanceState::Ready { condition: Ok(false), .. } => continue,
                InstanceState::Ready { resource, condition: Ok(true) } => resource.clone(),
                InstanceState::Ready { condition: Err(_), .. }
                | InstanceState::Waiting(_)
                | InstanceState::Failed(_) => break,
            };
            let own = resource.queries();
            if !own.iter().all(|query| self.known.facts().find(query).is_some() && stand.keeps(query)) {
                break;
            }
            let Ok(changes) = resource.plan(&stand.facts) else { break };
            if changes.is_empty() {
                continue;
            }
            let touches = resource.touches();
            if stand.remakes(&touches) || !self.is_brief(item, &instance, &changes) {
                break;
            }
            let Some(left) = room.checked_sub(size(&changes)) else { break };
            room = left;
            let way = way(stand.add(&*resource, &touches), &changes);
            let instance = instance.into_owned();
            members.push(Member { item, instance, changes, touches, way, duty: None });
        }
        members
    }

    /// The instances of a task by what is known now.
    fn filled_in<'a>(&self, item: &'a Work, planner: &Planner) -> Vec<Cow<'a, Instance>> {
        if depends(&item.step) {
            let fresh = self.tasks.anew(self.known.facts(), item, planner);
            return fresh.instances.into_iter().map(Cow::Owned).collect();
        }
        item.instances.iter().map(Cow::Borrowed).collect()
    }

    /// Whether a task is what it is, whatever those before it change.
    fn stands(&self, item: &Work, stand: &Stand<'_>) -> bool {
        let mut facts = item.step.facts.iter().filter_map(|name| facts::base(name));
        item.step.registers.is_empty()
            && !item.step.fleet
            && facts.all(|fact| self.known.facts().find(&fact).is_some() && stand.keeps(&fact))
    }

    /// Claims what other hosts may write, too; the row ends where another one writes.
    fn claim(&self, members: &mut Vec<Member<'_>>) {
        let mut mine = 1;
        for member in members.iter_mut().skip(1) {
            let id = task_id(&member.item.step, &member.instance);
            let places = places(self.known.facts(), &member.changes);
            match self.context.fleet.writers().claim(&id, &places, &self.host.name) {
                Claim::Mine(duty) => member.duty = Some(duty),
                Claim::Theirs(_) => break,
            }
            mine += 1;
        }
        members.truncate(mine);
    }

    fn short(&self, member: &Member<'_>) -> Result<ShortChange, String> {
        let scripts: Vec<Script> = member.changes.iter().map(|change| change.script.clone()).collect();
        let script = state::one_script(scripts, self.context.project.site_sources().environment())?;
        let step = &member.item.step;
        Ok(ShortChange {
            key: spool_key(&step.id, member.instance.item, &script),
            name: task_id(step, &member.instance),
            script,
            timeout: step.conduct.timeout,
            notify: step.conduct.notify.clone(),
            way: member.way.clone(),
            paths: member.changes.iter().filter_map(path).collect(),
        })
    }
}

/// The effect of changes on directories, of which one may be made that is not there yet.
fn way(made: Option<&str>, changes: &[Change]) -> Way {
    let Some(made) = made else {
        // What writes or removes a file leaves directories as they are.
        let files = changes.iter().all(|change| matches!(change.detail, Detail::Text { .. }));
        return if files { Way::Kept } else { Way::Unknown };
    };
    let [change] = changes else { return Way::Unknown };
    let word = |name: &str| {
        let at = change.script.names.iter().position(|it| *it == name)?;
        match change.script.args.get(at)? {
            Arg::Word(word) => Some(word.as_str()),
            Arg::Text(_)
            | Arg::Packed(_)
            | Arg::Bytes(_)
            | Arg::Script(_)
            | Arg::Scripts(_)
            | Arg::Tasks(_) => None,
        }
    };
    let mode = word("mode").and_then(|mode| u32::from_str_radix(mode, 8).ok());
    let owner = word("ownership").map(|ownership| ownership.split(':').next().unwrap_or_default());
    match (mode, owner) {
        (Some(mode), Some("" | "root" | "0")) if mode & 0o022 == 0 => Way::Made(made.to_owned()),
        _ => Way::Kept,
    }
}

/// The path of what is changed.
fn path(change: &Change) -> Option<String> {
    if let Object::Path(path) = &change.object { Some(path.clone()) } else { None }
}

/// Whether a question is about the thing at a path.
fn is_about(query: &Query, path: &str) -> bool {
    query.get::<PathQuery>().is_some_and(|query| query.0 == path)
}

/// Whether a thing is at a path below a directory.
fn is_below(object: &Object, directory: &str) -> bool {
    matches!(object, Object::Path(path) if Query::from(PathQuery(path.clone())).is_below(directory))
}

/// Bytes that some changes send, about.
fn size(changes: &[Change]) -> usize {
    let arg = |arg: &Arg| match arg {
        Arg::Word(text) | Arg::Text(text) | Arg::Packed(text) => text.len(),
        Arg::Bytes(bytes) => bytes.len(),
        Arg::Script(_) | Arg::Scripts(_) | Arg::Tasks(_) => SIZE,
    };
    changes.iter().flat_map(|change| &change.script.args).map(arg).sum()
}
