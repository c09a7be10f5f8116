//! `watch:`: how often `provision watch` looks, and whom it tells.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value as Json;

use super::values::{SecretName, unknown};
use crate::config::{Diagnostic, Diagnostics, Entries, FromNode, Node, Period, Sp};
use crate::secrets::SecretSource;

crate::choice! {
    /// Service whose message format a webhook takes.
    WebhookKind {
        /// A custom bot of Feishu or Lark.
        Feishu = "feishu",
        /// A custom robot of DingTalk.
        Dingtalk = "dingtalk",
        /// An incoming webhook of Slack.
        Slack = "slack",
        /// A group robot of WeCom.
        Wecom = "wecom",
        /// Anything that takes JSON.
        Json = "json",
    }
}

impl WebhookKind {
    /// Whether requests to it can be signed.
    fn signs(self) -> bool {
        matches!(self, Self::Feishu | Self::Dingtalk | Self::Json)
    }
}

crate::record! {
    /// A webhook. Its URL lets anybody write there, so it is a secret.
    WebhookFile("a webhook") {
        /// Service whose message format it takes.
        req kind: Sp<WebhookKind>,
        /// The secret that is its URL.
        req url: UrlName,
        /// The secret that requests are signed with; for `feishu`, `dingtalk` and `json`.
        opt sign: SecretName,
    }
}

crate::record! {
    /// Settings of `provision watch`: how often it looks at the hosts, and whom it tells what has changed.
    WatchFile("`watch`") {
        /// Interval between looks at the hosts, unless `--every` says it. Default: `10m`.
        opt every: Period,
        /// The shortest time between two messages; what happens meanwhile is one message. Default: `5m`.
        opt gap: Period,
        /// Rounds in a row that must find a thing before it is told; a counter that grew is told at once. Default: 1.
        opt confirm: Sp<u32>,
        /// Rounds in a row that must not find it any more before it is told as recovered. Each time that it comes
        /// back within a day, this doubles, up to 16 times. Default: 2.
        opt recover: Sp<u32>,
        /// Webhooks that are told, by a name of your choice. Without any, changes are only printed.
        def webhooks: Entries<WebhookFile> = Entries::default(),
    }
}

/// The secret that is a URL; one that is written here would be none.
#[derive(Debug, Clone)]
pub struct UrlName(SecretName);

impl FromNode for UrlName {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if node.as_str().is_some() {
            diagnostics.push(
                Diagnostic::error(
                    node.span,
                    "whoever knows the URL of a webhook may write there, so it is a secret",
                )
                .help("put it into a file, name that under `secrets:`, and write `url: { secret: NAME }`"),
            );
            return None;
        }
        SecretName::from_node(node, diagnostics).map(Self)
    }

    fn schema() -> Json {
        SecretName::schema()
    }
}

/// A webhook: names of secrets, no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its name in the inventory.
    pub name: String,
    /// Service whose message format it takes.
    pub kind: WebhookKind,
    /// The secret that is its URL.
    pub url: String,
    /// The secret that requests are signed with.
    pub sign: Option<String>,
}

/// `watch:` with its defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// Interval between looks at the hosts.
    pub every: Duration,
    /// The shortest time between two messages.
    pub gap: Duration,
    /// Rounds in a row that must find a thing.
    pub confirm: u32,
    /// Rounds in a row that must not find it any more.
    pub recover: u32,
    /// Webhooks that are told.
    pub webhooks: Vec<Webhook>,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            every: Duration::from_mins(10),
            gap: Duration::from_mins(5),
            confirm: 1,
            recover: 2,
            webhooks: Vec::new(),
        }
    }
}

impl Watch {
    /// The names of all secrets.
    pub fn secrets(&self) -> impl Iterator<Item = &String> {
        self.webhooks.iter().flat_map(|webhook| std::iter::once(&webhook.url).chain(&webhook.sign))
    }
}

impl WatchFile {
    pub(super) fn resolve(
        self,
        secrets: &BTreeMap<String, SecretSource>,
        diagnostics: &mut Diagnostics,
    ) -> Watch {
        let default = Watch::default();
        let mut rounds = |number: Option<Sp<u32>>, default: u32| match number {
            Some(number) if number.value == 0 => {
                diagnostics.error(number.span, "this is at least one round");
                default
            }
            Some(number) => number.value,
            None => default,
        };
        let (confirm, recover) =
            (rounds(self.confirm, default.confirm), rounds(self.recover, default.recover));
        let mut webhooks = Vec::new();
        for (name, file) in self.webhooks.0 {
            for secret in std::iter::once(&file.url.0).chain(&file.sign) {
                if !secrets.contains_key(&secret.secret.value) {
                    unknown("secret", &secret.secret, secrets.keys().map(String::as_str), diagnostics);
                }
            }
            if let Some(sign) = file.sign.as_ref().filter(|_| !file.kind.value.signs()) {
                diagnostics.push(
                    Diagnostic::error(sign.secret.span, format!("{} checks no signature", file.kind.value))
                        .help("leave `sign` out: whoever knows the URL may write there"),
                );
            }
            webhooks.push(Webhook {
                name: name.value,
                kind: file.kind.value,
                url: file.url.0.secret.value,
                sign: file.sign.map(|sign| sign.secret.value),
            });
        }
        Watch {
            every: self.every.map_or(default.every, |period| period.0),
            gap: self.gap.map_or(default.gap, |period| period.0),
            confirm,
            recover,
            webhooks,
        }
    }
}
