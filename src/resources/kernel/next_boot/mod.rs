//! `next_boot`: nothing goes on unless the next boot will go well.

use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::next_boot::NextBootQuery;
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::resources::shared::known;
use crate::resources::shared::next_boot::Proof;
use crate::resources::{Built, Context, Planned, Resource, Unplannable};

crate::record! {
    /// Refuses to go on when the next boot of the host would not go well: before a reboot by hand, or before an
    /// image of it is made. Nothing is changed.
    ///
    /// The kernel that boots next must have the modules of this host, of its kind, of one build with each other
    /// and signed by keys that it knows; its initramfs must have the same copies; the link of the way in must be
    /// configured by files that outlive a boot; grub must boot the declared entry and parameters. The checks
    /// `boot.*` of `verify` look at the same. A `reboot` task asks this by itself.
    NextBoot("the next boot") {
        /// Whether to go on all the same.
        def unproven: bool = false,
    }
}

kind! { "next_boot", NextBoot }

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = NextBoot::from_node(node, diagnostics)?;
    Some(Arc::new(fields))
}

impl Resource for NextBoot {
    fn queries(&self) -> Vec<Query> {
        base("virtualization").into_iter().collect()
    }

    fn last_questions(&self) -> Vec<Query> {
        vec![NextBootQuery.into()]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        // Its kernel is somebody else's.
        if self.unproven || known::container(facts).is_some() {
            return Ok(Vec::new());
        }
        let asked = known::answer(facts, &NextBootQuery, &Object::Host).map(|_| ());
        let Proof { mut wrong, unknown, initramfs } = match (asked, Proof::of(facts)) {
            (Ok(()), Some(proof)) => proof,
            (Err(refusal), _) => return Err(refusal),
            (Ok(()), None) => Proof::default(),
        };
        wrong.extend(initramfs);
        wrong.extend(unknown.into_iter().map(|text| format!("not known: {text}")));
        if wrong.is_empty() {
            return Ok(Vec::new());
        }
        // An earlier task may mend it.
        Err(Unplannable::Missing(
            Object::Host,
            format!(
                "the next boot is not proven to go well: {}; `unproven: true` of this task goes on all the same",
                wrong.join("; ")
            ),
        ))
    }

    fn touches(&self) -> Touches {
        Touches::Objects(std::collections::BTreeSet::new())
    }

    /// Any number of tasks may want to know.
    fn manages(&self) -> Vec<(Object, String)> {
        Vec::new()
    }
}
