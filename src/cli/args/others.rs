//! The commands about inventories, playbooks, reports, labs and the program itself.

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

use super::{Connect, JsonReport, Reports, Target};
use crate::config::Period;
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
    /// Check who signed a record of `accept`, and that no byte of it was changed
    Signature {
        /// The record (`provision accept --json`); its signature is beside it, with `.sig` behind its name
        record: Utf8PathBuf,
        /// File of those who may sign: see ALLOWED SIGNERS in ssh-keygen(1)
        #[arg(long, value_name = "FILE")]
        signers: Utf8PathBuf,
        /// Name of the signer in that file
        #[arg(long, value_name = "WHO")]
        by: String,
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
        /// Release of Debian that hosts are, such as `trixie`; the same as `release:`
        #[arg(long, value_name = "RELEASE", value_parser = release)]
        release: Option<LabRelease>,
        /// Distribution that containers pass for, such as `el9` or `ubuntu2404`; the same as `family:`
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
    /// Versions of the built-in playbooks whose day is past
    Outdated {
        /// The day to ask for instead of today
        #[arg(long, value_name = "YYYY-MM-DD")]
        on: Option<jiff::civil::Date>,
    },
}

/// `provision explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A resource (`package`), a check (`gpu.count`), a key (`rollout`, `ssh.jump`), a fact (`facts.os`), an exit
    /// code (`4`, `unreachable`), a word of Ansible (`with_items`), a line that a program printed, or a topic;
    /// without it, all topics and resources
    pub name: Option<String>,
}

/// `provision why`.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// Logs and outputs in any order, compressed by gzip or in tar archives as well; `-` or none for stdin. With
    /// `--hosts`, the inventory
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// Take the logs of these hosts: journal, dmesg, apt, dnf, DKMS, Slurm; nothing is changed there
    #[arg(long, value_name = "EXPR")]
    pub hosts: Option<String>,
    /// How far back, with `--hosts`
    #[arg(long, value_name = "HOURS", default_value_t = 24, requires = "hosts", value_parser = clap::value_parser!(u32).range(1..=8760))]
    pub hours: u32,
    /// Use the running lab of the inventory instead of its real hosts
    #[arg(long, requires = "hosts")]
    pub lab: bool,
    /// Show all of each part, not the first ones
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    /// Options for connecting.
    pub connect: Connect,
    /// Destination of the answer.
    #[command(flatten)]
    pub reports: JsonReport,
}

/// `provision compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The inventory
    pub inventory: Utf8PathBuf,
    /// The hosts that fail
    #[arg(long, value_name = "EXPR")]
    pub bad: Option<String>,
    /// The hosts that do not, also as they were: `gpu3@RUN`, by the last look until that run or day; without it, the other
    /// hosts of their groups
    #[arg(long, value_name = "EXPR", requires = "bad")]
    pub good: Option<String>,
    /// Without `--bad`: only these hosts; it is told which of them differ from most others
    #[arg(long, value_name = "EXPR", conflicts_with_all = ["bad", "good"])]
    pub hosts: Option<String>,
    /// Use the running lab of the inventory instead of its real hosts
    #[arg(long)]
    pub lab: bool,
    /// Show all of each part, not the first ones
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    /// Options for connecting.
    pub connect: Connect,
    /// Destination of the answer.
    #[command(flatten)]
    pub reports: JsonReport,
}

/// `provision accept`.
#[derive(Debug, Args)]
pub struct AcceptArgs {
    /// Hosts that are meant
    #[command(flatten)]
    pub target: Target,
    /// Only these stages
    #[arg(long = "stage", value_name = "STAGE", value_delimiter = ',', value_enum)]
    pub stages: Vec<AcceptStage>,
    /// Load each GPU for a minute or two, not for twenty
    #[arg(long, conflicts_with = "time")]
    pub quick: bool,
    /// Load the hosts for about so long: `72h`
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<Period>,
    /// Account that loads the GPUs
    #[arg(long, value_name = "NAME", default_value = "nobody")]
    pub user: String,
    /// End the tests that go on there, and test nothing
    #[arg(long, conflicts_with_all = ["stages", "quick", "time", "sign"])]
    pub stop: bool,
    /// Options for connecting
    #[command(flatten)]
    pub connect: Connect,
    /// Write the record as one JSON object (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the record as one HTML page that needs nothing else (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub html: Option<Utf8PathBuf>,
    /// Sign the file of --json with this private key of ssh
    #[arg(long, value_name = "KEY", requires = "json")]
    pub sign: Option<Utf8PathBuf>,
}

/// Stages of `provision accept` that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum AcceptStage {
    /// Everything that `verify` looks at
    Sanity,
    /// Each host by itself, under load
    Node,
    /// InfiniBand: cables, switches and managers
    Fabric,
    /// Traffic between hosts, as `verify --active` tests it
    Links,
    /// Bandwidth and latency of pairs, each once, in rounds
    Pairs,
    /// All GPUs together, in groups that grow
    Collectives,
}

/// `provision parts`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct PartsArgs {
    /// What else is done with parts
    #[command(subcommand)]
    pub command: Option<PartsCommand>,
    /// Hosts that are meant
    #[command(flatten)]
    pub target: Option<Target>,
    /// Options for connecting
    #[command(flatten)]
    pub connect: Connect,
    /// Write the result as one JSON object (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// Commands about parts.
#[derive(Debug, Subcommand)]
pub enum PartsCommand {
    /// Make the directory that a vendor asks for before a part goes back; change nothing
    Rma(RmaArgs),
}

/// Commands about expectations.
#[derive(Debug, Subcommand)]
pub enum ExpectCommand {
    /// Write the `expect:` of a host that is as it should be, to be reviewed; change nothing
    Learn(LearnArgs),
}

/// `provision expect learn`.
#[derive(Debug, Args)]
pub struct LearnArgs {
    /// The inventory
    pub inventory: Utf8PathBuf,
    /// The host
    pub host: String,
    /// Use the running lab of the inventory instead of its real hosts
    #[arg(long)]
    pub lab: bool,
    /// Options for connecting
    #[command(flatten)]
    pub connect: Connect,
    /// Write the result as one JSON object (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// `provision parts rma`.
#[derive(Debug, Args)]
pub struct RmaArgs {
    /// The inventory
    pub inventory: Utf8PathBuf,
    /// The host
    pub host: String,
    /// The part, by its key: `gpu 1650223014512`; those that something speaks against when left out
    #[arg(long, value_name = "KEY")]
    pub part: Option<String>,
    /// The directory; when left out, one with the name of the host and the time
    #[arg(long, value_name = "DIRECTORY")]
    pub out: Option<Utf8PathBuf>,
    /// Use the running lab of the inventory instead of its real hosts
    #[arg(long)]
    pub lab: bool,
    /// Options for connecting
    #[command(flatten)]
    pub connect: Connect,
}
