//! `repository`: packages of somebody else, signed with a key that is pinned.

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::Utf8Path;

use crate::config::{Diagnostic, Diagnostics, FromNode as _, Node, Sp};
use crate::facts::file::PathQuery;
use crate::facts::package::PackagesQuery;
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::files::directory::Directory;
use crate::resources::files::download::fetched;
use crate::resources::shared::content::{RegularFile, Want, local_want, removal};
use crate::resources::shared::known;
use crate::resources::shared::value::{Digest, FileMode, HostPath, Presence, claims};
use crate::resources::{Change, Context, Detail, Disruption, Planned, Resource, Unplannable};
use crate::sources::Url;
use crate::transport::Script;

crate::record! {
    /// The key that signs a repository: a file of this machine (`src`), or one that the host fetches
    /// from `url` and checks against `sha256` or `fingerprint`.
    KeyFields("a signing key") {
        /// A file of this machine that holds the key, relative to the playbook's file.
        opt src: Sp<String>,
        /// URL that the host fetches the key from.
        opt url: Sp<Url>,
        /// SHA-256 of the file behind `url`, in hex.
        opt sha256: Digest,
        /// Fingerprint of the primary key behind `url`: 40 hexadecimal digits; blanks are ignored.
        opt fingerprint: Sp<String>,
    }
}

crate::record! {
    /// A repository of packages that accepts only what its key has signed.
    ///
    /// With `suites` it is for apt, in `/etc/apt/sources.list.d/NAME.sources`; without, it is for dnf,
    /// in `/etc/yum.repos.d/NAME.repo`. For apt, the package lists of this repository alone are
    /// updated. If `sources:` names a mirror, the mirror replaces `url`, and it replaces the key too if
    /// the mirror signs its packages itself.
    RepositoryFields("a repository") {
        /// Name of the repository and of its files.
        req name: Sp<String>,
        /// URL of the repository.
        opt url: Sp<Url>,
        /// The key that signs it.
        opt key: Sp<KeyFields>,
        /// apt: suites, such as `bookworm`. A name that ends with `/`, such as `./`, is a directory
        /// without components.
        def suites: Vec<Sp<String>> = Vec::new(),
        /// apt: components of the suites, such as `main`.
        def components: Vec<Sp<String>> = Vec::new(),
        /// apt: architectures. Left out: those of the host.
        def architectures: Vec<Sp<String>> = Vec::new(),
        /// apt: packages that `priority` and `exclude` apply to, in the syntax of `apt_preferences(5)`,
        /// such as `release l=NVIDIA CUDA`. Left out: those from the host of `url`.
        opt pin: Sp<String>,
        /// apt: pin priority; the default is 500 and the highest wins. dnf: the default is 99 and the
        /// lowest wins.
        opt priority: u16,
        /// Packages that are never installed from it, as names with `*`.
        def exclude: Vec<Sp<String>> = Vec::new(),
        /// Whether it must exist (`present`) or must not (`absent`).
        def state: Presence = Presence::Present,
    }
}

kind! { "repository", RepositoryFields }

#[derive(Debug)]
struct Repository {
    name: String,
    /// `None`: it shall be absent, whichever it was.
    manager: Option<Manager>,
    /// Its files, the key first.
    files: Vec<RegularFile>,
    key: Option<RemoteKey>,
    /// Files that apt keeps of each suite once it has read it, either of two names.
    lists: Vec<[String; 2]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manager {
    Apt,
    Dnf,
}

/// A key of which only the fingerprint is known.
#[derive(Debug)]
struct RemoteKey {
    path: String,
    url: String,
    fingerprint: String,
}

fn file(path: String, want: Want) -> RegularFile {
    RegularFile {
        path: HostPath(path),
        want,
        mode: Some(FileMode(0o644)),
        owner: None,
        group: None,
        check: None,
    }
}

/// Names that apt and dnf take for a file and a section.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// One word of a line that apt or dnf splits at white space.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == ',')
}

