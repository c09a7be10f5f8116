//! `hostname`: the name of the host.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::base::hostname::Hostname as HostnameFact;
use crate::facts::file::PathQuery;
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::resources::shared::content::{RegularFile, text_query};
use crate::resources::shared::known;
use crate::resources::shared::value::HostPath;
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource};
use crate::transport::Script;

crate::record! {
    /// The name of the host, live and in `/etc/hostname`.
    ///
    /// If the host has cloud-init, cloud-init is told to leave the name alone; otherwise it would
    /// restore the old name at boot.
    Hostname("a host name") {
        /// The name: `{{ host.name }}` for the one in the inventory.
        req name: Sp<String>,
    }
}

kind! { "hostname", Hostname, own: &["name"] }

const FILE: &str = "/etc/hostname";
/// Directory of the drop-ins that cloud-init reads; <https://docs.cloud-init.io> `preserve_hostname`.
const CLOUD: &str = "/etc/cloud/cloud.cfg.d";

/// hostname(7): labels of letters, digits and `-`; the kernel takes 64 bytes.
fn is_hostname(name: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    name.len() <= 64 && name.split('.').all(label)
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = Hostname::from_node(node, diagnostics)?;
    let name = &fields.name;
    if !is_hostname(name) {
        diagnostics
            .push(Diagnostic::error(name.span, format!("`{}` is not a host name", **name)).help(
                "use letters, digits and `-`, in parts of at most 63 characters, joined by `.`; at most 64 characters in all",
            ));
        return None;
    }
    Some(Arc::new(fields))
}

fn file() -> HostPath {
    HostPath(FILE.to_owned())
}

fn cloud() -> RegularFile {
    RegularFile::drop_in(
        format!("{CLOUD}/90-provision-hostname.cfg"),
        "# The name comes from the inventory.\npreserve_hostname: true\n".to_owned(),
    )
}

impl Resource for Hostname {
    fn queries(&self) -> Vec<Query> {
        let mut queries = vec![PathQuery(FILE.to_owned()).into(), text_query(&file()).into()];
        queries.extend(base("hostname"));
        queries.extend(cloud().queries());
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let mut changes = Vec::new();
        if known::path(facts, CLOUD)?.is_some() {
            changes.extend(cloud().plan(facts)?);
        }
        let object = Object::Path(FILE.to_owned());
        let HostnameFact(live) = known::base(facts, &object)?;
        let content = known::content(facts, &text_query(&file()))?;
        let stored = content.and_then(|content| content.text.as_deref()).map(str::trim);
        let mut attributes = Vec::new();
        if *live != *self.name {
            attributes.push(Attribute::new("live", Some(live), Some(&self.name)));
        }
        if stored != Some(self.name.as_str()) {
            attributes.push(Attribute::new("at boot", stored, Some(&self.name)));
        }
        if let Some(first) = attributes.first() {
            let before = first.before.as_deref().unwrap_or("none");
            changes.push(Change::new(
                object,
                format!("~ hostname ({before} -> {})", self.name),
                Detail::Attributes(attributes),
                Script::new(crate::shell!("resources/network/hostname/hostname.sh"))
                    .named("name", self.name.as_str()),
            ));
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::Objects(BTreeSet::from([Object::Path(FILE.to_owned()), Object::Path(cloud().path.0)]))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        vec![(Object::Path(FILE.to_owned()), format!("the name {}", self.name))]
    }
}
