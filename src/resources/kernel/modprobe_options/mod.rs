//! `modprobe_options`: options of a kernel module.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::read::Entries;
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::module::{Module, ModuleQuery, canonical};
use crate::facts::setting::SettingQuery;
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::inventory::Promise;
use crate::inventory::expect::ExpectRdma;
use crate::resources::kernel::kernel_module::{is_module_name, unloading};
use crate::resources::shared::content::{RegularFile, describe};
use crate::resources::shared::known;
use crate::resources::shared::value::{Presence, Scalar, claims};
use crate::resources::{
    Attribute, Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable,
};
use crate::transport::Script;

crate::record! {
    /// Options of a kernel module: `/etc/modprobe.d/provision-MODULE.conf`. If the initramfs holds the
    /// module, it is rebuilt.
    ///
    /// A module reads its options when it is loaded. With `reload: true` a module that was loaded with
    /// other options is loaded again; without it the host needs a reboot. The run reports that, and a
    /// `reboot` task does it. In a container only the file is written.
    ModprobeOptionsFields("options of a kernel module") {
        /// The module; `-` and `_` are the same.
        req module: Sp<String>,
        /// Its options and their values.
        def options: Entries<Scalar> = Entries::default(),
        /// Whether a module with other options is unloaded and loaded again. This interrupts whoever
        /// uses it.
        def reload: bool = false,
        /// Whether the file must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "modprobe_options", ModprobeOptionsFields, promises: &["rdma.erdma_compat"] }

#[derive(Debug)]
pub(in crate::resources) struct ModprobeOptions {
    /// With underscores.
    module: String,
    file: RegularFile,
    options: Vec<(String, String)>,
    reload: bool,
    state: Presence,
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = ModprobeOptionsFields::from_node(node, diagnostics)?;
    let module = canonical(&fields.module);
    let mut good = is_module_name(&module);
    if !good {
        let message = format!("`{}` is not the name of a kernel module", *fields.module);
        diagnostics.error(fields.module.span, message);
    }
    let wanted = fields.state == Presence::Present;
    if wanted == fields.options.0.is_empty() {
        good = false;
        diagnostics.push(if wanted {
            Diagnostic::error(node.span, "no `options` are given")
                .help("such as `options: { netns_mode: 0 }`")
        } else {
            Diagnostic::error(node.span, "`state: absent` cannot have `options`")
        });
    }
    let mut options = Vec::new();
    for (key, value) in fields.options.0 {
        if !is_module_name(&key) || value.0.contains('"') {
            good = false;
            diagnostics.error(key.span, format!("`{}` is not the name of a module option", *key));
        }
        options.push((key.value, value.0));
    }
    if !good {
        return None;
    }
    Some(Arc::new(ModprobeOptions::new(module, options, fields.reload, fields.state)))
}

/// Whether the kernel's word for a parameter means the wanted value: booleans are `Y` and `N`.
fn same(now: &str, wanted: &str) -> bool {
    let boolean = |text: &str| match text {
        "Y" | "y" | "1" | "on" | "true" => Some(true),
        "N" | "n" | "0" | "off" | "false" => Some(false),
        _ => None,
    };
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse::<i64>().ok(),
    };
    now == wanted
        || (matches!(now, "Y" | "N") && boolean(now) == boolean(wanted))
        || (number(now).is_some() && number(now) == number(wanted))
}

impl ModprobeOptions {
    /// Of a module with underscores and checked options.
    pub(in crate::resources) fn new(
        module: String,
        options: Vec<(String, String)>,
        reload: bool,
        state: Presence,
    ) -> Self {
        let words: String = options
            .iter()
            .map(|(key, value)| {
                // The kernel takes double quotes around a value with white space.
                if value.contains(char::is_whitespace) {
                    format!(" {key}=\"{value}\"")
                } else {
                    format!(" {key}={value}")
                }
            })
            .collect();
        let file = RegularFile::drop_in(
            format!("/etc/modprobe.d/provision-{module}.conf"),
            format!("options {module}{words}\n"),
        );
        Self { module, file, options, reload, state }
    }

    fn object(&self) -> Object {
        Object::Module(self.module.clone())
    }

    fn parameter(&self, option: &str) -> String {
        format!("/sys/module/{}/parameters/{option}", self.module)
    }

    fn module<'a>(&self, facts: &'a Facts) -> Result<&'a Module, Unplannable> {
        let module = known::answer(facts, &ModuleQuery(self.module.clone()), &self.object())?;
        Ok(module)
    }

    fn change(&self, summary: String, detail: Detail, script: Script, disruption: Disruption) -> Change {
        Change::new(self.object(), summary, detail, script).disrupting(disruption)
    }

    /// Options that the loaded module has otherwise. Those that it does not tell are left out.
    fn drifted(&self, facts: &Facts) -> Result<Vec<Attribute>, Unplannable> {
        let mut drifted = Vec::new();
        for (option, wanted) in &self.options {
            let setting = known::setting(facts, &self.parameter(option))?;
            if let Some(now) = setting.and_then(|setting| setting.value.as_deref())
                && !same(now, wanted)
            {
                drifted.push(Attribute::new(option, Some(now), Some(wanted)));
            }
        }
        Ok(drifted)
    }
}