fn source_path(manager: Manager, name: &str) -> String {
    match manager {
        Manager::Apt => format!("/etc/apt/sources.list.d/{name}.sources"),
        Manager::Dnf => format!("/etc/yum.repos.d/{name}.repo"),
    }
}

/// apt tells by the end of the name whether the key is text.
fn key_path(manager: Manager, name: &str, armored: bool) -> String {
    match (manager, armored) {
        (Manager::Apt, true) => format!("/etc/apt/keyrings/{name}.asc"),
        (Manager::Apt, false) => format!("/etc/apt/keyrings/{name}.gpg"),
        (Manager::Dnf, _) => format!("/etc/pki/rpm-gpg/RPM-GPG-KEY-{name}"),
    }
}

fn preferences_path(name: &str) -> String {
    format!("/etc/apt/preferences.d/{name}")
}

/// Returns the name that apt gives to what it read at a URL: `URItoFileName` of apt-pkg.
fn list_name(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let mut name = String::new();
    for c in rest.chars() {
        match c {
            '/' => name.push('_'),
            c if "\\|{}[]<>\"^~_=!@#$%^&*".contains(c) => crate::put!(name, "%{:02x}", u32::from(c)),
            c => name.push(c),
        }
    }
    name
}

pub(in crate::resources) fn read(
    node: &Node,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<dyn Resource>> {
    let fields = RepositoryFields::from_node(node, diagnostics)?;
    let name = &fields.name;
    if !is_name(name) {
        diagnostics.push(
            Diagnostic::error(name.span, format!("`{}` is not the name of a repository", **name))
                .help("it is also a file name: use letters, digits, `-`, `_` and `.`"),
        );
        return None;
    }
    if fields.state == Presence::Absent {
        return Some(Arc::new(Repository {
            name: fields.name.value,
            manager: None,
            files: Vec::new(),
            key: None,
            lists: Vec::new(),
        }));
    }
    let (Some(url), Some(key)) = (&fields.url, &fields.key) else {
        diagnostics.push(
            Diagnostic::error(node.span, "a repository needs `url` and `key`")
                .help("write `key: { url: ..., fingerprint: ... }` or `key: { src: ... }`; unsigned packages are never installed"),
        );
        return None;
    };
    if !check(&fields, node, diagnostics) {
        return None;
    }
    let manager = if fields.suites.is_empty() { Manager::Dnf } else { Manager::Apt };
    let (key_file, key) = read_key(manager, name, url, key, context, diagnostics)?;
    let at = context.sources().rewrite(url.as_str());
    let at = at.trim_end_matches('/');
    let (key_at, fingerprint) = match (&key_file, &key) {
        (Some(file), _) => (file.path.0.as_str(), None),
        (None, Some(key)) => (key.path.as_str(), Some(key.fingerprint.as_str())),
        (None, None) => return None,
    };
    let mut text = format!("# Written by provision for the repository {}.\n", **name);
    match manager {
        Manager::Apt => apt_source(&mut text, &fields, at, key_at, fingerprint),
        Manager::Dnf => dnf_source(&mut text, &fields, at, key_at, fingerprint),
    }
    let mut files: Vec<RegularFile> = key_file.into_iter().collect();
    if manager == Manager::Apt && (fields.priority.is_some() || !fields.exclude.is_empty()) {
        files.push(file(preferences_path(name), Want::Text(preferences(&fields, at))));
    }
    files.push(file(source_path(manager, name), Want::Text(text)));
    let lists = fields.suites.iter().map(|suite| {
        let directory = match suite.as_str() {
            "/" => String::new(),
            flat if flat.ends_with('/') => flat.to_owned(),
            suite => format!("dists/{suite}/"),
        };
        let path = format!("/var/lib/apt/lists/{}", list_name(&format!("{at}/{directory}")));
        [format!("{path}InRelease"), format!("{path}Release")]
    });
    let lists = lists.collect();
    Some(Arc::new(Repository { name: fields.name.value, manager: Some(manager), files, key, lists }))
}

fn check(fields: &RepositoryFields, node: &Node, diagnostics: &mut Diagnostics) -> bool {
    let errors = diagnostics.errors();
    for word in fields.suites.iter().chain(&fields.components).chain(&fields.architectures) {
        if !is_word(word) {
            diagnostics.error(word.span, format!("`{}` must be one word", **word));
        }
    }
    for name in &fields.exclude {
        let good = is_word(name) && name.chars().all(|c| c.is_ascii_alphanumeric() || "+-._:*?".contains(c));
        if !good {
            diagnostics.error(name.span, format!("`{}` is not a package name, with or without `*`", **name));
        }
    }
    if let Some(pin) = &fields.pin {
        if pin.contains(['\n', '\r']) || pin.trim().is_empty() {
            diagnostics.error(pin.span, "a pin must be one line, such as `release l=NVIDIA CUDA`");
        } else if fields.priority.is_none() && fields.exclude.is_empty() {
            diagnostics.error(pin.span, "`pin` needs `priority` or `exclude`");
        }
    }
    let apt_only = fields.components.first().or(fields.architectures.first()).or(fields.pin.as_ref());
    if fields.suites.is_empty() {
        if let Some(word) = apt_only {
            diagnostics.push(
                Diagnostic::error(
                    word.span,
                    "this key is for apt, but without `suites` this is a repository for dnf",
                )
                .help("add `suites`; for an apt repository without any, write `suites: [\"/\"]`"),
            );
        }
        if fields.priority.is_some_and(|priority| !(1..=99).contains(&priority)) {
            diagnostics.error(node.span, "a priority for dnf must be from 1 to 99");
        }
    }
    for suite in &fields.suites {
        match (suite.ends_with('/'), fields.components.first()) {
            (true, Some(component)) => {
                diagnostics.error(
                    component.span,
                    format!("the suite `{}` is a directory and takes no `components`", **suite),
                );
            }
            (false, None) => diagnostics.push(
                Diagnostic::error(suite.span, format!("the suite `{}` needs `components`", **suite))
                    .help("such as `components: [main]`; if the suite is a directory, end it with `/`"),
            ),
            (true, None) | (false, Some(_)) => {}
        }
    }
    diagnostics.errors() == errors
}

/// The key as a file with known content, or as one that is fetched and told by its fingerprint.
fn read_key(
    manager: Manager,
    name: &str,
    repository: &Sp<Url>,
    fields: &Sp<KeyFields>,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<(Option<RegularFile>, Option<RemoteKey>)> {
    let key = match (&fields.src, &fields.url) {
        (Some(src), None) => {
            let want = local_want(src, context, diagnostics)?;
            let armored = matches!(&want, Want::Bytes(bytes) if bytes.starts_with(b"-----BEGIN PGP"));
            (Some(file(key_path(manager, name, armored), want)), None)
        }
        (None, Some(url)) => {
            let path = key_path(manager, name, Utf8Path::new(url.as_str()).extension() != Some("gpg"));
            match (&fields.sha256, &fields.fingerprint) {
                (Some(digest), None) => {
                    let (url, sha256) = fetched(url, digest, context, diagnostics)?;
                    (Some(file(path, Want::Remote { url, sha256 })), None)
                }
                (None, Some(fingerprint)) => {
                    let url = context.sources().rewrite(url.as_str());
                    let fingerprint = read_fingerprint(fingerprint, diagnostics)?;
                    (None, Some(RemoteKey { path, url, fingerprint }))
                }
                _ => {
                    diagnostics.push(
                        Diagnostic::error(fields.span, "nothing says which key to expect")
                            .help("give the `fingerprint` of the key, or the `sha256` of its file"),
                    );
                    return None;
                }
            }
        }
        _ => {
            diagnostics.error(fields.span, "a key needs either `src` or `url`");
            return None;
        }
    };
    // A mirror that signs anew stands in for whatever was pinned.
    Some(match context.sources().key(repository.as_str()) {
        Some(text) => (Some(file(key_path(manager, name, true), Want::Text(text.to_owned()))), None),
        None => key,
    })
}

fn read_fingerprint(text: &Sp<String>, diagnostics: &mut Diagnostics) -> Option<String> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_uppercase();
    if digits.len() == 40 && digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return Some(digits);
    }
    diagnostics.push(
        Diagnostic::error(text.span, format!("`{}` is not a fingerprint", **text))
            .help("write all 40 hexadecimal digits; a shorter one can be forged"),
    );
    None
}

