//! The ways in which Ansible writes an inventory: INI, YAML, JSON, and files of variables beside it.

use super::losses::Losses;
use super::model::{Model, Var, Vars};
use crate::config::{Diagnostic, Diagnostics, Node, SourceId, Sources, Sp, Span, Yaml, yaml};

/// Advice where only Ansible itself can tell the hosts.
pub(super) const ASK_ANSIBLE: &str =
    "import what Ansible makes of it: `ansible-inventory -i PATH --list >hosts.json`";

/// Reads the inventory itself.
pub(super) fn inventory(
    model: &mut Model,
    sources: &Sources,
    source: SourceId,
    losses: &mut Losses,
    diagnostics: &mut Diagnostics,
) {
    let text = sources.text(source);
    let extension = sources.path(source).extension();
    let is_yaml = match extension {
        Some("yaml" | "yml" | "json") => true,
        Some("ini" | "cfg") => false,
        _ => looks_like_yaml(text),
    };
    if !is_yaml {
        return ini(model, text, source, losses, diagnostics);
    }
    let node = match yaml::parse_foreign(sources, source) {
        Ok(node) => node,
        Err(diagnostic) => return diagnostics.push(*diagnostic),
    };
    let Yaml::Map(groups) = &node.value else {
        return diagnostics.error(node.span, "an Ansible inventory is a map of groups");
    };
    if node.get("cluster").is_some_and(|name| name.as_str().is_some()) {
        return diagnostics.error(node.span, "this is an inventory of provision already");
    }
    let list = |group: &Node| {
        let part = |name: &str| matches!(group.get(name).map(|part| &part.value), Some(Yaml::List(_)));
        matches!(group.value, Yaml::List(_)) || part("hosts") || part("children")
    };
    let json = extension == Some("json") || text.trim_start().starts_with('{');
    if node.get("_meta").is_some() || (json && groups.iter().any(|(_, group)| list(group))) {
        for (name, group) in groups.iter().filter(|(name, _)| name.value != "_meta") {
            model.group(&name.value).span.get_or_insert(name.span);
            listed_group(model, &name.value, group, losses, diagnostics);
        }
        host_variables(model, &node, diagnostics);
    } else if let Some(plugin) = node.get("plugin") {
        let text = "this is no inventory but the settings of a plugin that makes one";
        diagnostics.push(Diagnostic::error(plugin.span, text).help(ASK_ANSIBLE));
    } else {
        for (name, group) in groups {
            yaml_group(model, name, group, losses, diagnostics);
        }
    }
}

/// Whether a text without an extension is YAML or JSON: its first line says so.
fn looks_like_yaml(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.find(|line| !line.starts_with(['#', ';'])).unwrap_or("");
    let key = first.split(" #").next().unwrap_or("").trim_end();
    first.starts_with("---") || first.starts_with('{') || (key.ends_with(':') && !key.contains(['[', '=']))
}

/// Reads a file of `group_vars/` or `host_vars/` into the variables that it adds to.
pub(super) fn variables(
    into: &mut Vars,
    sources: &Sources,
    source: SourceId,
    losses: &mut Losses,
    diagnostics: &mut Diagnostics,
) {
    if sources.text(source).starts_with("$ANSIBLE_VAULT") {
        let span = Span { source, start: 0, end: 0 };
        return losses.add(span, "a file in a vault: nothing of it is read".to_owned());
    }
    match yaml::parse_foreign(sources, source) {
        Ok(node) => match &node.value {
            Yaml::Map(_) => into.extend(yaml_vars(&node)),
            Yaml::Null => {}
            Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::Str(_) | Yaml::List(_) => {
                diagnostics.error(node.span, "a file of variables is a map");
            }
        },
        Err(diagnostic) => {
            let help = diagnostic.help.clone().unwrap_or_else(|| ASK_ANSIBLE.to_owned());
            diagnostics.push(diagnostic.help(help));
        }
    }
}

