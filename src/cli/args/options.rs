//! Options that several commands have.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;

use crate::launch::Exec;

/// Selection of the tasks of an inventory.
#[derive(Debug, Clone, Default, Args)]
pub struct Tasks {
    /// Only tasks with one of these tags
    #[arg(long, value_delimiter = ',', value_name = "TAG")]
    pub tags: Vec<String>,
    /// No tasks with one of these tags, whatever `--tags` says
    #[arg(long, value_delimiter = ',', value_name = "TAG")]
    pub skip_tags: Vec<String>,
}

/// An inventory and which of its hosts are meant.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// The inventory
    pub inventory: Utf8PathBuf,
    /// Only these hosts: `gpu[0-15] & !gpu7`, groups, labels `rack=r3`, `@failed`, `@unreachable` and `@not-finished` of the last run
    #[arg(long, value_name = "EXPR", alias = "limit")]
    pub hosts: Option<String>,
    /// Set a variable; wins over everything else
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Use the running lab of this inventory instead of its real hosts
    #[arg(long)]
    pub lab: bool,
    /// All, where the command has no options that choose some ([`Command::settled`]).
    #[arg(skip)]
    pub tasks: Tasks,
}

impl Target {
    /// All of an inventory.
    #[must_use]
    pub fn of(inventory: Utf8PathBuf, set: Vec<String>) -> Self {
        Self { inventory, hosts: None, set, lab: false, tasks: Tasks::default() }
    }

    /// The options that a run on the rest of the hosts needs as well.
    #[must_use]
    pub fn lasting(&self) -> Vec<String> {
        let mut options = Vec::new();
        if self.lab {
            options.push("--lab".to_owned());
        }
        for (option, tags) in [("--tags", &self.tasks.tags), ("--skip-tags", &self.tasks.skip_tags)] {
            if !tags.is_empty() {
                options.extend([option.to_owned(), tags.join(",")]);
            }
        }
        options.extend(self.set.iter().flat_map(|set| ["--set".to_owned(), set.clone()]));
        options
    }
}

/// This machine as the only host of a run.
#[derive(Debug, Clone, Default, Args)]
pub struct ThisMachine {
    /// Take the project from this file (`provision bundle`) instead of an inventory
    #[arg(long, value_name = "FILE", requires = "here", conflicts_with = "inventory")]
    pub bundle: Option<Utf8PathBuf>,
    /// Work on this machine alone, as the host of the inventory that has its name
    #[arg(long, conflicts_with_all = ["hosts", "lab"])]
    pub here: bool,
    /// Host of the inventory that this machine is
    #[arg(long = "as", value_name = "NAME", requires = "here")]
    pub name: Option<String>,
    /// Take values of secrets from this file, a JSON object (`-` for standard input)
    #[arg(long, value_name = "FILE", requires = "here")]
    pub secrets: Option<Utf8PathBuf>,
    /// Write what happens as lines for the controller that has started this
    #[arg(long, hide = true, requires = "here")]
    pub events: bool,
}

/// Way in which a run reaches its hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// A login on each host.
    #[default]
    Ssh,
    /// A job of Slurm: the program and the project go to its nodes, and each does its own part.
    Slurm,
}

/// The carrier of a run.
#[derive(Debug, Clone, Default, Args)]
pub struct Carrier {
    /// Carry the run to the hosts in this way
    #[arg(long, value_enum, default_value_t, conflicts_with_all = ["here"])]
    pub engine: Engine,
    /// The host with Slurm's commands, for `--engine slurm`
    #[arg(long, value_name = "HOST", required_if_eq("engine", "slurm"))]
    pub engine_at: Option<String>,
    /// Agree that Slurm sends secrets and private files over its network in clear text, for `--engine slurm`
    #[arg(long, requires = "engine_at")]
    pub secrets_in_clear: bool,
}

/// Options for connecting to hosts.
#[derive(Debug, Clone, Args)]
pub struct Connect {
    /// Work on at most this many hosts at once
    #[arg(long, value_name = "N", alias = "forks", value_parser = at_least_one)]
    pub parallel: Option<usize>,
    /// Ask for the sudo password once
    #[arg(long, short_alias = 'K')]
    pub ask_become_pass: bool,
    /// Number of hosts that may be unreachable without exit code 4
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub allow_unreachable: u64,
}

impl Connect {
    /// A command for all selected hosts, with a time limit on each.
    pub(crate) fn exec<'a>(&self, argv: &'a [String], deadline: Duration) -> Exec<'a> {
        Exec { argv, deadline, parallel: self.parallel, ask_become_pass: self.ask_become_pass }
    }

    /// The options that a run on the rest of the hosts needs as well.
    #[must_use]
    pub fn lasting(&self) -> Vec<String> {
        let mut options = Vec::new();
        if let Some(parallel) = self.parallel {
            options.extend(["--parallel".to_owned(), parallel.to_string()]);
        }
        if self.ask_become_pass {
            options.push("--ask-become-pass".to_owned());
        }
        if self.allow_unreachable > 0 {
            options.extend(["--allow-unreachable".to_owned(), self.allow_unreachable.to_string()]);
        }
        options
    }
}

/// Stands for stdout where a file is named.
pub(crate) const STDOUT: &str = "-";

/// Report files of a run.
#[derive(Debug, Clone, Default, Args)]
pub struct Reports {
    /// Write the result as one JSON object (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the result as JUnit XML (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub junit: Option<Utf8PathBuf>,
    /// Write the result as one HTML page that needs nothing else (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub html: Option<Utf8PathBuf>,
    /// Write the result as metrics for the textfile collector of `node_exporter` (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub prometheus: Option<Utf8PathBuf>,
}

impl Reports {
    /// Whether any is asked for.
    pub fn any(&self) -> bool {
        self.all().next().is_some()
    }

    /// The files that are asked for.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.all().filter(|file| *file != STDOUT)
    }

    /// The number of them that go to stdout.
    pub fn to_stdout(&self) -> usize {
        self.all().filter(|file| *file == STDOUT).count()
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        let others = [&self.junit, &self.html, &self.prometheus].into_iter().flatten();
        self.json.as_deref().into_iter().chain(others.map(|file| file.as_str()))
    }
}

/// Report file of a command that is not a run.
#[derive(Debug, Clone, Default, Args)]
pub struct JsonReport {
    /// Write the result as one JSON object (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// A number of things that work goes on with.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("nothing would be done: give 1 or more".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("this is not a number".to_owned()),
    }
}
