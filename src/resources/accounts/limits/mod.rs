//! `limits`: what processes may use, for logins (PAM) and for services (systemd).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::config::read::Entries;
use crate::config::{Diagnostic, Diagnostics, FromNode, Node, Sp, Yaml, did_you_mean_text};
use crate::facts::unit::ManagerQuery;
use crate::facts::{Facts, Object, Query, Touches};
use crate::inventory::Promise;
use crate::inventory::expect::ExpectSystem;
use crate::resources::shared::content::{RegularFile, describe};
use crate::resources::shared::known;
use crate::resources::shared::value::{FileName, Presence, is_account_name};
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::Script;

/// A limit: a number, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// No limit.
    Unlimited,
    /// In the unit of limits.conf(5): KiB for sizes.
    Number(u64),
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unlimited => f.write_str("unlimited"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

impl FromNode for Limit {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if let Yaml::Int(_) = node.value {
            return u64::from_node(node, diagnostics).map(Self::Number);
        }
        match node.as_str() {
            Some("unlimited" | "infinity" | "-1") => return Some(Self::Unlimited),
            Some(text) => {
                if let Ok(number) = text.parse() {
                    return Some(Self::Number(number));
                }
                diagnostics.push(
                    Diagnostic::error(node.span, format!("`{text}` is not a limit"))
                        .help("write a number, or `unlimited`"),
                );
            }
            None => crate::config::read::wrong_type(node, "a number or `unlimited`", diagnostics),
        }
        None
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "enum": ["unlimited"] }] })
    }
}

