//! What can be typed.

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand};

use crate::config::Period;
use crate::inventory::check_cluster_name;
use crate::lab::LabFamily;
use crate::report::output::Color;

/// Makes N Linux machines with GPUs and RDMA NICs a working training cluster, over SSH, from one
/// inventory
#[derive(Debug, Parser)]
#[command(name = "provision", version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 ok, 2 usage, 3 bad inventory, 4 unreachable, 5 failed, 6 drift, 7 pending, 8 locked.\n`provision explain exit-codes` tells more."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Show more: diffs, output, skipped tasks, the time of each host; `-vv`: of each exec and task; `-vvv`:
    /// what ssh did, retries
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Show only failures
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Use colour
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
    /// Draw no bar
    #[arg(long, global = true)]
    pub no_progress: bool,
}

/// Which tasks of an inventory are meant.
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

/// The argument of commands that may take a bundle in place of an inventory.
fn without_inventory(argument: clap::Arg) -> clap::Arg {
    argument.required(false).required_unless_present("bundle").default_value("").hide_default_value(true)
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
    /// Which host of the inventory this machine is
    #[arg(long = "as", value_name = "NAME", requires = "here")]
    pub name: Option<String>,
    /// Take values of secrets from this file, a JSON object (`-` for standard input)
    #[arg(long, value_name = "FILE", requires = "here")]
    pub secrets: Option<Utf8PathBuf>,
    /// Write what happens as lines for the controller that has started this
    #[arg(long, hide = true, requires = "here")]
    pub events: bool,
}

/// What carries a run to its hosts.
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
    /// What carries the run to the hosts
    #[arg(long, value_enum, default_value_t, conflicts_with_all = ["here"])]
    pub engine: Engine,
    /// The host with Slurm's commands, for `--engine slurm`
    #[arg(long, value_name = "HOST", required_if_eq("engine", "slurm"))]
    pub engine_at: Option<String>,
}

/// How hosts are connected to.
#[derive(Debug, Clone, Args)]
pub struct Connect {
    /// The most hosts worked on at once
    #[arg(long, value_name = "N", alias = "forks")]
    pub parallel: Option<usize>,
    /// Ask for the sudo password once
    #[arg(long, short_alias = 'K')]
    pub ask_become_pass: bool,
    /// How many hosts may be unreachable without exit code 4
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub allow_unreachable: u64,
}

