//! `user`: a local user.

use std::sync::Arc;

use super::group::account_script;
use super::value::{AccountName, HostPath, Presence, Principal, claims};
use super::{Attribute, Change, Context, Detail, Disruption, Planned, Resource, Unplannable, known};
use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::account::{Group, User};
use crate::facts::{Answer, Facts, Object, Query, Touches};
use crate::transport::Script;

crate::record! {
    /// A local user; without a password. Taking one away leaves the home directory.
    UserFields("a user") {
        /// Login name.
        req name: AccountName,
        /// Number; what is there stays.
        opt uid: u32,
        /// First group by name or number; what is there stays.
        opt group: Principal,
        /// Other groups that the user is in; those not named here stay.
        opt groups: Vec<AccountName>,
        /// Home directory, made with the user; what is there stays.
        opt home: HostPath,
        /// Login shell; what is there stays, a new user gets /bin/bash where the system says so.
        opt shell: HostPath,
        /// Whether it shall be there.
        def state: Presence = Presence::Present,
    }
}

#[derive(Debug)]
struct Account {
    name: String,
    uid: Option<u32>,
    group: Option<Principal>,
    groups: Vec<String>,
    home: Option<String>,
    shell: Option<String>,
    state: Presence,
}

pub(super) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Option<Arc<dyn Resource>> {
    let fields = UserFields::from_node(node, diagnostics)?;
    if fields.state == Presence::Absent && matches!(fields.name.0.as_str(), "root") {
        diagnostics.error(node.span, "root is never taken away");
        return None;
    }
    let mut groups: Vec<String> =
        fields.groups.unwrap_or_default().into_iter().map(|group| group.0).collect();
    groups.sort();
    groups.dedup();
    Some(Arc::new(Account {
        name: fields.name.0,
        uid: fields.uid,
        group: fields.group,
        groups,
        home: fields.home.map(|path| path.0),
        shell: fields.shell.map(|path| path.0),
        state: fields.state,
    }))
}

impl Account {
    fn object(&self) -> Object {
        Object::User(self.name.clone())
    }

    /// Groups that must be there: by name only, a number needs no look-up.
    fn group_names(&self) -> impl Iterator<Item = &str> {
        let first =
            self.group.as_ref().map(|group| group.0.as_str()).filter(|name| name.parse::<u32>().is_err());
        first.into_iter().chain(self.groups.iter().map(String::as_str))
    }

    fn group<'a>(facts: &'a Facts, name: &str) -> Result<&'a Group, Unplannable> {
        let object = Object::Group(name.to_owned());
        let Answer::Group(group) = known::answer(facts, &Query::Group(name.to_owned()), &object)? else {
            return Err(known::strange(&object));
        };
        group.as_ref().ok_or_else(|| Unplannable::Missing(object, format!("there is no group {name}")))
    }

    /// Options of `useradd` and `usermod` for what differs, with the attributes of the change.
    fn differences(
        &self,
        facts: &Facts,
        found: Option<&User>,
    ) -> Result<(Vec<String>, Vec<Attribute>), Unplannable> {
        let mut options = Vec::new();
        let mut attributes = Vec::new();
        let mut differ = |option: &str, name: &str, before: Option<String>, after: &str| {
            options.push(option.to_owned());
            options.push(after.to_owned());
            attributes.push(Attribute::new(name, before.as_deref(), Some(after)));
        };
        if let Some(uid) = self.uid.filter(|uid| found.is_none_or(|found| found.uid != *uid)) {
            differ("-u", "uid", found.map(|found| found.uid.to_string()), &uid.to_string());
        }
        if let Some(group) = &self.group {
            let gid = match group.0.parse::<u32>() {
                Ok(gid) => gid,
                Err(_) => Self::group(facts, &group.0)?.gid,
            };
            if found.is_none_or(|found| found.gid != gid) {
                differ("-g", "group", found.map(|found| found.gid.to_string()), &group.0);
            }
        }
        if let Some(home) = self.home.as_ref().filter(|home| found.is_none_or(|found| found.home != **home)) {
            differ("-d", "home", found.map(|found| found.home.clone()), home);
        }
        if let Some(shell) =
            self.shell.as_ref().filter(|shell| found.is_none_or(|found| found.shell != **shell))
        {
            differ("-s", "shell", found.map(|found| found.shell.clone()), shell);
        }
        let mut missing = Vec::new();
        for name in &self.groups {
            let group = Self::group(facts, name)?;
            if !found.is_some_and(|found| found.groups.contains(name) || found.gid == group.gid) {
                missing.push(name.as_str());
            }
        }
        if !missing.is_empty() {
            let before = found.map(|found| found.groups.iter().cloned().collect::<Vec<_>>().join(","));
            options.push(if found.is_some() { "-aG" } else { "-G" }.to_owned());
            options.push(missing.join(","));
            attributes.push(Attribute::new(
                "groups",
                before.as_deref(),
                Some(&format!("+{}", missing.join(",+"))),
            ));
        }
        Ok((options, attributes))
    }

    fn change(&self, sign: char, attributes: Vec<Attribute>, script: Script) -> Change {
        let described: Vec<String> =
            attributes.iter().filter(|a| a.before.is_some()).map(super::content::describe).collect();
        let suffix =
            if described.is_empty() { String::new() } else { format!(" ({})", described.join(", ")) };
        Change {
            object: self.object(),
            summary: format!("{sign} user {}{suffix}", self.name),
            detail: Detail::Attributes(attributes),
            script: script.arg(self.name.as_str()),
            upload: None,
            disruption: Disruption::None,
        }
    }
}

impl Resource for Account {
    fn queries(&self) -> Vec<Query> {
        let groups: Vec<Query> = match self.state {
            Presence::Present => self.group_names().map(|name| Query::Group(name.to_owned())).collect(),
            Presence::Absent => Vec::new(),
        };
        std::iter::once(Query::User(self.name.clone())).chain(groups).collect()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let Answer::User(found) = known::answer(facts, &Query::User(self.name.clone()), &self.object())?
        else {
            return Err(known::strange(&self.object()));
        };
        if self.state == Presence::Absent {
            let removal = found.as_ref().map(|_| self.change('-', Vec::new(), account_script("userdel")));
            return Ok(removal.into_iter().collect());
        }
        let (options, attributes) = self.differences(facts, found.as_ref())?;
        if found.is_none() {
            let script = account_script("useradd").arg("-m").args(options);
            return Ok(vec![self.change('+', attributes, script)]);
        }
        if options.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![self.change('~', attributes, account_script("usermod").args(options))])
    }

    fn touches(&self) -> Touches {
        let mut objects = std::collections::BTreeSet::from([self.object()]);
        // `useradd` makes a group of the same name, and a home directory.
        objects.insert(Object::Group(self.name.clone()));
        objects.insert(Object::Path(self.home.clone().unwrap_or_else(|| format!("/home/{}", self.name))));
        Touches::Objects(objects)
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let attributes = [
            ("uid", self.uid.map(|uid| uid.to_string())),
            ("group", self.group.as_ref().map(|group| group.0.clone())),
            ("home", self.home.clone()),
            ("shell", self.shell.clone()),
        ];
        // Groups are added to: two tasks may each name some.
        claims(Object::User, &self.name, self.state.to_string(), attributes)
    }
}
