//! `sysctl`: settings of the kernel, live and for the next boot.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::read::Entries;
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::setting::{SettingQuery, plain};
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::inventory::Promise;
use crate::inventory::expect::ExpectSystem;
use crate::resources::shared::content::RegularFile;
use crate::resources::shared::known;
use crate::resources::shared::value::{FileName, Presence, Scalar};
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::Script;

crate::record! {
    /// Settings of the kernel: `/etc/sysctl.d/99-zz-provision-NAME.conf` for the next boot, and the live
    /// values.
    ///
    /// A setting that the kernel does not have is an error: its module is not loaded, or its name is
    /// wrong. A setting whose key begins with `-` may be missing, as in sysctl.d(5). `live: false` only
    /// writes the file; use it in containers, which share the kernel of the machine that runs them.
    /// `state: absent` removes the file; live values stay until the next boot.
    SysctlFields("settings of the kernel" as Sysctl) {
        /// Name of the file: `/etc/sysctl.d/99-zz-provision-NAME.conf`.
        req name: FileName,
        /// Keys as sysctl(8) writes them, and their values.
        def values: Entries<Scalar> = Entries::default(),
        /// Whether the live values are set too.
        def live: bool = true,
        /// Whether the file must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "sysctl", SysctlFields, promises: &["system.hugepages"] }

/// Huge pages of the default size.
const HUGEPAGES: &str = "/proc/sys/vm/nr_hugepages";

#[derive(Debug)]
struct Item {
    key: String,
    value: String,
    /// Below `/proc/sys`.
    path: String,
    /// Whether it may be missing.
    optional: bool,
}

#[derive(Debug)]
struct Sysctl {
    file: RegularFile,
    items: Vec<Item>,
    live: bool,
    state: Presence,
}

/// Returns the path of a key, as sysctl.d(5) has it: whichever of `.` and `/` comes first separates, and the
/// other one stands for itself swapped (`net.ipv4.conf.eth0/100.rp_filter`).
fn path_of(key: &str) -> Option<String> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | ':' | '@');
    let first = key.find(['.', '/'])?;
    let slashes = key.get(first..)?.starts_with('/');
    let path: String = key
        .chars()
        .map(|c| match c {
            '.' if !slashes => '/',
            '/' if !slashes => '.',
            other => other,
        })
        .collect();
    let parts = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
    (parts && key.chars().all(good)).then(|| format!("/proc/sys/{path}"))
}

fn item(key: &Sp<String>, value: &Scalar, diagnostics: &mut Diagnostics) -> Option<Item> {
    let plain_key = key.strip_prefix('-').unwrap_or(key);
    let Some(path) = path_of(plain_key) else {
        diagnostics.push(
            Diagnostic::error(key.span, format!("`{}` is not a setting of the kernel", **key))
                .help("write it like `net.core.rmem_max`"),
        );
        return None;
    };
    let value = plain(&value.0);
    if value.is_empty() {
        diagnostics.error(key.span, format!("`{}` has no value", **key));
        return None;
    }
    Some(Item { key: plain_key.to_owned(), value, path, optional: key.starts_with('-') })
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = SysctlFields::from_node(node, diagnostics)?;
    let wanted = fields.state == Presence::Present;
    if wanted == fields.values.0.is_empty() {
        diagnostics.push(if wanted {
            Diagnostic::error(node.span, "no `values` are given")
                .help("add at least one: `values: { net.core.rmem_max: 67108864 }`")
        } else {
            Diagnostic::error(node.span, "`state: absent` cannot have `values`")
        });
        return None;
    }
    let items: Vec<Option<Item>> =
        fields.values.0.iter().map(|(key, value)| item(key, value, diagnostics)).collect();
    let items = items.into_iter().collect::<Option<Vec<_>>>()?;
    let line =
        |item: &Item| format!("{}{} = {}\n", if item.optional { "-" } else { "" }, item.key, item.value);
    let text = items.iter().map(line).collect::<Vec<_>>().concat();
    // The last file counts, and Debian's 99-sysctl.conf is /etc/sysctl.conf.
    let file = RegularFile::drop_in(format!("/etc/sysctl.d/99-zz-provision-{}.conf", fields.name.0), text);
    Some(Arc::new(Sysctl { file, items, live: fields.live, state: fields.state }))
}

