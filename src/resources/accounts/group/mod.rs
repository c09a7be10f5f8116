//! `group`: a local group.

use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::account::GroupQuery;
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::known;
use crate::resources::shared::value::{AccountName, Presence, claims};
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource};
use crate::transport::Script;

crate::record! {
    /// A local group.
    UnixGroup("a group") {
        /// Name of the group.
        req name: AccountName,
        /// Number of the group. Left out: unchanged.
        opt gid: u32,
        /// Whether a new one gets a number of those for the system (`groupadd --system`). An existing one keeps its
        /// own.
        def system: bool = false,
        /// Whether it must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "group", UnixGroup }

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = UnixGroup::from_node(node, diagnostics)?;
    Some(Arc::new(fields))
}

/// A script of the shadow suite.
pub(in crate::resources) fn account_script(program: &'static str) -> Script {
    Script::new(crate::shell!("resources/accounts/account.sh")).named("program", program)
}

/// Builds the change that such a script makes to an account, whose name it takes last.
pub(in crate::resources) fn account_change(
    kind: &str,
    name: &str,
    object: Object,
    sign: char,
    attributes: Vec<Attribute>,
    script: Script,
) -> Change {
    let described: Vec<String> = attributes
        .iter()
        .filter(|a| a.before.is_some())
        .map(crate::resources::shared::content::describe)
        .collect();
    let suffix = if described.is_empty() { String::new() } else { format!(" ({})", described.join(", ")) };
    Change::new(
        object,
        format!("{sign} {kind} {name}{suffix}"),
        Detail::Attributes(attributes),
        script.named("word", name),
    )
}

impl UnixGroup {
    fn object(&self) -> Object {
        Object::Group(self.name.0.clone())
    }

    fn change(&self, sign: char, attributes: Vec<Attribute>, script: Script) -> Change {
        account_change("group", &self.name.0, self.object(), sign, attributes, script)
    }
}

impl Resource for UnixGroup {
    fn queries(&self) -> Vec<Query> {
        vec![GroupQuery(self.name.0.clone()).into()]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let found = known::answer(facts, &GroupQuery(self.name.0.clone()), &self.object())?;
        let gid = self.gid.map(|gid| gid.to_string());
        let change = match (found, self.state) {
            (None, Presence::Absent) => None,
            (None, Presence::Present) => {
                let mut script = account_script("groupadd");
                if self.system {
                    script = script.named("word", "-r");
                }
                if let Some(gid) = &gid {
                    script = script.named("word", "-g").named("word", gid.as_str());
                }
                let mut attributes: Vec<_> =
                    gid.iter().map(|gid| Attribute::new("gid", None, Some(gid))).collect();
                attributes.extend(self.system.then(|| Attribute::new("system", None, Some("true"))));
                Some(self.change('+', attributes, script))
            }
            (Some(_), Presence::Absent) => Some(self.change('-', Vec::new(), account_script("groupdel"))),
            (Some(found), Presence::Present) => gid.filter(|_| self.gid != Some(found.gid)).map(|gid| {
                let attribute = Attribute::new("gid", Some(&found.gid.to_string()), Some(&gid));
                self.change(
                    '~',
                    vec![attribute],
                    account_script("groupmod").named("word", "-g").named("word", gid),
                )
            }),
        };
        Ok(change.into_iter().collect())
    }

    fn touches(&self) -> Touches {
        Touches::one(self.object())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let attributes = [("gid", self.gid.map(|gid| gid.to_string()))];
        claims(Object::Group, &self.name.0, self.state.to_string(), attributes)
    }
}
