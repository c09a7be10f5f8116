//! From the figures of pairs to ports, and to what is between them.

use std::collections::{BTreeMap, BTreeSet};

use super::entrants::{Entrant, better, floors, milder, name, unit};
use crate::accept::judge::{self, Better, Floor, Judged, Limit, Measured, Past};
use crate::accept::record::{Finding, Pair, Stage};
use crate::accept::rounds::Couple;
use crate::active::{Grown, Measure, Meeting, Port, Trial};
use crate::hostlist::fold;
use crate::words::count;

/// Counters of which one is too many: a link that went away or was trained anew, and packets that arrived changed.
const HURTS: [&str; 4] = ["link_downed", "hw.link_downed", "link_error_recovery", "hw.rx_icrc_encapsulated"];
/// Partners that a sentence names.
const NAMED: usize = 4;

/// A pair that is bad though both of its ports are good with others.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// The hosts, by their places.
    pub hosts: Couple,
    /// The device on both.
    pub rail: String,
    /// A sentence.
    pub text: String,
}

/// The sense of all trials.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Figures of ports, with what speaks against them.
    pub judged: Vec<Judged>,
    /// Ports and hosts that kept silent.
    pub silent: Vec<(String, Finding)>,
    /// All pairs, for the record.
    pub pairs: Vec<Pair>,
    /// Pairs that no port explains.
    pub suspects: Vec<Suspect>,
    /// Sentences that speak against no part.
    pub notes: Vec<String>,
}

/// A port: its host by place, and its device.
type End<'t> = (usize, &'t str);
/// Two hosts, the smaller place first, and the device on both.
type Way<'t> = (usize, usize, &'t str);

/// Figures with the places that they are of, under one set of limits.
type Group<L, P> = (L, Vec<(P, Measured)>);

/// Judges trials; those of `again` take the place of earlier ones.
pub fn verdict(entrants: &[Entrant], trials: &[Trial], again: &[Trial], past: &Past) -> Verdict {
    let fresh: BTreeSet<Way<'_>> = again.iter().map(way).collect();
    let kept = trials.iter().filter(|trial| !fresh.contains(&way(trial)));
    let trials: Vec<&Trial> = kept.chain(again).collect();
    let mut found = Verdict::default();
    let dead = silent(entrants, &trials, &mut found);
    let bad = ports(entrants, &trials, past, &mut found);
    pairs(entrants, &trials, (&dead, &bad), &mut found);
    found
}

fn way(trial: &Trial) -> Way<'_> {
    (trial.from.min(trial.to), trial.from.max(trial.to), trial.rail.as_str())
}

fn port<'e>(entrants: &'e [Entrant], host: usize, rail: &str) -> Option<(&'e Entrant, &'e Port)> {
    let entrant = entrants.get(host)?;
    Some((entrant, entrant.ports.get(rail)?))
}

/// `gpu3 mlx5_2 port 1`.
fn called(entrants: &[Entrant], host: usize, rail: &str) -> String {
    let port = port(entrants, host, rail);
    port.map_or_else(String::new, |(entrant, port)| format!("{} {}", entrant.placed.host, port.label()))
}

