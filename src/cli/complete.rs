//! Completions for TAB. The program itself offers them, so that hosts and runs are those of the inventory on
//! the line; `provision generate completions` writes the script by which a shell asks. Nothing is run and no
//! host is asked.

use std::ffi::OsStr;

use camino::Utf8PathBuf;
use clap::{ArgMatches, Command, CommandFactory as _};
use clap_complete::Shell;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate as Candidate, PathCompleter,
    ValueCompleter as _,
};
use clap_complete::env::{CompleteEnv, Shells};

use super::args::{Cli, Global};
use super::settings;
use crate::inventory::select;
use crate::lab::{fault, profile};
use crate::playbook::builtin;
use crate::project::{self, LoadOptions, Outside, Project};
use crate::report::output::Color;
use crate::settings::Settings;
use crate::{checks, exit, facts, journal, reference, resources};

/// The variable that says that a shell asks, and which one.
const VARIABLE: &str = "PROVISION_COMPLETE";

/// Answers a shell that asks; whether one does.
///
/// # Errors
/// When the shell is not known or stdout is closed.
pub(super) fn answer() -> clap::error::Result<bool> {
    let directory = std::env::current_dir().ok();
    CompleteEnv::with_factory(command).var(VARIABLE).try_complete(std::env::args_os(), directory.as_deref())
}