impl Resource for ModprobeOptions {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.file.queries();
        queries.push(ModuleQuery(self.module.clone()).into());
        queries.extend(base("virtualization"));
        queries.extend(self.options.iter().map(|(option, _)| SettingQuery(self.parameter(option)).into()));
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let mut changes = self.file.plan_state(self.state, facts)?;
        if known::container(facts).is_some() {
            return Ok(changes);
        }
        if !changes.is_empty() {
            changes.push(
                self.change(
                    format!("~ initramfs (rebuild, when {} is in it)", self.module),
                    Detail::Command("update-initramfs -u, or dracut -f".to_owned()),
                    Script::new(crate::shell!(
                        "resources/shared/initramfs_module.sh",
                        "resources/shared/initramfs.sh"
                    ))
                    .named("modules", self.module.as_str())
                    .named("file", self.file.path.0.as_str()),
                    Disruption::None,
                ),
            );
        }
        let drifted = self.drifted(facts)?;
        if drifted.is_empty() {
            return Ok(changes);
        }
        let told = drifted.iter().map(describe).collect::<Vec<_>>().join(", ");
        if self.module(facts)?.builtin {
            let words: Vec<String> =
                self.options.iter().map(|(key, value)| format!("{}.{key}={value}", self.module)).collect();
            return Err(Unplannable::Failed(format!(
                "{} is built into the kernel, which reads its options from the kernel command line: add {} there",
                self.module,
                words.join(" ")
            )));
        }
        if self.reload {
            changes.push(
                self.change(
                    format!("~ module {} (reload: {told})", self.module),
                    Detail::Attributes(drifted),
                    Script::new(crate::shell!("resources/kernel/module.sh"))
                        .named("action", "reload")
                        .named("module", self.module.as_str()),
                    unloading(&self.module),
                ),
            );
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::Objects(BTreeSet::from([Object::Path(self.file.path.0.clone()), self.object()]))
    }

    /// The options as `kernel_module` claims them, so that the two are not at odds over one module.
    fn manages(&self) -> Vec<(Object, String)> {
        let options: Vec<String> = self.options.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let options = (self.state == Presence::Present).then(|| options.join(" "));
        let module = claims(Object::Module, &self.module, "", [("options", options)]);
        self.file.manages_state(self.state).into_iter().chain(module.into_iter().skip(1)).collect()
    }

    /// Loaded with others, and not to be loaded anew.
    /// What the checks know of modules; that of a container is the machine's.
    fn promises(&self, facts: &Facts) -> Vec<Promise> {
        let held = self.state == Presence::Present && known::container(facts).is_none();
        let mode =
            self.options.iter().find(|(option, _)| held && self.module == "erdma" && option == "compat_mode");
        let compat = mode.map(|(_, value)| same("Y", value));
        let promise = |on| Promise::new(ExpectRdma { erdma_compat: Some(on), ..ExpectRdma::default() });
        compat.map(promise).into_iter().collect()
    }

    fn reboot(&self, facts: &Facts) -> Option<String> {
        let drifted = self.drifted(facts).ok()?;
        let waits = !self.reload && !drifted.is_empty() && known::container(facts).is_none();
        waits.then(|| {
            let told = drifted.iter().map(describe).collect::<Vec<_>>().join(", ");
            format!("{} is loaded with other options ({told})", self.module)
        })
    }

    /// A cut initramfs does not boot.
    fn leave(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn values_of_the_kernel() {
        for (now, wanted, equal) in [
            ("Y", "1", true),
            ("N", "1", false),
            ("N", "0", true),
            ("Y", "true", true),
            ("1", "1", true),
            ("1", "0", false),
            ("16", "0x10", true),
            ("a,b", "a,b", true),
            ("1", "Y", false),
        ] {
            assert_eq!(same(now, wanted), equal, "{now} {wanted}");
        }
    }
}
