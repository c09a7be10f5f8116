//! Man pages: what clap knows of a command, and examples, files, exit codes and variables.

use std::io::{Result, Write};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::exit;

/// Examples of each command: the words to type, and their purpose.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "provision",
        &[
            ("provision init --cluster mine 'ubuntu@gpu[0-3].example.org'", "From machines to an inventory"),
            ("provision plan inventory.yaml", "See what would change"),
            ("provision apply inventory.yaml", "Change it"),
            ("provision verify inventory.yaml", "Prove that all is as declared"),
            ("provision explain package", "Look a resource up"),
        ],
    ),
    (
        "provision init",
        &[
            (
                "provision init --cluster mine 'ubuntu@gpu[0-3].example.org'",
                "Four machines that take your key",
            ),
            (
                "provision init --ask-pass --account ops root@10.0.0.1 root@10.0.0.2",
                "Machines that were handed over with a password",
            ),
        ],
    ),
    (
        "provision apply",
        &[
            ("provision apply inventory.yaml", "Ask before what interrupts something"),
            ("provision apply inventory.yaml --yes", "Ask nothing"),
            ("provision apply inventory.yaml --hosts '@failed,@unreachable'", "Only what the last run left"),
            ("provision apply inventory.yaml --plan plan.json", "Only what was looked at"),
            ("provision apply --bundle site.bundle --here", "On a host: its own part of a bundle"),
        ],
    ),
    (
        "provision plan",
        &[
            ("provision plan inventory.yaml --hosts 'gpu[0-15]&!gpu7'", "Some of the hosts"),
            ("provision plan inventory.yaml --out plan.json", "Keep it for `apply --plan`"),
            ("provision plan inventory.yaml --exit-code", "Exit with 7 when changes are pending"),
        ],
    ),
    (
        "provision verify",
        &[
            ("provision verify inventory.yaml", "Ask the hosts, change nothing"),
            ("provision verify inventory.yaml --active", "Test hosts with each other as well"),
            ("provision verify inventory.yaml --junit verify.xml", "A report for a pipeline"),
        ],
    ),
    (
        "provision accept",
        &[
            ("provision accept inventory.yaml --quick", "Each GPU under load for a minute or two"),
            (
                "provision accept inventory.yaml --for 72h --json record.json --html record.html --sign ~/.ssh/id_ed25519",
                "Three days, and a record that is signed",
            ),
            ("provision accept inventory.yaml --stop", "The GPUs are free at once"),
        ],
    ),
    (
        "provision parts",
        &[
            ("provision parts inventory.yaml", "What changed since the hosts were asked last"),
            ("provision parts inventory.yaml --hosts gpu17", "All that is known of the parts of a host"),
        ],
    ),
    (
        "provision parts rma",
        &[(
            "provision parts rma inventory.yaml gpu17",
            "What a vendor asks for before a part of it goes back",
        )],
    ),
    (
        "provision expect learn",
        &[(
            "provision expect learn inventory.yaml gpu0 > expect.yaml",
            "What the others of its group should be like",
        )],
    ),
    (
        "provision acknowledge",
        &[
            (
                "provision acknowledge inventory.yaml gpu3 gpu.ecc --until 2026-12-31 --because RMA-4711",
                "Keep a finding of the last verify quiet",
            ),
            ("provision acknowledge inventory.yaml", "List what is quiet"),
            ("provision acknowledge inventory.yaml gpu3 --end", "Tell all of a host again"),
        ],
    ),
    (
        "provision watch",
        &[
            ("provision watch inventory.yaml --every 10m", "Look every ten minutes, tell what changed"),
            ("provision watch inventory.yaml --once", "Look once, for a timer"),
        ],
    ),
    (
        "provision facts",
        &[
            ("provision facts inventory.yaml --hosts gpu0", "Everything that is known of a host"),
            (
                "provision facts inventory.yaml --only os,kernel --json -",
                "Two facts of all hosts, for a program",
            ),
        ],
    ),
    (
        "provision bundle",
        &[("provision bundle inventory.yaml -o site.bundle", "The project as one file without secrets")],
    ),
    (
        "provision exec",
        &[(
            "provision exec inventory.yaml --hosts gpu -- nvidia-smi -L",
            "One command on all hosts of a group",
        )],
    ),
    (
        "provision unlock",
        &[("provision unlock inventory.yaml --hosts gpu3", "Take the lock of a run that is cut off")],
    ),
    (
        "provision logins",
        &[("provision logins", "List the logins that stay"), ("provision logins --end", "End them")],
    ),
    ("provision validate", &[("provision validate inventory.yaml", "Check everything without connecting")]),
    (
        "provision self-check",
        &[
            ("provision self-check", "Before the first run, and when something is odd"),
            ("provision self-check --json -", "The same for a program"),
        ],
    ),
    (
        "provision inventory list",
        &[("provision inventory list inventory.yaml --hosts rack=r3", "Hosts with a label")],
    ),
    (
        "provision inventory show",
        &[("provision inventory show inventory.yaml --hosts gpu0", "Where each value of a host comes from")],
    ),
    (
        "provision inventory trust",
        &[(
            "provision inventory trust inventory.yaml --hosts gpu4",
            "Look at the key of a new host and record it",
        )],
    ),
    (
        "provision inventory import",
        &[(
            "provision inventory import hosts.ini --output inventory.yaml",
            "Begin with an inventory of Ansible",
        )],
    ),
    ("provision playbook list", &[("provision playbook list", "What is built in")]),
    ("provision playbook show", &[("provision playbook show base", "Its parameters and tasks")]),
    ("provision report list", &[("provision report list inventory.yaml", "Runs that were recorded")]),
    (
        "provision report show",
        &[
            ("provision report show inventory.yaml --failed", "What went wrong in the last run"),
            ("provision report show inventory.yaml --hosts gpu1 --output", "One host with all output"),
            ("provision report show inventory.yaml --html run.html", "A page to hand on"),
        ],
    ),
    (
        "provision report signature",
        &[(
            "provision report signature record.json --signers signers --by ops@example.org",
            "Who signed, and with which key",
        )],
    ),
    (
        "provision report replay",
        &[("provision report replay inventory.yaml", "See the last run as it was seen")],
    ),
    (
        "provision lab up",
        &[("provision lab up inventory.yaml --profile h200-x2", "Containers that play such hardware")],
    ),
    ("provision lab down", &[("provision lab down inventory.yaml", "Remove them")]),
    ("provision lab restart", &[("provision lab restart inventory.yaml gpu0", "Pull the plug of one")]),
    ("provision lab fault", &[("provision lab fault inventory.yaml gpu0 port-down", "Break one thing")]),
    ("provision lab profiles", &[("provision lab profiles", "What can be played, and broken")]),
    (
        "provision lab matrix",
        &[("provision lab matrix h200-x2 --faults port-down", "Does `verify` find it?")],
    ),
    ("provision lab status", &[("provision lab status inventory.yaml", "What runs")]),
    (
        "provision generate schema",
        &[("provision generate schema inventory > inventory.schema.json", "For editors that check YAML")],
    ),
    (
        "provision generate completions",
        &[
            (
                "provision generate completions bash > ~/.local/share/bash-completion/completions/provision",
                "For bash with bash-completion",
            ),
            ("provision generate completions fish > ~/.config/fish/completions/provision.fish", "For fish"),
            (
                "provision generate completions zsh > ~/.zfunc/_provision",
                "For zsh, with ~/.zfunc in its fpath",
            ),
        ],
    ),
    (
        "provision generate man",
        &[("provision generate man ~/.local/share/man/man1", "Where man looks for pages of your own")],
    ),
    ("provision generate docs", &[("provision generate docs docs/reference", "What `make docs` does")]),
    (
        "provision generate outdated",
        &[("provision generate outdated --on 2028-11-30", "What is past on a day to come")],
    ),
    (
        "provision why",
        &[
            ("provision why slurmd.log nvidia-bug-report.log.gz", "The first cause in these files"),
            ("provision why inventory.yaml --hosts gpu12 --hours 2", "The same in the logs of a host"),
        ],
    ),
    (
        "provision compare",
        &[
            ("provision compare inventory.yaml --bad 'gpu[3,7]'", "These against the others of their groups"),
            (
                "provision compare inventory.yaml --bad gpu3 --good gpu3@20261128",
                "A host against itself of that day",
            ),
            ("provision compare inventory.yaml", "The hosts that differ from most others"),
        ],
    ),
    (
        "provision explain",
        &[
            ("provision explain", "All topics and resources"),
            ("provision explain file", "A resource"),
            ("provision explain unreachable", "An exit code"),
            ("provision explain with_items", "A word of Ansible"),
        ],
    ),
];

