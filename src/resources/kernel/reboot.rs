//! `reboot`: a boot, when something needs one.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::reboot::RebootQuery;
use crate::facts::{BaseQuery, Facts, Object, Query, Touches, base};
use crate::resources::shared::known;
use crate::resources::{Attribute, Change, Context, Detail, Disruption, Planned, Resource, Unplannable};
use crate::transport::Script;

crate::record! {
    /// Reboots the host if something needs it: an earlier task whose effect waits for a boot, a change
    /// that notified this task, and by default what the system itself asks for (a newer kernel, a
    /// driver other than the loaded one, `/run/reboot-required`).
    ///
    /// Before the reboot, the kernel that will boot must have its modules, its initramfs and everything
    /// that DKMS builds; otherwise the task fails and the host is not rebooted. Handlers that were
    /// notified run first. After the reboot, the host must return with another boot id within the
    /// task's `timeout` (default 20m), and no reason may be left. The task needs `policy: { reboot:
    /// allow }`; without it the run ends with "reboot pending". At most `policy.reboot_parallel` hosts
    /// are down at once.
    RebootFields("a reboot") {
        /// Whether reboots that the system itself asks for count too.
        def system: bool = true,
    }
}

kind! { "reboot", RebootFields, timeout: Duration::from_mins(20), reboots: true }

#[derive(Debug)]
struct Reboot {
    system: bool,
}

pub(in crate::resources) fn read(
    node: &Node,
    _: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = RebootFields::from_node(node, diagnostics)?;
    Some(Arc::new(Reboot { system: fields.system }))
}

fn texts<'a>(boot: &'a Json, key: &str) -> impl Iterator<Item = &'a str> {
    boot.get(key).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
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
        let boot = known::answer(facts, &BaseQuery("boot"), &Object::Host)?;
        if self.system {
            reasons.extend(texts(boot, "reasons").map(str::to_owned));
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
        let problems: Vec<&str> = texts(boot, "problems").collect();
        if !problems.is_empty() {
            return Err(Unplannable::Failed(format!(
                "not rebooted, because the host would not come up properly: {}",
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
                script: Script::new(crate::shell!("resources/initramfs_of.sh")).named("kernel", kernel),
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
