//! Tasks of a host that are not started because one failed.

use crate::playbook::OnFailure;
use crate::project::{Part, Step, Unit};

/// The failures of one host that keep tasks from being started.
#[derive(Debug, Default)]
pub(super) struct BlockedTasks(Vec<Failure>);

/// A task that failed and after which its host does not simply go on.
#[derive(Debug)]
struct Failure {
    task: String,
    /// The blocks around it.
    units: Vec<Unit>,
}

impl BlockedTasks {
    /// Notes a failure.
    pub(super) fn failed(&mut self, step: &Step, task: &str) {
        self.0.push(Failure { task: task.to_owned(), units: step.units.clone() });
    }

    /// Returns the reason why a task is not started, if a failure holds it.
    pub(super) fn back(&self, step: &Step) -> Option<String> {
        let failure = self.0.iter().find(|failure| failure.holds(&step.units))?;
        Some(format!("not reached: `{}` failed", failure.task))
    }

    /// Whether the host stops: no block ends what a failure means.
    pub(super) fn all(&self) -> bool {
        self.0.iter().any(|failure| failure.end().is_none())
    }
}

impl Failure {
    /// The block behind which the host goes on.
    fn end(&self) -> Option<&Unit> {
        self.units.iter().rev().find(|unit| unit.on_failure == OnFailure::Continue)
    }

    /// Whether a later task in these blocks is not started.
    fn holds(&self, units: &[Unit]) -> bool {
        if self.end().is_some_and(|end| units.iter().all(|unit| unit.id != end.id)) {
            return false;
        }
        let in_tasks = |id| self.units.iter().any(|unit| unit.id == id && unit.part == Part::Tasks);
        !units.iter().any(|unit| unit.part == Part::Always && in_tasks(unit.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(id: usize, part: Part, on_failure: OnFailure) -> Unit {
        Unit { id, part, on_failure }
    }

    /// Reports which of some later tasks are held after a failure, by their blocks.
    fn held(failed: &[&[Unit]], later: &[&[Unit]]) -> Vec<bool> {
        let failures = failed.iter().map(|units| Failure { task: "t".to_owned(), units: units.to_vec() });
        let held = BlockedTasks(failures.collect());
        later.iter().map(|units| held.0.iter().any(|failure| failure.holds(units))).collect()
    }

    #[test]
    fn what_is_done_in_any_case_is_done() {
        use {OnFailure::Continue, OnFailure::Stop, Part::Always, Part::Tasks};
        let (a, b) = (unit(0, Tasks, Stop), unit(1, Tasks, Stop));
        let (in_any_case, inner) = (unit(0, Always, Stop), unit(1, Always, Stop));
        let later: [&[Unit]; 5] = [&[a, b], &[a, inner], &[a], &[in_any_case], &[]];
        assert_eq!(held(&[&[a, b]], &later), [true, false, true, false, true]);
        assert_eq!(held(&[&[a]], &later), [true, true, true, false, true]);
        assert_eq!(held(&[&[]], &later), [true; 5]);
        // A failure in what is done in any case holds the rest of that, and not that of the outer block.
        assert_eq!(held(&[&[a, b], &[a, inner]], &later), [true, true, true, false, true]);
        // Behind the block the host goes on.
        let (b, inner) = (unit(1, Tasks, Continue), unit(1, Always, Continue));
        let later: [&[Unit]; 5] = [&[a, b], &[a, inner], &[a], &[in_any_case], &[]];
        assert_eq!(held(&[&[a, b]], &later), [true, false, false, false, false]);
        assert_eq!(held(&[&[a, b], &[a]], &later), [true, true, true, false, true]);
    }
}
