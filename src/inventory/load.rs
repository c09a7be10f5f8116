//! The inventory's file to resolved hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;

use super::address::{self, AddressValues};
use super::check::{
    MOST_GIVEN, check_cluster_name, ini, no_templates, other_file, too_much_given, weight_of, weight_of_file,
};
use super::expect::Expect;
use super::file::{
    self, BecomeFile, GroupFile, HostFile, InventoryFile, Policy, RolloutFile, SshFile, Use, unknown,
};
use super::groups::{self, Group};
use super::host::{Become, Host, Layer, Ssh, TransportKind, Var, Vars};
use super::hosts_from::{self, Lists};
use super::known_hosts;
use super::maintenance::{self, Maintenance, MaintenanceFile};
use super::nics::{Nic, with_prefix};
use super::rollout::Batch;
use super::select::Directory;
use super::warnings;
use super::watch::Watch;
use crate::config::{
    Bases, Diagnostic, Diagnostics, Entries, FromNode as _, Node, SourceId, Sources, Sp, Span, TextError,
    locate, yaml,
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
    nics: Vec<Nic>,
    expect: Expect,
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
    no_templates(&node, None, diagnostics);
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

/// Limits of the time that a login may take.
const LOGIN_TIMEOUT: RangeInclusive<Duration> = Duration::from_secs(5)..=Duration::from_mins(10);
/// Limits of the time that a login may stay.
const PERSIST: RangeInclusive<Duration> = Duration::from_mins(1)..=Duration::from_hours(8);

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
            let group = group.0.clone().unwrap_or_else(file::empty_group);
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
        warnings::look(&hosts, &self.addresses(&host_files), &file, self.diagnostics);
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
            self.diagnostics.push(Diagnostic::at(span, error));
            Vec::new()
        });
        self.named += names.len();
        names
    }

    fn host_entries(
        &mut self,
        entries: Option<&Vec<(Sp<String>, file::Nullable<HostFile>)>>,
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
            files.push((key.clone(), host.0.clone().unwrap_or_else(file::empty_host)));
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
            expect: file.expect.read.clone(),
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
        let mut cards = Cards::default();
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
                expect: given.expect.clone(),
                mesh_user: None,
                span: name.span,
            };
            self.refine(&mut host, &said, secrets);
            self.address(&mut host, &said, &mut texts);
            self.addresses_of_cards(&mut host, &mut texts, &mut cards);
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
        let names: BTreeSet<&str> = files().flat_map(|file| keys(&file.expect.entries)).collect();
        for name in names {
            let say = |file: &GroupFile| {
                entry(&file.expect.entries, name).map(|(key, _)| (file.expect.read.clone(), key.span))
            };
            let what = format!("`expect.{name}`");
            if let Some((_, read, _)) = groups::decide(groups, set, &what, say, self.diagnostics) {
                given.expect.replace(name, &read);
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
            login_timeout: field!(login_timeout, "`ssh.login_timeout`"),
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
            if let Some(timeout) = &file.login_timeout {
                if !LOGIN_TIMEOUT.contains(&timeout.value.0) {
                    self.diagnostics.error(timeout.span, "a login has at least `5s` and at most `10m`");
                }
                ssh.login_timeout = Some(timeout.value.0);
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
                host.nics.clone_from(&nics.value.0);
            }
            for (name, value) in &file.labels.0 {
                once(format!("the label `{}`", name.value), name.span, self.diagnostics);
                host.labels.insert(name.value.clone(), value.clone());
            }
            for (name, _) in &file.expect.entries.0 {
                once(format!("`expect.{}`", name.value), name.span, self.diagnostics);
                host.expect.replace(&name.value, &file.expect.read);
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
                    ("login_timeout", ssh.login_timeout.as_ref().map(|field| field.span)),
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
        match self.filled(address, host, texts) {
            Ok(Some(text)) => host.address = text,
            Ok(None) => {}
            Err(()) => return,
        }
        if let Err(message) = address::address(&host.address) {
            self.diagnostics.error(address.span, message);
        }
    }

    /// A text with what it reads of its host; none where that is not known yet, an error where it was told.
    fn filled(
        &mut self,
        said: &Sp<String>,
        host: &Host,
        texts: &mut BTreeMap<String, Option<Text>>,
    ) -> Result<Option<String>, ()> {
        if !is_template(&said.value) {
            return Ok(Some(said.value.clone()));
        }
        if !texts.contains_key(&said.value) {
            let text = Text::parse(&said.value);
            let text = text.map_err(|error| self.text_error(said, error)).ok();
            texts.insert(said.value.clone(), text);
        }
        let Some(Some(text)) = texts.get(&said.value) else { return Err(()) };
        match text.render(&AddressValues(host.view())) {
            Ok(serde_json::Value::String(text)) => Ok(Some(text)),
            Ok(other) => Ok(Some(other.to_string())),
            Err(Unresolved::Waiting(_)) => Ok(None),
            Err(Unresolved::Wrong(error)) => {
                self.text_error(said, error);
                Err(())
            }
        }
    }

    /// Fills in the addresses of a host's cards. What is wrong with one text is told for the first host that has it.
    fn addresses_of_cards(
        &mut self,
        host: &mut Host,
        texts: &mut BTreeMap<String, Option<Text>>,
        cards: &mut Cards,
    ) {
        for at in 0..host.nics.len() {
            let Some(nic) = host.nics.get(at) else { continue };
            let (address, gateway) = (nic.address.clone(), nic.gateway.clone());
            let address = address.and_then(|said| {
                self.of_card(&said, host, texts, cards, |text| {
                    with_prefix(text)
                        .map(|_| ())
                        .ok_or("an address has the length of its prefix: `10.1.0.7/24`")
                })
            });
            if let Some(address) = &address
                && let Some((ip, _)) = with_prefix(&address.value)
                && let Some(other) = cards.owners.insert(ip, host.name.clone())
                && cards.told.insert(address.span)
            {
                let text = format!("a card of {} has the address {ip} as well as one of {other}", host.name);
                let help = "let it depend on the host: `10.1.0.{{ host.number }}/24`";
                self.diagnostics.push(Diagnostic::error(address.span, text).help(help));
            }
            let gateway = gateway.and_then(|said| {
                self.of_card(&said, host, texts, cards, |text| {
                    text.parse::<IpAddr>()
                        .map(|_| ())
                        .map_err(|_| "a gateway is an address without a prefix: `10.1.0.1`")
                })
            });
            if let Some(nic) = host.nics.get_mut(at) {
                (nic.address, nic.gateway) = (address, gateway);
            }
        }
    }

    /// A text of a card, filled in; none where it is wrong.
    fn of_card(
        &mut self,
        said: &Sp<String>,
        host: &Host,
        texts: &mut BTreeMap<String, Option<Text>>,
        cards: &mut Cards,
        check: fn(&str) -> Result<(), &'static str>,
    ) -> Option<Sp<String>> {
        if cards.told.contains(&said.span) {
            return None;
        }
        let Ok(text) = self.filled(said, host, texts) else {
            cards.told.insert(said.span);
            return None;
        };
        let text = text?;
        if let Err(help) = check(&text) {
            cards.told.insert(said.span);
            let wrong = Diagnostic::error(said.span, format!("`{text}` is not what a card can have"));
            self.diagnostics.push(wrong.help(help));
            return None;
        }
        Some(Sp::new(text, said.span))
    }

    fn text_error(&mut self, text: &Sp<String>, error: TextError) {
        let span = locate(self.sources, text.span, &text.value, error.start, error.end);
        self.diagnostics.push(Diagnostic::at(span, error));
    }
}

/// Addresses of cards so far: whose each is, and the places that something was told of.
#[derive(Default)]
struct Cards {
    owners: BTreeMap<IpAddr, String>,
    told: BTreeSet<Span>,
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

fn vars(entries: &Entries<Node>, layer: Layer, origin: &str) -> Vars {
    let vars = entries.0.iter().map(|(name, value)| {
        let var = Var { value: value.to_json(), layer, origin: origin.to_owned(), span: name.span };
        (name.value.clone(), var)
    });
    Arc::new(vars.collect())
}
