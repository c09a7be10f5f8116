//! `kernel_module`: a module loaded, unloaded or kept out.

use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp, Span};
use crate::facts::file::PathQuery;
use crate::facts::module::{Module, ModuleQuery, canonical};
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::resources::shared::content::{RegularFile, removal};
use crate::resources::shared::known;
use crate::resources::shared::value::claims;
use crate::resources::{
    Attribute, Built, Change, Context, Detail, Disruption, Planned, Resource, Unplannable,
};
use crate::transport::Script;

crate::choice! {
    /// The wanted state of a module.
    ModuleState {
        /// Loaded, or built into the kernel.
        Loaded = "loaded",
        /// Not loaded.
        Unloaded = "unloaded",
        /// Never loaded automatically. If it is loaded now, it stays until it is unloaded or the host boots.
        Blacklisted = "blacklisted",
    }
}

crate::record! {
    /// A kernel module.
    ///
    /// `persist` writes `/etc/modules-load.d/provision-NAME.conf`; `options` and
    /// `state: blacklisted` write `/etc/modprobe.d/provision-NAME.conf` and rebuild the initramfs.
    KernelModule("a kernel module") {
        /// Name of the module; `-` and `_` are the same.
        req name: Sp<String>,
        /// The wanted state.
        def state: ModuleState = ModuleState::Loaded,
        /// Whether it is loaded at boot. Left out: unchanged.
        opt persist: bool,
        /// Its options, as modprobe takes them. They take effect when the module is loaded next.
        opt options: Sp<String>,
    }
}

kind! { "kernel_module", KernelModule }

/// Modules that take the network of the host with them.
const NETWORK: &[&str] =
    &["mlx5_core", "mlx5_ib", "mlx4_core", "ice", "i40e", "ixgbe", "bnxt_en", "virtio_net", "ena", "irdma"];

/// Returns the interruption that the unloading of a module causes.
pub(in crate::resources) fn unloading(module: &str) -> Disruption {
    if NETWORK.contains(&module) {
        Disruption::Network
    } else if module.starts_with("nvidia") || matches!(module, "nouveau" | "amdgpu") {
        Disruption::Gpu
    } else {
        Disruption::Service
    }
}

/// Whether a text is a name that modprobe takes.
pub(in crate::resources) fn is_module_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = KernelModule::from_node(node, diagnostics)?;
    let name = &fields.name;
    if !is_module_name(name) {
        diagnostics.error(name.span, format!("`{}` is not the name of a kernel module", **name));
        return None;
    }
    if let Some(options) = &fields.options
        && (options.contains(['\n', '\0']) || options.trim().is_empty())
    {
        diagnostics.error(options.span, "write module options as one line of `name=value`");
        return None;
    }
    if fields.persist == Some(true) && fields.state != ModuleState::Loaded {
        diagnostics.push(
            Diagnostic::error(
                node.span,
                format!("`persist: true` cannot be combined with `state: {}`", fields.state),
            )
            .help("`persist` would load the module at boot"),
        );
        return None;
    }
    Some(Arc::new(fields))
}

impl KernelModule {
    /// One that is loaded, now and at each boot.
    pub(in crate::resources) fn always(name: &str) -> Self {
        let name = Sp::new(name.to_owned(), Span::NONE);
        Self { name, state: ModuleState::Loaded, persist: Some(true), options: None }
    }

    fn module(&self) -> String {
        canonical(&self.name)
    }

    fn object(&self) -> Object {
        Object::Module(self.module())
    }

    fn file(&self, directory: &str, content: String) -> RegularFile {
        RegularFile::drop_in(format!("/etc/{directory}/provision-{}.conf", self.name), content)
    }

    fn load_file(&self) -> RegularFile {
        self.file("modules-load.d", format!("{}\n", self.name))
    }

    /// `/etc/modprobe.d`: options and blacklist, when one of them is wanted.
    fn option_file(&self) -> Option<RegularFile> {
        let mut content = String::new();
        if self.state == ModuleState::Blacklisted {
            content = format!("blacklist {}\n", self.module());
        }
        if let Some(options) = &self.options {
            content = format!("{content}options {} {options}\n", self.module());
        }
        (!content.is_empty()).then(|| self.file("modprobe.d", content))
    }

