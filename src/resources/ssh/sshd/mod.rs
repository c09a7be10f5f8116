//! `sshd`: options of the SSH server, as a drop-in that is tried before it counts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::config::read::Entries;
use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node};
use crate::facts::sshd::SshdQuery;
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::content::RegularFile;
use crate::resources::shared::known;
use crate::resources::shared::login::reload_sshd;
use crate::resources::shared::value::{FileName, Presence, Scalar};
use crate::resources::{Built, Change, Context, LoginEffect, Planned, Resource, Undo, Unplannable};
use crate::transport::{Arg, Script};

crate::record! {
    /// Options of sshd, in `/etc/ssh/sshd_config.d/NAME.conf`.
    ///
    /// `sshd -t` must accept the file before sshd reads it. Because logins depend on it, the host
    /// undoes the change by itself unless a new login confirms it. sshd uses the first value that it
    /// reads: if an earlier file sets another value, the task fails and names the value in force. Older
    /// servers (EL 8) do not read this directory.
    SshdFields("options of sshd") {
        /// The file's name without `.conf`; files are read in the order of their names.
        def name: FileName = FileName("50-provision".to_owned()),
        /// Options and their values, as in `sshd_config(5)`.
        def options: Entries<Scalar> = Entries::default(),
        /// Whether the file must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "sshd", SshdFields }

const DIRECTORY: &str = "/etc/ssh/sshd_config.d";

#[derive(Debug)]
struct Sshd {
    file: RegularFile,
    text: String,
    options: Vec<(String, String)>,
    state: Presence,
}

pub(in crate::resources) fn read(node: &Node, _: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = SshdFields::from_node(node, diagnostics)?;
    let wanted = fields.state == Presence::Present;
    let mut good = true;
    if wanted == fields.options.0.is_empty() {
        good = false;
        diagnostics.push(if wanted {
            Diagnostic::error(node.span, "no `options` are given")
                .help("such as `options: { PermitRootLogin: prohibit-password }`")
        } else {
            Diagnostic::error(node.span, "`state: absent` cannot have `options`")
        });
    }
    let mut text = "# Written by provision.\n".to_owned();
    let mut options = Vec::new();
    for (key, value) in fields.options.0 {
        let word = !key.value.is_empty() && key.value.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let section = ["match", "include"].contains(&key.value.to_ascii_lowercase().as_str());
        if !word || section || value.0.is_empty() {
            good = false;
            diagnostics.push(
                Diagnostic::error(key.span, format!("`{}` cannot be an option here", *key))
                    .help("write each option on a line of its own: `MaxStartups: 100:30:400`"),
            );
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} {}", *key, value.0);
        options.push((key.value, value.0));
    }
    let file = RegularFile::drop_in(format!("{DIRECTORY}/{}.conf", fields.name.0), text.clone());
    good.then(|| Arc::new(Sshd { file, text, options, state: fields.state }) as Arc<dyn Resource>)
}

/// Whether `sshd -T` shows a value as it is written: words it knows and plain numbers.
fn is_shown_as_written(value: &str) -> bool {
    matches!(value, "yes" | "no") || value.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
}

impl Sshd {
    /// Reports an option whose value in force is another than the file's.
    fn overruled(&self, found: &crate::facts::sshd::Sshd) -> Option<String> {
        self.options.iter().find_map(|(key, value)| {
            let lower = key.to_ascii_lowercase();
            let shown = found.options.get(&lower)?;
            let wanted = if value == "prohibit-password" { "without-password" } else { value.as_str() };
            let comparable = is_shown_as_written(value) || value == "prohibit-password";
            let several = matches!(lower.as_str(), "port" | "listenaddress");
            let same = shown == wanted || shown == value;
            (comparable && !several && !same).then(|| {
                format!(
                    "{key} is {shown}, not {value}: a file that sshd reads before {} says so; \
                     give this one a `name` that comes first",
                    self.file.path.as_str()
                )
            })
        })
    }
}

impl Resource for Sshd {
    fn queries(&self) -> Vec<Query> {
        let mut queries = self.file.queries();
        queries.push(SshdQuery.into());
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let path = self.file.path.as_str();
        if self.state == Presence::Absent && known::path(facts, path)?.is_none() {
            return Ok(Vec::new());
        }
        let object = Object::Path("/etc/ssh/sshd_config".to_owned());
        let found = known::answer(facts, &SshdQuery, &object)?;
        if self.state == Presence::Present && !found.drop_ins {
            return Err(Unplannable::Failed(format!(
                "/etc/ssh/sshd_config does not include {DIRECTORY}/*.conf: with OpenSSH 8.2 or newer a `line` task \
                 can put that in; older ones have no drop-ins"
            )));
        }
        let changes = self.file.plan_state(self.state, facts)?;
        if changes.is_empty() && self.state == Presence::Present {
            if !found.problem.is_empty() {
                return Err(Unplannable::Failed(format!(
                    "sshd refuses its configuration: {}",
                    found.problem
                )));
            }
            return match self.overruled(found) {
                Some(reason) => Err(Unplannable::Failed(reason)),
                None => Ok(changes),
            };
        }
        let text = if self.state == Presence::Present { self.text.clone() } else { String::new() };
        let script = Script::new(crate::shell!(
            "shell/base64.sh",
            "shell/reach.sh",
            "resources/shared/after.sh",
            "resources/shared/put.sh",
            "resources/ssh/sshd/sshd.sh",
            "resources/shared/sshd_reload.sh"
        ))
        .named("path", path)
        .named("state", self.state.to_string())
        .named("content", Arg::Packed(text));
        // One change: the file, the trial and the reload go together.
        let told = changes.into_iter().last();
        Ok(told.map(|change| Change { script, ..change }).into_iter().collect())
    }

    fn touches(&self) -> Touches {
        Touches::Objects(BTreeSet::from([
            Object::Path(DIRECTORY.to_owned()),
            Object::Unit("ssh.service".to_owned()),
            Object::Unit("sshd.service".to_owned()),
        ]))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        self.file.manages_state(self.state)
    }

    /// In force at once, so the host takes it back unless a new login confirms it.
    fn login(&self, _: &Facts) -> LoginEffect {
        LoginEffect::Guarded(Undo::new("sshd").path(self.file.path.as_str()).restore(reload_sshd()))
    }
}
