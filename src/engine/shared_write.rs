//! Turns of hosts to write what several of them see as one file.

use std::time::Duration;

use tokio::time::Instant;

use super::cancel::Stop;
use super::connection::{Connection, Gone};
use super::hints::{human, unplannable};
use super::known::Known;
use super::work::{Later, Work, queries, task_id};
use super::writers::{Claim, Duty};
use crate::backoff::Backoff;
use crate::facts::{Facts, Object, Touches};
use crate::project::{Instance, InstanceState};
use crate::resources::{Change, Unplannable};

/// Time limit for a host to see what another one wrote: NFS trusts its cache of attributes for up to a
/// minute.
const VISIBLE: Duration = Duration::from_secs(90);

/// Result for a host that comes to a task.
pub(super) enum SharedWrite {
    /// It makes these changes; when they are made it says so.
    Write(Vec<Change>, Option<Duty>),
    /// Another host made them.
    Written,
    /// Another host made those that can be made now; why the rest cannot.
    Blocked(String),
    /// It cannot be so here, and why.
    Refused(String),
}

/// Finds out whether these changes are this host's to make.
pub(super) async fn claim_write(
    connection: &mut Connection,
    known: &mut Known,
    item: &Work,
    instance: &Instance,
    mut changes: Vec<Change>,
    touches: &Touches,
    later: Later<'_>,
) -> Result<SharedWrite, Gone> {
    let InstanceState::Ready { resource, .. } = &instance.state else {
        return Ok(SharedWrite::Write(changes, None));
    };
    let context = connection.context().clone();
    let id = task_id(&item.step, instance);
    let mut written: Option<Instant> = None;
    let mut backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(5));
    loop {
        let places = places(known.facts(), &changes);
        let mut writer = match context.fleet.writers().claim(&id, &places, &connection.host().name) {
            Claim::Mine(duty) => return Ok(SharedWrite::Write(changes, Some(duty))),
            Claim::Theirs(writer) => writer,
        };
        let ended = tokio::select! {
            biased;
            ended = writer.ended() => ended,
            () = context.cancel.reached(Stop::Finish) => {
                return Ok(SharedWrite::Refused(format!("not started: the run was stopped while {} wrote it", writer.host)));
            }
        };
        let host = writer.host;
        match ended {
            // The writer was lost: the next one takes its place.
            None => continue,
            Some(Err(why)) => {
                return Ok(SharedWrite::Refused(format!(
                    "{host}, which writes it on the file system that both share, failed: {why}"
                )));
            }
            Some(Ok(())) => {}
        }
        let since = *written.get_or_insert_with(Instant::now);
        let own = queries(std::slice::from_ref(instance));
        let again = known.touched(touches, &own, &later.queries());
        known.ask(connection, &again).await?;
        match resource.plan(known.facts()) {
            Ok(rest) if rest.is_empty() => return Ok(SharedWrite::Written),
            Err(Unplannable::Partly(rest, reason)) if rest.is_empty() => {
                return Ok(SharedWrite::Blocked(reason));
            }
            Ok(rest) | Err(Unplannable::Partly(rest, _)) => changes = rest,
            Err(error) => return Ok(SharedWrite::Refused(unplannable(error))),
        }
        if since.elapsed() > VISIBLE {
            let lines: Vec<&str> = changes.iter().map(|change| change.summary.as_str()).collect();
            return Ok(SharedWrite::Refused(format!(
                "{host} wrote it to the file system that both share, but after {} this host still needs: {}",
                human(VISIBLE),
                lines.join("; ")
            )));
        }
        if self::places(known.facts(), &changes).iter().any(|place| places.contains(place)) {
            tokio::time::sleep(backoff.pause()).await;
        }
    }
}

/// The places of some changes that other hosts may see too.
pub(super) fn places(facts: &Facts, changes: &[Change]) -> Vec<String> {
    let path = |change: &Change| {
        let Object::Path(path) = &change.object else { return None };
        facts.location(path)
    };
    changes.iter().filter_map(path).collect()
}
