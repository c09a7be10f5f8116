//! `provision plan`: show what apply would do.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::load::load_to_run;
use crate::cli::args::PlanArgs;
use crate::cli::dispatch::Exit;
use crate::cli::launch::{self, Finished, Launch};
use crate::cli::settings::Settings;
use crate::engine::Mode;
use crate::events::PlannedTask;
use crate::exit;
use crate::plan::hex;
use crate::project::Project;
use crate::report::{output, plan};

/// What `plan --out` writes: evidence, never executed. `apply --plan` plans anew and compares.
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
    /// SHA-256 over the exact commands and data.
    pub digest: String,
    /// The same for people.
    pub tasks: Vec<PlannedTask>,
}

impl PlanFile {
    const VERSION: u32 = 1;

    fn of(project: &BTreeMap<String, String>, finished: &Finished) -> Self {
        let hosts = finished
            .report
            .sessions
            .iter()
            .filter_map(|session| {
                let digest = session.plan_digest()?;
                let tasks = finished
                    .record
                    .hosts
                    .get(session.name())
                    .map(|host| host.plan.clone())
                    .unwrap_or_default();
                Some((session.name().to_owned(), HostPlan { digest, tasks }))
            })
            .collect();
        Self {
            version: Self::VERSION,
            cluster: finished.record.cluster.clone(),
            sources: project.clone(),
            hosts,
        }
    }

    /// Refuses a plan of other files.
    ///
    /// # Errors
    /// With exit code 3 when the format, the cluster or a source differs.
    pub(crate) fn check_sources(&self, project: &Project, file: &Utf8Path) -> anyhow::Result<()> {
        let refuse = |why: String| {
            Exit::new(exit::CONFIG, format!("{file} is not a plan of this inventory: {why}"))
                .hint(format!("make it anew: provision plan {} --out {file}", project.path))
        };
        if self.version != Self::VERSION {
            return Err(refuse(format!("its format is {}", self.version)).into());
        }
        let now = sources(project);
        for (path, digest) in &now {
            if self.sources.get(path) != Some(digest) {
                return Err(refuse(format!("{path} was changed since")).into());
            }
        }
        Ok(())
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
    let project = load_to_run(settings, &args.target)?;
    let sources = sources(&project);
    let launch = Launch {
        command: "plan",
        mode: Mode::Plan,
        queries: BTreeSet::new(),
        expected: None,
        recorded: false,
        yes: false,
        secrets: None,
    };
    let (finished, code) =
        launch::run(settings, project, &args.connect, &args.reports, launch, |report, _| {
            if args.exit_code && report.stats.pending > 0 { vec![exit::PENDING] } else { Vec::new() }
        })
        .await?;
    if args.reports.json.as_deref() != Some("-") {
        output::data(&plan::text(&finished.record)).context("cannot write to stdout")?;
    }
    if let Some(file) = &args.out {
        let text = serde_json::to_string_pretty(&PlanFile::of(&sources, &finished))? + "\n";
        std::fs::write(file, text).with_context(|| format!("cannot write {file}"))?;
    }
    Ok(code)
}
