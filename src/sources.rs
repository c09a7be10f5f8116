//! Sources of software: the proxy and the mirrors of a site.
//!
//! The one place that everything that fetches something reads. A resource asks
//! [`Context::sources`](crate::resources::Context::sources) while it is read and takes
//! [`rewrite`](SiteSources::rewrite) of each URL; the engine exports
//! [`environment`](SiteSources::environment) for every change, so that apt, dnf, git, pip, curl and
//! commands of the user see the proxy without being told one by one.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use serde_json::{Value as Json, json};

use crate::config::yaml::MAX_FILE;
use crate::config::{Bases, Diagnostic, Diagnostics, Entries, FromNode, Node, Sp, Yaml};
use crate::disk;
use crate::placeholder;

crate::record! {
    /// Sources of software at this site.
    ///
    /// A site without a way out names its mirrors here: every URL of repositories, signing keys,
    /// downloads, archives, git and pip that begins as one of them is fetched from there instead.
    SourcesFile("`sources`") {
        /// Proxy for http and https, such as `http://proxy.example.org:3128`: all changes see it as
        /// `http_proxy` and `https_proxy`.
        opt proxy: Sp<Url>,
        /// Names, domains and networks that are reached without the proxy.
        def no_proxy: Vec<Sp<String>> = Vec::new(),
        /// Replacements for the beginnings of URLs; the longest beginning wins.
        def mirrors: Entries<MirrorFile> = Entries::default(),
    }
}

crate::record! {
    /// A mirror that signs its repositories anew.
    MirrorRecord("a mirror") {
        /// URL that replaces the beginning.
        req url: Url,
        /// The key that it signs with, relative to the inventory's file; replaces the one that a
        /// `repository` is pinned to.
        opt key: Sp<String>,
    }
}

/// A mirror: a URL, or a [`MirrorRecord`].
#[derive(Debug, Clone)]
pub struct MirrorFile(MirrorRecord);

impl FromNode for MirrorFile {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if matches!(node.value, Yaml::Map(_)) {
            return MirrorRecord::from_node(node, diagnostics).map(Self);
        }
        Url::from_node(node, diagnostics).map(|url| Self(MirrorRecord { url, key: None }))
    }

    fn schema() -> Json {
        json!({ "anyOf": [Url::schema(), MirrorRecord::schema()] })
    }
}

/// An absolute URL that something is fetched from. It is shown in plans, so it holds no password.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Url(pub String);

/// Schemes of URLs that can be fetched from. `ssh` is for git only.
const SCHEMES: &[&str] = &["http", "https", "file", "ssh", "git"];

impl Url {
    /// Takes a text when it is a URL as we want it.
    ///
    /// # Errors
    /// A text for the user.
    pub fn new(text: &str) -> Result<Self, String> {
        if placeholder::is_in(text) {
            return Err("a URL cannot hold a secret: URLs are shown in plans and logs".to_owned());
        }
        let (scheme, rest) = text.split_once("://").ok_or_else(|| {
            format!("`{text}` is not a URL: a URL begins with a scheme, such as `https://`")
        })?;
        if !SCHEMES.contains(&scheme) {
            return Err(format!("`{scheme}://` is not one of {}", SCHEMES.join(", ")));
        }
        if rest.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"') {
            return Err(format!("`{text}` is not a URL"));
        }
        let authority = rest.split('/').next().unwrap_or_default();
        if authority.split_once('@').is_some_and(|(user, _)| user.contains(':')) {
            return Err("a URL with a password would be shown in plans and logs".to_owned());
        }
        if authority.is_empty() && scheme != "file" || authority.starts_with('-') {
            return Err(format!("`{text}` names no host"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromNode for Url {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = String::from_node(node, diagnostics)?;
        match Self::new(&text) {
            Ok(url) => Some(url),
            Err(message) => {
                diagnostics.error(node.span, message);
                None
            }
        }
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^(http|https|file|ssh|git)://" })
    }
}

/// Replacement for the beginning of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mirror {
    /// The beginning, without a slash at its end.
    from: String,
    to: String,
    key: Option<String>,
}

/// The proxy and the mirrors of a site.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SiteSources {
    /// Longest beginning first.
    mirrors: Vec<Mirror>,
    proxy: Option<String>,
    no_proxy: Vec<String>,
    /// Files that hold keys of mirrors.
    key_files: Vec<Utf8PathBuf>,
    /// Digests of archives and commits of repositories that only the lab serves, by the URL that they stand in for.
    digests: BTreeMap<String, String>,
}

/// Never reached through a proxy.
const LOCAL: &[&str] = &["localhost", "127.0.0.1", "::1"];

impl SiteSources {
    /// Adds a mirror; one that is known for the same beginning stays.
    pub fn add(&mut self, from: &str, to: &str, key: Option<&str>) {
        let from = from.trim_end_matches('/').to_owned();
        if self.mirrors.iter().any(|mirror| mirror.from == from) {
            return;
        }
        let mirror = Mirror { from, to: to.trim_end_matches('/').to_owned(), key: key.map(str::to_owned) };
        self.mirrors.push(mirror);
        self.mirrors.sort_by_key(|mirror| std::cmp::Reverse(mirror.from.len()));
    }

    /// Files that keys of mirrors were read from.
    pub fn key_files(&self) -> &[Utf8PathBuf] {
        &self.key_files
    }

    /// Takes the proxy away: a lab has its mirror, and no proxy of the site's.
    pub fn without_proxy(&mut self) {
        self.proxy = None;
    }