fn words(words: &[Sp<String>]) -> String {
    words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ")
}

fn apt_source(text: &mut String, fields: &RepositoryFields, url: &str, key: &str, fingerprint: Option<&str>) {
    crate::put!(text, "Types: deb\nURIs: {url}/\nSuites: {}\n", words(&fields.suites));
    if !fields.components.is_empty() {
        crate::put!(text, "Components: {}\n", words(&fields.components));
    }
    if !fields.architectures.is_empty() {
        crate::put!(text, "Architectures: {}\n", words(&fields.architectures));
    }
    // Of the keys in the file, apt takes the one with this fingerprint only.
    let fingerprint = fingerprint.map(|fingerprint| format!(" {fingerprint}")).unwrap_or_default();
    crate::put!(text, "Signed-By: {key}{fingerprint}\n");
}

fn dnf_source(text: &mut String, fields: &RepositoryFields, url: &str, key: &str, fingerprint: Option<&str>) {
    let name = fields.name.as_str();
    // Another fingerprint makes the file differ, and with it the key is fetched anew.
    if let Some(fingerprint) = fingerprint {
        crate::put!(text, "# signed with {fingerprint}\n");
    }
    crate::put!(text, "[{name}]\nname={name}\nbaseurl={url}/\nenabled=1\ngpgcheck=1\ngpgkey=file://{key}\n");
    if let Some(priority) = fields.priority {
        crate::put!(text, "priority={priority}\n");
    }
    if !fields.exclude.is_empty() {
        crate::put!(text, "excludepkgs={}\n", words(&fields.exclude));
    }
}