/// Finds the ports that kept silent with most of their partners, and blames no port for what another one explains.
fn silent<'t>(entrants: &[Entrant], trials: &[&'t Trial], found: &mut Verdict) -> BTreeSet<End<'t>> {
    let mut open: BTreeMap<Way<'t>, Option<&'t str>> = BTreeMap::new();
    for trial in trials {
        let why = open.entry(way(trial)).or_default();
        *why = why.or(trial.result.as_ref().err().map(String::as_str));
    }
    let mut dead: BTreeMap<End<'t>, (Vec<usize>, &'t str)> = BTreeMap::new();
    while let Some(end) = worst(&open) {
        let of = |way: &Way<'t>| (way.2 == end.1) && (way.0 == end.0 || way.1 == end.0);
        let own: Vec<(Way<'t>, &'t str)> =
            open.iter().filter(|(way, _)| of(way)).filter_map(|(way, why)| Some((*way, (*why)?))).collect();
        let why = own.first().map_or("", |(_, why)| why);
        let other = |way: &Way<'t>| if way.0 == end.0 { way.1 } else { way.0 };
        let partners: Vec<usize> = own.iter().map(|(way, _)| other(way)).collect();
        // Of two that have nobody but each other, nobody tells which one it is.
        if let [only] = partners.as_slice()
            && tally(&open).get(&(*only, end.1)) == Some(&(1, 1))
        {
            for (host, partner) in [(end.0, *only), (*only, end.0)] {
                let text = format!(
                    "{} gave no figure with {}, and nobody else was there to tell which of the two it is: {why}",
                    called(entrants, host, end.1),
                    called(entrants, partner, end.1)
                );
                found.silent.extend(against(entrants, (host, end.1), text));
                dead.entry((host, end.1)).or_default();
            }
        } else {
            dead.insert(end, (partners, why));
        }
        open.retain(|way, _| !of(way));
    }
    let ends: BTreeSet<End<'t>> = dead.keys().copied().collect();
    // A host that keeps silent on all of its ports is one finding.
    let tried: BTreeSet<End<'t>> = trials
        .iter()
        .flat_map(|trial| [(trial.from, trial.rail.as_str()), (trial.to, trial.rail.as_str())])
        .collect();
    let mut told: BTreeSet<usize> = BTreeSet::new();
    for ((host, rail), (partners, why)) in &dead {
        if partners.is_empty() {
            continue;
        }
        let own: Vec<&End<'t>> = tried.iter().filter(|end| end.0 == *host).collect();
        let is_whole = own.len() > 1 && own.iter().all(|end| ends.contains(*end));
        if is_whole && !told.insert(*host) {
            continue;
        }
        let with = partners.iter().take(NAMED).map(|partner| called(entrants, *partner, rail));
        let mut with: Vec<String> = with.collect();
        if partners.len() > NAMED {
            with.push(format!("{} more", partners.len() - NAMED));
        }
        let who = if is_whole {
            format!("each of its {} that were tried", count(own.len() as u64, "port"))
        } else {
            called(entrants, *host, rail)
        };
        let text = format!("{who} gave no figure with {}: {why}", with.join(", "));
        found.silent.extend(against(entrants, (*host, rail), text));
    }
    ends
}

/// Pairs with nothing and all pairs of each port.
fn tally<'t>(open: &BTreeMap<Way<'t>, Option<&'t str>>) -> BTreeMap<End<'t>, (usize, usize)> {
    let mut tally: BTreeMap<End<'t>, (usize, usize)> = BTreeMap::new();
    for ((one, other, rail), why) in open {
        for host in [one, other] {
            let of = tally.entry((*host, *rail)).or_default();
            of.0 += usize::from(why.is_some());
            of.1 += 1;
        }
    }
    tally
}

/// The port that kept silent with the largest share of its partners, of those that did so with more than half.
fn worst<'t>(open: &BTreeMap<Way<'t>, Option<&'t str>>) -> Option<End<'t>> {
    let tally = tally(open).into_iter().filter(|(_, (silent, all))| 2 * silent > *all);
    let worst = tally.max_by(|(one, (a, all)), (other, (b, whole))| {
        (a * whole).cmp(&(b * all)).then(a.cmp(b)).then(other.cmp(one))
    });
    worst.map(|(end, _)| end)
}

fn against(entrants: &[Entrant], (host, rail): End<'_>, text: String) -> Option<(String, Finding)> {
    let (entrant, port) = port(entrants, host, rail)?;
    let action = "see whether the host answers at all, then look at this port, its cable and the log of the kernel: `provision why`";
    let part = entrant.key(port);
    Some((
        entrant.placed.host.clone(),
        Finding { stage: Stage::Pairs, part, text, action: action.to_owned() },
    ))
}

/// Figures of a trial: of the port that sent, and of the one that received.
fn figures(trial: &Trial) -> [(usize, String); 2] {
    let name = name(trial.measure);
    match trial.measure {
        Measure::Write | Measure::GpuWrite => {
            [(trial.from, format!("{name}.out")), (trial.to, format!("{name}.in"))]
        }
        Measure::Latency => [(trial.from, name.to_owned()), (trial.to, name.to_owned())],
    }
}

