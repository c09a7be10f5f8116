//! The inventory's file to resolved hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value as Json};

use super::address::{self, AddressValues};
use super::doubts;
use super::expect::Expectations;
use super::file::{
    BecomeFile, GroupFile, HostFile, InventoryFile, Policy, RolloutFile, SshFile, Use, unknown,
};
use super::groups::{self, Group};
use super::host::{Become, Host, Layer, Ssh, TransportKind, Var, Vars};
use super::hosts_from::{self, Lists};
use super::known_hosts;
use super::maintenance::{self, Maintenance, MaintenanceFile};
use super::rollout::Batch;
use super::select::Directory;
use super::watch::Watch;
use crate::config::{
    Bases, Diagnostic, Diagnostics, Entries, FromNode as _, Node, SourceId, Sources, Sp, Span, TextError,
    Yaml, locate, weight, yaml,
};
use crate::hostlist::{self, MAX_HOSTS, MAX_NAMED};
use crate::secrets::SecretSource;
use crate::sources::SiteSources;
use crate::template::paths::is_template;
use crate::template::{Text, Unresolved};

/// An inventory with every layer resolved.
#[derive(Debug)]
pub struct Inventory {
    /// Name of the cluster.
    pub cluster: String,
    /// Hosts in order of their index.
    pub hosts: Vec<Host>,
    /// Hosts, groups and labels for host expressions.
    pub directory: Directory,
    /// Entries of `playbooks:`.
    pub uses: Vec<Use>,
    /// `secrets:`.
    pub secrets: BTreeMap<String, SecretSource>,
    /// `sources:`.
    pub site_sources: SiteSources,
    /// `policy:`.
    pub policy: Policy,
    /// `rollout:`.
    pub rollout: Option<RolloutFile>,
    /// `maintenance:`.
    pub maintenance: Option<Maintenance>,
    /// `expect:` of the cluster.
    pub expect: Json,
    /// `watch:`.
    pub watch: Watch,
    /// `lab:`.
    pub lab: Option<Node>,
    /// `lab:` of hosts, by their names.
    pub host_labs: BTreeMap<String, Node>,
    /// Every variable that the inventory sets: all values with their place.
    pub set_vars: BTreeMap<String, Vec<(Node, Span)>>,
}

/// Everything that one set of groups gives to its hosts.
#[derive(Debug, Default)]
struct Given {
    vars: Vars,
    labels: BTreeMap<String, String>,
    ssh: Ssh,
    transport: Option<TransportKind>,
    nics: Json,
    expect: Map<String, Json>,
}

/// The most that all hosts together are given, in bytes: 10 000 hosts with 60 variables of their own have it.
const MOST_GIVEN: usize = 192 << 20;
/// Bytes that a variable takes besides its value: its name, and where it comes from.
const VARIABLE: usize = 220;
/// Bytes that a label takes besides: it is looked for by its value as well.
const LABEL: usize = 450;

/// Returns the bytes that a host is given; the variables that it shares with others aside.
fn weight_of(host: &Host, shared: &Vars) -> usize {
    let own = !Arc::ptr_eq(&host.vars, shared);
    let vars = host.vars.values().filter(|_| own).map(|var| VARIABLE + weight(&var.value, MOST_GIVEN));
    let labels = host.labels.iter().map(|(name, value)| LABEL + name.len() + value.len());
    let more = [&host.nics, &host.expect].into_iter().map(|value| weight(value, MOST_GIVEN));
    vars.chain(labels).chain(more).fold(0, usize::saturating_add)
}

/// The bytes that an entry gives each of its hosts: its variables and labels.
fn weight_of_file(file: &HostFile) -> usize {
    let vars = file.vars.0.iter().map(|(_, value)| VARIABLE + weight(&value.to_json(), MOST_GIVEN));
    let labels = file.labels.0.iter().map(|(name, value)| LABEL + name.value.len() + value.len());
    vars.chain(labels).fold(0, usize::saturating_add)
}

fn too_much_given(span: Span) -> Diagnostic {
    let text = format!(
        "the variables, labels, cards and expectations of all hosts come to more than {} MiB",
        MOST_GIVEN >> 20
    );
    Diagnostic::error(span, text)
        .label("each host has its own copy of what its groups say: this one is too many")
        .help("give large lists to the tasks that need them, by `with:` or `params:` of a playbook")
}