/// Files and directories that the program uses.
const FILES: &[(&str, &str)] = &[
    (
        "$XDG_STATE_HOME/provision/CLUSTER/RUN/",
        "events.jsonl and log of a run; the last hundred runs of a cluster. ~/.local/state where the variable is \
         not set",
    ),
    (
        "$XDG_RUNTIME_DIR/provision/",
        "Sockets of the logins of a run. /tmp/provision-UID where the variable is not set",
    ),
    (
        "$XDG_CACHE_HOME/provision/",
        "Disks of virtual machines of a lab. ~/.cache where the variable is not set",
    ),
    (
        "/run/provision on a host",
        "Lock, spool and uploads, until the next boot. A login that is not root has them in ~/.cache/provision",
    ),
    (
        "/var/lib/provision on a host",
        "Notifications that are still to be served, and which detached tasks were started. Removed when empty",
    ),
];

/// Variables of the environment, and their effects.
const ENVIRONMENT: &[(&str, &str)] = &[
    (
        "HOME",
        "Stands for ~ in paths; state and cache are below it. Without it /etc/passwd says where the home is",
    ),
    ("XDG_STATE_HOME", "Where runs and locks are kept; needs a local file system"),
    ("XDG_RUNTIME_DIR", "Where sockets are kept"),
    ("XDG_CACHE_HOME", "Where disks of virtual machines are kept"),
    ("PATH", "Where ssh and the programs of a lab are looked for"),
    ("SSH_AUTH_SOCK", "The agent that ssh asks for keys"),
    ("USER, LOGNAME", "The name of the user in messages and in the plan of an account"),
    ("SUDO_UID", "Who became root by sudo, and so may have written a bundle and values of secrets"),
    ("LC_ALL, LC_CTYPE, LANG", "Which letters a terminal shows; only self-check looks at them"),
    ("NO_COLOR", "No colour, whatever it is set to"),
    ("COLUMNS", "Width of the output where the terminal does not say it"),
    ("TERM", "No bar is drawn on a terminal called dumb"),
    ("CI", "No bar is drawn when it is set"),
    (
        "SOURCE_DATE_EPOCH",
        "The day on which what has ended is warned of, in seconds since 1970, in place of today",
    ),
    ("RUST_LOG", "What is said of the inner workings, in place of -v"),
    ("PROVISION_COMPLETE", "Set by the completions of a shell to ask what can be typed"),
];

