//! `reboot`: a boot, when something needs one.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::base::boot::Boot;
use crate::facts::next_boot::NextBootQuery;
use crate::facts::reboot::RebootQuery;
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::resources::shared::known;
use crate::resources::shared::next_boot::Proof;
use crate::resources::{
    Attribute, Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable,
};
use crate::transport::Script;

crate::record! {
    /// Reboots the host if something needs it: an earlier task whose effect waits for a boot, a change
    /// that notified this task, and by default what the system itself asks for (a newer kernel, a
    /// driver other than the loaded one, `/run/reboot-required`).
    ///
    /// Before the reboot, the kernel that will boot must have its modules, its initramfs and everything
    /// that DKMS builds, and nothing that [`next_boot`](#next_boot) looks at may be known to go wrong; otherwise the task
    /// fails and the host is not rebooted. What could not be looked at is named in the plan. An initramfs with old copies of modules is rebuilt first. Handlers that were
    /// notified run first. After the reboot, the host must return with another boot id within the
    /// task's `timeout` (default 20m), and no reason may be left. The task needs `policy: { reboot:
    /// allow }`; without it the run ends with "reboot pending". At most `policy.reboot_parallel` hosts
    /// are down at once.
    Reboot("a reboot") {
        /// Whether reboots that the system itself asks for count too.
        def system: bool = true,
        /// Whether to reboot although something is known to go wrong; the plan names it.
        def unproven: bool = false,
    }
}

kind! { "reboot", Reboot, timeout: Duration::from_mins(20), reboots: true }

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = Reboot::from_node(node, diagnostics)?;
    Some(Arc::new(fields))
}

impl Resource for Reboot {
    fn queries(&self) -> Vec<Query> {
        let facts = ["boot", "virtualization"].into_iter().filter_map(base);
        facts.chain([RebootQuery.into()]).collect()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let asked = known::answer(facts, &RebootQuery, &Object::Host)?;
        let mut reasons = asked.clone();
        let container = known::container(facts);
        if container.is_some() && reasons.is_empty() {
            // Its kernel is somebody else's.
            return Ok(Vec::new());
        }
        let boot: &Boot = known::base(facts, &Object::Host)?;
        if self.system {
            reasons.extend(boot.reasons.iter().cloned());
        }
        if reasons.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(kind) = container {
            return Err(Unplannable::Blocked(format!(
                "reboot pending ({}): a container ({kind}) cannot reboot itself",
                reasons.join("; ")
            )));
        }
        let proof = Proof::of(facts).unwrap_or_default();
        let mut problems = boot.problems.clone();
        problems.extend(proof.wrong);
        if !problems.is_empty() && !self.unproven {
            return Err(Unplannable::Failed(format!(
                "not rebooted, because the host would not come up properly: {}; `unproven: true` of this task reboots all the same",
                problems.join("; ")
            )));
        }
        let mut why = reasons.join("; ");
        if !problems.is_empty() {
            why = format!("{why}; although {}", problems.join("; "));
        }
        if !proof.unknown.is_empty() {
            why = format!("{why}; not proven: {}", proof.unknown.join("; "));
        }
        let mut changes = Vec::new();
        let old = &boot.stale_initramfs;
        if !old.is_empty() || !proof.initramfs.is_empty() {
            let kernel = boot.next_kernel.as_str();
            let why = if old.is_empty() { proof.initramfs.join("; ") } else { format!("older than {old}") };
            changes.push(Change::new(
                Object::Host,
                format!("~ initramfs of {kernel} ({why})"),
                Detail::Command("update-initramfs -u, or dracut -f".to_owned()),
                Script::new(crate::shell!("resources/kernel/reboot/initramfs_of.sh")).named("kernel", kernel),
            ));
        }
        changes.push(
            Change::new(
                Object::Host,
                format!("~ reboot ({why})"),
                Detail::Attributes(vec![Attribute::new(
                    "kernel",
                    Some(&boot.kernel),
                    Some(&boot.next_kernel),
                )]),
                Script::new(crate::shell!("resources/kernel/reboot/reboot.sh")),
            )
            .disrupting(Disruption::Reboot),
        );
        Ok(changes)
    }

    fn last_questions(&self) -> Vec<Query> {
        vec![NextBootQuery.into()]
    }

    fn touches(&self) -> Touches {
        Touches::Everything
    }

    /// Any number of tasks may want a boot when it is due.
    fn manages(&self) -> Vec<(Object, String)> {
        Vec::new()
    }

    /// A cut initramfs does not boot.
    fn leave(&self) -> bool {
        true
    }
}