    /// Says that what the lab serves for a URL has this digest, or is this commit.
    pub fn add_stand_in(&mut self, url: &str, sha256: &str) {
        self.digests.insert(url.to_owned(), sha256.to_owned());
    }

    fn find<'a>(&self, url: &'a str) -> Option<(&Mirror, &'a str)> {
        self.mirrors.iter().find_map(|mirror| {
            let rest = url.strip_prefix(mirror.from.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then_some((mirror, rest))
        })
    }

    /// Returns the URL that is fetched in place of another: that of the mirror with the longest beginning
    /// that it has, else itself.
    pub fn rewrite(&self, url: &str) -> String {
        match self.find(url) {
            Some((mirror, rest)) => format!("{}{rest}", mirror.to),
            None => url.to_owned(),
        }
    }

    /// The key that the mirror of a URL signs its repositories with, when it does so anew.
    pub fn key(&self, url: &str) -> Option<&str> {
        self.find(url)?.0.key.as_deref()
    }

    /// The digest that a download has: the pinned one, but for the stand-ins of the lab.
    pub fn digest<'a>(&'a self, url: &str, pinned: &'a str) -> &'a str {
        self.digests.get(url).map_or(pinned, String::as_str)
    }

    /// The commit of a repository that only the lab serves.
    pub fn stand_in(&self, url: &str) -> Option<&str> {
        self.digests.get(url).map(String::as_str)
    }

    /// The proxy, and what is reached without it as `no_proxy` has it.
    pub fn environment(&self) -> Option<(&str, String)> {
        let proxy = self.proxy.as_deref()?;
        let direct = LOCAL.iter().copied().chain(self.no_proxy.iter().map(String::as_str));
        Some((proxy, direct.collect::<Vec<_>>().join(",")))
    }
}

impl SourcesFile {
    /// Returns the proxy and the mirrors as written, with the keys read.
    pub fn resolve(&self, bases: Bases<'_>, diagnostics: &mut Diagnostics) -> SiteSources {
        let mut sources = SiteSources::default();
        if let Some(proxy) = &self.proxy {
            if !proxy.0.starts_with("http://") && !proxy.0.starts_with("https://") {
                diagnostics.error(proxy.span, "a proxy is reached by `http://` or `https://`");
            }
            sources.proxy = Some(proxy.0.trim_end_matches('/').to_owned());
        }
        for name in &self.no_proxy {
            if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == ',' || c == '\'') {
                diagnostics.error(name.span, format!("`{}` is not a name, domain or network", **name));
            }
            sources.no_proxy.push(name.value.clone());
        }
        for (from, MirrorFile(mirror)) in &self.mirrors.0 {
            if let Err(message) = Url::new(from) {
                diagnostics.push(
                    Diagnostic::error(from.span, message)
                        .help("the key is the beginning of the URLs that the mirror has"),
                );
            }
            let key = mirror.key.as_ref().and_then(|key| {
                let path = bases.resolve(key);
                let text = disk::read_text(&path, MAX_FILE).map_err(|error| disk::short(&error));
                sources.key_files.push(path.clone());
                text.map_err(|error| diagnostics.error(key.span, format!("cannot read {path}: {error}"))).ok()
            });
            sources.add(from, mirror.url.as_str(), key.as_deref());
        }
        sources
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> SiteSources {
        let mut sources = SiteSources::default();
        sources.add("https://github.com", "http://mirror/git/", None);
        sources.add("https://github.com/NVIDIA/", "http://mirror/nvidia", Some("key"));
        sources
    }

    #[test]
    fn the_longest_beginning_wins_and_ends_at_a_slash() {
        for (url, wanted) in [
            ("https://github.com/open-mpi/ompi.git", "http://mirror/git/open-mpi/ompi.git"),
            ("https://github.com/NVIDIA/nccl.git", "http://mirror/nvidia/nccl.git"),
            ("https://github.com/NVIDIA", "http://mirror/nvidia"),
            ("https://github.community/x", "https://github.community/x"),
            ("http://github.com/x", "http://github.com/x"),
        ] {
            assert_eq!(sources().rewrite(url), wanted, "{url}");
        }
        assert_eq!(sources().key("https://github.com/NVIDIA/nccl"), Some("key"));
        assert_eq!(sources().key("https://github.com/open-mpi"), None);
    }

    #[test]
    fn what_is_named_first_stays() {
        let mut sources = sources();
        sources.add("https://github.com/", "http://other", Some("other"));
        assert_eq!(sources.rewrite("https://github.com/x"), "http://mirror/git/x");
    }

    #[test]
    fn urls_are_absolute_and_hold_no_password() {
        for good in ["https://x/y", "http://x:80", "file:///srv/x", "ssh://git@x/y"] {
            assert!(Url::new(good).is_ok(), "{good}");
        }
        for bad in ["x/y", "ftp://x", "https://", "https:///x", "https://u:p@x", "https://x y", "https://-x/"]
        {
            assert!(Url::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn this_host_is_reached_without_the_proxy() {
        let mut sources = SiteSources::default();
        assert_eq!(sources.environment(), None);
        sources.proxy = Some("http://p:3128".to_owned());
        sources.no_proxy = vec![".site".to_owned()];
        assert_eq!(
            sources.environment(),
            Some(("http://p:3128", "localhost,127.0.0.1,::1,.site".to_owned()))
        );
    }
}
