//! Problems of the next boot, for tasks that must not let it go wrong.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::facts::next_boot::{NextBoot, NextBootQuery, Problem};
use crate::facts::{Facts, GapKind, Known};

/// Most modules that a sentence names: DOCA-OFED has more than a hundred.
const NAMED: usize = 6;

/// Findings about the next boot.
#[derive(Debug, Default)]
pub(in crate::resources) struct Proof {
    /// Problems, each with what to do about it.
    pub(in crate::resources) wrong: Vec<String>,
    /// Parts of the next boot that could not be checked, with the reason.
    pub(in crate::resources) unknown: Vec<String>,
    /// Reasons why the initramfs has to be rebuilt first.
    pub(in crate::resources) initramfs: Vec<String>,
}

impl Proof {
    /// `None` where nobody has asked yet.
    pub(in crate::resources) fn of(facts: &Facts) -> Option<Self> {
        match facts.get(&NextBootQuery) {
            Known::Answer(next) => Some(Self::judge(next)),
            Known::Unknown(reason) | Known::Unreadable(reason) => {
                Some(Self { unknown: vec![format!("the next boot: {reason}")], ..Self::default() })
            }
            Known::NoUser(_) | Known::NotAsked => None,
        }
    }

    /// Takes what is wrong with the next boot, and what of it nobody knows.
    fn judge(next: &NextBoot) -> Self {
        let mut proof = Self::default();
        let mut unknown: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, aspect) in next.aspects() {
            match aspect {
                Ok(aspect) => proof.wrong.extend(sentences(&aspect.wrong)),
                Err(gap) if gap.kind == GapKind::Absent => {}
                Err(gap) => unknown.entry(&gap.reason).or_default().push(name),
            }
        }
        let told = unknown.into_iter().map(|(reason, names)| match names.len() {
            // All of them.
            5 => format!("the next boot: {reason}"),
            _ => format!("{}: {reason}", names.join(", ")),
        });
        proof.unknown.extend(told);
        if let Ok(aspect) = &next.initramfs {
            proof.initramfs.extend(sentences(&aspect.wrong));
        }
        proof
    }
}

/// One for each thing that is wrong: `mlx5_core, mlx5_ib: not signed: enrol a key`.
fn sentences(problems: &[Problem]) -> impl Iterator<Item = String> {
    let mut by_text: IndexMap<(&str, &str), Vec<&str>> = IndexMap::new();
    for problem in problems {
        by_text.entry((&problem.how, &problem.todo)).or_default().push(&problem.of);
    }
    by_text.into_iter().map(|((how, todo), of)| {
        let named = of.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = match of.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{named}{more}: {how}: {todo}")
    })
}