/// Reads an inventory that is already among the sources. `checks` are the ids that it may name, `lists` gets those
/// of `hosts_from`.
pub fn load(
    sources: &mut Sources,
    source: SourceId,
    bases: Bases<'_>,
    checks: &[&str],
    lists: &dyn Lists,
    diagnostics: &mut Diagnostics,
) -> Option<Inventory> {
    if let Some(span) = ini(sources.text(source), source) {
        let help = format!("`provision inventory import {}` makes an inventory of it", sources.path(source));
        diagnostics.push(Diagnostic::error(span, "this is an inventory of Ansible").help(help));
        return None;
    }
    let node = yaml::read(sources, source, diagnostics)?;
    if let Some(diagnostic) = other_file(&node, sources.path(source)) {
        diagnostics.push(diagnostic);
        return None;
    }
    no_templates(&node, false, diagnostics);
    let mut file = InventoryFile::from_node(&node, diagnostics)?;
    hosts_from::add(&mut file, sources, bases, lists, diagnostics);
    let mut loader = Loader {
        sources,
        bases,
        diagnostics,
        names: BTreeMap::new(),
        named: 0,
        hosts: Vec::new(),
        key_files: BTreeSet::new(),
        lists,
    };
    Some(loader.inventory(file, checks))
}

/// Parts of an inventory in which no template is read.
const PLAIN: [&str; 7] = ["nics", "labels", "ssh", "offline", "expect", "rollout", "sources"];

/// Reports templates that would be taken for what they look like.
fn no_templates(node: &Node, plain: bool, diagnostics: &mut Diagnostics) {
    match &node.value {
        Yaml::Str(text) if plain && is_template(text) => diagnostics.push(
            Diagnostic::error(node.span, "no template is read here")
                .help("write the value itself; `vars` and the `address` of a host take templates"),
        ),
        Yaml::List(items) => items.iter().for_each(|item| no_templates(item, plain, diagnostics)),
        Yaml::Map(entries) => {
            for (key, value) in
                entries.iter().filter(|(key, _)| !["vars", "with", "lab"].contains(&key.value.as_str()))
            {
                no_templates(value, plain || PLAIN.contains(&key.value.as_str()), diagnostics);
            }
        }
        Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::Str(_) => {}
    }
}

/// Keys of Ansible's plays.
const PLAY: [&str; 4] = ["hosts", "tasks", "roles", "import_playbook"];

/// Returns the message about a file of another kind: a playbook, or an inventory of Ansible.
fn other_file(node: &Node, path: &Utf8Path) -> Option<Diagnostic> {
    let has = |key: &str| node.get(key).is_some();
    if has("cluster") {
        return None;
    }
    let plays = if let Yaml::List(plays) = &node.value {
        plays.first().filter(|play| PLAY.iter().any(|key| play.get(key).is_some()))
    } else {
        Some(node).filter(|_| has("tasks"))
    };
    let name = path.file_name().unwrap_or(path.as_str());
    if let Some(plays) = plays {
        let help = format!("an inventory names its hosts, and the playbook by `playbooks: [./{name}]`");
        return Some(Diagnostic::error(plays.span, "this is a playbook, not an inventory").help(help));
    }
    (has("all") || has("_meta")).then(|| {
        let help = format!("`provision inventory import {path}` makes an inventory of it");
        Diagnostic::error(node.span, "this is an inventory of Ansible").help(help)
    })
}

/// The first line of an inventory of Ansible in its own form: `[gpu]`, or hosts above that. No map of YAML begins
/// like that.
fn ini(text: &str, source: SourceId) -> Option<Span> {
    let silent = |line: &&str| line.trim().is_empty() || line.starts_with(['#', ';']);
    let section = |line: &str| {
        let name = line.trim_end().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        name.is_some_and(|name| !name.is_empty() && !name.contains([',', ' ', '[', ']', '"', '\'']))
    };
    let start: usize = text.split_inclusive('\n').take_while(silent).map(str::len).sum();
    let first = text.get(start..)?.lines().next()?.trim_end();
    let sets =
        first.split_whitespace().skip(1).any(|word| word.starts_with("ansible_") && word.contains('='));
    let is_yaml = first.starts_with(['{', '-', '%', ' ']) || first.contains(": ") || first.ends_with(':');
    let is_ini = section(first) || sets || !is_yaml && text.lines().any(section);
    let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    is_ini.then(|| Span { source, start: byte(start), end: byte(start + first.len()) })
}

