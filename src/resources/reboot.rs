//! `reboot`: a boot, when something needs one.

use std::sync::Arc;

use serde_json::Value as Json;

use super::{Attribute, Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::{Answer, Facts, Object, Query, Touches, base};
use crate::transport::Script;

crate::record! {
    /// Reboots the host when something needs it: a task before this one whose effect waits for a boot, a
    /// change that notified it, and by default what the system itself asks for (a newer kernel, a
    /// driver that is not the one loaded, `/run/reboot-required`).
    ///
    /// Before: the kernel that will boot has its modules, its initramfs and everything that DKMS
    /// builds, else the task fails and nothing is rebooted; handlers that were notified run first.
    /// After: another boot id within the task's `timeout` (default 20m), and no reason is left. It needs
    /// `policy: { reboot: allow }`; without it the run ends with "reboot pending". At most
    /// `policy.reboot_parallel` hosts are down at once.
    RebootFields("a reboot") {
        /// Whether what the system itself asks for counts too.
        def system: bool = true,
    }
}

#[derive(Debug)]
struct Reboot {
    system: bool,
}

pub(super) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let fields = RebootFields::from_node(node, diagnostics)?;
    Some(Arc::new(Reboot { system: fields.system }))
}

fn texts<'a>(boot: &'a Json, key: &str) -> impl Iterator<Item = &'a str> {
    boot.get(key).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

impl Resource for Reboot {
    fn queries(&self) -> Vec<Query> {
        let facts = ["boot", "virtualization"].into_iter().filter_map(base);
        facts.chain([Query::Reboot]).collect()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let Answer::Reboot(asked) = known::answer(facts, &Query::Reboot, &Object::Host)? else {
            return Err(known::strange(&Object::Host));
        };
        let mut reasons = asked.clone();
        let container = known::container(facts);
        if container.is_some() && reasons.is_empty() {
            // Its kernel is somebody else's.
            return Ok(Vec::new());
        }
        let Some(query) = base("boot") else { return Err(known::strange(&Object::Host)) };
        let Answer::Base(boot) = known::answer(facts, &query, &Object::Host)? else {
            return Err(known::strange(&Object::Host));
        };
        if self.system {
            reasons.extend(texts(boot, "reasons").map(str::to_owned));
        }
        if reasons.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(kind) = container {
            return Err(Unplannable::Blocked(format!(
                "reboot pending ({}): a container ({kind}) cannot be rebooted from within",
                reasons.join("; ")
            )));
        }
        let problems: Vec<&str> = texts(boot, "problems").collect();
        if !problems.is_empty() {
            return Err(Unplannable::Failed(format!(
                "not rebooted, it would not come back as it should: {}",
                problems.join("; ")
            )));
        }
        let text = |key: &str| boot.get(key).and_then(Json::as_str).unwrap_or("");
        let mut changes = Vec::new();
        if !text("stale_initramfs").is_empty() {
            let kernel = text("next_kernel");
            changes.push(Change {
                object: Object::Host,
                summary: format!("~ initramfs of {kernel} (older than {})", text("stale_initramfs")),
                detail: Detail::Command("update-initramfs -u, or dracut -f".to_owned()),
                script: Script::new(crate::shell!("resources/initramfs_of.sh")).arg(kernel),
                upload: None,
                disruption: Disruption::None,
            });
        }
        changes.push(Change {
            object: Object::Host,
            summary: format!("~ reboot ({})", reasons.join("; ")),
            detail: Detail::Attributes(vec![Attribute::new(
                "kernel",
                Some(text("kernel")),
                Some(text("next_kernel")),
            )]),
            script: Script::new(crate::shell!("resources/reboot.sh")),
            upload: None,
            disruption: Disruption::Reboot,
        });
        Ok(changes)
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
