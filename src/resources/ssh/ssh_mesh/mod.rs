//! `ssh_mesh`: every host of a cluster reaches every other as one user, with strict host keys.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use crate::config::{Diagnostics, FromNode as _, Node, Sp};
use crate::facts::base::network::Network as NetworkFact;
use crate::facts::base::ssh::Ssh;
use crate::facts::ssh_user::{SshFiles, SshFilesQuery, SshKeyQuery, files};
use crate::facts::sshd::SshdQuery;
use crate::facts::{Facts, Object, Query, Touches};
use crate::hostlist::{expand, fold};
use crate::inventory::Promise;
use crate::inventory::expect::ExpectSoftware;
use crate::resources::network::hosts_file::{AliasFields, cut_block};
use crate::resources::shared::known;
use crate::resources::shared::roster::{
    Member, Network, Owners, Roster, address_of, fleet, fleet_base, fleet_facts,
};
use crate::resources::shared::value::{AccountName, FileName};
use crate::resources::{Built, Change, Context, Detail, LoginEffect, Planned, Resource, Unplannable};
use crate::transport::{Arg, Script};

crate::record! {
    /// SSH without passwords from every host to every other as one user. MPI needs it: mpirun starts
    /// its daemons as a tree, so hosts other than the first also log in to others.
    ///
    /// Each host has its own key (`ssh_key`, in an earlier task); private halves never leave their
    /// host. Public keys go into a marked block of `authorized_keys`. Host keys and a client
    /// configuration go into `~/.ssh/provision-CLUSTER.known_hosts` and `.conf`, which the first line
    /// of `~/.ssh/config` includes. The host keys are those that the controller read over its own
    /// verified connections; no key is trusted because a network scan found it, and
    /// `StrictHostKeyChecking` is `yes`.
    ///
    /// The members are the task's hosts in the inventory, whatever `--hosts` selects and whoever
    /// answers. For a host that cannot be reached now, the keys that an earlier run saw are used. If no
    /// run ever saw it, the entries that others have for it are kept. Keys of hosts that left the
    /// inventory are removed. Each host costs one login, whatever the number of hosts; its files grow
    /// by about 300 bytes for each host.
    SshMeshFields("an SSH mesh") {
        /// The user; the same on all hosts.
        req user: AccountName,
        /// Name of the user's key in `~/.ssh`.
        def key: FileName = FileName("id_ed25519".to_owned()),
        /// Options that are written before each key in `authorized_keys`:
        /// `from="10.0.0.0/24",no-agent-forwarding`.
        opt options: Sp<String>,
        /// The port of sshd for connections between hosts.
        def port: u16 = 22,
        /// Hosts are also known by their addresses in this network, as they say themselves, and an address
        /// that two have is nobody's. Left out: by the address that the inventory writes for each.
        opt network: Network,
        /// Hosts are also known by their names with this domain.
        opt domain: FileName,
        /// More names for more addresses, as in `hosts_file`.
        def aliases: Vec<AliasFields> = Vec::new(),
        /// Only hosts of these groups are members.
        def groups: Vec<Sp<String>> = Vec::new(),
    }
}

kind! { "ssh_mesh", SshMeshFields, fleet: true, promises: &["software.mpi_user"] }

/// Hosts in one block of the client configuration: old clients read lines of at most 1 KiB or 4 KiB.
const HOSTS_PER_BLOCK: usize = 8;

#[derive(Debug)]
struct SshMesh {
    roster: Roster,
    user: String,
    key: String,
    options: String,
    port: u16,
    network: Option<Network>,
    domain: Option<String>,
    aliases: Vec<(String, Network)>,
}

