//! The commands that work on hosts, and what they need for that.

use camino::Utf8PathBuf;
use clap::Args;

use super::options::at_least_one;
use super::{Carrier, Connect, JsonReport, Reports, Target, Tasks, ThisMachine};
use crate::config::Period;
use crate::inventory::check_cluster_name;

/// The argument of commands that may take a bundle in place of an inventory.
fn without_inventory(argument: clap::Arg) -> clap::Arg {
    argument.required(false).required_unless_present("bundle").default_value("").hide_default_value(true)
}

/// `provision init`.
#[derive(Debug, Clone, Args)]
pub struct InitArgs {
    /// Hosts: `gpu[0-7]`, `gpu0=10.0.1.10`, `ubuntu@10.0.0.1`, `10.0.0.1:2222`, `[fd00::1]:22`
    #[arg(required = true)]
    pub hosts: Vec<String>,
    /// Write the inventory to this file
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
    /// Write the bundle to this file
    #[arg(long, short, value_name = "FILE")]
    pub output: Utf8PathBuf,
    /// The directory that holds the whole project: no file outside of it is packed. Left out: that of the inventory
    #[arg(long, value_name = "DIR")]
    pub root: Option<Utf8PathBuf>,
    /// Set a variable; wins over everything else
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// Arguments that `apply`, `plan` and `verify` have in common.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    /// Selected hosts.
    pub target: Target,
    #[command(flatten)]
    /// Selected tasks.
    pub tasks: Tasks,
    #[command(flatten)]
    /// Whether it is this machine alone.
    pub here: ThisMachine,
    #[command(flatten)]
    /// Way in which the run reaches its hosts.
    pub carrier: Carrier,
    #[command(flatten)]
    /// Options for connecting.
    pub connect: Connect,
    #[command(flatten)]
    /// Report files.
    pub reports: Reports,
}

/// `provision apply`.
#[derive(Debug, Args)]
#[command(mut_arg("inventory", without_inventory))]
pub struct ApplyArgs {
    #[command(flatten)]
    /// Arguments of every run.
    pub run: RunArgs,
    /// Agree to every change, whatever it interrupts
    #[arg(long, short)]
    pub yes: bool,
    /// Refuse hosts whose plan is not the one in this file (`plan --out`)
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
    /// Arguments of every run.
    pub run: RunArgs,
    /// Exit with 7 when changes are pending or tasks are blocked
    #[arg(long)]
    pub exit_code: bool,
    /// Write the plan with its digests, for `apply --plan` (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub out: Option<Utf8PathBuf>,
}

/// `provision verify`.
#[derive(Debug, Args)]
#[command(mut_arg("inventory", without_inventory))]
pub struct VerifyArgs {
    #[command(flatten)]
    /// Arguments of every run.
    pub run: RunArgs,
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
    /// Say as well which parts are not those of this record (`provision accept --json`), by serial number
    #[arg(long, value_name = "RECORD")]
    pub against: Option<Utf8PathBuf>,
}

/// `provision watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    /// Selected hosts.
    pub target: Target,
    #[command(flatten)]
    /// Selected tasks.
    pub tasks: Tasks,
    /// Work on at most this many hosts at once
    #[arg(long, value_name = "N", alias = "forks", value_parser = at_least_one)]
    pub parallel: Option<usize>,
    /// Interval between looks: `90s`, `10m`, `2h`; when left out, the one under `watch:` in the inventory, or
    /// 10m
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
    /// Selected hosts.
    pub target: Target,
    #[command(flatten)]
    /// Whether it is this machine alone.
    pub here: ThisMachine,
    #[command(flatten)]
    /// Options for connecting.
    pub connect: Connect,
    #[command(flatten)]
    /// Way in which the question reaches the hosts.
    pub carrier: Carrier,
    #[command(flatten)]
    /// Report file.
    pub reports: JsonReport,
    /// Only these facts: `os`, `kernel`, `pci` ...
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub only: Vec<String>,
}

/// `provision exec`.
#[derive(Debug, Args)]
pub struct ExecArgs {
    #[command(flatten)]
    /// Selected hosts.
    pub target: Target,
    #[command(flatten)]
    /// Options for connecting.
    pub connect: Connect,
    #[command(flatten)]
    /// Report file.
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
    /// Selected hosts.
    pub target: Target,
    #[command(flatten)]
    /// Options for connecting.
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
    /// Report file.
    pub reports: JsonReport,
}

/// `provision acknowledge`.
#[derive(Debug, Args)]
pub struct AcknowledgeArgs {
    /// The inventory
    pub inventory: Utf8PathBuf,
    /// Hosts that have the finding: `gpu3`, `gpu[0-7]`; left out, all that is acknowledged is listed
    pub hosts: Option<String>,
    /// The check that found it: `gpu.ecc`
    pub check: Option<String>,
    /// Last day on which it stays quiet: `2026-12-31`
    #[arg(long, value_name = "DAY", requires = "because")]
    pub until: Option<jiff::civil::Date>,
    /// The reason, for whoever reads a report
    #[arg(long, value_name = "TEXT", requires = "until")]
    pub because: Option<String>,
    /// Stay quiet whatever it says, as long as it does not get worse, as from `warn` to `fail`
    #[arg(long, requires = "until")]
    pub any_text: bool,
    /// Take it back: the finding is told again
    #[arg(long, conflicts_with_all = ["until", "because", "any_text"])]
    pub end: bool,
    #[command(flatten)]
    /// Report file.
    pub reports: JsonReport,
}

/// `provision validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    #[command(flatten)]
    /// Selected hosts.
    pub target: Target,
    #[command(flatten)]
    /// Selected tasks.
    pub tasks: Tasks,
    #[command(flatten)]
    /// Report file.
    pub reports: JsonReport,
}
