//! `repository`: packages of somebody else, signed with a key that is pinned.

pub mod question;

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::Utf8Path;

use serde_json::{Value as Json, json};

use crate::config::{Diagnostic, Diagnostics, FromNode, Node, Sp, Yaml};
use crate::facts::file::PathQuery;
use crate::facts::package::PackagesQuery;
use crate::facts::{Facts, Object, Query, Touches};
use crate::resources::files::directory::Directory;
use crate::resources::files::download::fetched;
use crate::resources::packages::repository::question::{EntriesQuery, Entry};
use crate::resources::shared::content::{RegularFile, Want, local_want, removal};
use crate::resources::shared::known;
use crate::resources::shared::value::{Digest, FileMode, HostPath, Presence, claims};
use crate::resources::{Change, Context, Detail, Planned, Resource, Unplannable};
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
        /// Fingerprint of the primary key behind `url`: 40 hexadecimal digits; blanks are ignored. Several, in a list
        /// or with commas between, are for a file with several keys, each of which must be among them.
        opt fingerprint: Sp<Fingerprints>,
    }
}

/// The fingerprints that the keys in a file may have.
#[derive(Debug, Clone)]
pub struct Fingerprints(Vec<Sp<String>>);

impl FromNode for Fingerprints {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if matches!(node.value, Yaml::List(_)) {
            return Vec::from_node(node, diagnostics).map(Self);
        }
        let text = String::from_node(node, diagnostics)?;
        Some(Self(text.split(',').map(|one| Sp::new(one.trim().to_owned(), node.span)).collect()))
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
    }
}

/// The keys that sign a repository.
#[derive(Debug, Clone)]
pub struct Keys(Vec<Sp<KeyFields>>);

impl FromNode for Keys {
    fn from_node(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if matches!(node.value, Yaml::List(_)) {
            Vec::from_node(node, diagnostics).map(Self)
        } else {
            Sp::from_node(node, diagnostics).map(|key| Self(vec![key]))
        }
    }

    fn schema() -> Json {
        json!({ "anyOf": [KeyFields::schema(), { "type": "array", "items": KeyFields::schema() }] })
    }
}

/// The most files with keys of one repository.
const MOST_KEYS: usize = 3;

