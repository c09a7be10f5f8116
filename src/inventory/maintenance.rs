//! `maintenance:`: how a host is taken out of service for what interrupts it, and given back.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value as Json;

use super::address::AddressValues;
use super::host::Host;
use super::values::{Busy, Policy, PowerCycle, Share, unknown};
use crate::config::{Diagnostic, Diagnostics, Period, Sp, Span};
use crate::template::{Text, Unresolved};

/// Default time that jobs may go on.
const WAIT: Duration = Duration::from_hours(24);
/// Default time that evicted pods may take.
const EVICT: Duration = Duration::from_mins(10);

crate::record! {
    /// Settings for taking hosts out of service for changes that interrupt, and giving them back. `apply`
    /// drains only hosts whose plan holds a change of class gpu, network or reboot. The scheduler is given by
    /// `slurm`, by `kubernetes`, or, for another one, by four keys: `at`, `begin`, `idle`, `end`.
    MaintenanceFile("`maintenance`") {
        /// The hosts are nodes of Slurm, by the same names.
        opt slurm: Sp<SlurmFile>,
        /// The hosts are nodes of Kubernetes, by the same names.
        opt kubernetes: Sp<KubernetesFile>,
        /// The host of this inventory on which the commands of another scheduler are run. A file there,
        /// `/var/lib/provision/maintenance/HOST`, says of each host that is out of service which run did it.
        opt at: Sp<String>,
        /// The command after which a host gets no new job, word by word. A word may hold `{{ host.name }}`, as in
        /// `power_cycle`. It may be run twice.
        opt begin: Sp<Vec<Sp<String>>>,
        /// Check whether a host is idle.
        opt idle: IdleFile,
        /// The command that gives a host back. It may be run twice.
        opt end: Sp<Vec<Sp<String>>>,
        /// Number of nodes that are in service at any time while others are changed: a number, or `"80%"` of
        /// the nodes, rounded up. It is counted by the scheduler's own states; with commands, all hosts but
        /// `at` are nodes, and those that a run has not drained are in service. Default: none.
        opt keep_up: Share,
    }
}

crate::record! {
    /// Nodes of Slurm.
    SlurmFile("`slurm`") {
        /// The host of this inventory on which `scontrol`, `sinfo` and `squeue` are run. Its login, or who it becomes,
        /// must be allowed to drain nodes: root and operators are.
        req controller: Sp<String>,
        /// The partition whose nodes `keep_up` counts. Default: all nodes.
        opt partition: String,
        /// Time limit for the jobs of a drained host, and for a host that waits for its turn. After that it
        /// is given back as it was. Running jobs are never ended. Default: `24h`.
        opt wait: Period,
    }
}

crate::record! {
    /// Nodes of Kubernetes.
    KubernetesFile("`kubernetes`") {
        /// The host of this inventory on which `kubectl` is run. Its login, or who it becomes, must be allowed to change nodes
        /// and to evict pods.
        req at: Sp<String>,
        /// The configuration of `kubectl` on that host, such as `/etc/kubernetes/admin.conf`. Default: its own.
        opt kubeconfig: String,
        /// Labels of the nodes that `keep_up` counts, such as `nvidia.com/gpu.present=true`. Default: all nodes.
        opt selector: String,
        /// Time limit for the jobs of a drained host, and for a host that waits for its turn. After that it
        /// is given back as it was. Jobs are all pods but those of a `ReplicaSet`, a `StatefulSet`, a
        /// `DaemonSet` or the node itself. They are never ended. Default: `24h`.
        opt wait: Period,
        /// Time limit for pods of a `ReplicaSet` or a `StatefulSet` to leave: they are evicted, within their
        /// disruption budgets, when the last job has ended. After that the host is given back as it was.
        /// Default: `10m`.
        opt evict: Period,
    }
}

crate::record! {
    /// Check whether a host is idle, and how long it is waited for.
    IdleFile("`idle`") {
        /// The command, word by word.
        req run: Sp<Vec<Sp<String>>>,
        /// Sign that the host is idle.
        def until: Until = Until::Empty,
        /// Time limit for the wait for a host. After that it is given back as it was. Default: `24h`.
        opt timeout: Period,
    }
}

crate::choice! {
    /// Sign by which a command shows that a host is idle.
    Until {
        /// It prints nothing.
        Empty = "empty",
        /// It ends with status 0.
        Success = "success",
    }
}

/// A command whose words may hold `{{ host.name }}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine(pub Vec<Sp<String>>);

/// Nodes of Kubernetes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kubernetes {
    /// A file on the host that has `kubectl`.
    pub kubeconfig: Option<String>,
    /// Labels of the nodes that are counted.
    pub selector: Option<String>,
    /// Time limit for evicted pods.
    pub evict: Duration,
}

/// The commands of another scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commands {
    /// Takes a host out of service.
    pub begin: CommandLine,
    /// Says what is on it.
    pub idle: CommandLine,
    /// Sign by which that command shows an idle host.
    pub until: Until,
    /// Gives it back.
    pub end: CommandLine,
}

/// The scheduler that gives hosts to jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchedulerSettings {
    /// Slurm.
    Slurm {
        /// The partition that is counted.
        partition: Option<String>,
    },
    /// Kubernetes.
    Kubernetes(Kubernetes),
    /// Any other one.
    Commands(Commands),
}

/// `maintenance:` with its defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintenance {
    /// The host that has the scheduler's commands.
    pub at: String,
    /// The scheduler.
    pub scheduler: SchedulerSettings,
    /// Time limit for the wait for a host.
    pub wait: Duration,
    /// Number of nodes that stay in service.
    pub keep_up: Option<Share>,
}

