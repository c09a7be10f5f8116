//! `group`: a local group.

use std::sync::Arc;

use super::value::{AccountName, Presence, claims};
use super::{Attribute, Change, Context, Detail, Disruption, Planned, Resource, known};
use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::{Answer, Facts, Object, Query, Touches};
use crate::transport::Script;

crate::record! {
    /// A local group.
    GroupFields("a group") {
        /// Its name.
        req name: AccountName,
        /// Its number; what is there stays.
        opt gid: u32,
        /// Whether it shall be there.
        def state: Presence = Presence::Present,
    }
}

#[derive(Debug)]
struct Group {
    name: String,
    gid: Option<u32>,
    state: Presence,
}

pub(super) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let fields = GroupFields::from_node(node, diagnostics)?;
    Some(Arc::new(Group { name: fields.name.0, gid: fields.gid, state: fields.state }))
}

/// A script of the shadow suite.
pub(super) fn account_script(program: &'static str) -> Script {
    Script::new(crate::shell!("resources/account.sh")).arg(program)
}

impl Group {
    fn object(&self) -> Object {
        Object::Group(self.name.clone())
    }

    fn change(&self, sign: char, attributes: Vec<Attribute>, script: Script) -> Change {
        let described: Vec<String> =
            attributes.iter().filter(|a| a.before.is_some()).map(super::content::describe).collect();
        let suffix =
            if described.is_empty() { String::new() } else { format!(" ({})", described.join(", ")) };
        Change {
            object: self.object(),
            summary: format!("{sign} group {}{suffix}", self.name),
            detail: Detail::Attributes(attributes),
            script: script.arg(self.name.as_str()),
            upload: None,
            disruption: Disruption::None,
        }
    }
}

impl Resource for Group {
    fn queries(&self) -> Vec<Query> {
        vec![Query::Group(self.name.clone())]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let Answer::Group(found) = known::answer(facts, &Query::Group(self.name.clone()), &self.object())?
        else {
            return Err(known::strange(&self.object()));
        };
        let gid = self.gid.map(|gid| gid.to_string());
        let change = match (found, self.state) {
            (None, Presence::Absent) => None,
            (None, Presence::Present) => {
                let mut script = account_script("groupadd");
                if let Some(gid) = &gid {
                    script = script.arg("-g").arg(gid.as_str());
                }
                let attributes = gid.iter().map(|gid| Attribute::new("gid", None, Some(gid))).collect();
                Some(self.change('+', attributes, script))
            }
            (Some(_), Presence::Absent) => Some(self.change('-', Vec::new(), account_script("groupdel"))),
            (Some(found), Presence::Present) => gid.filter(|_| self.gid != Some(found.gid)).map(|gid| {
                let attribute = Attribute::new("gid", Some(&found.gid.to_string()), Some(&gid));
                self.change('~', vec![attribute], account_script("groupmod").arg("-g").arg(gid))
            }),
        };
        Ok(change.into_iter().collect())
    }

    fn touches(&self) -> Touches {
        Touches::one(self.object())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let attributes = [("gid", self.gid.map(|gid| gid.to_string()))];
        claims(Object::Group, &self.name, self.state.to_string(), attributes)
    }
}
