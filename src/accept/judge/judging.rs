//! Each figure with all that it is held against.

use std::collections::{BTreeMap, BTreeSet};

use super::fleet::{self, Fleet};
use super::history::{self, Own};
use super::measured::{Better, Floor, Limit, Measured, Note, Past};
use super::robust;
use super::sentences;
use super::together;
use crate::accept::record::{By, Figure, Finding, Threshold};

/// All figures of a run, judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgement {
    /// Figures in the order in which they were given, and behind them one for each family of figures of a part.
    pub judged: Vec<Judged>,
    /// Sentences about the run and about no part.
    pub notes: Vec<Note>,
}

/// A figure and what speaks against its part.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The host.
    pub host: String,
    /// The figure with its thresholds.
    pub figure: Figure,
    /// The finding against the part; none where the figure holds or was held against nothing, and none of a family's mean
    /// where a figure of the family has it already.
    pub finding: Option<Finding>,
}

/// Figures that are compared: a model and a name.
type Kind<'m> = (&'m str, &'m str);

/// Holds figures against the inventory or the floors, against each other, and against the past.
///
/// Each part has one figure of a name; of several runs that is their median.
///
/// A limit of the inventory takes the place of the floor; the first that fits the model and the name is taken, those
/// with a model before those without. The families of figures, such as `matmul` of all products, are held against the
/// fleet alone.
pub fn judge(measured: &[Measured], floors: &[Floor], limits: &[Limit], past: &Past) -> Judgement {
    let mut kinds: BTreeMap<Kind<'_>, Vec<&Measured>> = BTreeMap::new();
    for one in measured.iter().filter(|one| one.value.is_finite() && !one.model.is_empty()) {
        kinds.entry((&one.model, &one.name)).or_default().push(one);
    }
    let mut notes = Vec::new();
    let mut fleets: BTreeMap<Kind<'_>, Fleet> = BTreeMap::new();
    let mut moved: BTreeMap<Kind<'_>, bool> = BTreeMap::new();
    for (kind, members) in kinds {
        let Some(first) = members.first() else { continue };
        let limit = limit(limits, first);
        let values = members.iter().map(|member| member.value).collect();
        let fleet = fleet::look(values, first.better, limit.and_then(|limit| limit.behind_fleet));
        let name = first.name.clone();
        notes.extend(sentences::two_groups(first, &fleet).map(|text| Note { name: name.clone(), text }));
        let all_behind = all_behind(&members, limit, past);
        moved.insert(kind, all_behind.is_some());
        notes.extend(all_behind.map(|text| Note { name, text }));
        fleets.insert(kind, fleet);
    }
    let singles = measured.iter().map(|one| {
        let kind = (one.model.as_str(), one.name.as_str());
        let fleet = fleets.get(&kind).unwrap_or(&Fleet::Silent);
        let limit = limit(limits, one);
        let own = if moved.get(&kind) == Some(&true) { None } else { own(one, limit, past) };
        judge_one(one, floors, limit, fleet, own.as_ref())
    });
    let mut judged: Vec<Judged> = singles.collect();
    let blamed: BTreeSet<(String, String, String)> =
        judged.iter().filter(|one| one.finding.is_some()).map(of_family).collect();
    for (means, fleet) in together::means(measured, &fleets) {
        for mean in means {
            let mut one = judge_one(&mean, &[], None, &fleet, None);
            // Who is slow in one product is named for it, and once is enough.
            one.finding = one.finding.take().filter(|_| !blamed.contains(&of_family(&one)));
            judged.push(one);
        }
    }
    Judgement { judged, notes }
}

/// The part of a figure, and the family that the figure is of.
fn of_family(judged: &Judged) -> (String, String, String) {
    let name = &judged.figure.name;
    let family = name.split_once('.').map_or(name.as_str(), |(family, _)| family);
    (judged.host.clone(), judged.figure.part.clone(), family.to_owned())
}

/// One figure with what was found out for it.
fn judge_one(
    one: &Measured,
    floors: &[Floor],
    limit: Option<&Limit>,
    fleet: &Fleet,
    own: Option<&Own>,
) -> Judged {
    let mut thresholds = Vec::new();
    let floor = || floors.iter().find(|floor| floor.model == one.model && floor.name == one.name);
    if let Some(least) = limit.and_then(|limit| limit.least) {
        thresholds.push(Threshold { by: By::Inventory, least, source: "inventory".to_owned() });
    } else if let Some(floor) = floor() {
        thresholds.push(Threshold { by: By::Floor, least: floor.least, source: floor.source.clone() });
    }
    thresholds.extend(sentences::of_fleet(one, fleet));
    thresholds.extend(own.map(sentences::of_past));
    let is_number = one.value.is_finite();
    let broken: Vec<Threshold> = thresholds
        .iter()
        .filter(|threshold| !one.better.keeps(one.value, threshold.least))
        .cloned()
        .collect();
    let text = match (is_number, broken.is_empty()) {
        (false, _) => Some(sentences::nothing(one)),
        (true, false) => Some(sentences::finding(one, &broken, fleet, own)),
        (true, true) => None,
    };
    let holds = if is_number { (!thresholds.is_empty()).then_some(broken.is_empty()) } else { Some(false) };
    let figure = Figure {
        name: one.name.clone(),
        part: one.part.clone(),
        // A record is read back, and no JSON has a number that is none.
        value: if is_number { one.value } else { 0.0 },
        unit: one.unit.clone(),
        thresholds,
        holds,
    };
    let finding = text.map(|text| Finding {
        stage: one.stage,
        part: one.part.clone(),
        text,
        action: sentences::action(one),
    });
    Judged { host: one.host.clone(), figure, finding }
}

/// The inventory's threshold for a figure.
fn limit<'l>(limits: &'l [Limit], one: &Measured) -> Option<&'l Limit> {
    let named = || limits.iter().filter(|limit| limit.name == one.name);
    let of_model = named().find(|limit| !limit.model.is_empty() && limit.model == one.model);
    of_model.or_else(|| named().find(|limit| limit.model.is_empty()))
}

/// The past of a part, where it has one.
fn own(one: &Measured, limit: Option<&Limit>, past: &Past) -> Option<Own> {
    let earlier = past.get(&(one.part.clone(), one.name.clone())).filter(|_| !one.part.is_empty())?;
    history::look(earlier, one.better, limit.and_then(|limit| limit.behind_past))
}

/// Says that most parts are behind their own past, where they are; then none of them is the one to blame.
fn all_behind(members: &[&Measured], limit: Option<&Limit>, past: &Past) -> Option<String> {
    let first = members.first()?;
    let mut behind = Vec::new();
    let mut with_past = 0;
    for member in members {
        let Some(own) = own(member, limit, past) else { continue };
        with_past += 1;
        if !member.better.keeps(member.value, own.bound) {
            let ratio = member.value / own.earlier.median - 1.0;
            behind.push(match member.better {
                Better::Higher => -ratio,
                Better::Lower => ratio,
            });
        }
    }
    if with_past < fleet::FEWEST || 2 * behind.len() <= with_past {
        return None;
    }
    let count = behind.len();
    behind.sort_by(f64::total_cmp);
    let share = robust::median(&behind)?;
    Some(sentences::all_behind(first, count, with_past, share))
}