fn ini(model: &mut Model, text: &str, source: SourceId, losses: &mut Losses, diagnostics: &mut Diagnostics) {
    let mut section = ("ungrouped".to_owned(), "hosts".to_owned());
    let mut children: Vec<(&str, Span)> = Vec::new();
    let mut offset = 0;
    for raw in text.split_inclusive('\n') {
        let span = span(source, offset, raw.trim_end().len());
        offset += raw.len();
        let line = raw.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = section_name(line) {
            let (group, kind) = name.split_once(':').unwrap_or((name, "hosts"));
            if !["hosts", "children", "vars"].contains(&kind) {
                diagnostics.push(
                    Diagnostic::error(span, format!("`{kind}` is not a kind of section"))
                        .help("Ansible has [group], [group:children] and [group:vars]"),
                );
            }
            model.group(group).span.get_or_insert(span);
            section = (group.to_owned(), kind.to_owned());
            continue;
        }
        let (group, kind) = (&section.0, section.1.as_str());
        let problem = match kind {
            "children" => {
                let child = line.split(" #").next().unwrap_or(line).trim_end();
                model.group(group).children.insert(child.to_owned());
                model.group(child);
                children.push((child, span));
                Ok(())
            }
            "vars" => match line.split_once('=') {
                Some((key, value)) => {
                    let var = Var { text: Some(literal(value.trim())), span };
                    model.group(group).vars.inline.insert(key.trim().to_owned(), var);
                    Ok(())
                }
                None => Err("a variable is written `name=value`".to_owned()),
            },
            _ => host_line(model, group, line, span),
        };
        if let Err(why) = problem {
            diagnostics.error(span, why);
        }
    }
    for (child, span) in children {
        if model.group(child).span.is_none() && !["all", "ungrouped"].contains(&child) {
            losses.add(span, format!("`{child}` has no section of its own: Ansible refuses this file"));
        }
    }
}

/// The name in `[name]`. `[2001:db8::1]:22` is a host.
fn section_name(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix('[')?.split_once(']')?;
    let rest = rest.trim_start();
    (rest.is_empty() || rest.starts_with('#')).then_some(name)
}

fn span(source: SourceId, start: usize, length: usize) -> Span {
    let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span { source, start: byte(start), end: byte(start + length) }
}

/// A value as Python reads it: without its quotes, and a number without the comment behind it.
fn literal(text: &str) -> String {
    let comment = |rest: &str| rest.trim_start().is_empty() || rest.trim_start().starts_with('#');
    for quote in ['"', '\''] {
        if let Some((inner, rest)) = text.strip_prefix(quote).and_then(|rest| rest.split_once(quote))
            && comment(rest)
        {
            return inner.to_owned();
        }
    }
    match text.split_once(char::is_whitespace) {
        Some((digits, rest)) if digits.bytes().all(|byte| byte.is_ascii_digit()) && comment(rest) => {
            digits.to_owned()
        }
        _ => text.to_owned(),
    }
}

fn host_line(model: &mut Model, group: &str, line: &str, span: Span) -> Result<(), String> {
    let words = shlex::split(line).ok_or("a quote is not closed")?;
    let Some((pattern, rest)) = words.split_first() else { return Ok(()) };
    let mut vars = Vars::new();
    for word in rest {
        if word.starts_with('#') {
            break;
        }
        let (key, value) =
            word.split_once('=').ok_or_else(|| format!("`{word}` is not written `name=value`"))?;
        vars.insert(key.to_owned(), Var { text: Some(literal(value)), span });
    }
    model.host(group, pattern, span, vars)
}