impl Sysctl {
    fn live_items(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|_| self.live)
    }

    /// Plans the change of the live values that differ.
    fn live(&self, facts: &Facts) -> Result<Option<Change>, Unplannable> {
        let mut attributes = Vec::new();
        let mut script = Script::new(crate::shell!("resources/kernel/sysctl/sysctl.sh"));
        let mut first = None;
        let mut locked = Vec::new();
        for item in self.live_items() {
            let Some(setting) = known::setting(facts, &item.path)? else {
                if item.optional {
                    continue;
                }
                return Err(Unplannable::Missing(
                    Object::Path(item.path.clone()),
                    format!(
                        "the kernel has no setting {}: load its module first, or write `-{}` if it may be missing",
                        item.key, item.key
                    ),
                ));
            };
            let before = setting.value.as_deref();
            if before == Some(item.value.as_str()) {
                continue;
            }
            if !setting.writable {
                if known::container(facts).is_none() {
                    return Err(Unplannable::Failed(format!("{} cannot be set on this kernel", item.key)));
                }
                locked.push(item.key.as_str());
                continue;
            }
            first.get_or_insert_with(|| Object::Path(item.path.clone()));
            attributes.push(Attribute::new(&item.key, before, Some(&item.value)));
            script = script.named("path", item.path.as_str()).named("value", item.value.as_str());
        }
        let blocked = known::container(facts).filter(|_| !locked.is_empty()).map(|kind| {
            format!(
                "{} cannot be set in a container ({kind}): set it on the machine that runs it, or use `live: false`",
                locked.join(", ")
            )
        });
        let Some(object) = first else {
            return blocked.map_or(Ok(None), |reason| Err(Unplannable::Blocked(reason)));
        };
        let told: Vec<String> =
            attributes.iter().take(3).map(crate::resources::shared::content::describe).collect();
        let more = attributes.len() - told.len();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let change = Change::new(
            object,
            format!("~ sysctl ({}{more})", told.join(", ")),
            Detail::Attributes(attributes),
            script,
        );
        match blocked {
            Some(reason) => Err(Unplannable::Partly(vec![change], reason)),
            None => Ok(Some(change)),
        }
    }
}

impl Resource for Sysctl {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.file.queries();
        queries.extend(self.live_items().map(|item| SettingQuery(item.path.clone()).into()));
        queries.extend(base("virtualization"));
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let mut changes = self.file.plan_state(self.state, facts)?;
        changes.extend(self.live(facts).map_err(|error| error.beside(&changes))?);
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        let mut objects = BTreeSet::from([Object::Path(self.file.path.0.clone())]);
        objects.extend(self.live_items().map(|item| Object::Path(item.path.clone())));
        Touches::Objects(objects)
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let values = self.items.iter().map(|item| (Object::Path(item.path.clone()), item.value.clone()));
        self.file.manages_state(self.state).into_iter().chain(values).collect()
    }

    fn promises(&self, _: &Facts) -> Vec<Promise> {
        let pages = self.live_items().find(|item| item.path == HUGEPAGES && !item.optional);
        let hugepages = pages.and_then(|item| item.value.parse().ok());
        let promise = |number| ExpectSystem { hugepages: Some(number), ..ExpectSystem::default() };
        hugepages.map(promise).map(Promise::new).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn keys_are_paths() {
        for (key, path) in [
            ("net.core.rmem_max", Some("/proc/sys/net/core/rmem_max")),
            ("net.ipv4.conf.eth0/100.rp_filter", Some("/proc/sys/net/ipv4/conf/eth0.100/rp_filter")),
            ("net/ipv4/conf/eth0.100/rp_filter", Some("/proc/sys/net/ipv4/conf/eth0.100/rp_filter")),
            ("kernel", None),
            ("net..core", None),
            ("net.core.", None),
            (".net", None),
            ("net/../../etc/passwd", None),
            ("net.core.x y", None),
            ("", None),
        ] {
            assert_eq!(path_of(key).as_deref(), path, "{key}");
        }
    }
}
