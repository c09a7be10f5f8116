//! `provision plan`: show what apply would do.

use std::collections::BTreeMap;

use anyhow::Context as _;
use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::cli::args::{PlanArgs, STDOUT};
use crate::cli::results;
use crate::cli::run::launched;
use crate::cli::{slurm_job, this_machine};
use crate::disk;
use crate::engine::{Mode, Session};
use crate::events::PlannedTask;
use crate::exit::{self, Exit};
use crate::hostlist;
use crate::journal::Outages;
use crate::launch::{Finished, Launch};
use crate::plan::StageDigest;
use crate::project::Project;
use crate::report::style::{HINT, paint, safe};
use crate::report::{output, plan};
use crate::settings::Settings;
use crate::transport::quote;
use crate::words::hex;

/// Contents of the file that `plan --out` writes: evidence, never executed. `apply --plan` plans anew and
/// compares.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PlanFile {
    /// Of this format.
    pub version: u32,
    /// The cluster.
    pub cluster: String,
    /// SHA-256 of every file that was read, by path.
    pub sources: BTreeMap<String, String>,
    /// The plans.
    pub hosts: BTreeMap<String, HostPlan>,
}

/// The plan of one host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HostPlan {
    /// Digests that must be the same when it is carried out.
    pub stages: Vec<StageDigest>,
    /// The same for people.
    pub tasks: Vec<PlannedTask>,
}

impl PlanFile {
    const VERSION: u32 = 3;
    /// In bytes; 10 000 hosts with 100 tasks each have less.
    const LARGEST: u64 = 1 << 30;

    fn of(project: &BTreeMap<String, String>, finished: &Finished) -> Self {
        let hosts = finished
            .report
            .sessions
            .iter()
            .filter_map(|session| {
                let stages = session.plan_digests()?.to_vec();
                let tasks = finished
                    .record
                    .hosts
                    .get(session.name())
                    .map(|host| host.plan.iter().map(|task| (**task).clone()).collect())
                    .unwrap_or_default();
                Some((session.name().to_owned(), HostPlan { stages, tasks }))
            })
            .collect();
        Self {
            version: Self::VERSION,
            cluster: finished.record.cluster.clone(),
            sources: project.clone(),
            hosts,
        }
    }

    /// Reads the plan of a project.
    ///
    /// # Errors
    /// With exit code 3 when it cannot be read or is the plan of other files.
    pub(crate) fn read(file: &Utf8Path, project: &Project) -> anyhow::Result<Self> {
        let plan = disk::read(file, Self::LARGEST)
            .map_err(|error| format!("it cannot be read: {}", disk::short(&error)))
            .and_then(|bytes| Self::parse(&bytes))
            .and_then(|plan| plan.check_sources(&sources(project)).map(|()| plan));
        plan.map_err(|why| {
            Exit::new(exit::CONFIG, format!("{file} is not a plan of this inventory: {why}"))
                .hint(format!("make a new one: provision plan {} --out {file}", project.path))
                .into()
        })
    }

    /// Reads what `plan --out` wrote.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            version: u64,
        }
        match serde_json::from_slice(bytes) {
            Ok(Head { version }) if version != u64::from(Self::VERSION) => {
                Err(format!("its format is {version}"))
            }
            _ => serde_json::from_slice(bytes).map_err(|error| format!("it is damaged: {error}")),
        }
    }

    fn check_sources(&self, now: &BTreeMap<String, String>) -> Result<(), String> {
        match now.iter().find(|(path, digest)| self.sources.get(*path) != Some(*digest)) {
            Some((path, _)) => Err(format!("{path} was changed since")),
            None => Ok(()),
        }
    }
}

/// SHA-256 of every file that a project was read from.
fn sources(project: &Project) -> BTreeMap<String, String> {
    project
        .sources
        .iter()
        .map(|(path, text)| (path.to_string(), hex(&Sha256::digest(text.as_bytes()))))
        .collect()
}