fn yaml_group(
    model: &mut Model,
    name: &Sp<String>,
    node: &Node,
    losses: &mut Losses,
    diagnostics: &mut Diagnostics,
) {
    let parts = match &node.value {
        Yaml::Map(parts) => parts.as_slice(),
        Yaml::Null => &[],
        Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::Str(_) | Yaml::List(_) => {
            let text = format!("`{}` is no group: it has {}", name.value, node.value.kind());
            return losses.add(node.span, text);
        }
    };
    let (name, span) = (name.value.as_str(), name.span);
    model.group(name).span.get_or_insert(span);
    for (key, part) in parts {
        // A single name stands for a map with that key.
        let single;
        let entries = match &part.value {
            Yaml::Map(entries) => entries.as_slice(),
            Yaml::Null => &[],
            Yaml::Str(only) => {
                single = [(Sp::new(only.clone(), part.span), Node::detached(Yaml::Null))];
                &single
            }
            Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::List(_) => {
                let text = format!("`{}` of a group is a map, found {}", key.value, part.value.kind());
                diagnostics.push(
                    Diagnostic::error(part.span, text)
                        .help("Ansible takes no list here: write each name with a colon, `gpu0:`"),
                );
                continue;
            }
        };
        match key.value.as_str() {
            "hosts" => {
                for (pattern, vars) in entries {
                    if let Err(why) = model.host(name, &pattern.value, pattern.span, yaml_vars(vars)) {
                        diagnostics.error(pattern.span, why);
                    }
                }
            }
            "children" => {
                for (child, below) in entries {
                    model.group(name).children.insert(child.value.clone());
                    model.group(&child.value);
                    yaml_group(model, child, below, losses, diagnostics);
                }
            }
            "vars" => model.group(name).vars.inline.extend(yaml_vars(part)),
            other => {
                let text = format!("`{other}` in a group; Ansible knows `hosts`, `children` and `vars`");
                losses.add(key.span, text);
            }
        }
    }
}

/// A group as `ansible-inventory --list` and programs print it: with lists of names.
fn listed_group(
    model: &mut Model,
    name: &str,
    node: &Node,
    losses: &mut Losses,
    diagnostics: &mut Diagnostics,
) {
    model.group(name);
    let names = |node: &Node| {
        let items = if let Yaml::List(items) = &node.value { items.as_slice() } else { &[] };
        items.iter().filter_map(|item| Some((item.as_str()?.to_owned(), item.span))).collect::<Vec<_>>()
    };
    let known = ["hosts", "children", "vars"].iter().any(|part| node.get(part).is_some());
    if !known && matches!(&node.value, Yaml::Map(entries) if !entries.is_empty()) {
        return losses.add(node.span, format!("`{name}` is no group: it has no hosts"));
    }
    let hosts = if known { node.get("hosts").map(names).unwrap_or_default() } else { names(node) };
    for (host, span) in hosts {
        if let Err(why) = model.host(name, &host, span, Vars::new()) {
            diagnostics.error(span, why);
        }
    }
    for (child, _) in node.get("children").map(names).unwrap_or_default() {
        model.group(name).children.insert(child.clone());
        model.group(&child);
    }
    if let Some(vars) = node.get("vars") {
        model.group(name).vars.inline.extend(yaml_vars(vars));
    }
}

/// `_meta.hostvars`: what each host has in the end.
fn host_variables(model: &mut Model, node: &Node, diagnostics: &mut Diagnostics) {
    let of_hosts = node.get("_meta").and_then(|meta| meta.get("hostvars")).map(|vars| &vars.value);
    let Some(Yaml::Map(of_hosts)) = of_hosts else { return };
    for (host, vars) in of_hosts {
        if model.hosts.contains_key(&host.value) {
            model.hosts.entry(host.value.clone()).or_default().inline.extend(yaml_vars(vars));
        } else if let Err(why) = model.host("ungrouped", &host.value, host.span, yaml_vars(vars)) {
            diagnostics.error(host.span, why);
        }
    }
}

fn yaml_vars(node: &Node) -> Vars {
    let Yaml::Map(entries) = &node.value else { return Vars::new() };
    entries
        .iter()
        .map(|(key, value)| {
            let text = match &value.value {
                Yaml::Str(text) => Some(text.clone()),
                Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) => Some(value.to_json().to_string()),
                Yaml::Null => Some(String::new()),
                Yaml::List(_) | Yaml::Map(_) => None,
            };
            (key.value.clone(), Var { text, span: key.span })
        })
        .collect()
}
