//! The commands about inventories, playbooks, reports, labs and the program itself.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

use super::{JsonReport, Reports, Target};
use crate::lab::{LabFamily, LabRelease};

/// `provision inventory`.
#[derive(Debug, Subcommand)]
pub enum InventoryCommand {
    /// List the selected hosts with their groups and addresses
    List {
        #[command(flatten)]
        /// Selected hosts.
        target: Target,
        #[command(flatten)]
        /// Report file.
        reports: JsonReport,
    },
    /// Show one host or more with every variable and where it was set
    Show {
        #[command(flatten)]
        /// Selected hosts.
        target: Target,
        #[command(flatten)]
        /// Report file.
        reports: JsonReport,
    },
    /// Show the keys of the hosts and record them in the inventory's `known_hosts`
    Trust {
        #[command(flatten)]
        /// Selected hosts.
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
        /// Write the inventory to this file
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
        /// Only these hosts: `gpu[0-15],login0`
        #[arg(long, value_name = "HOSTS", alias = "host")]
        hosts: Option<String>,
        /// Only hosts that failed, were not reached or were left, and their tasks that failed
        #[arg(long)]
        failed: bool,
        /// Whole outputs too
        #[arg(long)]
        output: bool,
        #[command(flatten)]
        /// Report files.
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

fn release(word: &str) -> Result<LabRelease, String> {
    let error = format!("the releases are {}", LabRelease::WORDS.join(", "));
    serde_json::from_value(word.into()).map_err(|_| error)
}

fn family(word: &str) -> Result<LabFamily, String> {
    let error = format!("the families are {}", LabFamily::WORDS.join(", "));
    serde_json::from_value(word.into()).map_err(|_| error)
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
        /// Release of Debian that containers are, such as `trixie`; the same as `release:`
        #[arg(long, value_name = "RELEASE", value_parser = release)]
        release: Option<LabRelease>,
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
        /// Report file.
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
    /// Write the rows as a page in Markdown (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<Utf8PathBuf>,
}

/// `provision generate`.
#[derive(Debug, Subcommand)]
pub enum GenerateCommand {
    /// JSON Schema of `inventory` or `playbook`
    Schema {
        /// Kind of file
        #[arg(value_parser = ["inventory", "playbook"])]
        file: String,
    },
    /// Completions for a shell
    Completions {
        /// The shell
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