impl Connect {
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

/// Where the reports of a run go.
#[derive(Debug, Clone, Default, Args)]
pub struct Reports {
    /// Write the result as one JSON object (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the result as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<Utf8PathBuf>,
    /// Write the result as one HTML page that needs nothing else
    #[arg(long, value_name = "FILE")]
    pub html: Option<Utf8PathBuf>,
    /// Write the result as metrics for the textfile collector of `node_exporter`
    #[arg(long, value_name = "FILE")]
    pub prometheus: Option<Utf8PathBuf>,
}

impl Reports {
    /// Whether any is asked for.
    pub fn any(&self) -> bool {
        self.json.is_some() || self.junit.is_some() || self.html.is_some() || self.prometheus.is_some()
    }
}

/// Where the result of a command that is not a run goes.
#[derive(Debug, Clone, Default, Args)]
pub struct JsonReport {
    /// Write the result as one JSON object (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Connect to hosts, record their keys and write a commented inventory from what was found
    Init(InitArgs),
    /// Make every host match the inventory
    Apply(ApplyArgs),
    /// Show what apply would do, with diffs; touch nothing
    Plan(PlanArgs),
    /// Prove that every host matches the inventory; touch nothing
    Verify(VerifyArgs),
    /// Verify again and again, and tell webhooks what has changed
    Watch(WatchArgs),
    /// Gather facts and print them
    Facts(FactsArgs),
    /// Write the project as one file without secrets, for machines that apply their own part
    Bundle(BundleArgs),
    /// Run a command on the hosts, as root where the inventory has `become`; identical output is folded
    Exec(ExecArgs),
    /// Say who has the locks of hosts and take them: for a run that is cut off, which the host has not noticed
    Unlock(UnlockArgs),
    /// List the logins that stay after a run (`ssh.persist`), or end them
    Logins(LoginsArgs),
    /// Parse, type-check and render everything; connect to nothing
    Validate(ValidateArgs),
    /// Say whether this machine has what a controller needs; change nothing
    SelfCheck(JsonReport),
    /// Look at the inventory: resolved hosts and variables; record host keys
    #[command(subcommand)]
    Inventory(InventoryCommand),
    /// Look at the built-in playbooks
    #[command(subcommand)]
    Playbook(PlaybookCommand),
    /// Look at recorded runs
    #[command(subcommand)]
    Report(ReportCommand),
    /// Throw-away hosts for an inventory, in containers or virtual machines
    #[command(subcommand)]
    Lab(LabCommand),
    /// Write schemas, completions or man pages
    #[command(subcommand)]
    Generate(GenerateCommand),
    /// Explain a resource, a check, a key, a fact, an exit code, or a word of Ansible
    Explain(ExplainArgs),
}

impl Command {
    /// The same, with the tasks that were chosen in its [`Target`].
    #[must_use]
    pub fn settled(mut self) -> Self {
        if let Self::Apply(ApplyArgs { target, tasks, .. })
        | Self::Plan(PlanArgs { target, tasks, .. })
        | Self::Verify(VerifyArgs { target, tasks, .. })
        | Self::Watch(WatchArgs { target, tasks, .. })
        | Self::Validate(ValidateArgs { target, tasks, .. }) = &mut self
        {
            target.tasks = std::mem::take(tasks);
        }
        self
    }
}

/// `provision init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Hosts: `gpu[0-7]`, `gpu0=10.0.1.10`, `ubuntu@10.0.0.1`, `10.0.0.1:2222`, `[fd00::1]:22`
    #[arg(required = true)]
    pub hosts: Vec<String>,
    /// Where the inventory is written
    #[arg(long, short, default_value = "inventory.yaml")]
    pub output: Utf8PathBuf,
    /// Name of the cluster
    #[arg(long, default_value = "cluster", value_parser = cluster)]
    pub cluster: String,
    /// Login name
    #[arg(long, short)]
    pub user: Option<String>,
    /// Port
    #[arg(long, short)]
    pub port: Option<u16>,
    /// Private key
    #[arg(long, short)]
    pub identity_file: Option<Utf8PathBuf>,
    /// Log in once by password where no key is accepted, put your public key there, and go on by key
    #[arg(long)]
    pub ask_pass: bool,
    /// Make this account with the key and with sudo without a password, for all later logins
    #[arg(long, value_name = "NAME", requires = "ask_pass", value_parser = account)]
    pub account: Option<String>,
    /// Record the keys that the hosts show now without asking
    #[arg(long)]
    pub trust: bool,
    /// Write an existing inventory anew; what it held is kept as FILE.old
    #[arg(long)]
    pub force: bool,
}

fn family(word: &str) -> Result<LabFamily, String> {
    let error = format!("the families are {}", LabFamily::WORDS.join(", "));
    serde_json::from_value(word.into()).map_err(|_| error)
}

fn cluster(name: &str) -> Result<String, &'static str> {
    check_cluster_name(name).map(|()| name.to_owned())
}

/// A name that `useradd` and sudo take: sudo reads no file of sudoers.d with a dot in its name.
fn account(name: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    let good = name.len() <= 32 && name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if good && name.chars().all(plain) && name != "root" {
        return Ok(name.to_owned());
    }
    Err("an account is a lower case letter or `_`, then lower case letters, digits, `_` and `-`; not root"
        .to_owned())
}