crate::record! {
    /// Limits of processes: `/etc/security/limits.d/90-provision-NAME.conf` for logins.
    ///
    /// `services: true` also sets systemd's defaults, in `system.conf.d` and `user.conf.d`, because
    /// PAM's limits do not apply to services (slurmd, containerd, kubelet). Running sessions and
    /// services keep their limits until they are started again. RDMA needs `memlock: unlimited`. Do not
    /// set `stack`: with unlimited stacks, threads of NCCL before 2.28 reserve huge ones.
    LimitsFields("limits") {
        /// Name of the files: `90-provision-NAME.conf`.
        req name: FileName,
        /// Limits of limits.conf(5): `memlock` in KiB, `nofile`, `nproc` ..., or `unlimited`.
        def values: Entries<Limit> = Entries::default(),
        /// Users and groups that get them: names of users, `@GROUP`, or `*` for everybody but root.
        def domains: Vec<Sp<String>> = Vec::new(),
        /// Whether services get them too.
        def services: bool = false,
        /// Whether the files must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "limits", LimitsFields, promises: &["system.memlock", "system.nofile"] }

/// Items of limits.conf(5), and for those that `services` takes the name in systemd.exec(5) and
/// how many of its units one is.
const ITEMS: &[(&str, Option<(&str, u64)>)] = &[
    ("as", Some(("AS", 1024))),
    ("core", Some(("CORE", 1024))),
    ("cpu", None),
    ("data", Some(("DATA", 1024))),
    ("fsize", Some(("FSIZE", 1024))),
    ("locks", Some(("LOCKS", 1))),
    ("maxlogins", None),
    ("maxsyslogins", None),
    ("memlock", Some(("MEMLOCK", 1024))),
    ("msgqueue", Some(("MSGQUEUE", 1))),
    ("nice", None),
    ("nofile", Some(("NOFILE", 1))),
    ("nproc", Some(("NPROC", 1))),
    ("priority", None),
    ("rss", Some(("RSS", 1024))),
    ("rtprio", None),
    ("sigpending", Some(("SIGPENDING", 1))),
    ("stack", Some(("STACK", 1024))),
];

#[derive(Debug)]
struct Limits {
    logins: RegularFile,
    /// `system.conf.d` and `user.conf.d`; none when services are left alone.
    services: Vec<RegularFile>,
    /// Properties of systemd with what `systemctl show` shall say.
    defaults: Vec<(String, String)>,
    /// Limits that every login gets.
    logins_get: Option<ExpectSystem>,
    state: Presence,
}

/// A default of systemd: its property, as it is written, and as `systemctl show` tells it.
fn default_of(property: &str, factor: u64, limit: Limit) -> Option<(String, String)> {
    let value = match limit {
        Limit::Unlimited => "infinity".to_owned(),
        Limit::Number(number) => number.checked_mul(factor)?.to_string(),
    };
    Some((format!("DefaultLimit{property}"), value))
}

/// Returns what `verify` can expect of a login with these limits.
fn expected(values: &Entries<Limit>) -> ExpectSystem {
    let limit = |name: &str| values.0.iter().find(|(item, _)| item.value == name).map(|(_, limit)| *limit);
    let nofile = limit("nofile").and_then(|limit| match limit {
        Limit::Number(number) => Some(number),
        Limit::Unlimited => None,
    });
    ExpectSystem {
        memlock: limit("memlock").map(|limit| limit.to_string()),
        nofile,
        ..ExpectSystem::default()
    }
}

fn is_domain(text: &str) -> bool {
    text == "*" || text == "%" || is_account_name(text.strip_prefix(['@', '%']).unwrap_or(text))
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = LimitsFields::from_node(node, diagnostics)?;
    let wanted = fields.state == Presence::Present;
    if wanted && fields.values.0.is_empty() {
        diagnostics.push(
            Diagnostic::error(node.span, "no `values` are given")
                .help("add at least one: `values: { memlock: unlimited }`"),
        );
        return None;
    }
    let mut good = true;
    for domain in fields.domains.iter().filter(|domain| !is_domain(domain)) {
        good = false;
        diagnostics.push(
            Diagnostic::error(domain.span, format!("`{}` cannot have a limit", **domain))
                .help("write a user, `@GROUP`, or `*`"),
        );
    }
    let mut defaults = Vec::new();
    for (item, limit) in &fields.values.0 {
        let Some((_, service)) = ITEMS.iter().find(|(name, _)| *name == item.value) else {
            good = false;
            let known = ITEMS.iter().map(|(name, _)| *name);
            diagnostics.push(
                Diagnostic::error(item.span, format!("`{}` is not a limit", **item))
                    .maybe_help(did_you_mean_text(item, known)),
            );
            continue;
        };
        if !fields.services {
            continue;
        }
        if let Some(default) = service.and_then(|(property, factor)| default_of(property, factor, *limit)) {
            defaults.push(default);
        } else {
            good = false;
            diagnostics.push(
                Diagnostic::error(item.span, format!("`{}` cannot be a default for services", **item))
                    .help("move it to a task without `services`"),
            );
        }
    }
    if !good {
        return None;
    }
    let mut domains: Vec<&str> = fields.domains.iter().map(|domain| domain.value.as_str()).collect();
    if domains.is_empty() {
        domains = vec!["*", "root"];
    }
    let everybody = ["*", "root"].iter().all(|domain| domains.contains(domain));
    let mut text = String::new();
    for domain in domains {
        for (item, limit) in &fields.values.0 {
            for kind in ["soft", "hard"] {
                text = format!("{text}{domain} {kind} {} {limit}\n", **item);
            }
        }
    }
    let name = format!("90-provision-{}.conf", fields.name.0);
    let manager: String = std::iter::once("[Manager]\n".to_owned())
        .chain(defaults.iter().map(|(property, value)| format!("{property}={value}\n")))
        .collect();
    let services = if fields.services { &["system", "user"][..] } else { &[] };
    Some(Arc::new(Limits {
        logins: RegularFile::drop_in(format!("/etc/security/limits.d/{name}"), text),
        services: services
            .iter()
            .map(|kind| RegularFile::drop_in(format!("/etc/systemd/{kind}.conf.d/{name}"), manager.clone()))
            .collect(),
        defaults: if wanted { defaults } else { Vec::new() },
        logins_get: (wanted && everybody).then(|| expected(&fields.values)),
        state: fields.state,
    }))
}

impl Limits {
    fn files(&self) -> impl Iterator<Item = &RegularFile> {
        std::iter::once(&self.logins).chain(&self.services)
    }

    /// Plans that systemd reads its defaults again, where one of them differs.
    fn reexec(&self, facts: &Facts) -> Result<Option<Change>, Unplannable> {
        let mut attributes = Vec::new();
        for (property, wanted) in &self.defaults {
            let object = Object::Path(format!("/etc/systemd/system.conf ({property})"));
            let now = known::answer(facts, &ManagerQuery(property.clone()), &object)?;
            if now != wanted {
                attributes.push(Attribute::new(property, Some(now), Some(wanted)));
            }
        }
        if attributes.is_empty() {
            return Ok(None);
        }
        let told: Vec<String> = attributes.iter().map(describe).collect();
        Ok(Some(Change::new(
            Object::Path("/etc/systemd/system.conf".to_owned()),
            format!("~ systemd ({})", told.join(", ")),
            Detail::Attributes(attributes),
            Script::new(crate::shell!("resources/shared/unit.sh")).named("action", "daemon-reexec"),
        )))
    }
}

impl Resource for Limits {
    fn queries(&self) -> Vec<Query> {
        let defaults = self.defaults.iter().map(|(property, _)| ManagerQuery(property.clone()).into());
        self.files().flat_map(RegularFile::queries).chain(defaults).collect()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let mut changes = Vec::new();
        for file in self.files() {
            changes.extend(file.plan_state(self.state, facts)?);
        }
        changes.extend(self.reexec(facts)?);
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::Objects(self.files().map(|file| Object::Path(file.path.0.clone())).collect::<BTreeSet<_>>())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        self.files().flat_map(|file| file.manages_state(self.state)).collect()
    }

    /// In a container its engine has the last word on limits.
    fn promises(&self, facts: &Facts) -> Vec<Promise> {
        let logins = self.logins_get.clone().filter(|_| known::container(facts).is_none());
        logins.map(Promise::new).into_iter().collect()
    }
}