/// The text that makes a shell ask the `provision` of its `PATH`.
///
/// # Errors
/// When clap has no text for this shell.
pub(super) fn registration(shell: Shell) -> std::io::Result<String> {
    let mut text = Vec::new();
    let name = shell.to_string();
    let shells = Shells::builtins();
    let known =
        shells.completer(&name).ok_or_else(|| std::io::Error::other(format!("no text for {name}")))?;
    known.write_registration(VARIABLE, "provision", "provision", "provision", &mut text)?;
    if shell == Shell::Zsh {
        // A file of `fpath` is read at the first TAB, as the function that has to answer it.
        let first =
            "if [ \"$funcstack[1]\" = _provision ]; then\n    _clap_dynamic_completer_provision\nfi\n";
        text.extend(first.bytes());
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The command line with what can stand at each place.
pub(super) fn command() -> Command {
    complete_all(Cli::command(), "")
}

fn complete_all(command: Command, above: &str) -> Command {
    let path = format!("{above}{} ", command.get_name());
    let place = path.strip_prefix("provision ").unwrap_or(&path).trim_end().to_owned();
    command
        .mut_args(|arg| match offer(&place, arg.get_id().as_str()) {
            Some(Offer::Names(names)) => arg.add(ArgValueCandidates::new(names)),
            Some(Offer::Text(complete)) => arg.add(ArgValueCompleter::new(complete)),
            Some(Offer::File) => arg.add(ArgValueCompleter::new(PathCompleter::file())),
            Some(Offer::Directory) => arg.add(ArgValueCompleter::new(PathCompleter::dir())),
            Some(Offer::Nothing) | None => arg,
        })
        .mut_subcommands(|inner| complete_all(inner, &path))
}

/// Candidates for one place of the command line.
enum Offer {
    /// One of these.
    Names(fn() -> Vec<Candidate>),
    /// Candidates that a function finds for the text typed so far.
    Text(fn(&OsStr) -> Vec<Candidate>),
    /// A file.
    File,
    /// A folder.
    Directory,
    /// Something that only the user knows.
    Nothing,
}

/// Returns the candidates for an argument of a command; `None` where nobody has thought about it.
fn offer(command: &str, arg: &str) -> Option<Offer> {
    Some(match (command, arg) {
        (_, "inventory") => Offer::Text(yaml_files),
        ("lab restart" | "report show" | "acknowledge", "hosts")
        | (_, "host" | "through_at" | "engine_at")
        | ("apply" | "plan" | "verify" | "facts", "name") => Offer::Names(hosts),
        ("compare", "bad" | "good") => Offer::Text(host_expression),
        ("acknowledge", "check") => Offer::Names(check_names),
        (_, "hosts") if command != "init" && command != "logins" => Offer::Text(host_expression),
        (_, "tags" | "skip_tags") => Offer::Names(tags),
        (_, "run") => Offer::Names(runs),
        ("facts", "only") => Offer::Names(fact_names),
        ("explain", "name") => Offer::Names(topics),
        ("playbook show", "name") => Offer::Text(playbooks),
        ("lab fault", "name") => Offer::Names(faults_or_none),
        (_, "faults") => Offer::Names(faults),
        (_, "profile" | "profiles") => Offer::Names(profiles),
        (
            _,
            "json" | "junit" | "html" | "prometheus" | "markdown" | "out" | "plan" | "output"
            | "identity_file" | "sign" | "ansible" | "bundle" | "secrets" | "files" | "against" | "record"
            | "signers",
        ) => Offer::File,
        (_, "directory" | "root") => Offer::Directory,
        (
            _,
            "hosts" | "set" | "parallel" | "allow_unreachable" | "cluster" | "user" | "port" | "account"
            | "timeout" | "argv" | "every" | "release" | "family" | "through" | "on" | "hours" | "time"
            | "part" | "by" | "until" | "because",
        ) => Offer::Nothing,
        _ => return None,
    })
}

/// Parses the words typed so far, as far as they can be understood.
fn line() -> Option<ArgMatches> {
    // What stands before the first `--` is for the completion itself.
    let words = std::env::args().skip_while(|word| word != "--").skip(1);
    let mut matches = Cli::command().ignore_errors(true).try_get_matches_from(words).ok()?;
    while let Some((_, inner)) = matches.remove_subcommand() {
        matches = inner;
    }
    Some(matches)
}

fn settings() -> Settings {
    settings::read(&Global { verbose: 0, quiet: true, color: Color::Auto, no_progress: true })
}

/// The project of the inventory that was typed, as it is without options.
fn typed_project(settings: &Settings) -> Option<Project> {
    let matches = line()?;
    let typed = matches.try_get_one::<Utf8PathBuf>("inventory").ok()??;
    // A shell hands over what was typed, before it takes quotes away and puts the home directory in.
    let word = shlex::split(typed.as_str()).and_then(|words| words.into_iter().next())?;
    let path = match (word.strip_prefix("~/"), &settings.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => Utf8PathBuf::from(word),
    };
    let outside = Outside { run: false, kept: Some(settings.cache.join("hosts_from")), ..Outside::default() };
    let options = LoadOptions { home: settings.home.clone(), outside, ..LoadOptions::default() };
    project::load(&path, &options).ok()
}

fn named(name: impl Into<String>, help: impl Into<String>) -> Candidate {
    let help: String = help.into();
    let first = help.lines().next().unwrap_or_default().trim_end_matches('.').to_owned();
    Candidate::new(name.into()).help((!first.is_empty()).then(|| first.into()))
}

fn yaml_files(current: &OsStr) -> Vec<Candidate> {
    let is_yaml = |path: &std::path::Path| {
        path.is_file() && path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    PathCompleter::any().filter(is_yaml).complete(current)
}

fn hosts() -> Vec<Candidate> {
    let Some(project) = typed_project(&settings()) else { return Vec::new() };
    project.hosts.iter().map(|host| named(&host.name, &host.address)).collect()
}

/// The last word of a host expression: groups, hosts, labels, and outcomes of the last run.
fn host_expression(current: &OsStr) -> Vec<Candidate> {
    let Some((typed, project)) = current.to_str().zip(typed_project(&settings())) else { return Vec::new() };
    let word = typed.rfind([',', '&', '!', '(', ' ']).map_or(0, |at| at + 1);
    let (before, word) = typed.split_at(word);
    let size = |hosts: usize| crate::words::count(hosts as u64, "host");
    let groups = project.directory.groups.iter().map(|(name, hosts)| named(name, size(hosts.len())));
    let hosts = project.hosts.iter().map(|host| named(&host.name, &host.address));
    let labels = project.directory.labels.iter().flat_map(|(label, values)| {
        values.iter().map(move |(value, hosts)| named(format!("{label}={value}"), size(hosts.len())))
    });
    let recorded = select::RECORDED.iter().map(|name| named(format!("@{name}"), "of the last run"));
    groups
        .chain(hosts)
        .chain(labels)
        .chain(recorded)
        .filter(|candidate| candidate.get_value().to_string_lossy().starts_with(word))
        .map(|candidate| candidate.add_prefix(before))
        .collect()
}

fn tags() -> Vec<Candidate> {
    let Some(project) = typed_project(&settings()) else { return Vec::new() };
    let tags: std::collections::BTreeSet<&String> =
        project.steps.iter().flat_map(|step| &step.tags).collect();
    tags.into_iter().map(Candidate::new).collect()
}

fn runs() -> Vec<Candidate> {
    let settings = settings();
    let Some(project) = typed_project(&settings) else { return Vec::new() };
    let names = journal::run_names(&settings.cluster_dir(&project.cluster));
    names.into_iter().rev().map(Candidate::new).collect()
}

fn fact_names() -> Vec<Candidate> {
    facts::base::TABLE.iter().map(|fact| named(fact.name, fact.doc)).collect()
}

fn check_names() -> Vec<Candidate> {
    checks::TABLE.iter().map(|check| named(check.id, check.title)).collect()
}

/// Everything that `provision explain` knows by a name, keys and words of Ansible aside: those are looked up
/// by who has seen them.
fn topics() -> Vec<Candidate> {
    let topics = reference::TOPICS.iter().map(|(name, doc)| named(*name, *doc));
    let resources = resources::kinds().iter().map(|kind| named(kind.name, (kind.doc)()));
    let checks = checks::TABLE.iter().map(|check| named(check.id, check.title));
    let facts = facts::base::TABLE.iter().map(|fact| named(format!("facts.{}", fact.name), fact.doc));
    let codes = exit::TABLE.iter().map(|row| named(row.name, format!("exit code {}", row.code)));
    topics.chain(resources).chain(checks).chain(facts).chain(codes).collect()
}

fn playbooks(current: &OsStr) -> Vec<Candidate> {
    let typed = current.to_string_lossy();
    let known = builtin::names().filter(|name| name.starts_with(&*typed)).map(Candidate::new);
    known.chain(yaml_files(current)).collect()
}

fn profiles() -> Vec<Candidate> {
    profile::names().map(Candidate::new).collect()
}

fn faults() -> Vec<Candidate> {
    let faults = fault::faults().unwrap_or_default();
    faults.into_iter().map(|fault| named(fault.name, fault.doc)).collect()
}

fn faults_or_none() -> Vec<Candidate> {
    let none = named("none", "take the fault away");
    faults().into_iter().chain([none]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_has_thought_about_every_value() {
        fn walk(command: &Command, above: &str, missing: &mut Vec<String>) {
            for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
                let known = !arg.get_possible_values().is_empty();
                if !known && offer(above, arg.get_id().as_str()).is_none() {
                    missing.push(format!("{above}: {}", arg.get_id()));
                }
            }
            for inner in command.get_subcommands() {
                let path = format!("{above} {}", inner.get_name());
                walk(inner, path.trim_start(), missing);
            }
        }
        let mut missing = Vec::new();
        walk(&Cli::command(), "", &mut missing);
        assert!(missing.is_empty(), "`offer` does not say what stands there: {missing:?}");
    }
}
