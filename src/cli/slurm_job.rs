//! `--engine slurm`: what a job of Slurm needs to carry a run to its nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{BufWriter, Write as _};

use anyhow::Context as _;
use camino::Utf8PathBuf;
use tempfile::NamedTempFile;

use crate::bundle::{self, Reach};
use crate::cli::args::{Carrier, Connect, Engine, Target};
use crate::exit::{self, Exit};
use crate::hostlist::MAX_HOSTS;
use crate::launch::{self, Launch};
use crate::project::Project;
use crate::relay::{self, Job};
use crate::report::output;
use crate::settings::Settings;

/// Gives a run its job, where Slurm carries it. What comes back is to be kept until the run has ended.
///
/// # Errors
/// What keeps the project from being packed, and a host that the inventory does not have.
pub(super) fn prepare(
    settings: &Settings,
    project: &mut Project,
    (target, carrier, connect): (&Target, &Carrier, &Connect),
    words: &[&str],
    launch: &mut Launch<'_>,
) -> anyhow::Result<Option<NamedTempFile>> {
    let Some(name) = carrier.engine_at.as_ref().filter(|_| carrier.engine == Engine::Slurm) else {
        return Ok(None);
    };
    let unknown = || Exit::new(exit::USAGE, format!("--engine-at: no host `{name}` in the inventory"));
    let at = project.hosts.iter().find(|host| host.name == *name).ok_or_else(unknown)?.clone();
    if let Some(host) = project.online().find(|host| host.transport.is_this_machine()) {
        let message = format!("{} is this machine, and Slurm carries runs to others", host.name);
        return Err(Exit::new(exit::USAGE, message).hint("leave it out: --hosts").into());
    }
    let needs = needs(project, words);
    if !carrier.secrets_in_clear {
        stays_private(project, &needs)?;
    }
    let program = std::env::current_exe().context("cannot find this program")?;
    let program = Utf8PathBuf::from_path_buf(program)
        .map_err(|path| Exit::new(exit::CONFIG, format!("{} is no UTF-8", path.display())))?;
    let secrets = launch::secrets(project, connect.ask_become_pass, true, settings)?;
    let names: BTreeSet<&String> = needs.values().flatten().collect();
    let values: BTreeMap<_, _> =
        names.into_iter().filter_map(|name| Some((name.clone(), secrets.get(name)?.clone()))).collect();
    let draft = tempfile::Builder::new().prefix("provision-").suffix(".bundle").tempfile()?;
    let mut out = BufWriter::new(draft.as_file());
    bundle::pack(project, &target.set, Reach::Named)
        .and_then(|packed| packed.write(&mut out))
        .map_err(Exit::from)?;
    out.flush().context("cannot write the bundle")?;
    drop(out);
    let path = Utf8PathBuf::try_from(draft.path().to_owned()).context("the bundle")?;
    let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    // Variables are in the bundle.
    words.extend(Target { lab: false, set: Vec::new(), ..target.clone() }.lasting());
    let slow = project.rollout.is_stepwise() || project.maintenance.is_some();
    if slow && words.first().is_some_and(|word| word == "apply") {
        output::say(
            "no batches, no canary, no drain: `rollout` and `maintenance` do nothing where Slurm carries the run",
        );
    }
    let left = project
        .controller
        .as_ref()
        .map_or(0, |host| project.steps.iter().filter(|step| step.hosts.contains(&host.index)).count());
    if left > 0 {
        output::say("left out, they are done on the controller: a run without `--engine slurm` does them");
    }
    project.controller = None;
    project.options.extend(["--engine", "slurm", "--engine-at", name].map(str::to_owned));
    project.options.extend(carrier.secrets_in_clear.then(|| "--secrets-in-clear".to_owned()));
    let exclusive = words.first().is_some_and(|word| word == "apply");
    launch.secrets = Some(secrets);
    launch.job = Some(Box::new(Job { at, words, program, bundle: path, secrets: values, needs, exclusive }));
    Ok(Some(draft))
}

/// By host: the secrets that its tasks need. Who asks for facts runs no task, and passwords of sudo are for logins.
fn needs(project: &Project, words: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    if words.first() == Some(&"facts") {
        return BTreeMap::new();
    }
    let needs = project.online().map(|host| (host.name.clone(), project.secrets_alone(host.index)));
    needs.filter(|(_, names)| !names.is_empty()).collect()
}

/// Refuses a run that would show secrets, or files that only some may read, to who listens on Slurm's network.
fn stays_private(project: &Project, needs: &BTreeMap<String, BTreeSet<String>>) -> anyhow::Result<()> {
    let names: BTreeSet<&String> = needs.values().flatten().collect();
    let secrets = names.into_iter().map(|name| format!("the secret `{name}`"));
    let files = project.private_files().into_iter();
    let files =
        files.map(|(file, task)| format!("the file `{file}` of the task `{task}`, which not all may read"));
    let told: Vec<String> = secrets.chain(files).collect();
    if told.is_empty() {
        return Ok(());
    }
    let message = format!("Slurm sends what nodes get over its network in clear text: {}", told.join(", "));
    Err(Exit::new(exit::USAGE, message)
        .hint("agree to that: --secrets-in-clear; or leave such tasks out (--skip-tags), or reach these hosts over ssh: without --engine slurm")
        .into())
}

/// Copies what nodes say from standard input to standard output, where `carried-output TASKS BYTES` asks for that: the
/// script that starts a job does, and no person.
pub(crate) fn keep(words: impl Iterator<Item = OsString>) -> Option<std::io::Result<()>> {
    let mut words = words.map_while(|word| word.into_string().ok());
    words.next().filter(|word| word == "carried-output")?;
    let (nodes, most) = (words.next()?.parse::<usize>().ok()?, words.next()?.parse().ok()?);
    let mut out = BufWriter::with_capacity(64 << 10, std::io::stdout().lock());
    Some(relay::keep(std::io::stdin().lock(), &mut out, nodes.min(MAX_HOSTS), most))
}