/// `provision bundle`.
#[derive(Debug, Args)]
pub struct BundleArgs {
    /// The inventory
    pub inventory: Utf8PathBuf,
    /// Where the bundle is written
    #[arg(long, short, value_name = "FILE")]
    pub output: Utf8PathBuf,
    /// Set a variable; wins over everything else
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// `provision apply`.
#[derive(Debug, Args)]
#[command(mut_arg("inventory", without_inventory))]
pub struct ApplyArgs {
    #[command(flatten)]
    /// Which hosts.
    pub target: Target,
    #[command(flatten)]
    /// Which tasks.
    pub tasks: Tasks,
    #[command(flatten)]
    /// Whether it is this machine alone.
    pub here: ThisMachine,
    #[command(flatten)]
    /// What carries it.
    pub carrier: Carrier,
    #[command(flatten)]
    /// How to connect.
    pub connect: Connect,
    #[command(flatten)]
    /// Where reports go.
    pub reports: Reports,
    /// Agree to every change, whatever it interrupts
    #[arg(long, short)]
    pub yes: bool,
    /// Plan anew and refuse where the plan is not the one in this file (`plan --out`)
    #[arg(long, value_name = "FILE")]
    pub plan: Option<Utf8PathBuf>,
    /// Hidden alias for Ansible hands: plan instead
    #[arg(long, hide = true)]
    pub check: bool,
    /// Hidden alias for Ansible hands: show diffs
    #[arg(long, hide = true)]
    pub diff: bool,
}

/// `provision plan`.
#[derive(Debug, Args)]
#[command(mut_arg("inventory", without_inventory))]
pub struct PlanArgs {
    #[command(flatten)]
    /// Which hosts.
    pub target: Target,
    #[command(flatten)]
    /// Which tasks.
    pub tasks: Tasks,
    #[command(flatten)]
    /// Whether it is this machine alone.
    pub here: ThisMachine,
    #[command(flatten)]
    /// What carries it.
    pub carrier: Carrier,
    #[command(flatten)]
    /// How to connect.
    pub connect: Connect,
    #[command(flatten)]
    /// Where reports go.
    pub reports: Reports,
    /// Exit with 7 when changes are pending
    #[arg(long)]
    pub exit_code: bool,
    /// Write the plan with its digests, for `apply --plan`
    #[arg(long, value_name = "FILE")]
    pub out: Option<Utf8PathBuf>,
}

/// `provision verify`.
#[derive(Debug, Args)]
#[command(mut_arg("inventory", without_inventory))]
pub struct VerifyArgs {
    #[command(flatten)]
    /// Which hosts.
    pub target: Target,
    #[command(flatten)]
    /// Which tasks.
    pub tasks: Tasks,
    #[command(flatten)]
    /// Whether it is this machine alone.
    pub here: ThisMachine,
    #[command(flatten)]
    /// What carries it.
    pub carrier: Carrier,
    #[command(flatten)]
    /// How to connect.
    pub connect: Connect,
    #[command(flatten)]
    /// Where reports go.
    pub reports: Reports,
    /// Test hosts with each other as well: `rping` and `ib_write_bw` between neighbours. Not beside jobs: it
    /// fills the network
    #[arg(long)]
    pub active: bool,
    /// Look at each host behind a launcher as well, and at what differs from a login: `slurm`, `srun -w {host} ...`,
    /// `docker run --rm -i IMAGE`. One without `{host}` is started on each host. `sh` is put behind it
    #[arg(long, value_name = "LAUNCHER")]
    pub through: Option<String>,
    /// The host that starts the launcher of `--through`; this machine when left out
    #[arg(long, value_name = "HOST", requires = "through")]
    pub through_at: Option<String>,
}

/// `provision watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    /// Which hosts.
    pub target: Target,
    #[command(flatten)]
    /// Which tasks.
    pub tasks: Tasks,
    /// The most hosts worked on at once
    #[arg(long, value_name = "N", alias = "forks")]
    pub parallel: Option<usize>,
    /// How often: `90s`, `10m`, `2h`; what `watch:` of the inventory says when left out, or 10m
    #[arg(long, value_name = "TIME")]
    pub every: Option<Period>,
    /// Look once, tell and end: for a timer
    #[arg(long, conflicts_with = "every")]
    pub once: bool,
    /// Send one message to each webhook and look at no host
    #[arg(long, conflicts_with_all = ["once", "every"])]
    pub test: bool,
    /// Print a systemd unit for this watch, and do nothing else
    #[arg(long, conflicts_with_all = ["once", "test"])]
    pub systemd: bool,
}

