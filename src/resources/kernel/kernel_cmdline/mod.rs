//! `kernel_cmdline`: arguments of the kernel, by way of the boot loader.

pub mod question;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::{Facts, Object, Query, Touches, base};
use crate::resources::kernel::kernel_cmdline::question::{Cmdline, CmdlineQuery};
use crate::resources::shared::content::RegularFile;
use crate::resources::shared::known;
use crate::resources::shared::value::{FileName, Presence, claims};
use crate::resources::{Attribute, Built, Change, Context, Detail, Planned, Resource, Unplannable};
use crate::transport::Script;

crate::record! {
    /// Arguments of the kernel: `/etc/default/grub.d/90-provision-NAME.cfg` and `update-grub` on Debian
    /// and Ubuntu, `grubby` on the RHEL family.
    ///
    /// They take effect after a reboot; the run reports that, and a `reboot` task does it. Arguments
    /// from other files are kept.
    KernelCmdlineFields("arguments of the kernel") {
        /// Name of the file.
        req name: FileName,
        /// Arguments: `iommu=pt`, `nomodeset`.
        req args: Vec<Sp<String>>,
        /// Whether the kernel must get the arguments (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "kernel_cmdline", KernelCmdlineFields }

#[derive(Debug)]
struct KernelCmdline {
    file: RegularFile,
    args: Vec<String>,
    state: Presence,
}

/// One word that neither grub nor the shell, which reads the file, takes for more.
fn is_argument(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "=._,:-/@+%~".contains(c))
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = KernelCmdlineFields::from_node(node, diagnostics)?;
    let errors = diagnostics.errors();
    let mut keys = BTreeSet::new();
    for argument in &fields.args {
        if !is_argument(argument) {
            diagnostics.push(
                Diagnostic::error(
                    argument.span,
                    format!("`{}` is not an argument of the kernel", **argument),
                )
                .help("write each argument as one word, such as `iommu=pt`"),
            );
        }
        let key = argument.split('=').next().unwrap_or_default();
        // Consoles may be several.
        if !keys.insert(key) && key != "console" {
            diagnostics.error(argument.span, format!("`{key}` is given twice"));
        }
    }
    if fields.args.is_empty() {
        diagnostics.error(node.span, "no arguments are given");
    }
    if diagnostics.errors() != errors {
        return None;
    }
    let args: Vec<String> = fields.args.into_iter().map(|argument| argument.value).collect();
    let file = RegularFile::drop_in(
        format!("/etc/default/grub.d/90-provision-{}.cfg", fields.name.0),
        format!("GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX {}\"\n", args.join(" ")),
    );
    Some(Arc::new(KernelCmdline { file, args, state: fields.state }))
}

impl KernelCmdline {
    fn object() -> Object {
        Object::Path("/proc/cmdline".to_owned())
    }

    fn cmdline(facts: &Facts) -> Result<&Cmdline, Unplannable> {
        let cmdline = known::answer(facts, &CmdlineQuery, &Self::object())?;
        Ok(cmdline)
    }

    /// Arguments that a command line has and shall not, or lacks and shall have.
    fn wrong<'a>(&'a self, line: &[String]) -> Vec<&'a str> {
        let wanted = self.state == Presence::Present;
        self.args.iter().filter(|argument| line.contains(argument) != wanted).map(String::as_str).collect()
    }

    fn change(&self, wrong: &[&str], script: Script, command: &str) -> Change {
        let wanted = self.state == Presence::Present;
        let word = |is: bool| is.then_some("given");
        let attributes =
            wrong.iter().map(|argument| Attribute::new(argument, word(!wanted), word(wanted))).collect();
        let sign = if wanted { '+' } else { '-' };
        Change::new(
            Self::object(),
            format!("~ kernel command line of the next boot ({sign}{}; {command})", wrong.join(" ")),
            Detail::Attributes(attributes),
            script,
        )
    }
}

impl Resource for KernelCmdline {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.file.queries();
        queries.push(CmdlineQuery.into());
        queries.extend(base("virtualization"));
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let cmdline = Self::cmdline(facts)?;
        if let Some(kind) = known::container(facts) {
            if self.wrong(&cmdline.running).is_empty() {
                return Ok(Vec::new());
            }
            return Err(Unplannable::Blocked(format!(
                "a container ({kind}) does not boot its own kernel: change the arguments on the machine that runs it"
            )));
        }
        let script = Script::new(crate::shell!("resources/kernel/kernel_cmdline/cmdline.sh"));
        let wrong = cmdline.next.as_deref().map(|next| self.wrong(next));
        match cmdline.loader.as_deref() {
            Some("grub") => {
                let mut changes = self.file.plan_state(self.state, facts)?;
                let wrong = wrong.unwrap_or_else(|| self.args.iter().map(String::as_str).collect());
                if !changes.is_empty() || !wrong.is_empty() {
                    let script = match self.state {
                        Presence::Present => script.named("action", "update"),
                        Presence::Absent => {
                            script.named("action", "without").named("arguments", self.args.join(" "))
                        }
                    };
                    changes.push(self.change(&wrong, script, "update-grub"));
                }
                Ok(changes)
            }
            Some("grubby") => {
                let wrong = wrong.ok_or_else(|| {
                    let reason = "grubby did not report the arguments of the default kernel".to_owned();
                    Unplannable::Unknown(Self::object(), reason)
                })?;
                if wrong.is_empty() {
                    return Ok(Vec::new());
                }
                let action = if self.state == Presence::Present { "add" } else { "remove" };
                Ok(vec![self.change(
                    &wrong,
                    script.named("action", action).named("arguments", wrong.join(" ")),
                    "grubby",
                )])
            }
            _ if self.wrong(&cmdline.running).is_empty() => Ok(Vec::new()),
            _ => Err(Unplannable::Failed(format!(
                "neither update-grub nor grubby is installed: add {} where the boot of this host is configured",
                self.args.join(" ")
            ))),
        }
    }

    fn touches(&self) -> Touches {
        Touches::Objects(BTreeSet::from([Object::Path(self.file.path.0.clone()), Self::object()]))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let wants = self.args.iter().map(|argument| {
            let (key, value) = argument.split_once('=').unwrap_or((argument, ""));
            (key, Some(format!("{value} {}", self.state)))
        });
        let own = claims(Object::Path, "/proc/cmdline", "", wants);
        self.file.manages_state(self.state).into_iter().chain(own).collect()
    }

    fn reboot(&self, facts: &Facts) -> Option<String> {
        let cmdline = Self::cmdline(facts).ok()?;
        let wrong = self.wrong(&cmdline.running);
        if wrong.is_empty() || known::container(facts).is_some() {
            return None;
        }
        let word = if self.state == Presence::Present { "without" } else { "with" };
        Some(format!("the kernel was booted {word} {}", wrong.join(" ")))
    }

    /// A cut grub.cfg does not boot.
    fn leave(&self) -> bool {
        true
    }
}
