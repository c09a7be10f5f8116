//! The tasks of one stage on one host, one after another.

use std::collections::BTreeSet;

use super::blocked::BlockedTasks;
use super::cancel::Stop;
use super::connection::Gone;
use super::rollback;
use super::session::Session;
use super::task::TaskEnd;
use super::tasks::Tasks;
use super::work::{Later, Leaders, Work, depends, task_id, task_ref};
use crate::events::{EventKind, Outcome};
use crate::facts::Touches;
use crate::plan::Planner;
use crate::playbook::OnFailure;
use crate::project::{Instance, InstanceState};

/// Selection of the notified handlers that run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handlers {
    /// All, reboots last.
    All,
    /// All but reboots: one is due.
    BeforeReboot,
}

impl Session {
    /// Carries out a stage: tasks in order, then the handlers that were notified. `end`: where the stage ends.
    pub(super) async fn execute(
        &mut self,
        work: Vec<Work>,
        end: usize,
        leaders: &Leaders,
    ) -> Result<(), Gone> {
        let mut planner = Planner::asking_again(self.context.project.policy.reboot);
        let mut unchanged = Vec::new();
        let mut changed_anything = false;
        let mut held = BlockedTasks::default();
        // What a stop of the run left, if it did.
        let mut left: Option<String> = None;
        for (position, item) in work.iter().enumerate() {
            let after = work.get(position + 1..).unwrap_or_default();
            let stopped = held.back(&item.step);
            let mut fresh = None;
            let moved = changed_anything || !item.step.registers.is_empty();
            if moved && depends(&item.step) && (stopped.is_none() || self.ahead.is_ahead()) {
                fresh = Some(self.tasks.anew(self.known.facts(), item, &planner));
            }
            let item = fresh.as_ref().unwrap_or(item);
            if stopped.is_none() {
                self.refresh(item).await?;
                self.know(std::slice::from_ref(item)).await?;
            }
            for (number, instance) in item.instances.iter().enumerate() {
                let task = task_ref(&item.step, instance);
                let later =
                    Later { instances: item.instances.get(number + 1..).unwrap_or_default(), work: after };
                // What was sent with an earlier task was made, whatever became of that one.
                let sent = self.ahead.has(&task_id(&item.step, instance));
                let reason = if sent { None } else { held.back(&item.step) }
                    .or_else(|| self.tasks.led_elsewhere(&item.step, leaders))
                    .or_else(|| {
                        (!sent && self.context.cancel.now() > Stop::No).then(|| {
                            left.get_or_insert_with(|| format!("`{}`", task.name));
                            "not started: the run was stopped".to_owned()
                        })
                    });
                if let Some(reason) = reason {
                    self.finish_task(task, Outcome::Skipped(reason), 0.0, false);
                    continue;
                }
                if self.is_due(item, instance) {
                    // What they do may matter to the boot, and what is notified does not outlive it.
                    self.run_handlers(&mut planner, Handlers::BeforeReboot, end).await?;
                    // It is planned on what they left.
                    self.know(std::slice::from_ref(item)).await?;
                }
                match self.carry_out(item, instance, later, &mut planner).await? {
                    TaskEnd::Unchanged => unchanged.push(task),
                    TaskEnd::Changed => changed_anything = true,
                    TaskEnd::Failed => {
                        changed_anything = true;
                        if item.step.conduct.on_failure == OnFailure::Stop {
                            held.failed(&item.step, &task.name);
                        }
                    }
                    TaskEnd::Left => {}
                }
            }
        }
        if !unchanged.is_empty() {
            self.emit(EventKind::TasksUnchanged { host: self.host.name.clone(), tasks: unchanged });
        }
        if !held.all() && self.context.cancel.now() == Stop::No {
            self.run_handlers(&mut planner, Handlers::All, end).await?;
        } else if !held.all() && !self.due_here(end).is_empty() {
            left.get_or_insert_with(|| "its handlers".to_owned());
        }
        if let Some(left) = left.filter(|_| !self.has_failed()) {
            self.not_started(&format!("the run was stopped before {left}"));
        }
        Ok(())
    }

    /// The handlers whose turn comes with the stage that ends at a step. One that an earlier run left waits
    /// while a task still to come notifies it: it may have failed for want of what that task does, and run too
    /// early it would keep the task from being reached.
    pub(super) fn due_here(&self, end: usize) -> BTreeSet<String> {
        let steps = self.context.project.steps.get(end..).unwrap_or_default();
        let own = steps.iter().filter(|step| step.hosts.contains(&self.host.index));
        let later: BTreeSet<&String> = own.flat_map(|step| &step.conduct.notify).collect();
        let waits = |id: &String| later.contains(id) && self.notified.is_only_left(id);
        let here = |id: &&String| !waits(id) && !self.notified.is_planned(id);
        self.notified.due().iter().filter(here).cloned().collect()
    }

    /// Runs the notified handlers; a notification is cleared when its handler succeeded.
    async fn run_handlers(&mut self, planner: &mut Planner, which: Handlers, end: usize) -> Result<(), Gone> {
        self.notified.forget_old(&mut self.connection, &mut self.spool).await;
        let ids = self.due_here(end);
        let mut cleared: Vec<String> = Vec::new();
        let handlers = self.tasks.handlers(self.known.facts(), &ids, planner);
        self.know(&handlers).await?;
        let mut handlers = self.tasks.handlers(self.known.facts(), &ids, planner);
        if which == Handlers::BeforeReboot {
            handlers.retain(|item| !item.step.reboots());
        }
        // What the others do may matter to the boot.
        handlers.sort_by_key(|item| item.step.reboots());
        for (position, item) in handlers.iter().enumerate() {
            let mut good = true;
            let later = Later { instances: &[], work: handlers.get(position..).unwrap_or_default() };
            for instance in &item.instances {
                let went = self.carry_out(item, instance, later, planner).await?;
                good &= matches!(went, TaskEnd::Unchanged | TaskEnd::Changed);
            }
            if good {
                cleared.push(item.step.id.clone());
            }
        }
        if !cleared.is_empty() {
            self.notified.clear(&mut self.connection, &mut self.spool, &cleared).await;
        }
        Ok(())
    }

    /// Asks what is not known yet of some tasks.
    pub(super) async fn know(&mut self, work: &[Work]) -> Result<(), Gone> {
        let missing = self.known.missing(Tasks::wanted(work));
        self.ask(&missing).await
    }

    /// A task that may do anything runs in a session that sees what was changed for sessions.
    async fn refresh(&mut self, item: &Work) -> Result<(), Gone> {
        if !self.connection.is_stale() || !item.instances.iter().any(does_anything) {
            return Ok(());
        }
        if let Err(stuck) = rollback::log_in_anew(&mut self.connection, &mut self.known).await {
            let error = stuck.reason()?;
            self.warn(format!("no fresh login was possible, so the old session is used: {error}"));
        }
        Ok(())
    }
}

/// Whether it may do anything, so that what its session gets matters.
fn does_anything(instance: &Instance) -> bool {
    matches!(&instance.state, InstanceState::Ready { resource, .. } if resource.touches() == Touches::Everything)
}
