//! `provision explain`: what a resource, a check, a key, a fact, an exit code, a word of Ansible or a line of a program means.

use anyhow::Context as _;

use crate::cli::args::ExplainArgs;
use crate::config::did_you_mean_text;
use crate::exit::{self, Exit};
use crate::reference;
use crate::report::output;
use crate::report::rows::hanging;
use crate::settings::Settings;

/// Runs the command; its exit code.
///
/// # Errors
/// When nothing is called that.
pub(crate) fn run(settings: &Settings, args: &ExplainArgs) -> anyhow::Result<u8> {
    let text = match args.name.as_deref() {
        None => format!("{}\n{}", reference::topics(), reference::resource_index()),
        Some("resources") => reference::resource_index(),
        Some("checks") => reference::check_index(),
        Some("facts") => reference::fact_index(),
        Some("exit-codes") => reference::exit_codes(),
        Some("outcomes") => reference::outcomes(),
        Some("keys" | "inventory" | "playbook" | "task") => reference::keys_index(),
        Some("host-expressions" | "host-lists") => reference::host_expressions(),
        Some("conditions") => reference::conditions(),
        Some("templates" | "filters") => reference::templates(),
        Some("from-ansible" | "ansible") => reference::from_ansible(),
        Some(name) => page(name)?,
    };
    let text = if settings.page.is_some_and(|page| page < reference::WIDTH) { unbroken(&text) } else { text };
    let lines = text.lines().map(|line| hanging(line, column(line), settings.page) + "\n");
    output::data(&lines.collect::<String>()).context("cannot write to stdout")?;
    Ok(exit::OK)
}

/// Returns the number of spaces that a line begins with.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the column at which a line that is too long goes on: below its second column, where there is one.
fn column(line: &str) -> usize {
    let (_, text) = line.split_at(indent(line));
    let second = text.find("  ").map(|gap| gap + indent(text.split_at(gap).1));
    indent(line) + second.unwrap_or(2)
}

/// The pages with each paragraph on one line, so that a narrow terminal does not break broken lines.
fn unbroken(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let (mut code, mut last) = (false, 0);
    for line in text.lines() {
        let (_, words) = line.split_at(indent(line));
        code ^= words.starts_with("```");
        let first = words.split(' ').next().unwrap_or("").len();
        let begins = words.is_empty()
            || words.starts_with(['#', '|'])
            || words.starts_with("- ")
            || words.starts_with("```")
            || words.contains("  ");
        // A line that ends long before the edge ends there for a reason.
        let full = last + 1 + first >= reference::WIDTH - 5;
        match lines.last_mut() {
            Some(before)
                if full && !code && !begins && [indent(before), column(before)].contains(&indent(line)) =>
            {
                before.push(' ');
                before.push_str(words);
            }
            _ => lines.push(line.to_owned()),
        }
        last = line.len();
    }
    lines.join("\n")
}

/// Shortens a name with a dot: `inventory`, `playbook` or `task` before it only names the file and is
/// dropped; of a resource and its field, the resource is left.
fn within(name: &str) -> Option<&str> {
    let (place, rest) = name.split_once('.')?;
    match place {
        "inventory" | "playbook" | "task" => Some(rest),
        _ if reference::resource(place).is_some() && reference::key(name).is_none() => Some(place),
        _ => None,
    }
}

fn page(name: &str) -> anyhow::Result<String> {
    let name = within(name).unwrap_or(name);
    if let Some(page) = reference::resource(name) {
        return Ok(page);
    }
    if let Some(row) = exit::TABLE.iter().find(|row| row.name == name || row.code.to_string() == name) {
        return Ok(reference::exit_code(row));
    }
    if let Some(page) = reference::outcome(name) {
        return Ok(page);
    }
    if let Some(check) = crate::checks::find(name) {
        return Ok(reference::check(check));
    }
    if let Some(page) = reference::fact(name) {
        return Ok(page);
    }
    let key = reference::key(name);
    // A path of ours is no module of a collection.
    let foreign = if key.is_some() && name.contains('.') { None } else { reference::foreign_word(name) };
    let pages: Vec<String> = key.into_iter().chain(foreign).collect();
    if !pages.is_empty() {
        return Ok(pages.join("\n"));
    }
    // A name has no spaces, and what a program printed has.
    if let Some(page) = reference::symptom(name).filter(|_| name.contains(' ')) {
        return Ok(page);
    }
    // `facts.os_family`, `APT`
    let alike = [name.replace('_', "."), name.to_lowercase()];
    if let Some(alike) = alike.iter().find(|alike| *alike != name && page(alike).is_ok()) {
        let error = Exit::new(exit::USAGE, format!("nothing is called `{name}`"));
        return Err(error.hint(format!("did you mean `{alike}`?")).into());
    }
    let facts: Vec<String> =
        crate::facts::base::TABLE.iter().map(|fact| format!("facts.{}", fact.name)).collect();
    let names = crate::resources::kinds()
        .iter()
        .map(|kind| kind.name)
        .chain(crate::checks::TABLE.iter().map(|check| check.id))
        .chain(reference::TOPICS.iter().map(|(name, _)| *name))
        .chain(exit::TABLE.iter().map(|row| row.name))
        .chain(facts.iter().map(String::as_str));
    let error = Exit::new(exit::USAGE, format!("nothing is called `{name}`"));
    Err(match did_you_mean_text(name, names) {
        Some(hint) => error.hint(hint),
        None => error.hint("`provision explain` lists what can be explained"),
    }
    .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_breaks_no_broken_lines() {
        let long = ["word"; 19].join(" ");
        let text = format!(
            "# head\n\n{long} last1\nnext\nshort\nline\n\n- item\n  {long}\n  more\n  name    {long}\n          more\n  other   what\n```yaml\n{long}\nkey\n```\n"
        );
        assert_eq!(
            unbroken(&text),
            format!(
                "# head\n\n{long} last1 next\nshort\nline\n\n- item\n  {long} more\n  name    {long} more\n  other   what\n```yaml\n{long}\nkey\n```"
            )
        );
        assert_eq!((column("  name    what"), column("- item"), column("plain")), (10, 2, 2));
    }

    #[test]
    fn a_name_is_found_where_people_look_for_it() {
        for (name, has) in [
            ("inventory.hosts", "- `hosts`"),
            ("playbook.tasks", "- `tasks`"),
            ("task.when", "- `when`"),
            ("file.mode", "# file"),
            ("service.state", "# service"),
            ("ssh.become", "- `become`"),
            ("facts.os.family", "facts.os"),
        ] {
            let page = page(name).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            assert!(page.contains(has), "{name}: {page}");
        }
        for (name, hint) in [("facts.os_family", "`facts.os.family`"), ("APT", "`apt`")] {
            let error = page(name).expect_err(name);
            let exit = error.downcast_ref::<Exit>().expect("an exit");
            assert!(format!("{exit:?}").contains(hint), "{name}: {exit:?}");
        }
    }
}