/// Limits of the time that a login may stay.
const PERSIST: RangeInclusive<Duration> = Duration::from_mins(1)..=Duration::from_hours(8);

/// Whether a cluster can be called so.
///
/// # Errors
/// What such a name is.
pub fn check_cluster_name(name: &str) -> Result<(), &'static str> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let rest = |c: char| good(c) || matches!(c, '.' | '_' | '-');
    if name.starts_with(good) && name.len() <= 64 && name.chars().all(rest) {
        return Ok(());
    }
    Err("it begins with a small letter or a digit and holds those, `.`, `_` and `-`")
}

struct Loader<'a> {
    sources: &'a Sources,
    bases: Bases<'a>,
    diagnostics: &'a mut Diagnostics,
    names: BTreeMap<String, usize>,
    /// Number of names that were made, each counted as often as it was named.
    named: usize,
    /// Hosts, each with the place where it is named first, and the entries of `hosts:` about it.
    hosts: Vec<(Sp<String>, Vec<usize>)>,
    /// Files of host keys that were looked at.
    key_files: BTreeSet<Utf8PathBuf>,
    lists: &'a dyn Lists,
}

impl Loader<'_> {
    fn inventory(&mut self, file: InventoryFile, checks: &[&str]) -> Inventory {
        self.cluster_name(&file.cluster);
        let mut host_files: Vec<(Sp<String>, HostFile)> = Vec::new();
        let hosts_first = match (&file.hosts, &file.groups) {
            (Some(hosts), Some(groups)) => hosts.span < groups.span,
            _ => true,
        };
        let host_entries = file.hosts.as_ref().map(|hosts| &hosts.value.0);
        if hosts_first {
            self.host_entries(host_entries, &mut host_files);
        }
        let mut group_files = Vec::new();
        for (name, group) in file.groups.as_ref().map(|groups| &groups.value.0).into_iter().flatten() {
            if !hostlist::is_name(&name.value) || name.value == "all" {
                let text = format!("`{}` cannot be the name of a group", name.value);
                let help = (name.value == "all").then(|| {
                    "it stands for all hosts; what is for all of them stands at the top of the inventory"
                        .to_owned()
                });
                self.diagnostics.push(Diagnostic::error(name.span, text).maybe_help(help));
            }
            let group = group.0.clone().unwrap_or_else(empty_group);
            let mut members = BTreeSet::new();
            for word in group.hosts.iter().flat_map(|words| &words.0) {
                members.extend(self.expand(word).into_iter().map(|host| self.host(host, word.span)));
            }
            group_files.push((name.clone(), group, members));
        }
        if !hosts_first {
            self.host_entries(host_entries, &mut host_files);
        }
        let of_groups = group_files.iter().map(|(_, group, _)| &group.expect);
        let of_hosts = host_files.iter().map(|(_, host)| &host.expect);
        for expect in std::iter::once(&file.expect).chain(of_groups).chain(of_hosts) {
            expect.check_ids(checks, self.diagnostics);
        }
        if self.hosts.is_empty() && !self.diagnostics.has_errors() {
            self.diagnostics.push(
                Diagnostic::error(file.cluster.span, "this inventory has no host")
                    .help("name them under `hosts:`, in the `hosts:` of a group, or with `hosts_from:`"),
            );
        }
        let groups = groups::relate(group_files, self.diagnostics);
        for group in &groups {
            if let Some(host) = self.names.get(&group.name.value).and_then(|index| self.hosts.get(*index)) {
                self.diagnostics.push(
                    Diagnostic::error(
                        group.name.span,
                        format!("`{}` is a group and a host", group.name.value),
                    )
                    .related(host.0.span, "the host"),
                );
            }
        }
        let secrets: BTreeMap<String, SecretSource> = file
            .secrets
            .0
            .iter()
            .map(|(name, secret)| (name.value.clone(), secret.resolve(self.bases)))
            .collect();
        self.lists.named(self.hosts.len());
        let hosts = self.resolve(&file, &host_files, &groups, &secrets);
        let host_labs = self.host_labs(&host_files);
        doubts::look(&hosts, &self.addresses(&host_files), &file, self.diagnostics);
        let mut directory = Directory { hosts: std::mem::take(&mut self.names), ..Directory::default() };
        groups::fill(&mut directory, &groups);
        for host in &hosts {
            for (label, value) in &host.labels {
                let values = directory.labels.entry(label.clone()).or_default();
                values.entry(value.clone()).or_default().insert(host.index);
            }
        }
        if let Some(Batch::By(by)) = file.rollout.as_ref().and_then(|rollout| rollout.batch.as_ref())
            && !directory.labels.contains_key(&by.by.value)
        {
            unknown("label", &by.by, directory.labels.keys().map(String::as_str), self.diagnostics);
        }
        if let Some(policy) = &file.policy {
            maintenance::check(policy, file.maintenance.is_some(), &hosts, self.diagnostics);
        }
        let maintenance = file.maintenance.and_then(|maintenance| {
            MaintenanceFile::resolve(maintenance, &directory.hosts, &hosts, self.diagnostics)
        });
        let mut set_vars: BTreeMap<String, Vec<(Node, Span)>> = BTreeMap::new();
        let group_vars = groups.iter().map(|group| &group.file.vars);
        let host_vars = host_files.iter().map(|(_, host)| &host.vars);
        for (name, value) in
            std::iter::once(&file.vars).chain(group_vars).chain(host_vars).flat_map(|vars| &vars.0)
        {
            set_vars.entry(name.value.clone()).or_default().push((value.clone(), name.span));
        }
        Inventory {
            cluster: file.cluster.value.clone(),
            hosts,
            directory,
            uses: file.playbooks,
            site_sources: file
                .sources
                .map(|sources| sources.resolve(self.bases, self.diagnostics))
                .unwrap_or_default(),
            policy: file.policy.map(|policy| policy.value).unwrap_or_default(),
            maintenance,
            rollout: file.rollout,
            expect: Json::Object(object(&file.expect.0)),
            watch: file.watch.map(|watch| watch.resolve(&secrets, self.diagnostics)).unwrap_or_default(),
            secrets,
            lab: file.lab,
            host_labs,
            set_vars,
        }
    }

    fn cluster_name(&mut self, name: &Sp<String>) {
        if let Err(help) = check_cluster_name(&name.value) {
            let text = format!("`{}` is not the name of a cluster", name.value);
            self.diagnostics.push(Diagnostic::error(name.span, text).help(help));
        }
    }

    /// Remembers a host and returns its index.
    fn host(&mut self, name: String, span: Span) -> usize {
        let next = self.hosts.len();
        let index = *self.names.entry(name.clone()).or_insert(next);
        if index == next {
            self.hosts.push((Sp::new(name, span), Vec::new()));
        }
        index
    }

    fn expand(&mut self, word: &Sp<String>) -> Vec<String> {
        if self.named >= MAX_NAMED || self.hosts.len() > MAX_HOSTS {
            // Said once.
            if self.named != usize::MAX {
                self.named = usize::MAX;
                self.diagnostics.error(word.span, hostlist::too_many());
            }
            return Vec::new();
        }
        let names = hostlist::expand(&word.value).unwrap_or_else(|error| {
            let span = locate(self.sources, word.span, &word.value, error.start, error.end);
            self.diagnostics.push(Diagnostic::error(span, error.message).maybe_help(error.help));
            Vec::new()
        });
        self.named += names.len();
        names
    }

    fn host_entries(
        &mut self,
        entries: Option<&Vec<(Sp<String>, super::file::Nullable<HostFile>)>>,
        files: &mut Vec<(Sp<String>, HostFile)>,
    ) {
        for (key, host) in entries.into_iter().flatten() {
            let place = files.len();
            for name in self.expand(key) {
                let index = self.host(name, key.span);
                if let Some((_, said)) = self.hosts.get_mut(index) {
                    said.push(place);
                }
            }
            files.push((key.clone(), host.0.clone().unwrap_or_else(empty_host)));
        }
    }

    fn resolve(
        &mut self,
        file: &InventoryFile,
        host_files: &[(Sp<String>, HostFile)],
        groups: &[Group],
        secrets: &BTreeMap<String, SecretSource>,
    ) -> Vec<Host> {
        if let Some(span) = self.foreseen(host_files) {
            self.diagnostics.push(too_much_given(span));
            return Vec::new();
        }
        let cluster = Given {
            vars: vars(&file.vars, Layer::Cluster, "cluster"),
            ssh: self.ssh(&Ssh::default(), [file.ssh.as_ref()].into_iter().flatten(), secrets),
            transport: file.transport,
            expect: object(&file.expect.0),
            nics: Json::Array(Vec::new()),
            ..Given::default()
        };
        let mut membership: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.hosts.len()];
        for (index, group) in groups.iter().enumerate() {
            for host in &group.members {
                if let Some(set) = membership.get_mut(*host) {
                    set.insert(index);
                }
            }
        }
        let mut cache: BTreeMap<BTreeSet<usize>, Given> = BTreeMap::new();
        let mut texts: BTreeMap<String, Option<Text>> = BTreeMap::new();
        let named = std::mem::take(&mut self.hosts);
        let (mut hosts, mut given_bytes) = (Vec::with_capacity(named.len()), 0_usize);
        for (index, ((name, said), set)) in named.iter().zip(membership).enumerate() {
            if !cache.contains_key(&set) {
                let given = self.given(&cluster, groups, &set, secrets);
                cache.insert(set.clone(), given);
            }
            let given = cache.get(&set).unwrap_or(&cluster);
            let said: Vec<&(Sp<String>, HostFile)> =
                said.iter().filter_map(|place| host_files.get(*place)).collect();
            let group_names = set.iter().filter_map(|index| groups.get(*index));
            let mut host = Host {
                name: name.value.clone(),
                index,
                number: hostlist::number_of(&name.value),
                groups: group_names.map(|group| group.name.value.clone()).collect(),
                labels: given.labels.clone(),
                offline: None,
                address: name.value.clone(),
                transport: given.transport.unwrap_or(TransportKind::Ssh),
                ssh: given.ssh.clone(),
                vars: given.vars.clone(),
                nics: given.nics.clone(),
                expect: Json::Null,
                mesh_user: None,
                span: name.span,
            };
            let mut expect = given.expect.clone();
            self.refine(&mut host, &mut expect, &said, secrets);
            host.expect = Json::Object(expect);
            self.address(&mut host, &said, &mut texts);
            given_bytes = given_bytes.saturating_add(weight_of(&host, &given.vars));
            hosts.push(host);
            if given_bytes > MOST_GIVEN {
                self.diagnostics.push(too_much_given(name.span));
                break;
            }
        }
        self.hosts = named;
        hosts
    }

    /// Returns the place of the first host at which entries give their hosts much more than there is room
    /// for: nothing need be made to see that.
    fn foreseen(&self, host_files: &[(Sp<String>, HostFile)]) -> Option<Span> {
        let own: Vec<usize> = host_files.iter().map(|(_, file)| weight_of_file(file)).collect();
        let mut sum = 0_usize;
        self.hosts.iter().find_map(|(name, said)| {
            let more = said
                .iter()
                .filter_map(|place| own.get(*place))
                .fold(0, |sum: usize, own| sum.saturating_add(*own));
            sum = sum.saturating_add(more);
            (sum > 2 * MOST_GIVEN).then_some(name.span)
        })
    }

    fn given(
        &mut self,
        cluster: &Given,
        groups: &[Group],
        set: &BTreeSet<usize>,
        secrets: &BTreeMap<String, SecretSource>,
    ) -> Given {
        let files = || set.iter().filter_map(|index| groups.get(*index)).map(|group| &group.file);
        let mut given = Given {
            vars: cluster.vars.clone(),
            ssh: cluster.ssh.clone(),
            transport: cluster.transport,
            nics: cluster.nics.clone(),
            expect: cluster.expect.clone(),
            labels: BTreeMap::new(),
        };
        let group_name = |index: usize| groups.get(index).map_or("", |group| group.name.value.as_str());
        let names: BTreeSet<&str> = files().flat_map(|file| keys(&file.vars)).collect();
        for name in names {
            let say =
                |file: &GroupFile| entry(&file.vars, name).map(|(key, node)| (node.to_json(), key.span));
            let what = format!("the variable `{name}`");
            if let Some((index, value, span)) = groups::decide(groups, set, &what, say, self.diagnostics) {
                let origin = format!("group {}", group_name(index));
                Arc::make_mut(&mut given.vars)
                    .insert(name.to_owned(), Var { value, layer: Layer::Group, origin, span });
            }
        }
        let names: BTreeSet<&str> = files().flat_map(|file| keys(&file.labels)).collect();
        for name in names {
            let say =
                |file: &GroupFile| entry(&file.labels, name).map(|(key, text)| (text.clone(), key.span));
            let what = format!("the label `{name}`");
            if let Some((_, value, _)) = groups::decide(groups, set, &what, say, self.diagnostics) {
                given.labels.insert(name.to_owned(), value);
            }
        }
        let names: BTreeSet<&str> = files().flat_map(|file| keys(&file.expect.0)).collect();
        for name in names {
            let say =
                |file: &GroupFile| entry(&file.expect.0, name).map(|(key, node)| (node.to_json(), key.span));
            let what = format!("`expect.{name}`");
            if let Some((_, value, _)) = groups::decide(groups, set, &what, say, self.diagnostics) {
                given.expect.insert(name.to_owned(), value);
            }
        }
        let say = |file: &GroupFile| file.nics.as_ref().map(|nics| (nics.value.0.clone(), nics.span));
        if let Some((_, nics, _)) = groups::decide(groups, set, "`nics`", say, self.diagnostics) {
            given.nics = nics;
        }
        let say = |file: &GroupFile| file.transport.map(|transport| (transport, file_span(file)));
        if let Some((_, transport, _)) = groups::decide(groups, set, "`transport`", say, self.diagnostics) {
            given.transport = Some(transport);
        }
        let merged = self.group_ssh(groups, set);
        given.ssh = self.ssh(&given.ssh, std::iter::once(&merged), secrets);
        given
    }

    /// One `ssh` mapping of all groups in a set.
    fn group_ssh(&mut self, groups: &[Group], set: &BTreeSet<usize>) -> SshFile {
        macro_rules! field {
            ($field:ident, $what:literal) => {{
                let say = |file: &GroupFile| {
                    file.ssh
                        .as_ref()
                        .and_then(|ssh| ssh.$field.clone())
                        .map(|value| (value.clone(), value.span))
                };
                groups::decide(groups, set, $what, say, self.diagnostics).map(|(_, value, _)| value)
            }};
        }
        SshFile {
            user: field!(user, "`ssh.user`"),
            port: field!(port, "`ssh.port`"),
            identity_file: field!(identity_file, "`ssh.identity_file`"),
            known_hosts: field!(known_hosts, "`ssh.known_hosts`"),
            jump: field!(jump, "`ssh.jump`"),
            become_method: field!(become_method, "`ssh.become`"),
            kex: field!(kex, "`ssh.kex`"),
            persist: field!(persist, "`ssh.persist`"),
        }
    }

    /// Lays `ssh` mappings over each other, the last one strongest.
    fn ssh<'s>(
        &mut self,
        base: &Ssh,
        files: impl Iterator<Item = &'s SshFile>,
        secrets: &BTreeMap<String, SecretSource>,
    ) -> Ssh {
        let mut ssh = base.clone();
        for file in files {
            if let Some(user) = &file.user {
                self.plain_word(address::user, user);
                ssh.user = Some(user.value.clone());
            }
            if let Some(port) = &file.port {
                if port.value == 0 {
                    self.diagnostics.error(port.span, "a port is at least 1");
                }
                ssh.port = Some(port.value);
            }
            for path in [&file.identity_file, &file.known_hosts].into_iter().flatten() {
                if path.value.starts_with('$') {
                    let error = Diagnostic::error(path.span, "variables of the shell are not read here");
                    self.diagnostics.push(
                        error.help("`~/` is your home; a relative path begins at the folder of this file"),
                    );
                }
            }
            if let Some(path) = &file.identity_file {
                ssh.identity_file = Some(self.bases.resolve(&path.value));
            }
            if let Some(path) = &file.known_hosts {
                let file = self.bases.resolve(&path.value);
                if self.key_files.insert(file.clone())
                    && let Err(why) = known_hosts::suits(&file)
                {
                    let text = format!("`{file}` is no file of host keys: {why}");
                    let help = "name a file of its own, such as `./known_hosts`: `provision inventory trust` writes it";
                    self.diagnostics.push(Diagnostic::error(path.span, text).help(help));
                }
                ssh.known_hosts = Some(file);
            }
            if let Some(jump) = &file.jump {
                for hop in &jump.value {
                    self.plain_word(address::jump, hop);
                }
                ssh.jump = jump.value.iter().map(|hop| hop.value.clone()).collect();
            }
            if let Some(method) = &file.become_method {
                ssh.become_method = match &method.value {
                    BecomeFile::None => Become::None,
                    BecomeFile::Sudo(password) => {
                        if let Some(name) =
                            password.as_ref().filter(|name| !secrets.contains_key(&name.value))
                        {
                            let known = secrets.keys().map(String::as_str);
                            unknown("secret", name, known, self.diagnostics);
                        }
                        Become::Sudo { password: password.as_ref().map(|name| name.value.clone()) }
                    }
                };
            }
            if let Some(kex) = &file.kex {
                self.plain_word(address::algorithms, kex);
                ssh.kex = Some(kex.value.clone());
            }
            if let Some(persist) = &file.persist {
                if !PERSIST.contains(&persist.value.0) {
                    self.diagnostics.error(persist.span, "a login stays for at least `1m` and at most `8h`");
                }
                ssh.persist = Some(Sp::new(persist.value.0, persist.span));
            }
        }
        ssh
    }

    /// A word that neither ssh nor a shell takes for more than itself.
    fn plain_word(&mut self, check: fn(&str) -> Result<(), String>, word: &Sp<String>) {
        if let Err(message) = check(&word.value) {
            self.diagnostics.error(word.span, message);
        }
    }

    /// Lays what `hosts:` says of a host over what its groups say. Each field is said once.
    fn refine(
        &mut self,
        host: &mut Host,
        expect: &mut Map<String, Json>,
        said: &[&(Sp<String>, HostFile)],
        secrets: &BTreeMap<String, SecretSource>,
    ) {
        let mut seen: BTreeMap<String, Span> = BTreeMap::new();
        for (key, file) in said {
            let mut once = |what: String, span: Span, diagnostics: &mut Diagnostics| match seen.get(&what) {
                Some(first) => diagnostics.push(
                    Diagnostic::error(span, format!("{what} of host `{}` is set twice", host.name))
                        .label("set again here")
                        .related(*first, "set here first"),
                ),
                None => {
                    seen.insert(what, span);
                }
            };
            if let Some(address) = &file.address {
                once("`address`".to_owned(), address.span, self.diagnostics);
            }
            if let Some(lab) = &file.lab {
                once("`lab`".to_owned(), lab.span, self.diagnostics);
            }
            if let Some(offline) = &file.offline {
                once("`offline`".to_owned(), offline.span, self.diagnostics);
                host.offline = Some(offline.value.0.clone());
            }
            if let Some(transport) = &file.transport {
                once("`transport`".to_owned(), transport.span, self.diagnostics);
                host.transport = transport.value;
            }
            if let Some(nics) = &file.nics {
                once("`nics`".to_owned(), nics.span, self.diagnostics);
                host.nics = nics.value.0.clone();
            }
            for (name, value) in &file.labels.0 {
                once(format!("the label `{}`", name.value), name.span, self.diagnostics);
                host.labels.insert(name.value.clone(), value.clone());
            }
            for (name, value) in &file.expect.0.0 {
                once(format!("`expect.{}`", name.value), name.span, self.diagnostics);
                expect.insert(name.value.clone(), value.to_json());
            }
            for (name, value) in &file.vars.0 {
                once(format!("the variable `{}`", name.value), name.span, self.diagnostics);
                let origin = format!("host {}", key.value);
                let var = Var { value: value.to_json(), layer: Layer::Host, origin, span: name.span };
                Arc::make_mut(&mut host.vars).insert(name.value.clone(), var);
            }
            if let Some(ssh) = &file.ssh {
                let fields = [
                    ("user", ssh.user.as_ref().map(|field| field.span)),
                    ("port", ssh.port.as_ref().map(|field| field.span)),
                    ("identity_file", ssh.identity_file.as_ref().map(|field| field.span)),
                    ("known_hosts", ssh.known_hosts.as_ref().map(|field| field.span)),
                    ("jump", ssh.jump.as_ref().map(|field| field.span)),
                    ("become", ssh.become_method.as_ref().map(|field| field.span)),
                    ("kex", ssh.kex.as_ref().map(|field| field.span)),
                    ("persist", ssh.persist.as_ref().map(|field| field.span)),
                ];
                for (name, span) in fields {
                    if let Some(span) = span {
                        once(format!("`ssh.{name}`"), span, self.diagnostics);
                    }
                }
                host.ssh = self.ssh(&host.ssh, std::iter::once(ssh), secrets);
            }
        }
    }

    /// Addresses as they are written, by the index of their host.
    fn addresses<'f>(&self, host_files: &'f [(Sp<String>, HostFile)]) -> BTreeMap<usize, &'f Sp<String>> {
        let written = |place: &usize| host_files.get(*place).and_then(|(_, file)| file.address.as_ref());
        let hosts = self.hosts.iter().enumerate();
        hosts.filter_map(|(index, (_, said))| Some((index, said.iter().find_map(written)?))).collect()
    }

    /// Returns what `hosts:` says of each host in a lab.
    fn host_labs(&self, host_files: &[(Sp<String>, HostFile)]) -> BTreeMap<String, Node> {
        let written = |place: &usize| host_files.get(*place).and_then(|(_, file)| file.lab.as_ref());
        let said = |(name, said): &(Sp<String>, Vec<usize>)| {
            Some((name.value.clone(), said.iter().find_map(written)?.value.clone()))
        };
        self.hosts.iter().filter_map(said).collect()
    }

    fn address(
        &mut self,
        host: &mut Host,
        said: &[&(Sp<String>, HostFile)],
        texts: &mut BTreeMap<String, Option<Text>>,
    ) {
        let Some(address) = said.iter().find_map(|(_, file)| file.address.as_ref()) else { return };
        if is_template(&address.value) {
            if !texts.contains_key(&address.value) {
                let text = Text::parse(&address.value);
                let text = text.map_err(|error| self.text_error(address, error)).ok();
                texts.insert(address.value.clone(), text);
            }
            let Some(Some(text)) = texts.get(&address.value) else { return };
            match text.render(&AddressValues(host.view())) {
                Ok(Json::String(text)) => host.address = text,
                Ok(other) => host.address = other.to_string(),
                Err(Unresolved::Waiting(_)) => {}
                Err(Unresolved::Wrong(error)) => {
                    self.text_error(address, error);
                    return;
                }
            }
        } else {
            host.address.clone_from(&address.value);
        }
        if let Err(message) = address::address(&host.address) {
            self.diagnostics.error(address.span, message);
        }
    }

    fn text_error(&mut self, text: &Sp<String>, error: TextError) {
        let span = locate(self.sources, text.span, &text.value, error.start, error.end);
        self.diagnostics.push(Diagnostic::error(span, error.message).maybe_help(error.help));
    }
}