pub(in crate::resources) fn read(node: &Node, context: &dyn Context, diagnostics: &mut Diagnostics) -> Built {
    let fields = SshMeshFields::from_node(node, diagnostics)?;
    let options = fields.options.as_ref().map(|options| options.value.trim().to_owned()).unwrap_or_default();
    let quotes = options.bytes().filter(|byte| *byte == b'"').count();
    let outside = options.split('"').step_by(2);
    if let Some(written) = &fields.options
        && (quotes % 2 == 1
            || outside.into_iter().any(|text| text.contains(char::is_whitespace))
            || options.chars().any(char::is_control))
    {
        diagnostics.error(written.span, "separate the options of a key with commas, without spaces");
        return None;
    }
    let roster = context.roster().targeted().narrow(&fields.groups, diagnostics)?;
    Some(Arc::new(SshMesh {
        roster,
        user: fields.user.0,
        key: fields.key.0,
        options,
        port: fields.port,
        network: fields.network,
        domain: fields.domain.map(|domain| domain.0),
        aliases: fields.aliases.into_iter().map(|alias| (alias.suffix.value, alias.network)).collect(),
    }))
}

/// Facts that are known of the hosts by now.
struct MeshFacts<'a> {
    /// Public keys of the user by host; `None` where the host was seen and has none.
    keys: BTreeMap<&'a str, Option<&'a str>>,
    host_keys: BTreeMap<&'a str, &'a Ssh>,
    networks: BTreeMap<&'a str, &'a NetworkFact>,
    /// Owner of each address.
    owners: Owners<'a>,
}

impl SshMesh {
    /// The words for a host whose sshd takes no key of the user.
    fn refused(&self, option: &str) -> String {
        let user = &self.user;
        format!(
            "no host reaches this one as {user}: its sshd has {option}. Change that by an `sshd` task (`PermitRootLogin: prohibit-password` takes keys of root), or name another account in `users:` of ssh-mesh and in `expect.software.mpi_user`"
        )
    }

    fn key_query(&self) -> SshKeyQuery {
        SshKeyQuery { user: self.user.clone(), name: self.key.clone() }
    }

    fn files_query(&self) -> SshFilesQuery {
        SshFilesQuery { user: self.user.clone(), mesh: self.roster.cluster.clone() }
    }

    fn seen<'a>(&'a self, facts: &'a Facts) -> Result<MeshFacts<'a>, Unplannable> {
        let keys = fleet(facts, &self.key_query())?
            .map(|(host, key)| (host, key.as_ref().and_then(|key| key.public.as_deref())));
        let networks = fleet_facts(facts)?;
        Ok(MeshFacts {
            keys: keys.collect(),
            host_keys: fleet_facts(facts)?,
            owners: self.owners(&networks),
            networks,
        })
    }

    /// Addresses of a host, each with the suffix of the name that it goes with: of what it says itself, only those in
    /// a network that the task names. With any other address its key would be accepted for that of a stranger.
    fn addresses(&self, member: &Member, network: Option<&NetworkFact>) -> Vec<(&str, IpAddr)> {
        let plain = match &self.network {
            Some(within) => address_of(member, network, Some(within)),
            None => member.written(),
        };
        let aliases = self.aliases.iter().filter_map(|(suffix, within)| {
            Some((suffix.as_str(), address_of(member, Some(network?), Some(within))?))
        });
        plain.map(|address| ("", address)).into_iter().chain(aliases).collect()
    }