crate::record! {
    /// A repository of packages that accepts only what its key has signed.
    ///
    /// With `suites` it is for apt, in `/etc/apt/sources.list.d/NAME.sources`; without, it is for dnf,
    /// in `/etc/yum.repos.d/NAME.repo`. For apt, the package lists of this repository alone are
    /// updated. Where a file of somebody else, such as that of NVIDIA's `cuda-keyring`, has the repository with the same
    /// key already, it stays alone: apt would read nothing at all where two differ in that. If `sources:` names a mirror, the mirror replaces `url`, and it replaces the key too if
    /// the mirror signs its packages itself.
    RepositoryFields("a repository") {
        /// Name of the repository and of its files.
        req name: Sp<String>,
        /// URL of the repository.
        opt url: Sp<Url>,
        /// The key that signs it, or a list of up to three where its packages are signed with an old and a new one.
        opt key: Sp<Keys>,
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
    /// Its files, keys first.
    files: Vec<RegularFile>,
    keys: Vec<RemoteKey>,
    /// Files that apt keeps of each suite once it has read it, either of two names.
    lists: Vec<[String; 2]>,
    /// Where it is, without a `/` at the end.
    at: String,
    /// Its suites.
    suites: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manager {
    Apt,
    Dnf,
}

/// A file with keys of which only the fingerprints are known.
#[derive(Debug)]
struct RemoteKey {
    path: String,
    url: String,
    fingerprints: Vec<String>,
}

/// A file with keys.
enum Key {
    /// With known content.
    File(RegularFile),
    /// Told by its fingerprints.
    Remote(RemoteKey),
}

impl Key {
    fn path(&self) -> &str {
        match self {
            Self::File(file) => &file.path.0,
            Self::Remote(key) => &key.path,
        }
    }

    fn fingerprints(&self) -> &[String] {
        match self {
            Self::File(_) => &[],
            Self::Remote(key) => &key.fingerprints,
        }
    }
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
            keys: Vec::new(),
            lists: Vec::new(),
            at: String::new(),
            suites: Vec::new(),
        }));
    }
    let (Some(url), Some(wanted)) = (&fields.url, &fields.key) else {
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
    let keys = read_keys(manager, name, url, wanted, context, diagnostics)?;
    let at = context.sources().rewrite(url.as_str());
    let at = at.trim_end_matches('/');
    let mut text = format!("# Written by provision for the repository {}.\n", **name);
    match manager {
        Manager::Apt => apt_source(&mut text, &fields, at, &keys),
        Manager::Dnf => dnf_source(&mut text, &fields, at, &keys),
    }
    let (mut files, mut remote) = (Vec::new(), Vec::new());
    for key in keys {
        match key {
            Key::File(file) => files.push(file),
            Key::Remote(key) => remote.push(key),
        }
    }
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
    Some(Arc::new(Repository {
        at: at.to_owned(),
        suites: fields.suites.iter().map(|suite| suite.value.clone()).collect(),
        name: fields.name.value,
        manager: Some(manager),
        files,
        keys: remote,
        lists,
    }))
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

/// The keys of a repository. A mirror that signs anew stands in for whatever was pinned.
fn read_keys(
    manager: Manager,
    name: &str,
    repository: &Sp<Url>,
    wanted: &Sp<Keys>,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Key>> {
    let number = wanted.0.len();
    if number == 0 || number > MOST_KEYS {
        diagnostics.error(wanted.span, format!("a repository has from 1 to {MOST_KEYS} keys"));
        return None;
    }
    let keys: Option<Vec<Key>> = (wanted.0.iter().enumerate())
        .map(|(place, key)| read_key(manager, &file_name(name, place), key, context, diagnostics))
        .collect();
    Some(match context.sources().key(repository.as_str()) {
        Some(text) => {
            keys?;
            vec![Key::File(file(key_path(manager, name, true), Want::Text(text.to_owned())))]
        }
        None => keys?,
    })
}

/// Name of the file of a key: that of the repository, with a number from the second one on. No other repository has a
/// `+` in its name.
fn file_name(name: &str, place: usize) -> String {
    if place == 0 { name.to_owned() } else { format!("{name}+{}", place + 1) }
}

/// A key as a file with known content, or as one that is fetched and told by its fingerprints.
fn read_key(
    manager: Manager,
    name: &str,
    fields: &Sp<KeyFields>,
    context: &dyn Context,
    diagnostics: &mut Diagnostics,
) -> Option<Key> {
    match (&fields.src, &fields.url) {
        (Some(src), None) => {
            let want = local_want(src, context, diagnostics)?;
            let armored = matches!(&want, Want::Bytes(bytes) if bytes.starts_with(b"-----BEGIN PGP"));
            Some(Key::File(file(key_path(manager, name, armored), want)))
        }
        (None, Some(url)) => {
            let path = key_path(manager, name, Utf8Path::new(url.as_str()).extension() != Some("gpg"));
            match (&fields.sha256, &fields.fingerprint) {
                (Some(digest), None) => {
                    let (url, sha256) = fetched(url, digest, context, diagnostics)?;
                    Some(Key::File(file(path, Want::Remote { url, sha256 })))
                }
                (None, Some(fingerprints)) => {
                    let url = context.sources().rewrite(url.as_str());
                    let read = fingerprints.0.iter().map(|text| read_fingerprint(text, diagnostics));
                    let fingerprints: Vec<String> = read.collect::<Option<_>>()?;
                    if fingerprints.is_empty() {
                        diagnostics.error(fields.span, "nothing says which key to expect");
                        return None;
                    }
                    Some(Key::Remote(RemoteKey { path, url, fingerprints }))
                }
                _ => {
                    diagnostics.push(
                        Diagnostic::error(fields.span, "nothing says which key to expect")
                            .help("give the `fingerprint` of the key, or the `sha256` of its file"),
                    );
                    None
                }
            }
        }
        _ => {
            diagnostics.error(fields.span, "a key needs either `src` or `url`");
            None
        }
    }
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

fn apt_source(text: &mut String, fields: &RepositoryFields, url: &str, keys: &[Key]) {
    crate::put!(text, "Types: deb\nURIs: {url}/\nSuites: {}\n", words(&fields.suites));
    if !fields.components.is_empty() {
        crate::put!(text, "Components: {}\n", words(&fields.components));
    }
    if !fields.architectures.is_empty() {
        crate::put!(text, "Architectures: {}\n", words(&fields.architectures));
    }
    // Of the keys in the files, apt takes those with these fingerprints only.
    let accepted: Vec<&str> = keys
        .iter()
        .flat_map(|key| std::iter::once(key.path()).chain(key.fingerprints().iter().map(String::as_str)))
        .collect();
    crate::put!(text, "Signed-By: {}\n", accepted.join(" "));
}

fn dnf_source(text: &mut String, fields: &RepositoryFields, url: &str, keys: &[Key]) {
    let name = fields.name.as_str();
    // Another fingerprint makes the file differ, and with it the key is fetched anew.
    let fingerprints: Vec<&str> = keys.iter().flat_map(Key::fingerprints).map(String::as_str).collect();
    if !fingerprints.is_empty() {
        crate::put!(text, "# signed with {}\n", fingerprints.join(" or "));
    }
    let keys: Vec<String> = keys.iter().map(|key| format!("file://{}", key.path())).collect();
    let keys = keys.join(" ");
    crate::put!(text, "[{name}]\nname={name}\nbaseurl={url}/\nenabled=1\ngpgcheck=1\ngpgkey={keys}\n");
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
                let names = (0..MOST_KEYS).map(|place| file_name(&self.name, place));
                let keys = names
                    .flat_map(move |name| [true, false].map(|armored| key_path(manager, &name, armored)));
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
        Change::new(
            self.object(),
            format!("+ {} (key {} from {})", key.path, key.fingerprints.join(" or "), key.url),
            Detail::Attributes(Vec::new()),
            Script::new(crate::shell!(
                "shell/reach.sh",
                "resources/shared/after.sh",
                "resources/shared/get.sh",
                "resources/packages/repository/key.sh"
            ))
            .named("path", key.path.as_str())
            .named("url", key.url.as_str())
            .list("fingerprint", key.fingerprints.iter().cloned()),
        )
    }

    /// The file of somebody else that has this repository with the wanted key, where this one has none of its own yet.
    fn other<'a>(&self, facts: &'a Facts) -> Result<Option<&'a Entry>, Unplannable> {
        let own = source_path(Manager::Apt, &self.name);
        if self.manager != Some(Manager::Apt) || known::path(facts, &own)?.is_some() {
            return Ok(None);
        }
        let entries = known::answer(facts, &EntriesQuery(self.at.clone()), &self.object())?;
        let wanted: Vec<&String> = self.keys.iter().flat_map(|key| &key.fingerprints).collect();
        let mut same =
            entries.iter().filter(|entry| entry.suites.iter().any(|suite| self.suites.contains(suite)));
        let Some(first) = same.next() else { return Ok(None) };
        let fits =
            |entry: &Entry| !entry.keys.is_empty() && entry.keys.iter().all(|key| wanted.contains(&key));
        let Some(bad) = std::iter::once(first).chain(same).find(|entry| !fits(entry)) else {
            return Ok(Some(first));
        };
        let signed = match (bad.signed.as_str(), bad.keys.as_slice()) {
            ("", _) => "which lets every key that apt knows sign it".to_owned(),
            (signed, []) => format!("whose key in {signed} could not be looked at: gpg is needed for that"),
            (_, keys) => format!("signed with {}, which is not the wanted key", keys.join(" or ")),
        };
        Err(Unplannable::Failed(format!(
            "{} has this repository already, {signed}. apt reads nothing where two files name different keys for one \
             repository: remove that one (`apt-get purge cuda-keyring`, where it came with that package), or go without \
             this task (`source: present` of NVIDIA's playbooks)",
            bad.file
        )))
    }

    /// Reads the lists of this repository and no other, from the file that has it. A file of it that was `written` just
    /// now goes again where they cannot be read.
    fn update(&self, file: String, written: bool) -> Change {
        Change::new(
            self.object(),
            format!("~ package lists of {} (update)", self.name),
            Detail::Command("apt-get update".to_owned()),
            Script::new(crate::shell!("shell/package_holder.sh", "resources/shared/apt.sh"))
                .named("action", if written { "new-source" } else { "source" })
                .named("preferences", "")
                .named("word", file)
                .list("word", self.lists.iter().flatten().cloned()),
        )
    }
}