/// `provision facts`.
#[derive(Debug, Args)]
#[command(mut_arg("inventory", without_inventory))]
pub struct FactsArgs {
    #[command(flatten)]
    /// Which hosts.
    pub target: Target,
    #[command(flatten)]
    /// Whether it is this machine alone.
    pub here: ThisMachine,
    #[command(flatten)]
    /// How to connect.
    pub connect: Connect,
    #[command(flatten)]
    /// What carries it to the hosts.
    pub carrier: Carrier,
    #[command(flatten)]
    /// Where reports go.
    pub reports: JsonReport,
    /// Only these facts: `os`, `kernel`, `pci` ...
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub only: Vec<String>,
}

/// `provision exec`.
#[derive(Debug, Args)]
pub struct ExecArgs {
    #[command(flatten)]
    /// Which hosts.
    pub target: Target,
    #[command(flatten)]
    /// How to connect.
    pub connect: Connect,
    #[command(flatten)]
    /// Where reports go.
    pub reports: JsonReport,
    /// Seconds that the command may take on a host
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub timeout: u64,
    /// The command and its arguments
    #[arg(last = true, required = true)]
    pub argv: Vec<String>,
}

/// `provision unlock`.
#[derive(Debug, Args)]
pub struct UnlockArgs {
    #[command(flatten)]
    /// Which hosts.
    pub target: Target,
    #[command(flatten)]
    /// How to connect.
    pub connect: Connect,
    /// Take them without asking
    #[arg(long, short)]
    pub yes: bool,
}

/// `provision logins`.
#[derive(Debug, Args)]
pub struct LoginsArgs {
    /// Only those of these hosts: `gpu[0-15],login0`
    #[arg(long, value_name = "HOSTS")]
    pub hosts: Option<String>,
    /// End them, also those that a run uses now
    #[arg(long)]
    pub end: bool,
    #[command(flatten)]
    /// Where reports go.
    pub reports: JsonReport,
}

/// `provision validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    #[command(flatten)]
    /// Which hosts.
    pub target: Target,
    #[command(flatten)]
    /// Which tasks.
    pub tasks: Tasks,
    #[command(flatten)]
    /// Where reports go.
    pub reports: JsonReport,
}

/// `provision inventory`.
#[derive(Debug, Subcommand)]
pub enum InventoryCommand {
    /// List the selected hosts with their groups and addresses
    List {
        #[command(flatten)]
        /// Which hosts.
        target: Target,
        #[command(flatten)]
        /// Where reports go.
        reports: JsonReport,
    },
    /// Show one host or more with every variable and where it was set
    Show {
        #[command(flatten)]
        /// Which hosts.
        target: Target,
        #[command(flatten)]
        /// Where reports go.
        reports: JsonReport,
    },
    /// Show the keys of the hosts and record them in the inventory's `known_hosts`
    Trust {
        #[command(flatten)]
        /// Which hosts.
        target: Target,
        /// Record without asking
        #[arg(long, short)]
        yes: bool,
        /// Record the keys also of hosts for which other keys are recorded, and remove those
        #[arg(long)]
        replace: bool,
    },
    /// Make an inventory from one of Ansible's
    Import {
        /// Ansible's inventory: INI or YAML with its `group_vars/` and `host_vars/`, or what
        /// `ansible-inventory --list` prints
        ansible: Utf8PathBuf,
        /// Where the inventory is written
        #[arg(long, short, default_value = "inventory.yaml")]
        output: Utf8PathBuf,
        /// Name of the cluster
        #[arg(long, default_value = "cluster")]
        cluster: String,
        /// Write an existing inventory anew; what it held is kept as FILE.old
        #[arg(long)]
        force: bool,
    },
}

/// `provision playbook`.
#[derive(Debug, Subcommand)]
pub enum PlaybookCommand {
    /// List the built-in playbooks
    List,
    /// Show a playbook's parameters and tasks
    Show {
        /// A built-in name or a path
        name: String,
    },
}