    fn owners<'a>(&'a self, networks: &BTreeMap<&str, &NetworkFact>) -> Owners<'a> {
        let said = self.roster.members.iter().flat_map(|member| {
            let addresses = self.addresses(member, networks.get(member.name.as_str()).copied());
            addresses.into_iter().map(|(_, address)| (member.name.as_str(), address))
        });
        self.roster.owners(said)
    }

    /// Whether a name that an earlier run wrote for a host may stay: an address only where it is one of the inventory
    /// or of a network that the task names, and nobody else's now.
    fn may_stay(&self, member: &Member, name: &str, owners: &Owners<'_>) -> bool {
        let Ok(address) = name.parse::<IpAddr>() else { return true };
        let mut networks = self.network.iter().chain(self.aliases.iter().map(|(_, within)| within));
        let known = member.written() == Some(address) || networks.any(|within| within.contains(address));
        known && !owners.is_taken(&member.name, address)
    }

    /// Lines of the block in `authorized_keys`, and the hosts whose key is not known.
    fn authorized<'a>(&'a self, seen: &MeshFacts<'a>, old: &[&str]) -> (Vec<String>, Vec<&'a str>) {
        let mut before: BTreeMap<String, String> = BTreeMap::new();
        for line in old {
            let mut words = line.split_whitespace().rev();
            if let (Some(hosts), Some(blob), Some(kind)) = (words.next(), words.next(), words.next()) {
                for host in expand(hosts).unwrap_or_default() {
                    before.insert(host, format!("{kind} {blob}"));
                }
            }
        }
        let (mut by_key, mut waits) = (BTreeMap::<&str, Vec<&str>>::new(), Vec::new());
        for member in self.roster.members.iter() {
            let name = member.name.as_str();
            let known = seen.keys.get(name).copied().flatten();
            match known.or_else(|| before.get(name).map(String::as_str)) {
                Some(key) => by_key.entry(key).or_default().push(name),
                None if member.offline => {}
                None => waits.push(name),
            }
        }
        let mut lines: Vec<String> = by_key
            .into_iter()
            .map(|(key, hosts)| {
                let space = if self.options.is_empty() { "" } else { " " };
                format!("{}{space}{key} {}", self.options, fold(hosts))
            })
            .collect();
        lines.sort();
        (lines, waits)
    }

    /// All names of a host: what it is called, and its addresses.
    fn names(&self, member: &Member, seen: &MeshFacts<'_>) -> Vec<String> {
        let name = member.name.as_str();
        let network = seen.networks.get(name).copied();
        let mut names = vec![member.name.clone()];
        names.extend(self.domain.as_ref().map(|domain| format!("{name}.{domain}")));
        for (suffix, address) in self.addresses(member, network) {
            if !suffix.is_empty() {
                names.push(format!("{name}{suffix}"));
            }
            if seen.owners.is(name, address) {
                names.push(address.to_string());
            }
        }
        names
    }

    /// A name as `known_hosts` has it.
    fn with_port(&self, name: &str) -> String {
        if self.port == 22 { name.to_owned() } else { format!("[{name}]:{}", self.port) }
    }

    /// The file of host keys, and the hosts whose keys are not known.
    fn known_hosts<'a>(&'a self, seen: &MeshFacts<'a>, old: &str) -> (String, Vec<&'a str>) {
        let mut text = self.head("Host keys");
        let mut waits = Vec::new();
        let mut kept: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for line in old.lines().filter(|line| !line.starts_with('#')) {
            let first = line.split([',', ' ']).next().unwrap_or("");
            kept.entry(without_port(first)).or_default().push(line);
        }
        for member in self.roster.members.iter() {
            let name = member.name.as_str();
            let keys = host_keys(seen.host_keys.get(name).copied());
            if keys.is_empty() {
                let lines = kept.get(name).map(Vec::as_slice).unwrap_or_default();
                if lines.is_empty() && !member.offline {
                    waits.push(name);
                }
                for line in lines {
                    let (names, key) = line.split_once(' ').unwrap_or((line, ""));
                    let stays = |name: &&str| self.may_stay(member, without_port(name), &seen.owners);
                    let names: Vec<&str> = names.split(',').filter(stays).collect();
                    let _ = writeln!(text, "{} {key}", names.join(","));
                }
                continue;
            }
            let names: Vec<String> =
                self.names(member, seen).iter().map(|name| self.with_port(name)).collect();
            let names = names.join(",");
            for (kind, key) in keys {
                let _ = writeln!(text, "{names} {kind} {key}");
            }
        }
        (text, waits)
    }

    /// The names of a host; of one that this run did not see also those that the file of host keys has.
    fn names_or_old(&self, member: &Member, seen: &MeshFacts<'_>, known_hosts: &str) -> Vec<String> {
        let mut names = self.names(member, seen);
        if host_keys(seen.host_keys.get(member.name.as_str()).copied()).is_empty() {
            let lines = known_hosts.lines().filter_map(|line| line.split_once(' '));
            let mut old = lines.map(|(old, _)| old.split(',').map(without_port).collect::<Vec<_>>());
            let of_this =
                old.find(|old| old.first().is_some_and(|first| *first == member.name)).unwrap_or_default();
            for name in of_this {
                if names.iter().all(|known| known != name) && self.may_stay(member, name, &seen.owners) {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }

    fn config(&self, seen: &MeshFacts<'_>, host_keys: &str) -> String {
        let [_, known_hosts] = files(&self.roster.cluster);
        let mut text = self.head("How hosts are reached");
        for members in self.roster.members.chunks(HOSTS_PER_BLOCK) {
            text.push_str("Host");
            for name in members.iter().flat_map(|member| self.names_or_old(member, seen, host_keys)) {
                let _ = write!(text, " {name}");
            }
            let _ = write!(
                text,
                "\n    User {}\n    IdentityFile ~/.ssh/{}\n    UserKnownHostsFile ~/.ssh/{known_hosts}\n    \
                 StrictHostKeyChecking yes\n    ConnectTimeout 10\n    LogLevel ERROR\n",
                self.user, self.key
            );
            if self.port != 22 {
                let _ = writeln!(text, "    Port {}", self.port);
            }
            // Clients before OpenSSH 8.5 write the address beside a name into our file where it is not there.
            let has_address =
                |member: &Member| self.names(member, seen).iter().any(|name| name.parse::<IpAddr>().is_ok());
            if !members.iter().all(has_address) {
                text.push_str("    CheckHostIP no\n");
            }
        }
        text
    }

    fn head(&self, what: &str) -> String {
        format!("# {what} of the cluster {}. Written by provision.\n", self.roster.cluster)
    }

    fn change(found: &SshFiles, name: &str, summary: String, after: String) -> Change {
        let path = format!("{}/.ssh/{name}", found.home);
        Change::new(
            Object::Path(path),
            summary,
            Detail::Text { before: found.files.get(name).cloned(), after: Some(after.clone()) },
            Script::new(crate::shell!(
                "shell/base64.sh",
                "shell/reach.sh",
                "resources/shared/put.sh",
                "resources/shared/ssh_directory.sh",
                "resources/shared/ssh_file.sh"
            ))
            .named("directory", format!("{}/.ssh", found.home))
            .named("uid", found.uid.to_string())
            .named("gid", found.gid.to_string())
            .named("name", name)
            .named("content", Arg::Packed(after)),
        )
    }
}

/// A name of `known_hosts` without the port that it may have: `[gpu0]:2222` is `gpu0`.
fn without_port(name: &str) -> &str {
    name.strip_prefix('[').and_then(|rest| rest.split(']').next()).unwrap_or(name)
}

/// Host keys as the client wants them: the short ones; RSA only where there is no other.
fn host_keys(fact: Option<&Ssh>) -> Vec<(&str, &str)> {
    let keys = fact.into_iter().flat_map(|fact| &fact.host_keys);
    let all: Vec<(&str, &str)> = keys.map(|key| (key.kind.as_str(), key.key.as_str())).collect();
    let short: Vec<(&str, &str)> =
        all.iter().copied().filter(|(kind, _)| !matches!(*kind, "ssh-rsa" | "ssh-dss")).collect();
    if short.is_empty() { all } else { short }
}

/// Counts the lines that come and go: `+3 -1`.
fn counted(before: &[&str], after: &[&str]) -> String {
    let (before, after): (BTreeSet<&&str>, BTreeSet<&&str>) =
        (before.iter().collect(), after.iter().collect());
    let mut parts = Vec::new();
    for (mark, number) in [("+", after.difference(&before).count()), ("-", before.difference(&after).count())]
    {
        if number > 0 {
            parts.push(format!("{mark}{number}"));
        }
    }
    parts.join(" ")
}

impl Resource for SshMesh {
    fn queries(&self) -> Vec<Query> {
        let mut queries = vec![self.files_query().into(), Query::of_all(self.key_query()), SshdQuery.into()];
        // The ids are for finding cloned images, the names that hosts have of themselves for a warning.
        queries.extend(["hostname", "ids", "network", "ssh"].iter().filter_map(|name| fleet_base(name)));
        queries
    }

    fn plan(&self, facts: &Facts) -> Planned {
        let object = Object::User(self.user.clone());
        let found = known::answer(facts, &self.files_query(), &object)?;
        let Some(found) = found else {
            return Err(Unplannable::Missing(object, format!("there is no user {}", self.user)));
        };
        known::home(found.homeless, &self.user, &found.home)?;
        if found.linked {
            return Err(Unplannable::Failed(format!(
                "{}/.ssh or a file in it is a symbolic link: replace it with a real one",
                found.home
            )));
        }
        let seen = self.seen(facts)?;
        if self.roster.members.iter().any(|member| member.name == self.roster.own)
            && !matches!(seen.keys.get(self.roster.own.as_str()), Some(Some(_)))
        {
            return Err(Unplannable::Missing(
                object,
                format!("{} has no key {}: add an `ssh_key` task before this one", self.user, self.key),
            ));
        }
        let text = |name: &str| found.files.get(name).map_or("", String::as_str);
        let mut changes = Vec::new();
        let [config, known_hosts] = files(&self.roster.cluster);

        let (wanted, without_host_key) = self.known_hosts(&seen, text(&known_hosts));
        if text(&known_hosts) != wanted {
            let (old, new): (Vec<&str>, Vec<&str>) =
                (text(&known_hosts).lines().skip(1).collect(), wanted.lines().skip(1).collect());
            let summary = format!("~ {}/.ssh/{known_hosts} ({} keys)", found.home, counted(&old, &new));
            changes.push(Self::change(found, &known_hosts, summary, wanted.clone()));
        }
        let wanted = self.config(&seen, &wanted);
        if text(&config) != wanted {
            changes.push(Self::change(found, &config, format!("~ {}/.ssh/{config}", found.home), wanted));
        }
        let include = format!("Include {config}");
        if text("config").lines().all(|line| line.trim() != include) {
            let after = format!("{include}\n{}", text("config"));
            changes.push(Self::change(
                found,
                "config",
                format!("~ {}/.ssh/config (+ {include})", found.home),
                after,
            ));
        }
        let marks = self.roster.marks("mesh");
        let (old, rest) = cut_block(text("authorized_keys"), &marks);
        let (lines, without_key) = self.authorized(&seen, &old);
        let mut after = String::new();
        let ours = std::iter::once(marks.0.as_str())
            .chain(lines.iter().map(String::as_str))
            .chain(std::iter::once(marks.1.as_str()));
        for line in rest.iter().copied().chain(ours) {
            let _ = writeln!(after, "{line}");
        }
        // sshd refuses keys that others may write.
        let open = found.modes.iter().any(|mode| mode & 0o022 != 0);
        if text("authorized_keys") != after || open {
            let new: Vec<&str> = lines.iter().map(String::as_str).collect();
            let keys = counted(&old, &new);
            let what = match (keys.is_empty(), open) {
                (false, _) => format!("{keys} keys"),
                (true, true) => "mode".to_owned(),
                (true, false) => "block".to_owned(),
            };
            let summary = format!("~ {}/.ssh/authorized_keys ({what})", found.home);
            changes.push(Self::change(found, "authorized_keys", summary, after));
        }
        if let Some(option) = facts.get(&SshdQuery).answer().and_then(|sshd| sshd.refuses(&self.user)) {
            return Err(Unplannable::Partly(changes, self.refused(&option)));
        }
        if changes.is_empty()
            && let Some(waits) = Roster::waits("host key", without_host_key)
                .or_else(|| Roster::waits(&format!("key of {}", self.user), without_key))
                .or_else(|| seen.owners.waits())
        {
            return Err(waits);
        }
        Ok(changes)
    }

    fn touches(&self) -> Touches {
        Touches::one(Object::User(self.user.clone()))
    }

    /// Promises `mpi_user`, on the hosts of the mesh: the user of a mesh starts jobs over it.
    fn promises(&self, _: &Facts) -> Vec<Promise> {
        if !self.roster.members.iter().any(|member| member.name == self.roster.own) {
            return Vec::new();
        }
        vec![Promise::new(ExpectSoftware { mpi_user: Some(self.user.clone()), ..ExpectSoftware::default() })]
    }

    fn manages(&self) -> Vec<(Object, String)> {
        let members = fold(self.roster.members.iter().map(|member| member.name.as_str()));
        let what = format!("{} (mesh {})", self.user, self.roster.cluster);
        vec![(Object::User(what), format!("{members} {} {} {}", self.key, self.port, self.options))]
    }

    /// Lines of others stay as they are, and a file is replaced in one step: who could log in still can.
    fn login(&self, _: &Facts) -> LoginEffect {
        LoginEffect::Same
    }
}