impl Resource for Repository {
    fn queries(&self) -> Vec<Query> {
        if self.manager.is_none() {
            return self.all_paths().into_iter().map(|path| PathQuery(path).into()).collect();
        }
        let key = self.keys.iter().map(|key| key.path.clone());
        let lists = self.lists.iter().flatten().cloned();
        let entries = (self.manager == Some(Manager::Apt)).then(|| EntriesQuery(self.at.clone()).into());
        std::iter::once(PackagesQuery.into())
            .chain(entries)
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
        let other = self.other(facts)?;
        // What is said of its packages holds whoever wrote the source.
        let preferences = preferences_path(&self.name);
        for file in self.files.iter().filter(|file| other.is_none() || file.path.0 == preferences) {
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
        let source_differs = changes.iter().any(|change| change.object == self.object());
        for key in self.keys.iter().rev().filter(|_| other.is_none()) {
            if source_differs || known::path(facts, &key.path)?.is_none() {
                changes.insert(0, self.fetch_key(key));
            }
        }
        let mut unread = !changes.is_empty();
        for [signed, detached] in &self.lists {
            unread |= known::path(facts, signed)?.is_none() && known::path(facts, detached)?.is_none();
        }
        if manager == Manager::Apt && unread {
            let written = changes.iter().any(|change| change.object == self.object());
            let file =
                other.map_or_else(|| source_path(Manager::Apt, &self.name), |other| other.file.clone());
            changes.push(self.update(file, written));
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        let files = self.files.iter().map(|file| file.path.0.clone());
        let key = self.keys.iter().map(|key| key.path.clone());
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
