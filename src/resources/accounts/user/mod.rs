//! `user`: a local user.

use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node};
use crate::facts::account::{GroupEntry, GroupQuery, User, UserQuery};
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::accounts::group::{account_change, account_script};
use crate::resources::shared::known;
use crate::resources::shared::value::{AccountName, HostPath, Presence, Principal, claims};
use crate::resources::{Attribute, Built, Change, Context, Planned, Resource, Unplannable};
use crate::transport::Script;

crate::record! {
    /// A local user without a password. `state: absent` keeps the home directory.
    Account("a user") {
        /// Login name.
        req name: AccountName,
        /// Number of the user. Left out: unchanged.
        opt uid: u32,
        /// Primary group, by name or number. Left out: unchanged.
        opt group: Principal,
        /// Further groups of the user. Groups that are not listed here are kept.
        opt groups: Vec<AccountName>,
        /// Home directory, created with the user unless it is one of the system. Left out: unchanged.
        opt home: HostPath,
        /// Login shell. Left out: an existing user keeps its shell, a new one gets the default of the
        /// system, or with `system: true` one that lets nobody log in.
        opt shell: HostPath,
        /// Whether a new one is an account of the system (`useradd --system`), for a service: its number is of
        /// those for the system, and no home directory is made. An existing one stays as it is.
        def system: bool = false,
        /// Whether it must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "user", Account }

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let mut fields = Account::from_node(node, diagnostics)?;
    if fields.state == Presence::Absent && matches!(fields.name.0.as_str(), "root") {
        diagnostics.error(node.span, "root cannot be removed");
        return None;
    }
    if let Some(groups) = &mut fields.groups {
        groups.sort();
        groups.dedup();
    }
    Some(Arc::new(fields))
}

impl Account {
    fn object(&self) -> Object {
        Object::User(self.name.0.clone())
    }

    /// Groups that must be there: by name only, a number needs no look-up.
    fn group_names(&self) -> impl Iterator<Item = &str> {
        let first =
            self.group.as_ref().map(|group| group.0.as_str()).filter(|name| name.parse::<u32>().is_err());
        first.into_iter().chain(self.groups.iter().flatten().map(|group| group.0.as_str()))
    }

    fn group<'a>(facts: &'a Facts, name: &str) -> Result<&'a GroupEntry, Unplannable> {
        let object = Object::Group(name.to_owned());
        let group = known::answer(facts, &GroupQuery(name.to_owned()), &object)?;
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
        if let Some(home) = self.home.as_ref().filter(|home| found.is_none_or(|found| found.home != home.0)) {
            differ("-d", "home", found.map(|found| found.home.clone()), &home.0);
        }
        if let Some(shell) =
            self.shell.as_ref().filter(|shell| found.is_none_or(|found| found.shell != shell.0))
        {
            differ("-s", "shell", found.map(|found| found.shell.clone()), &shell.0);
        }
        let mut missing = Vec::new();
        for AccountName(name) in self.groups.iter().flatten() {
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

    /// Options of `useradd` that say which kind of account it makes.
    fn kind(&self) -> &'static [&'static str] {
        match (self.system, &self.shell) {
            (false, _) => &["-m"],
            (true, Some(_)) => &["-r"],
            // Debian and the RHEL family have it there; the default of useradd is a shell.
            (true, None) => &["-r", "-s", "/usr/sbin/nologin"],
        }
    }

    fn change(&self, sign: char, attributes: Vec<Attribute>, script: Script) -> Change {
        account_change("user", &self.name.0, self.object(), sign, attributes, script)
    }
}

impl Resource for Account {
    fn queries(&self) -> Vec<Query> {
        let groups: Vec<Query> = match self.state {
            Presence::Present => self.group_names().map(|name| GroupQuery(name.to_owned()).into()).collect(),
            Presence::Absent => Vec::new(),
        };
        std::iter::once(UserQuery(self.name.0.clone()).into()).chain(groups).collect()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let found = known::answer(facts, &UserQuery(self.name.0.clone()), &self.object())?;
        if self.state == Presence::Absent {
            let removal = found.as_ref().map(|_| self.change('-', Vec::new(), account_script("userdel")));
            return Ok(removal.into_iter().collect());
        }
        let (options, mut attributes) = self.differences(facts, found.as_ref())?;
        if found.is_none() {
            attributes.extend(self.system.then(|| Attribute::new("system", None, Some("true"))));
            let script =
                account_script("useradd").list("word", self.kind().iter().copied()).list("word", options);
            return Ok(vec![self.change('+', attributes, script)]);
        }
        if options.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![self.change('~', attributes, account_script("usermod").list("word", options))])
    }

    fn touches(&self) -> Touches {
        let mut objects = std::collections::BTreeSet::from([self.object()]);
        // `useradd` makes a group of the same name, and a home directory.
        objects.insert(Object::Group(self.name.0.clone()));
        if !self.system {
            objects.insert(Object::Path(
                self.home.as_ref().map_or_else(|| format!("/home/{}", self.name.0), |home| home.0.clone()),
            ));
        }
        Touches::Objects(objects)
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let attributes = [
            ("uid", self.uid.map(|uid| uid.to_string())),
            ("group", self.group.as_ref().map(|group| group.0.clone())),
            ("home", self.home.as_ref().map(|home| home.0.clone())),
            ("shell", self.shell.as_ref().map(|shell| shell.0.clone())),
        ];
        // Groups are added to: two tasks may each name some.
        claims(Object::User, &self.name.0, self.state.to_string(), attributes)
    }
}
