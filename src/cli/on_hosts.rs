//! A script on hosts of an inventory, outside of a run: what each of them said, and who was away.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::args::{Connect, Target};
use super::load::{load_quietly, reachable};
use crate::events::HostStatus;
use crate::exit;
use crate::hostlist::fold;
use crate::launch::{self, Executed, Signals};
use crate::report::{self, output};
use crate::settings::Settings;

/// Longest time that a script which waits for nothing may take.
pub(super) const DEADLINE: Duration = Duration::from_mins(3);

/// Somebody has asked for an end, with the exit code of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stopped(pub u8);

/// Hosts that could not be reached, and why.
pub(super) type Away = BTreeMap<String, String>;

/// An inventory whose hosts are asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnHosts<'a> {
    pub(super) settings: &'a Settings,
    pub(super) target: &'a Target,
    pub(super) connect: &'a Connect,
}

impl OnHosts<'_> {
    /// The target with these hosts alone.
    pub(super) fn only(&self, hosts: &BTreeSet<String>) -> Target {
        let mut target = self.target.clone();
        target.hosts = Some(fold(hosts.iter().map(String::as_str)));
        target
    }

    /// Runs a command on some hosts; `take` gets the name of each, its status and what it said.
    ///
    /// # Errors
    /// When it cannot start.
    pub(super) async fn run(
        &self,
        hosts: &BTreeSet<String>,
        words: &[String],
        deadline: Duration,
        mut take: impl FnMut(&str, i32, String) + Send,
    ) -> anyhow::Result<Result<Away, Stopped>> {
        let target = self.only(hosts);
        let project = reachable(self.settings, &target, load_quietly(self.settings, &target)?)?;
        let exec = self.connect.exec(words, deadline);
        let stopping = |reason: &str| output::say(&format!("stopping: {reason}"));
        let record = match launch::exec(self.settings, project, &exec, Some(&mut take), stopping).await? {
            Executed::Ended(record) => record,
            Executed::Left(code) => return Ok(Err(Stopped(code))),
        };
        let code = record.exit_code.unwrap_or(exit::BUG);
        if code >= exit::INTERRUPTED {
            return Ok(Err(Stopped(code)));
        }
        let away = record.hosts.iter().filter_map(|(name, host)| {
            let status = host.status.as_ref()?;
            let stuck =
                if let HostStatus::Quarantined { reason } = status { Some(reason.as_str()) } else { None };
            Some((name.clone(), report::unreachable_reason(status).or(stuck)?.to_owned()))
        });
        Ok(Ok(away.collect()))
    }
}

/// The last line that says something.
pub(super) fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing")
}

/// Waits until tests on hosts are ended, or for another signal; the hosts on which they may go on, behind a comma.
pub(super) async fn stop(stop: impl Future<Output = Vec<String>>, signals: &mut Signals) -> String {
    output::say("ending the tests on the hosts; a second Ctrl-C leaves at once");
    let left = tokio::select! {
        left = stop => left,
        _ = signals.any() => return ", unless they hang: they end by themselves within two minutes".to_owned(),
    };
    if left.is_empty() {
        return String::new();
    }
    let names = fold(left.iter().map(String::as_str));
    format!(", but on {names}, which was not reached: they end by themselves within two minutes")
}