/// Runs the command; its exit code.
///
/// # Errors
/// What keeps the run from starting.
pub(crate) async fn run(settings: &Settings, args: PlanArgs) -> anyhow::Result<u8> {
    let (mut project, _unpacked) = this_machine::load_to_run(settings, &args.run.target, &args.run.here)?;
    let sources = sources(&project);
    let mut launch = Launch { lines: args.run.here.events, ..Launch::new("plan", Mode::Plan) };
    let way = (&args.run.target, &args.run.carrier, &args.run.connect);
    let _bundle = slurm_job::prepare(settings, &mut project, way, &["plan"], &mut launch)?;
    if launch.job.is_some() && args.out.is_some() {
        return Err(Exit::new(exit::USAGE, "--out is not for --engine slurm: nodes keep the digests").into());
    }
    let on_stdout = args.run.reports.to_stdout() + usize::from(args.out.as_deref() == Some(STDOUT.into()));
    results::one_on_stdout(on_stdout)?;
    let (finished, code) =
        launched(settings, project, &args.run.connect, &args.run.reports, launch, |report, _| {
            let undone = report.stats.pending + report.stats.tasks.blocked;
            if args.exit_code && undone > 0 { vec![exit::PENDING] } else { Vec::new() }
        })
        .await?;
    if on_stdout == 0 && !args.run.here.events {
        let width = output::stdout_width();
        let project = finished.report.sessions.first().map(Session::project);
        let schedule = project.map(|project| {
            let last = Outages::read(&settings.cluster_dir(&project.cluster));
            plan::schedule(&finished.record, project, &last)
        });
        let schedule = schedule.unwrap_or_default();
        let text = plan::text(&finished.record, width) + &schedule + &plan::sum(&finished.record, width);
        output::data(&text).context("cannot write to stdout")?;
    }
    if let Some(file) = &args.out {
        let text = serde_json::to_string_pretty(&PlanFile::of(&sources, &finished))? + "\n";
        results::write_result(file, &text)?;
    }
    if let Some(project) = finished.report.sessions.first().map(Session::project)
        && finished.report.stats.pending > 0
        && !args.run.here.events
    {
        output::say(&next(project, args.out.as_deref().filter(|file| *file != STDOUT)));
    }
    Ok(code)
}

/// Returns the command that carries out the plan.
pub(super) fn next(project: &Project, file: Option<&Utf8Path>) -> String {
    let names: Vec<&str> = project.chosen().map(|host| host.name.as_str()).collect();
    let here = project.options.iter().any(|option| option == "--here");
    // Nobody has looked at the others.
    let hosts = (names.len() < project.hosts.len() && !here).then(|| hostlist::fold(names));
    let words = std::iter::once(project.path.as_str()).chain(project.options.iter().map(String::as_str));
    let words = words.chain(file.iter().flat_map(|file| ["--plan", file.as_str()]));
    let words = words.chain(hosts.iter().flat_map(|hosts| ["--hosts", hosts.as_str()]));
    let words = words.map(quote).collect::<Vec<_>>().join(" ");
    paint(HINT, &format!("            next: provision apply {}", safe(&words)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::project::LoadOptions;
    use crate::project::testing::Case;

    fn good() -> Vec<u8> {
        let stages = vec![StageDigest {
            digest: "d".to_owned(),
            known_after: BTreeSet::new(),
            moves: BTreeSet::new(),
        }];
        let hosts = BTreeMap::from([("a".to_owned(), HostPlan { stages, tasks: Vec::new() })]);
        let plan =
            PlanFile { version: PlanFile::VERSION, cluster: "c".to_owned(), sources: BTreeMap::new(), hosts };
        serde_json::to_vec(&plan).unwrap()
    }

    /// Checks that a user who looked at some hosts is not told to change all.
    #[test]
    fn what_comes_next_is_for_the_hosts_that_were_looked_at() {
        let case = Case::new("--- inventory.yaml\ncluster: c\nhosts: { \"n[0-3]\": {} }\n");
        let said = |hosts: Option<&str>| {
            let options = LoadOptions { hosts: hosts.map(str::to_owned), ..LoadOptions::default() };
            let mut project = case.load(&options).unwrap();
            project.path = "i.yaml".into();
            project.options = vec!["--lab".to_owned()];
            anstream::adapter::strip_str(&next(&project, None)).to_string().trim().to_owned()
        };
        assert_eq!(said(None), "next: provision apply i.yaml --lab");
        assert_eq!(said(Some("n0")), "next: provision apply i.yaml --lab --hosts n0");
        assert_eq!(said(Some("all & !n2")), "next: provision apply i.yaml --lab --hosts 'n[0-1,3]'");
    }

    #[test]
    fn damaged_plans_are_told() {
        assert_eq!(PlanFile::parse(&good()).unwrap().hosts["a"].stages[0].digest, "d");
        for (bytes, why) in [
            (&b""[..], "it is damaged: EOF while parsing"),
            (&good()[..40], "it is damaged: EOF while parsing"),
            (b"cluster: c", "it is damaged: expected value"),
            (b"\xff\xfe{}", "it is damaged: expected value"),
            (b"[]", "it is damaged: invalid"),
            (b"{\"version\": 2, \"old\": 1}", "its format is 2"),
            (b"{\"version\": 4294967297}", "its format is 4294967297"),
            (b"{\"version\": 3, \"hosts\": 3}", "it is damaged: invalid type"),
        ] {
            let error = PlanFile::parse(bytes).err().unwrap_or_else(|| panic!("{why}"));
            assert!(error.starts_with(why), "{error}");
        }
        assert!(PlanFile::parse("[".repeat(1 << 20).as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(at in 0_usize..90, noise in "[\\[{\":,}\\]0-9e-]{0,9}|\\PC{0,9}") {
            let mut bytes = good();
            let at = at.min(bytes.len());
            drop(PlanFile::parse(&bytes[..at]));
            bytes.splice(at..at, noise.into_bytes());
            drop(PlanFile::parse(&bytes));
        }
    }
}