/// `provision report`.
#[derive(Debug, Subcommand)]
pub enum ReportCommand {
    /// List recorded runs
    List {
        /// The inventory
        inventory: Utf8PathBuf,
    },
    /// Show a recorded run
    Show {
        /// The inventory
        inventory: Utf8PathBuf,
        /// The run; the last one when left out
        run: Option<String>,
        /// Only this host
        #[arg(long)]
        host: Option<String>,
        /// Only hosts that failed, were not reached or were left, and their tasks that failed
        #[arg(long)]
        failed: bool,
        /// Whole outputs too
        #[arg(long)]
        output: bool,
        #[command(flatten)]
        /// Where reports go.
        reports: Reports,
    },
    /// Show a recorded run as it was seen
    Replay {
        /// The inventory
        inventory: Utf8PathBuf,
        /// The run; the last one when left out
        run: Option<String>,
    },
}

/// `provision lab`.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Start one container with sshd and systemd, or one virtual machine, for each host
    Up {
        /// The inventory
        inventory: Utf8PathBuf,
        /// Virtual machines with kernels of their own; the same as `kind: vm` under `lab:`
        #[arg(long)]
        vm: bool,
        /// Hardware to play from recorded output, as `lab profiles` lists it; the same as `profile:`
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Distribution that containers pass for, such as `el9`; the same as `family:`
        #[arg(long, value_name = "FAMILY", value_parser = family)]
        family: Option<LabFamily>,
        /// Stand-ins for what vendors publish, served in the lab; the same as `mirror: true`
        #[arg(long)]
        mirror: bool,
        /// No way out of the lab's network; the same as `offline: true`
        #[arg(long)]
        offline: bool,
    },
    /// Remove them
    Down {
        /// The inventory
        inventory: Utf8PathBuf,
    },
    /// Pull the plug of running hosts and start them again; all when none is named
    Restart {
        /// The inventory
        inventory: Utf8PathBuf,
        /// The hosts
        hosts: Vec<String>,
    },
    /// Break one thing of a host's hardware profile, or mend it again with `none`
    Fault {
        /// The inventory
        inventory: Utf8PathBuf,
        /// The host
        host: String,
        /// Name of the fault; `none` takes it away
        name: String,
    },
    /// List hardware profiles and their faults
    Profiles,
    /// Try whether `verify` finds every fault of every hardware profile, and nothing else
    Matrix(MatrixArgs),
    /// Show them
    Status {
        /// The inventory
        inventory: Utf8PathBuf,
        #[command(flatten)]
        /// Where reports go.
        reports: JsonReport,
    },
}

/// `provision lab matrix`.
#[derive(Debug, Args)]
pub struct MatrixArgs {
    /// Only these profiles; all when none is named
    pub profiles: Vec<String>,
    /// Only these faults
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub faults: Vec<String>,
    /// Write the rows as one JSON object (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the rows as a page in Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<Utf8PathBuf>,
}

/// `provision generate`.
#[derive(Debug, Subcommand)]
pub enum GenerateCommand {
    /// JSON Schema of `inventory` or `playbook`
    Schema {
        /// Which file
        #[arg(value_parser = ["inventory", "playbook"])]
        file: String,
    },
    /// Completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Man pages, one per command, into a directory
    Man {
        /// The directory
        directory: Utf8PathBuf,
    },
    /// Reference pages of resources, facts and exit codes, into a directory
    Docs {
        /// The directory
        directory: Utf8PathBuf,
    },
}

/// `provision explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A resource (`package`), a check (`gpu.count`), a key (`rollout`, `ssh.jump`), a fact (`facts.os`), an exit
    /// code (`4`, `unreachable`), a word of Ansible (`with_items`), or a topic; without it, all topics and
    /// resources
    pub name: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_on_the_rest_is_called_as_the_first_one_was() {
        let words = "provision apply i.yaml --lab --tags a,b --skip-tags c --set x=1 -K --parallel 4 --allow-unreachable 2";
        let cli = Cli::try_parse_from(words.split(' ')).unwrap();
        let Command::Apply(args) = cli.command.settled() else { panic!() };
        let options = [args.target.lasting(), args.connect.lasting()].concat().join(" ");
        assert_eq!(
            options,
            "--lab --tags a,b --skip-tags c --set x=1 --parallel 4 --ask-become-pass --allow-unreachable 2"
        );
    }
}
