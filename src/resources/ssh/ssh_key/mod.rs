//! `ssh_key`: a user's own key, made on the host.

use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node, Sp};
use crate::facts::ssh_user::SshKeyQuery;
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::shared::known;
use crate::resources::shared::value::{AccountName, FileName};
use crate::resources::{Built, Change, Context, Detail, LoginEffect, Planned, Resource, Unplannable};
use crate::transport::Script;

crate::choice! {
    /// Types of keys that ssh-keygen makes.
    KeyType {
        /// Short and fast.
        Ed25519 = "ed25519",
        /// For systems in FIPS mode, where ed25519 is not allowed.
        Ecdsa = "ecdsa",
        /// With 3072 bits.
        Rsa = "rsa",
    }
}

crate::record! {
    /// A user's own SSH key without a passphrase, made on the host by `ssh-keygen`.
    ///
    /// The private half never leaves the host. An existing key is kept. If it has a passphrase, the
    /// task fails, since nobody can type it when a job starts. If several hosts share one home
    /// directory, one of them makes the key.
    SshKeyFields("an SSH key") {
        /// The user whose key it is.
        req user: AccountName,
        /// Type of the key.
        def kind ("type"): KeyType = KeyType::Ed25519,
        /// Name of the file in `~/.ssh`. Left out: `id_ed25519` and so on, after the type.
        opt name: FileName,
        /// Comment of the public half.
        opt comment: Sp<String>,
    }
}

kind! { "ssh_key", SshKeyFields }

#[derive(Debug)]
struct SshKey {
    user: String,
    kind: KeyType,
    name: String,
    comment: String,
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = SshKeyFields::from_node(node, diagnostics)?;
    let comment = fields.comment.as_ref().map(|comment| comment.value.clone());
    if let Some(wrong) = fields.comment.filter(|text| text.chars().any(char::is_control)) {
        diagnostics.error(wrong.span, "a comment must be one line");
        return None;
    }
    Some(Arc::new(SshKey {
        name: fields.name.map_or_else(|| format!("id_{}", fields.kind), |name| name.0),
        user: fields.user.0,
        kind: fields.kind,
        comment: comment.unwrap_or_else(|| format!("provision-mesh@{}", context.roster().cluster)),
    }))
}

impl SshKey {
    fn query(&self) -> SshKeyQuery {
        SshKeyQuery { user: self.user.clone(), name: self.name.clone() }
    }
}

impl Resource for SshKey {
    fn queries(&self) -> Vec<Query> {
        vec![self.query().into()]
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let object = Object::User(self.user.clone());
        let found = known::answer(facts, &self.query(), &object)?;
        let Some(found) = found else {
            return Err(Unplannable::Missing(object, format!("there is no user {}", self.user)));
        };
        let path = format!("{}/.ssh/{}", found.home, self.name);
        known::home(found.homeless, &self.user, &found.home)?;
        if found.linked {
            return Err(Unplannable::Failed(format!(
                "{path} or its directory is a symbolic link: replace it with a real one"
            )));
        }
        if found.encrypted {
            return Err(Unplannable::Failed(format!(
                "{path} has a passphrase: choose another key with `name`"
            )));
        }
        if found.private && found.public.is_some() {
            return Ok(Vec::new());
        }
        if !found.keygen {
            return Err(Unplannable::Unknown(
                Object::Package("openssh-client".to_owned()),
                "ssh-keygen is not installed".to_owned(),
            ));
        }
        let what = if found.private { "~" } else { "+" };
        let half = if found.private { ".pub" } else { "" };
        Ok(vec![Change::new(
            Object::Path(path.clone()),
            format!("{what} {path}{half}"),
            Detail::Command(format!("ssh-keygen -t {} -f {path}", self.kind)),
            Script::new(crate::shell!(
                "shell/reach.sh",
                "resources/shared/ssh_directory.sh",
                "resources/ssh/ssh_key/ssh_key.sh"
            ))
            .named("directory", format!("{}/.ssh", found.home))
            .named("uid", found.uid.to_string())
            .named("gid", found.gid.to_string())
            .named("name", self.name.as_str())
            .named("type", self.kind.to_string())
            .named("comment", self.comment.as_str()),
        )])
    }

    fn touches(&self) -> Touches {
        // Where the file is only the host knows; its query is one of the user.
        Touches::one(Object::User(self.user.clone()))
    }

    fn manages(&self) -> Vec<(Object, String)> {
        vec![(Object::User(format!("{} (own key {})", self.user, self.name)), self.kind.to_string())]
    }

    /// Reports no effect on logins: the users who may log in stay the same.
    fn login(&self, _: &Facts) -> LoginEffect {
        LoginEffect::Same
    }
}