impl MaintenanceFile {
    /// The host on which the scheduler is asked.
    pub(super) fn at(&self) -> Option<&str> {
        let slurm = self.slurm.as_ref().map(|slurm| &slurm.controller);
        let at = slurm.or(self.kubernetes.as_ref().map(|kubernetes| &kubernetes.at)).or(self.at.as_ref())?;
        Some(&at.value)
    }

    /// `None` where it is not said how.
    pub(super) fn resolve(
        file: Sp<Self>,
        names: &BTreeMap<String, usize>,
        hosts: &[Host],
        diagnostics: &mut Diagnostics,
    ) -> Option<Maintenance> {
        let Sp { value: file, span } = file;
        let ways = [file.slurm.is_some(), file.kubernetes.is_some(), file.at.is_some()];
        let words = [file.begin.as_ref().map(|line| line.span), file.end.as_ref().map(|line| line.span)];
        let words = words.into_iter().flatten().next();
        if ways.iter().filter(|way| **way).count() != 1 {
            diagnostics.push(Diagnostic::error(span, "`maintenance` needs one way to drain a host").help(
                "write `slurm`, or `kubernetes`, or `at`, `begin`, `idle` and `end` for another scheduler",
            ));
            return None;
        }
        if let Some(span) = words.filter(|_| file.at.is_none()) {
            diagnostics.push(
                Diagnostic::error(span, "`begin` and `end` are for another scheduler")
                    .help("it is drained by its own commands: leave them out"),
            );
        }
        let keep_up = file.keep_up;
        let (at, scheduler, wait) = match (file.slurm, file.kubernetes, file.at) {
            (Some(slurm), ..) => {
                let SlurmFile { controller, partition, wait } = slurm.value;
                (controller, SchedulerSettings::Slurm { partition }, wait)
            }
            (_, Some(kubernetes), _) => {
                let KubernetesFile { at, kubeconfig, selector, wait, evict } = kubernetes.value;
                let evict = evict.map_or(EVICT, |evict| evict.0);
                (at, SchedulerSettings::Kubernetes(Kubernetes { kubeconfig, selector, evict }), wait)
            }
            (.., at) => {
                let (Some(at), Some(begin), Some(idle), Some(end)) = (at, file.begin, file.idle, file.end)
                else {
                    diagnostics.push(
                        Diagnostic::error(span, "another scheduler needs `at`, `begin`, `idle` and `end`")
                            .help("each is a command, as in `begin: [my-drain, \"{{ host.name }}\"]`; `idle: { run: [...] }`"),
                    );
                    return None;
                };
                let mut line = |words: Sp<Vec<Sp<String>>>| {
                    let line = CommandLine(words.value);
                    if line.0.is_empty() {
                        diagnostics.error(words.span, "a command is missing");
                    }
                    line.check(hosts, diagnostics);
                    line
                };
                let (begin, run, end) = (line(begin), line(idle.run), line(end));
                let commands = Commands { begin, idle: run, until: idle.until, end };
                (at, SchedulerSettings::Commands(commands), idle.timeout)
            }
        };
        if !names.contains_key(&at.value) {
            unknown("host", &at, names.keys().map(String::as_str), diagnostics);
        }
        let wait = wait.map_or(WAIT, |wait| wait.0);
        Some(Maintenance { at: at.value, scheduler, wait, keep_up })
    }
}

impl CommandLine {
    /// The words for a host.
    ///
    /// # Errors
    /// What is wrong with one of them, and which.
    pub fn words(&self, host: &Host) -> Result<Vec<String>, (Span, String)> {
        let values = AddressValues(host.view());
        let word = |word: &Sp<String>| {
            let wrong = |message: String| (word.span, message);
            let text = Text::parse(&word.value).map_err(|error| wrong(error.message))?;
            match text.render(&values) {
                Ok(Json::String(text)) => Ok(text),
                Ok(other) => Ok(other.to_string()),
                Err(Unresolved::Wrong(error)) => Err(wrong(error.message)),
                Err(Unresolved::Waiting(answers)) => {
                    let answers: Vec<String> = answers.iter().map(|answer| format!("`{answer}`")).collect();
                    Err(wrong(format!("nothing is known of {} here", answers.join(", "))))
                }
            }
        };
        self.0.iter().map(word).collect()
    }

    fn check(&self, hosts: &[Host], diagnostics: &mut Diagnostics) {
        if let Some((span, message)) = hosts.iter().find_map(|host| self.words(host).err()) {
            diagnostics.error(span, message);
        }
    }
}

impl PowerCycle {
    /// The command.
    pub fn line(&self) -> CommandLine {
        CommandLine(self.run.clone())
    }
}

/// Whether what the policy asks for can be done.
pub(super) fn check(policy: &Sp<Policy>, maintenance: bool, hosts: &[Host], diagnostics: &mut Diagnostics) {
    if let Some(cycle) = &policy.value.power_cycle {
        if cycle.run.is_empty() {
            diagnostics.error(policy.span, "`power_cycle` needs a command");
        }
        if !maintenance {
            let help = "a host is turned off only while it is drained: say how, with `maintenance:`";
            diagnostics
                .push(Diagnostic::error(policy.span, "`power_cycle` without `maintenance:`").help(help));
        }
        cycle.line().check(hosts, diagnostics);
    }
    if policy.value.busy == Busy::Drain && !maintenance {
        let help = "say how, with `maintenance: { slurm: { controller: HOST } }`";
        diagnostics.push(
            Diagnostic::error(policy.span, "`busy: drain` needs to know how a host is drained").help(help),
        );
    }
}