/// All pages by file name. `command` is the whole command line.
///
/// # Errors
/// Never in memory; the writers of pages can fail.
pub fn man_pages(command: Command) -> Result<Vec<(String, Vec<u8>)>> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect(&command, "", &mut pages)?;
    Ok(pages)
}

fn collect(command: &Command, above: &str, pages: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
    let path = format!("{above}{}", command.get_name());
    let version = format!("provision {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(version).manual("provision");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let examples = EXAMPLES.iter().find(|(name, _)| *name == path).map_or([].as_slice(), |(_, all)| all);
    let codes: Vec<(String, String)> = exit::TABLE
        .iter()
        .map(|row| (row.code.to_string(), format!("{}: {}", row.name, row.meaning)))
        .collect();
    let codes: Vec<(&str, &str)> =
        codes.iter().map(|(code, meaning)| (code.as_str(), meaning.as_str())).collect();
    for (heading, rows) in
        [("EXAMPLES", examples), ("FILES", FILES), ("EXIT STATUS", &codes), ("ENVIRONMENT", ENVIRONMENT)]
    {
        section(heading, rows, &mut page)?;
    }
    pages.push((man.get_filename(), page));
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        collect(inner, &format!("{path} "), pages)?;
    }
    Ok(())
}

/// A list of things and what they are; nothing when there are none.
fn section(heading: &str, rows: &[(&str, &str)], page: &mut dyn Write) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut roff = Roff::new();
    roff.control("SH", [heading]);
    for (name, what) in rows {
        roff.control("TP", []);
        roff.text([bold(*name)]);
        roff.text([roman(format!("{what}."))]);
    }
    roff.to_writer(page)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    fn leaves(command: &Command, above: &str, into: &mut Vec<String>) {
        let path = format!("{above}{}", command.get_name());
        // Some do something by themselves as well.
        if !command.has_subcommands() || command.is_args_conflicts_with_subcommands_set() {
            into.push(path.clone());
        }
        for inner in command.get_subcommands() {
            leaves(inner, &format!("{path} "), into);
        }
    }

    #[test]
    fn every_command_has_examples_that_it_takes() {
        let mut commands = vec!["provision".to_owned()];
        leaves(&Cli::command(), "", &mut commands);
        let known: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
        assert_eq!(known, commands);
        for (command, examples) in EXAMPLES {
            for (example, _) in *examples {
                let words = shlex::split(example.split(" > ").next().unwrap()).unwrap();
                if let Err(error) = Cli::command().try_get_matches_from(&words) {
                    panic!("{example}: {error}");
                }
                assert!(example.starts_with(command), "{example} is no example of {command}");
            }
        }
    }

    #[test]
    fn every_variable_that_is_read_is_named() {
        let read = include_str!("../cli/settings.rs").split("variable(\"").skip(1);
        for variable in read.filter_map(|rest| rest.split('"').next()) {
            assert!(
                ENVIRONMENT.iter().any(|(names, _)| names.split(", ").any(|name| name == variable)),
                "{variable}"
            );
        }
    }
}
