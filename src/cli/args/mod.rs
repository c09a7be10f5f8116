//! Command line arguments.

mod options;
mod others;
mod runs;

use clap::{Args, Parser, Subcommand};

pub(super) use self::options::*;
pub(super) use self::others::*;
pub(super) use self::runs::*;
use crate::report::output::Color;

/// Makes N Linux machines with GPUs and RDMA NICs a working training cluster, over SSH, from one
/// inventory
#[derive(Debug, Parser)]
#[command(name = "provision", version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 ok, 2 usage, 3 bad inventory, 4 unreachable, 5 failed, 6 drift, 7 pending, 8 locked.\n`provision explain exit-codes` tells more."
)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
    /// Options of every command.
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

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Connect to hosts, record their keys and write a commented inventory from what was found
    Init(InitArgs),
    /// Make every host match the inventory
    Apply(ApplyArgs),
    /// Show what apply would do, with diffs; touch nothing
    Plan(PlanArgs),
    /// Check whether every host is as the inventory says; touch nothing
    Verify(VerifyArgs),
    /// Load the hosts, measure each part, and write a record of which may be given to users
    Accept(AcceptArgs),
    /// Show the parts of the hosts by serial number: where each one is and was, and what it did
    Parts(PartsArgs),
    /// Take what `verify` is to expect from a host that is as it should be
    #[command(subcommand)]
    Expect(ExpectCommand),
    /// List findings that somebody knows of, and keep one quiet until a day, or until it gets worse
    Acknowledge(AcknowledgeArgs),
    /// Verify again and again, and tell webhooks what has changed
    Watch(WatchArgs),
    /// Gather facts and print them
    Facts(FactsArgs),
    /// Write the project as one file without secrets, for machines that apply it to themselves
    Bundle(BundleArgs),
    /// Run a command on the hosts, as root where the inventory has `become`; identical output is folded
    Exec(ExecArgs),
    /// Say which run holds the locks of hosts, and take them where its connection is dead
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
    /// Say why something failed: the first cause in logs of any tool, from files or a pipe; connect to nothing
    Why(WhyArgs),
    /// Say what is different about the hosts that fail: everything that can matter, read once and ranked; change nothing
    Compare(CompareArgs),
    /// Explain a resource, a check, a key, a fact, an exit code, a word of Ansible, or a line that a program printed
    Explain(ExplainArgs),
}

impl Command {
    /// The same, with the tasks that were chosen in its [`Target`].
    #[must_use]
    pub fn settled(mut self) -> Self {
        if let Self::Apply(ApplyArgs { run: RunArgs { target, tasks, .. }, .. })
        | Self::Plan(PlanArgs { run: RunArgs { target, tasks, .. }, .. })
        | Self::Verify(VerifyArgs { run: RunArgs { target, tasks, .. }, .. })
        | Self::Watch(WatchArgs { target, tasks, .. })
        | Self::Validate(ValidateArgs { target, tasks, .. }) = &mut self
        {
            target.tasks = std::mem::take(tasks);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_on_the_rest_is_called_as_the_first_one_was() {
        let words = "provision apply i.yaml --lab --tags a,b --skip-tags c --set x=1 -K --parallel 4 --allow-unreachable 2";
        let cli = Cli::try_parse_from(words.split(' ')).unwrap();
        let Command::Apply(args) = cli.command.settled() else { panic!() };
        let options = [args.run.target.lasting(), args.run.connect.lasting()].concat().join(" ");
        assert_eq!(
            options,
            "--lab --tags a,b --skip-tags c --set x=1 --parallel 4 --ask-become-pass --allow-unreachable 2"
        );
    }
}