    fn found<'a>(&self, facts: &'a Facts) -> Result<&'a Module, Unplannable> {
        let module = known::answer(facts, &ModuleQuery(self.module()), &self.object())?;
        Ok(module)
    }

    fn change(&self, action: &'static str, before: &str, after: &str, disruption: Disruption) -> Change {
        Change::new(
            self.object(),
            format!("~ module {} ({before} -> {after})", self.module()),
            Detail::Attributes(vec![Attribute::new("state", Some(before), Some(after))]),
            Script::new(crate::shell!("resources/kernel/module.sh"))
                .named("action", action)
                .named("module", self.name.as_str()),
        )
        .disrupting(disruption)
    }

    fn loading(&self, facts: &Facts) -> Result<Option<Change>, Unplannable> {
        let module = match (self.state, self.found(facts)) {
            // modprobe.d can be written whatever is known of the module.
            (ModuleState::Blacklisted, _) => return Ok(None),
            (ModuleState::Loaded | ModuleState::Unloaded, module) => module?,
        };
        let there = module.loaded || module.builtin;
        let wanted = self.state == ModuleState::Loaded;
        if there == wanted {
            return Ok(None);
        }
        if let Some(kind) = known::container(facts) {
            let verb = if wanted { "loaded" } else { "unloaded" };
            return Err(Unplannable::Blocked(format!(
                "module {} cannot be {verb} in a container ({kind}): do it on the machine that runs it",
                self.module()
            )));
        }
        if !wanted {
            if module.builtin {
                return Err(Unplannable::Failed(format!(
                    "{} is built into kernel {} and cannot be unloaded",
                    self.module(),
                    module.kernel
                )));
            }
            return Ok(Some(self.change("unload", "loaded", "unloaded", unloading(&self.module()))));
        }
        if !module.available {
            return Err(Unplannable::Missing(
                self.object(),
                format!("kernel {} has no module {}", module.kernel, self.module()),
            ));
        }
        Ok(Some(self.change("load", "not loaded", "loaded", Disruption::None)))
    }
}

impl Resource for KernelModule {
    fn queries(&self) -> Vec<Query> {
        let mut queries = vec![ModuleQuery(self.module()).into()];
        queries.extend(base("virtualization"));
        match self.persist {
            Some(true) => queries.extend(self.load_file().queries()),
            Some(false) => queries.push(PathQuery(self.load_file().path.0).into()),
            None => {}
        }
        queries.extend(self.option_file().iter().flat_map(RegularFile::queries));
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let mut changes = Vec::new();
        let files = self.option_file();
        if let Some(file) = &files {
            let written = file.plan(facts)?;
            let rebuild = !written.is_empty() && known::container(facts).is_none();
            changes.extend(written);
            if rebuild {
                changes.push(Change::new(
                    self.object(),
                    "~ initramfs (rebuild)".to_owned(),
                    Detail::Command("update-initramfs -u, or dracut -f".to_owned()),
                    Script::new(crate::shell!("resources/shared/initramfs.sh"))
                        .named("file", file.path.0.as_str()),
                ));
            }
        }
        match self.persist {
            Some(true) => changes.extend(self.load_file().plan(facts)?),
            Some(false) => {
                let path = self.load_file().path.0;
                if known::path(facts, &path)?.is_some() {
                    changes.push(removal(&path, None));
                }
            }
            None => {}
        }
        changes.extend(self.loading(facts).map_err(|error| error.beside(&changes))?);
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        let mut objects = std::collections::BTreeSet::from([self.object()]);
        if self.persist.is_some() {
            objects.insert(Object::Path(self.load_file().path.0));
        }
        objects.extend(self.option_file().map(|file| Object::Path(file.path.0)));
        Touches::Objects(objects)
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let attributes = [
            ("at boot", self.persist.map(|persist| persist.to_string())),
            ("options", self.options.as_deref().cloned()),
        ];
        claims(Object::Module, &self.module(), self.state.to_string(), attributes)
    }

    /// A cut initramfs does not boot.
    fn leave(&self) -> bool {
        self.option_file().is_some()
    }
}
