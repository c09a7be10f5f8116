//! Groups: their members, their order, and which of several groups decides.

use std::collections::{BTreeMap, BTreeSet};

use super::file::GroupFile;
use super::select::Directory;
use crate::config::{Diagnostic, Diagnostics, Sp, Span};

/// A group with its place among the others.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: Sp<String>,
    pub(super) file: GroupFile,
    /// Groups below it, through any number of steps.
    below: BTreeSet<usize>,
    /// All its hosts.
    pub(super) members: BTreeSet<usize>,
}

/// Puts groups in relation to each other. Reports unknown children and cycles.
pub(super) fn relate(
    files: Vec<(Sp<String>, GroupFile, BTreeSet<usize>)>,
    diagnostics: &mut Diagnostics,
) -> Vec<Group> {
    let names: BTreeMap<String, usize> =
        files.iter().enumerate().map(|(i, (name, _, _))| (name.value.clone(), i)).collect();
    let mut children: Vec<Vec<(usize, Span)>> = Vec::new();
    for (_, file, _) in &files {
        let mut list = Vec::new();
        for child in &file.children {
            match names.get(&child.value) {
                Some(index) => list.push((*index, child.span)),
                None => super::file::unknown("group", child, names.keys().map(String::as_str), diagnostics),
            }
        }
        children.push(list);
    }
    let labels: Vec<&str> = files.iter().map(|(name, _, _)| name.value.as_str()).collect();
    let mut done = BTreeSet::new();
    for start in 0..files.len() {
        cycle(start, &children, &labels, &mut Vec::new(), &mut done, diagnostics);
    }
    let below: Vec<BTreeSet<usize>> = (0..files.len()).map(|start| reach(start, &children)).collect();
    let own: Vec<BTreeSet<usize>> = files.iter().map(|(_, _, hosts)| hosts.clone()).collect();
    files
        .into_iter()
        .zip(below)
        .map(|((name, file, mut members), below)| {
            members.extend(below.iter().filter_map(|group| own.get(*group)).flatten());
            Group { name, file, below, members }
        })
        .collect()
}

fn reach(start: usize, children: &[Vec<(usize, Span)>]) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![start];
    while let Some(group) = todo.pop() {
        for (child, _) in children.get(group).into_iter().flatten() {
            if seen.insert(*child) {
                todo.push(*child);
            }
        }
    }
    seen
}

fn cycle(
    group: usize,
    children: &[Vec<(usize, Span)>],
    names: &[&str],
    stack: &mut Vec<usize>,
    done: &mut BTreeSet<usize>,
    diagnostics: &mut Diagnostics,
) {
    if done.contains(&group) {
        return;
    }
    stack.push(group);
    for (child, span) in children.get(group).into_iter().flatten() {
        if let Some(from) = stack.iter().position(|seen| seen == child) {
            let walk = stack.iter().skip(from).chain(std::iter::once(child));
            let text: Vec<&str> = walk.filter_map(|index| names.get(*index).copied()).collect();
            diagnostics.push(
                Diagnostic::error(*span, format!("these groups contain each other: {}", text.join(" -> ")))
                    .label("closes the circle"),
            );
        } else {
            cycle(*child, children, names, stack, done, diagnostics);
        }
    }
    stack.pop();
    done.insert(group);
}

/// Of the groups in `set` that say something, the one that decides: children beat parents, then
/// the higher `priority`. Two unrelated groups are an error.
pub(super) fn decide<T>(
    groups: &[Group],
    set: &BTreeSet<usize>,
    what: &str,
    say: impl Fn(&GroupFile) -> Option<(T, Span)>,
    diagnostics: &mut Diagnostics,
) -> Option<(usize, T, Span)> {
    let mut said: Vec<(usize, T, Span)> = Vec::new();
    for index in set {
        if let Some((value, span)) = groups.get(*index).and_then(|group| say(&group.file)) {
            said.push((*index, value, span));
        }
    }
    let overruled: BTreeSet<usize> = said
        .iter()
        .filter(|(index, _, _)| {
            let below = groups.get(*index).map(|group| &group.below);
            said.iter()
                .any(|(other, _, _)| other != index && below.is_some_and(|below| below.contains(other)))
        })
        .map(|(index, _, _)| *index)
        .collect();
    said.retain(|(index, _, _)| !overruled.contains(index));
    let priority = |index: usize| groups.get(index).map_or(0, |group| group.file.priority);
    let highest = said.iter().map(|(index, _, _)| priority(*index)).max()?;
    said.retain(|(index, _, _)| priority(*index) == highest);
    if let [(first, _, first_span), (second, _, second_span), ..] = said.as_slice() {
        let name = |index: &usize| groups.get(*index).map_or("", |group| group.name.value.as_str());
        diagnostics.push(
            Diagnostic::error(
                *second_span,
                format!("{what} is set by the unrelated groups `{}` and `{}`", name(first), name(second)),
            )
            .label("they have hosts in common")
            .related(*first_span, "also set here")
            .help("give one of them a higher `priority`, or make it a child of the other"),
        );
    }
    said.into_iter().next()
}

/// Members by name, for host expressions.
pub(super) fn fill(directory: &mut Directory, groups: &[Group]) {
    for group in groups {
        directory.groups.insert(group.name.value.clone(), group.members.clone());
    }
}