pub(super) fn empty_group() -> GroupFile {
    GroupFile {
        hosts: None,
        children: Vec::new(),
        vars: Entries::default(),
        expect: Expectations::default(),
        nics: None,
        ssh: None,
        transport: None,
        labels: Entries::default(),
        priority: 0,
    }
}

pub(super) fn empty_host() -> HostFile {
    HostFile {
        address: None,
        labels: Entries::default(),
        vars: Entries::default(),
        offline: None,
        ssh: None,
        transport: None,
        nics: None,
        expect: Expectations::default(),
        lab: None,
    }
}

fn file_span(file: &GroupFile) -> Span {
    file.hosts.as_ref().and_then(|words| words.0.first()).map_or(Span::NONE, |word| word.span)
}

fn keys<T>(entries: &Entries<T>) -> impl Iterator<Item = &str> {
    entries.0.iter().map(|(name, _)| name.value.as_str())
}

fn entry<'a, T>(entries: &'a Entries<T>, name: &str) -> Option<&'a (Sp<String>, T)> {
    entries.0.iter().find(|(key, _)| key.value == name)
}

fn object(entries: &Entries<Node>) -> Map<String, Json> {
    entries.0.iter().map(|(name, value)| (name.value.clone(), value.to_json())).collect()
}

fn vars(entries: &Entries<Node>, layer: Layer, origin: &str) -> Vars {
    let vars = entries.0.iter().map(|(name, value)| {
        let var = Var { value: value.to_json(), layer, origin: origin.to_owned(), span: name.span };
        (name.value.clone(), var)
    });
    Arc::new(vars.collect())
}
