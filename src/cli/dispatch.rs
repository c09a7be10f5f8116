//! From `main` to a command and back to an exit code.

use std::process::ExitCode;

use camino::Utf8Path;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

use super::args::{Cli, Command, ExpectCommand};
use super::settings;
use super::{commands, complete, slurm_job};
use crate::exit::{self, Exit};
use crate::report::rows::hanging;
use crate::report::style::{BAD, HINT, paint, safe};
use crate::report::{log, output};
use crate::settings::Settings;
use crate::transport::quote;
use crate::{lab, transport};

/// Lets the kernel write no core of this program, nor of the programs that it starts: it would hold the
/// secrets of the run. Users of the same name cannot look into its memory either.
fn leave_no_core() {
    // The limit is for files, and programs that are started have it too; a core that goes to a program such
    // as systemd-coredump is made whatever the limit says. Both always succeed on Linux.
    let limit = Rlimit { current: Some(0), maximum: getrlimit(Resource::Core).maximum };
    let _limited = setrlimit(Resource::Core, limit);
    let _hidden = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// The whole program.
pub fn main_impl() -> ExitCode {
    leave_no_core();
    if let Some(socket) = settings::askpass() {
        let prompt = std::env::args().nth(1).unwrap_or_default();
        let asked = transport::ask(&socket, &prompt, &mut std::io::stdout());
        return ExitCode::from(if asked.is_ok() { exit::OK } else { exit::BUG });
    }
    if let Some(kept) = slurm_job::keep(std::env::args_os().skip(1)) {
        return ExitCode::from(if kept.is_ok() { exit::OK } else { exit::BUG });
    }
    match complete::answer() {
        Ok(true) => return ExitCode::from(exit::OK),
        Ok(false) => {}
        Err(error) => {
            output::say(&format!("error: cannot complete: {error}"));
            return ExitCode::from(exit::USAGE);
        }
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(mut error) => {
            let code = if error.use_stderr() { exit::USAGE } else { exit::OK };
            let hint = inventory_here(&error, std::env::args())
                .or_else(|| other_words(&error, std::env::args()))
                .or_else(|| other_command(&error));
            if hint.is_some() {
                // The parser's own tips are to pass the word as a value, and words that look alike.
                error.remove(ContextKind::Suggested);
                error.remove(ContextKind::SuggestedSubcommand);
                if error.remove(ContextKind::SuggestedArg).is_some() {
                    // It is the usage of the option that looks alike.
                    error.remove(ContextKind::Usage);
                }
            }
            // A closed pipe while help is printed is no failure.
            let _printed = error.print();
            if let Some(hint) = hint {
                output::say(&hint);
            }
            return ExitCode::from(code);
        }
    };
    cli.global.color.set();
    let settings = settings::read(&cli.global);
    log::start(cli.global.verbose, settings.log_filter.as_deref());
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::say(&format!("error: cannot start: {error}"));
            return ExitCode::from(exit::BUG);
        }
    };
    let result = runtime.block_on(command(&settings, cli.command));
    // A file that is read or a name that is looked up must not keep the program.
    runtime.shutdown_background();
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => ExitCode::from(explain(&error, settings.width)),
    }
}

/// Suggests the command where only the inventory was left out and a file with the usual name is there.
fn inventory_here(error: &clap::Error, typed: impl Iterator<Item = String>) -> Option<String> {
    let ContextValue::Strings(missing) = error.get(ContextKind::InvalidArg)? else { return None };
    let only = error.kind() == ErrorKind::MissingRequiredArgument && missing == &["<INVENTORY>"];
    if !only || !Utf8Path::new("inventory.yaml").is_file() {
        return None;
    }
    let words: Vec<String> = typed.skip(1).map(|word| quote(&word).into_owned()).collect();
    Some(format!("hint: provision {} inventory.yaml", words.join(" ")))
}

/// Returns a hint for an argument that other tools take: a word in the place where they take hosts, or one of
/// their options.
fn other_words(error: &clap::Error, typed: impl Iterator<Item = String>) -> Option<String> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidArg)? else { return None };
    (error.kind() == ErrorKind::UnknownArgument).then_some(())?;
    let here = match word.as_str() {
        "-i" | "--inventory" => {
            let command =
                ["provision".to_owned()].into_iter().chain(usage(error)).collect::<Vec<_>>().join(" ");
            &format!("the inventory is an argument of its own: {command} inventory.yaml")
        }
        "-l" | "--limit" => "hosts are chosen with --hosts",
        "-e" | "--extra-vars" => "variables are set with --set NAME=VALUE",
        "-t" => "tasks are chosen with --tags",
        "-f" | "--forks" => "the number of hosts at a time is --parallel",
        "-K" => "the password of sudo is asked for with --ask-become-pass",
        "-k" | "--ask-pass" => {
            "logins are by key, and `provision init --ask-pass` puts yours there; the password of sudo is asked for with --ask-become-pass"
        }
        "-b" | "--become" => "`ssh: { become: sudo }` in the inventory",
        "-C" | "--check" | "-D" | "--diff" | "--dry-run" => {
            "`provision plan` shows what would change, with the differences, and changes nothing"
        }
        "--tags" | "--skip-tags" => "this command runs no tasks, so it takes no tags",
        word if word.starts_with('-') => return None,
        word if error.to_string().contains("provision exec ") => {
            // All that was typed: without its `--hosts` it would be for all hosts.
            let words: Vec<String> = typed.skip(1).map(|word| quote(&word).into_owned()).collect();
            let at = words.iter().position(|typed| *typed == quote(word))?;
            let (before, command) = words.split_at_checked(at)?;
            &format!(
                "the command stands behind `--`: provision {} -- {}",
                before.join(" "),
                command.join(" ")
            )
        }
        word if matches!(Utf8Path::new(word).extension(), Some("yaml" | "yml")) => {
            "one inventory is taken; it names its playbooks under `playbooks:`"
        }
        word if takes_hosts(error) => &format!("hosts stand behind an option: --hosts {}", quote(word)),
        _ => return None,
    };
    Some(format!("hint: {here}"))
}