/// `apt_preferences(5)`.
fn preferences(fields: &RepositoryFields, url: &str) -> String {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    let pin = fields.pin.as_ref().map_or_else(|| format!("origin \"{host}\""), |pin| pin.value.clone());
    let mut stanzas = Vec::new();
    if !fields.exclude.is_empty() {
        stanzas.push(format!("Package: {}\nPin: {pin}\nPin-Priority: -1\n", words(&fields.exclude)));
    }
    if let Some(priority) = fields.priority {
        stanzas.push(format!("Package: *\nPin: {pin}\nPin-Priority: {priority}\n"));
    }
    stanzas.join("\n")
}

impl Repository {
    fn object(&self) -> Object {
        Object::Path(source_path(self.manager.unwrap_or(Manager::Apt), &self.name))
    }

    /// Every file that a repository of this name may have.
    fn all_paths(&self) -> Vec<String> {
        [Manager::Apt, Manager::Dnf]
            .into_iter()
            .flat_map(|manager| {
                let keys = [true, false].map(|armored| key_path(manager, &self.name, armored));
                std::iter::once(source_path(manager, &self.name)).chain(keys)
            })
            .chain([preferences_path(&self.name)])
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    /// Refuses a host whose packages are managed by something else.
    fn fits(&self, manager: Manager, facts: &Facts) -> Result<(), Unplannable> {
        let found = known::answer(facts, &PackagesQuery, &self.object())?;
        let apt = found.manager == "apt";
        match (manager, apt) {
            (Manager::Apt, true) | (Manager::Dnf, false) => Ok(()),
            (Manager::Apt, false) => Err(Unplannable::Failed(format!(
                "a repository with `suites` is for apt, but this host uses {}",
                found.manager
            ))),
            (Manager::Dnf, true) => Err(Unplannable::Failed(
                "a repository without `suites` is for dnf, but this host uses apt".to_owned(),
            )),
        }
    }

    fn fetch_key(&self, key: &RemoteKey) -> Change {
        Change {
            object: self.object(),
            summary: format!("+ {} (key {} from {})", key.path, key.fingerprint, key.url),
            detail: Detail::Attributes(Vec::new()),
            script: Script::new(crate::shell!(
                "resources/reach.sh",
                "resources/after.sh",
                "resources/get.sh",
                "resources/key.sh"
            ))
            .named("path", key.path.as_str())
            .named("url", key.url.as_str())
            .named("fingerprint", key.fingerprint.as_str()),
            upload: None,
            disruption: Disruption::None,
        }
    }

    /// Reads the lists of this repository and no other. A file of it that was `written` just now goes again where
    /// they cannot be read.
    fn update(&self, written: bool) -> Change {
        Change {
            object: self.object(),
            summary: format!("~ package lists of {} (update)", self.name),
            detail: Detail::Command("apt-get update".to_owned()),
            script: Script::new(crate::shell!("package_holder.sh", "resources/apt.sh"))
                .named("action", if written { "new-source" } else { "source" })
                .named("preferences", "")
                .named("word", source_path(Manager::Apt, &self.name))
                .list("word", self.lists.iter().flatten().cloned()),
            upload: None,
            disruption: Disruption::None,
        }
    }
}

impl Resource for Repository {
    fn queries(&self) -> Vec<Query> {
        if self.manager.is_none() {
            return self.all_paths().into_iter().map(|path| PathQuery(path).into()).collect();
        }
        let key = self.key.iter().map(|key| key.path.clone());
        let lists = self.lists.iter().flatten().cloned();
        std::iter::once(PackagesQuery.into())
            .chain(self.files.iter().flat_map(RegularFile::queries))
            .chain(key.chain(lists).map(|path| PathQuery(path).into()))
            .collect()
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let Some(manager) = self.manager else {
            let mut changes = Vec::new();
            for path in self.all_paths() {
                if known::path(facts, &path)?.is_some() {
                    changes.push(removal(&path, None));
                }
            }
            return Ok(changes);
        };
        self.fits(manager, facts)?;
        let mut changes = Vec::new();
        for file in &self.files {
            // Older distributions have no directory for keys.
            if known::path(facts, file.path.parent())?.is_none() {
                let path = HostPath(file.path.parent().to_owned());
                let directory =
                    Directory { path, mode: None, owner: None, group: None, state: Presence::Present };
                changes.extend(directory.plan(facts)?);
                changes.push(file.create_in_new_directory(facts)?);
            } else {
                changes.extend(file.plan(facts)?);
            }
        }
        // The file of the source names the key's fingerprint: where it differs, the key may be an older one.
        if let Some(key) = &self.key
            && (changes.iter().any(|change| change.object == self.object())
                || known::path(facts, &key.path)?.is_none())
        {
            changes.insert(0, self.fetch_key(key));
        }
        let mut unread = !changes.is_empty();
        for [signed, detached] in &self.lists {
            unread |= known::path(facts, signed)?.is_none() && known::path(facts, detached)?.is_none();
        }
        if manager == Manager::Apt && unread {
            let written = changes.iter().any(|change| change.object == self.object());
            changes.push(self.update(written));
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        let files = self.files.iter().map(|file| file.path.0.clone());
        let key = self.key.iter().map(|key| key.path.clone());
        let mut paths: BTreeSet<String> =
            files.chain(key).chain(self.lists.iter().flatten().cloned()).collect();
        if self.manager.is_none() {
            paths.extend(self.all_paths());
        }
        Touches::Objects(paths.into_iter().map(Object::Path).collect())
    }

    fn manages(&self) -> Vec<(Object, String)> {
        if self.manager.is_none() {
            return claims(Object::Path, &source_path(Manager::Apt, &self.name), "absent", []);
        }
        self.files.iter().flat_map(RegularFile::manages).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As apt 2.6 called them.
    #[test]
    fn lists_are_called_as_apt_calls_them() {
        assert_eq!(list_name("http://127.0.0.1:8765/x_y/"), "127.0.0.1:8765_x%5fy_");
        assert_eq!(list_name("http://127.0.0.1:8765/x_y/./"), "127.0.0.1:8765_x%5fy_._");
        assert_eq!(
            list_name("https://deb.debian.org/debian/dists/bookworm/"),
            "deb.debian.org_debian_dists_bookworm_"
        );
    }
}
