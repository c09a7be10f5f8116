//! The clocks of the hosts beside each other.

use super::comparison::who;
use super::subject::Subject;
use super::verdict::{Checked, Verdict, evidence};
use crate::events::CheckStatus::Fail;
use crate::facts::clock::{Offset, duration};

/// Milliseconds that clocks may differ: programs that keep them stay below one.
const NEAR: i64 = 2000;
/// Milliseconds from which on it fails: tolerances of seconds end there, munge and Kerberos have 300 s.
const FAR: i64 = 60_000;

/// Milliseconds that two clocks differ at least: below zero where the second is behind.
fn apart(one: Offset, other: Offset) -> i64 {
    if other.least > one.most {
        other.least.saturating_sub(one.most)
    } else if other.most < one.least {
        other.most.saturating_sub(one.least)
    } else {
        0
    }
}

/// Holds the clock of a host against those of all others.
pub(in crate::checks) fn compared(subject: &Subject<'_>) -> Checked {
    let skip = |why: &str| Err(Verdict::Skip(why.to_owned()));
    let Some(fleet) = subject.fleet.as_deref() else {
        return skip("there is no other host to compare with");
    };
    let name = &subject.host.name;
    let Some(own) = fleet.clocks.get(name) else { return skip("this host did not say what the time is") };
    let others = || fleet.clocks.iter().filter(|(host, _)| *host != name);
    let all = fleet.clocks.len();
    if all < 2 {
        return skip("no other host said what the time is");
    }
    let agrees = |one: &Offset, other: &Offset| apart(*one, *other).abs() <= NEAR;
    let with = |of: &Offset| fleet.clocks.values().filter(|other| agrees(of, other)).count();
    if with(own) * 2 > all {
        let width = own.most.saturating_sub(own.least).unsigned_abs().div_ceil(1000);
        return Ok(Verdict::Pass(format!("as those of most hosts, as far as asking within {width} s tells")));
    }
    // Most hosts agree with the reference; without it nobody can say who is right.
    let reference = others().find(|(_, offset)| with(offset) * 2 > all);
    let (against, offset) = if let Some((_, offset)) = reference {
        let usual = others().filter(|(_, other)| agrees(offset, other));
        (usual.map(|(host, _)| host.clone()).collect::<Vec<_>>(), *offset)
    } else {
        let farthest = others().max_by_key(|(_, other)| apart(*own, **other).abs());
        let Some((host, offset)) = farthest else { return skip("no other host said what the time is") };
        (vec![host.clone()], *offset)
    };
    let difference = apart(offset, *own);
    let way = if difference < 0 { "behind" } else { "ahead of" };
    let told = duration(difference.unsigned_abs() / 1000);
    let many = if reference.is_some() { format!("{} of {all} hosts", against.len()) } else { who(&against) };
    let range = |of: Offset| format!("{} to {} ms ahead of the machine that asked", of.least, of.most);
    let verdict = Verdict::Finding {
        message: format!("at least {told} {way} {many}"),
        evidence: vec![evidence(name, range(*own)), evidence(who(&against), range(offset))],
        hint: None,
        severity: (difference.abs() >= FAR).then_some(Fail),
    };
    Ok(verdict)
}