/// The command for a word that other tools have for it.
fn other_command(error: &clap::Error) -> Option<String> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidSubcommand)? else { return None };
    let here = match word.as_str() {
        "run" | "up" | "deploy" | "install" | "provision" | "play" | "playbooks" => "provision apply",
        "check" | "test" | "status" | "doctor" | "health" => "provision verify",
        "diff" | "dryrun" | "dry-run" | "preview" => "provision plan",
        "lint" | "syntax-check" => "provision validate",
        "shell" | "ssh" | "command" | "cmd" | "adhoc" => "provision exec",
        "setup" | "gather" | "inspect" => "provision facts",
        "history" | "logs" | "log" | "runs" | "show" => "provision report",
        _ => return None,
    };
    Some(format!("hint: here it is called `{here}`"))
}

/// The names of the command that this is about.
fn usage(error: &clap::Error) -> Vec<String> {
    let text = error.to_string();
    let line =
        text.lines().find_map(|line| line.trim().strip_prefix("Usage: provision ")).unwrap_or_default();
    let words = line.split_whitespace().take_while(|word| !word.starts_with(['[', '<', '-']));
    words.map(str::to_owned).collect()
}

/// Whether the command that this is about has the option `--hosts`.
fn takes_hosts(error: &clap::Error) -> bool {
    let program = Cli::command();
    let mut command = &program;
    for word in usage(error) {
        let Some(next) = command.find_subcommand(word) else { return false };
        command = next;
    }
    command.get_arguments().any(|argument| argument.get_id() == "hosts")
}

async fn command(settings: &Settings, command: Command) -> anyhow::Result<u8> {
    match command.settled() {
        Command::Init(args) => commands::init::run(settings, args).await,
        Command::Apply(args) => commands::apply::run(settings, args).await,
        Command::Plan(args) => commands::plan::run(settings, args).await,
        Command::Verify(args) => commands::verify::run(settings, args).await,
        Command::Expect(ExpectCommand::Learn(args)) => commands::expect::run(settings, args).await,
        Command::Acknowledge(args) => commands::acknowledge::run(settings, args),
        Command::Watch(args) => commands::watch::run(settings, args).await,
        Command::Bundle(args) => commands::bundle::run(settings, args),
        Command::Facts(args) => commands::facts::run(settings, args).await,
        Command::Exec(args) => commands::exec::run(settings, args).await,
        Command::Unlock(args) => commands::unlock::run(settings, args).await,
        Command::Logins(args) => commands::logins::run(settings, args).await,
        Command::Validate(args) => commands::validate::run(settings, &args),
        Command::SelfCheck(reports) => commands::self_check::run(settings, &reports).await,
        Command::Inventory(args) => commands::inventory::run(settings, args).await,
        Command::Playbook(args) => commands::playbook::run(args),
        Command::Report(args) => commands::report::run(settings, args),
        Command::Lab(args) => commands::lab::run(settings, args).await,
        Command::Generate(args) => commands::generate::run(args),
        Command::Why(args) => commands::why::run(settings, args).await,
        Command::Parts(args) => commands::parts::run(settings, args).await,
        Command::Accept(args) => commands::accept::run(settings, args).await,
        Command::Compare(args) => commands::compare::run(settings, args).await,
        Command::Explain(args) => commands::explain::run(settings, &args),
    }
}

/// Says what went wrong, on a terminal this wide; its exit code.
fn explain(error: &anyhow::Error, width: Option<usize>) -> u8 {
    let exit = error.downcast_ref::<Exit>();
    let message = safe(&error.to_string());
    let say = |text: &str, indent| {
        for line in text.lines() {
            output::say(&hanging(line, indent, width));
        }
    };
    if !message.is_empty() {
        say(&format!("{}: {message}", paint(BAD, "error")), 7);
        for cause in error.chain().skip(1) {
            say(&format!("  caused by: {}", safe(&cause.to_string())), 13);
        }
    }
    if let Some(hint) = exit.and_then(|exit| exit.hint.as_ref()) {
        say(&paint(HINT, &format!("hint: {hint}")), 6);
    }
    // What the system refuses or lacks is no bug.
    let refused = error.chain().any(|cause| cause.is::<std::io::Error>() || cause.is::<lab::Lacking>());
    exit.map_or(if refused { exit::CONFIG } else { exit::BUG }, |exit| exit.code)
}