/// Judges ports by what they do with most of their partners; those with a finding, and the figure's name.
fn ports<'t>(
    entrants: &[Entrant],
    trials: &[&'t Trial],
    past: &Past,
    found: &mut Verdict,
) -> BTreeSet<(usize, &'t str, String)> {
    let mut values: BTreeMap<(usize, &'t str, String), (Measure, Vec<f64>)> = BTreeMap::new();
    for trial in trials {
        let Ok(value) = trial.result else { continue };
        for (host, figure) in figures(trial) {
            let of = values.entry((host, trial.rail.as_str(), figure));
            of.or_insert_with(|| (trial.measure, Vec::new())).1.push(value);
        }
    }
    let mut groups: Vec<Group<&[Limit], End<'t>>> = Vec::new();
    let mut known: BTreeMap<String, Vec<Floor>> = BTreeMap::new();
    for ((host, rail, figure), (measure, values)) in values {
        let Some((entrant, port)) = port(entrants, host, rail) else { continue };
        let model = entrant.model(port);
        known.entry(model.clone()).or_insert_with(|| floors(&model, port));
        let measured = Measured {
            host: entrant.placed.host.clone(),
            stage: Stage::Pairs,
            part: entrant.key(port),
            model,
            label: port.label(),
            place: port.pci.clone(),
            name: figure,
            value: usual(better(measure), values),
            unit: unit(measure).to_owned(),
            better: better(measure),
        };
        let of = ((host, rail), measured);
        match groups.iter_mut().find(|(limits, _)| *limits == entrant.limits.as_slice()) {
            Some((_, all)) => all.push(of),
            None => groups.push((&entrant.limits, vec![of])),
        }
    }
    let floors: Vec<Floor> = known.into_values().flatten().collect();
    let mut bad = BTreeSet::new();
    for (limits, group) in groups {
        let (ends, measured): (Vec<End<'t>>, Vec<Measured>) = group.into_iter().unzip();
        let judgement = judge::judge(&measured, &floors, limits, past);
        found.notes.extend(judgement.notes.into_iter().map(|note| format!("{}: {}", note.name, note.text)));
        // Means of families come behind the figures that were given.
        for (at, judged) in judgement.judged.into_iter().enumerate() {
            if let (Some((host, rail)), Some(_)) = (ends.get(at), &judged.finding) {
                bad.insert((*host, *rail, judged.figure.name.clone()));
            }
            found.judged.push(judged);
        }
    }
    bad
}

/// The value in the middle; of two the better one, so that one slow partner makes nobody slow.
fn usual(better: Better, mut values: Vec<f64>) -> f64 {
    values.sort_by(|one, other| match better {
        Better::Higher => one.total_cmp(other),
        Better::Lower => other.total_cmp(one),
    });
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Writes all pairs down, and finds those that no port explains.
fn pairs(
    entrants: &[Entrant],
    trials: &[&Trial],
    (dead, bad): (&BTreeSet<End<'_>>, &BTreeSet<(usize, &str, String)>),
    found: &mut Verdict,
) {
    let is_explained = |trial: &Trial| {
        figures(trial).into_iter().any(|(host, figure)| bad.contains(&(host, trial.rail.as_str(), figure)))
    };
    let mut holds: BTreeMap<usize, (Option<bool>, Option<String>)> = BTreeMap::new();
    let mut groups: Vec<Group<Vec<Limit>, usize>> = Vec::new();
    let mut known: BTreeMap<String, Vec<Floor>> = BTreeMap::new();
    for (at, trial) in trials.iter().enumerate() {
        let ends = port(entrants, trial.from, &trial.rail).zip(port(entrants, trial.to, &trial.rail));
        let (Ok(value), Some(((from, here), (to, there)))) = (&trial.result, ends) else { continue };
        if is_explained(trial) {
            holds.insert(at, (Some(false), None));
            continue;
        }
        let (model, slower) = together((from, here), (to, there));
        known
            .entry(model.clone())
            .or_insert_with(|| slower.map(|port| floors(&model, port)).unwrap_or_default());
        let label = format!(
            "{} to {}",
            called(entrants, trial.from, &trial.rail),
            called(entrants, trial.to, &trial.rail)
        );
        let measured = Measured {
            host: from.placed.host.clone(),
            stage: Stage::Pairs,
            part: String::new(),
            model,
            label,
            place: String::new(),
            name: name(trial.measure).to_owned(),
            value: *value,
            unit: unit(trial.measure).to_owned(),
            better: better(trial.measure),
        };
        let limits = milder(&from.limits, &to.limits);
        match groups.iter_mut().find(|(own, _)| *own == limits) {
            Some((_, all)) => all.push((at, measured)),
            None => groups.push((limits, vec![(at, measured)])),
        }
    }
    let floors: Vec<Floor> = known.into_values().flatten().collect();
    for (limits, group) in groups {
        let (places, measured): (Vec<usize>, Vec<Measured>) = group.into_iter().unzip();
        let judgement = judge::judge(&measured, &floors, &limits, &Past::new());
        for (at, judged) in places.into_iter().zip(judgement.judged) {
            holds.insert(at, (judged.figure.holds, judged.finding.map(|finding| finding.text)));
        }
    }
    let mut suspects: BTreeMap<Way<'_>, String> = BTreeMap::new();
    for (at, trial) in trials.iter().enumerate() {
        let (is_held, text) = holds.remove(&at).unwrap_or_default();
        let text = match &trial.result {
            Ok(_) => text,
            Err(_)
                if [trial.from, trial.to].iter().any(|host| dead.contains(&(*host, trial.rail.as_str()))) =>
            {
                None
            }
            Err(why) => Some(format!(
                "{} to {} gave no figure in {}: {why}",
                called(entrants, trial.from, &trial.rail),
                called(entrants, trial.to, &trial.rail),
                name(trial.measure)
            )),
        };
        if let Some(text) = text {
            suspects.entry(way(trial)).or_insert(text);
        }
        found.pairs.extend(recorded(entrants, trial, is_held));
    }
    let suspect = |((one, other, rail), text): (Way<'_>, String)| Suspect {
        hosts: (one, other),
        rail: rail.to_owned(),
        text,
    };
    found.suspects.extend(suspects.into_iter().map(suspect));
}

/// The model of two ports together, and the slower one of them where that is known.
fn together<'e>(
    (one, here): (&Entrant, &'e Port),
    (other, there): (&Entrant, &'e Port),
) -> (String, Option<&'e Port>) {
    let mut models = [one.model(here), other.model(there)];
    models.sort();
    let [first, second] = models;
    let model = if first == second { first } else { format!("{first} and {second}") };
    let slower = match (here.rate, there.rate) {
        (Some(own), Some(theirs)) if own <= theirs => Some(here),
        (Some(_), Some(_)) => Some(there),
        _ => None,
    };
    // A latency is known of two fast ones alone.
    let slower = if here.is_fast == there.is_fast { slower } else { slower.filter(|port| !port.is_fast) };
    (model, slower)
}

/// A pair for the record; a latency that was not measured has no number that would stand for it.
fn recorded(entrants: &[Entrant], trial: &Trial, holds: Option<bool>) -> Option<Pair> {
    let (from, here) = port(entrants, trial.from, &trial.rail)?;
    let (to, there) = port(entrants, trial.to, &trial.rail)?;
    let (value, holds, said) = match (&trial.result, trial.measure) {
        (Ok(value), _) => (*value, holds, String::new()),
        (Err(why), Measure::Write | Measure::GpuWrite) => (0.0, Some(false), why.clone()),
        (Err(_), Measure::Latency) => return None,
    };
    let own = |port: &Port| format!("{}/{}", port.device, port.number);
    Some(Pair {
        from: from.placed.host.clone(),
        to: to.placed.host.clone(),
        name: name(trial.measure).to_owned(),
        value,
        unit: unit(trial.measure).to_owned(),
        holds,
        from_port: own(here),
        to_port: own(there),
        said,
    })
}

/// Judges counters of ports that rose in rounds: findings by host, and notes.
pub fn counted(
    entrants: &[Entrant],
    rounds: &[(Vec<Meeting>, Vec<Grown>)],
) -> (Vec<(String, Finding)>, Vec<String>) {
    /// By how much a counter rose, and with whom.
    type Rise = (u64, BTreeSet<usize>);
    let mut rises: BTreeMap<(usize, &str, &str), Rise> = BTreeMap::new();
    for (meetings, grown) in rounds {
        for grown in grown {
            let partner = meetings.iter().find_map(|meeting| match meeting.hosts {
                (one, other) if one == grown.host => Some(other),
                (one, other) if other == grown.host => Some(one),
                _ => None,
            });
            let rise = rises.entry((grown.host, &grown.rail, &grown.counter)).or_default();
            rise.0 += grown.by;
            rise.1.extend(partner);
        }
    }
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    for ((host, rail, counter), (by, partners)) in rises {
        let Some((entrant, port)) = port(entrants, host, rail) else { continue };
        let partners =
            partners.iter().filter_map(|at| entrants.get(*at)).map(|host| host.placed.host.as_str());
        let text = format!(
            "{} of {} rose by {by} while it was tested with {}",
            counter.trim_start_matches("hw."),
            port.label(),
            fold(partners)
        );
        if HURTS.contains(&counter) {
            let action = "clean and reseat both ends of its cable, then swap the cable".to_owned();
            let part = entrant.key(port);
            findings.push((entrant.placed.host.clone(), Finding { stage: Stage::Pairs, part, text, action }));
        } else {
            notes.push(format!("{}: {text}", entrant.placed.host));
        }
    }
    (findings, notes)
}
