//! Settings that a new login of the user gets, for `verify`: limits are given to a session when it begins,
//! and root has others than the user of the jobs.

use super::context::Context;
use super::known::Known;
use crate::facts::login::LoginQuery;
use crate::facts::rdma::RdmaQuery;
use crate::facts::{self, BatchPart, Facts};
use crate::inventory::{Become, Host};
use crate::transport::{Frame, PartEnd, TransportError};

/// Logs in beside the session that is open, without becoming root, and asks there. Only where a check
/// looks at it: a login costs time.
pub(super) async fn look(context: &Context, host: &Host, known: &mut Known) {
    if !is_wanted(host, known.facts()) {
        return;
    }
    let part = facts::alone(LoginQuery, context.deadlines.query);
    match ask(context, host, &part).await {
        Ok(Some(end)) => known.absorb(&part, &end),
        Ok(None) => known.unknown(&part, "no new login: it gave no answer"),
        Err(error) => known.unknown(&part, &format!("no new login: {error}")),
    }
}

/// Whether a check needs it.
fn is_wanted(host: &Host, facts: &Facts) -> bool {
    let system = host.expect.system.as_ref();
    if system.is_some_and(|system| system.memlock.is_some() || system.nofile.is_some()) {
        return true;
    }
    let rdma = facts.get(&RdmaQuery).answer();
    rdma.is_some_and(|rdma| rdma.devices.as_ref().is_ok_and(|all| !all.is_empty()))
}

async fn ask(context: &Context, host: &Host, part: &BatchPart) -> Result<Option<PartEnd>, TransportError> {
    let mut host = host.clone();
    host.ssh.become_method = Become::None;
    // A login that stays was made when limits may have been others, and is not replaced by this one.
    host.ssh.persist = None;
    let mut remote = context.transport.open(&host, context.deadlines.connect).await?;
    let secrets = context.secrets.clone();
    let frame = Frame { parts: vec![part.part.clone()], secrets, last: true, ..Frame::default() };
    let mut ended = None;
    let result = remote.run(&frame, &mut |end| ended = Some(end)).await;
    remote.close().await;
    result.map(|()| ended)
}
