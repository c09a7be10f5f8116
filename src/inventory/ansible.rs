//! An Ansible inventory, INI or YAML, as one of ours.
//!
//! Hosts, groups, addresses, ports, users, keys, `become` and a local connection are taken over.
//! Variables are written as comments, because a variable that no playbook knows is an error here;
//! passwords are never copied. What a dynamic inventory prints is read too:
//! `ansible-inventory --list --yaml`.

use indexmap::{IndexMap, IndexSet};

use crate::config::{Diagnostic, Diagnostics, Node, SourceId, Sources, Span, Yaml, yaml};
use crate::hostlist::{self, MAX_BRACKETS, MAX_HOSTS, MAX_NAME, MAX_NAMED};
use crate::put;

type Vars = IndexMap<String, String>;

/// Hosts and groups as Ansible has them.
#[derive(Debug, Default)]
struct Model {
    /// How many names its patterns made, each as often as it was named.
    named: usize,
    hosts: IndexMap<String, Vars>,
    groups: IndexMap<String, AnsibleGroup>,
}

#[derive(Debug, Default)]
struct AnsibleGroup {
    hosts: IndexSet<String>,
    children: IndexSet<String>,
    vars: Vars,
}

/// The text of an inventory that says the same, with `cluster` as its name.
///
/// # Errors
/// Every line that is not understood.
pub fn import(sources: &Sources, source: SourceId, cluster: &str) -> Result<String, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let path = sources.path(source);
    let mut model = Model::default();
    if matches!(path.extension(), Some("yaml" | "yml")) {
        if let Some(node) = yaml::read(sources, source, &mut diagnostics) {
            read_yaml(&mut model, &node, &mut diagnostics);
        }
    } else {
        read_ini(&mut model, sources.text(source), source, &mut diagnostics);
    }
    if model.hosts.is_empty() && !diagnostics.has_errors() {
        diagnostics.push(Diagnostic::error(Span::NONE, format!("{path} names no host")));
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let ours = model.write(cluster, path.as_str());
    if ours.len() as u64 > yaml::MAX_FILE {
        let text = format!("{path} would make an inventory of {} MiB", ours.len() >> 20);
        let help = format!("one has at most {} MiB: import it in parts", yaml::MAX_FILE >> 20);
        diagnostics.push(Diagnostic::error(Span::NONE, text).help(help));
        return Err(diagnostics);
    }
    Ok(ours)
}

/// Ansible's `node[01:50:2]` and `db-[a:f]` as names.
fn expand(pattern: &str) -> Result<Vec<String>, String> {
    if !pattern.contains('[') && !hostlist::is_name(pattern) {
        return Err(format!(
            "`{pattern}` cannot be a name; give the host one: `node0 ansible_host={pattern}`"
        ));
    }
    // Each bracket may make many names, and each letter stands in all of them.
    let plain: usize = pattern.split('[').map(|part| part.rsplit(']').next().unwrap_or("").len()).sum();
    if plain > MAX_NAME || pattern.matches('[').count() > MAX_BRACKETS {
        return Err(format!("a host name has at most {MAX_NAME} characters and {MAX_BRACKETS} ranges"));
    }
    let mut names = vec![String::new()];
    let mut rest = pattern;
    while let Some((head, after)) = rest.split_once('[') {
        let (range, tail) = after.split_once(']').ok_or("the bracket is not closed")?;
        let middles = middles(range)?;
        if names.len() * middles.len() > MAX_HOSTS {
            return Err(format!("this names more than {MAX_HOSTS} hosts"));
        }
        names = names
            .iter()
            .flat_map(|name| middles.iter().map(move |middle| format!("{name}{head}{middle}")))
            .collect();
        rest = tail;
    }
    for name in &mut names {
        name.push_str(rest);
    }
    match names.iter().find(|name| !hostlist::is_name(name)) {
        Some(name) => Err(format!("`{name}` is not a host name")),
        None => Ok(names),
    }
}

/// What one bracket stands for.
fn middles(range: &str) -> Result<Vec<String>, String> {
    let bounds: Vec<&str> = range.split(':').collect();
    let (first, last, step) = match bounds.as_slice() {
        [first, last] => (*first, *last, "1"),
        [first, last, step] => (*first, *last, *step),
        _ => return Err(format!("`[{range}]` is not a range; Ansible writes `[0:15]`")),
    };
    let step: usize = step.parse().ok().filter(|step| *step > 0).ok_or("the step is not a number")?;
    let letter = |text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(*byte),
        _ => None,
    };
    let middles: Vec<String> = if let (Some(first), Some(last)) = (letter(first), letter(last)) {
        (first..=last).step_by(step).map(|byte| char::from(byte).to_string()).collect()
    } else {
        let number = |text: &str| {
            // More digits are no number of a host, however many zeros they begin with.
            let short = text.len() <= 18;
            text.parse::<usize>().ok().filter(|_| short).ok_or_else(|| format!("`{text}` is not a number"))
        };
        let (from, to) = (number(first)?, number(last)?);
        if to.saturating_sub(from) / step >= MAX_HOSTS {
            return Err(format!("this names more than {MAX_HOSTS} hosts"));
        }
        let width = if first.starts_with('0') { first.len() } else { 0 };
        (from..=to).step_by(step).map(|number| format!("{number:0width$}")).collect()
    };
    if middles.is_empty() { Err(format!("`[{range}]` is empty")) } else { Ok(middles) }
}

fn read_ini(model: &mut Model, text: &str, source: SourceId, diagnostics: &mut Diagnostics) {
    let mut section = ("ungrouped".to_owned(), "hosts".to_owned());
    let mut offset = 0;
    for raw in text.split_inclusive('\n') {
        let span = span(source, offset, raw.trim_end().len());
        offset += raw.len();
        let line = raw.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(name, _)| name)
        {
            let (group, kind) = name.split_once(':').unwrap_or((name, "hosts"));
            if !["hosts", "children", "vars"].contains(&kind) {
                diagnostics.push(
                    Diagnostic::error(span, format!("`{kind}` is not a kind of section"))
                        .help("Ansible has [group], [group:children] and [group:vars]"),
                );
            }
            model.groups.entry(group.to_owned()).or_default();
            section = (group.to_owned(), kind.to_owned());
            continue;
        }
        let (group, kind) = (&section.0, section.1.as_str());
        let problem = match kind {
            "children" => {
                model.groups.entry(group.clone()).or_default().children.insert(line.to_owned());
                model.groups.entry(line.to_owned()).or_default();
                Ok(())
            }
            "vars" => match line.split_once('=') {
                Some((key, value)) => {
                    let vars = &mut model.groups.entry(group.clone()).or_default().vars;
                    vars.insert(key.trim().to_owned(), unquote(value.trim()).to_owned());
                    Ok(())
                }
                None => Err("a variable is written `name=value`".to_owned()),
            },
            _ => host_line(model, group, line),
        };
        if let Err(why) = problem {
            diagnostics.error(span, why);
        }
    }
}

fn span(source: SourceId, start: usize, length: usize) -> Span {
    let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span { source, start: byte(start), end: byte(start + length) }
}

fn unquote(text: &str) -> &str {
    let inner = |quote| text.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

fn host_line(model: &mut Model, group: &str, line: &str) -> Result<(), String> {
    let words = shlex::split(line).ok_or("a quote is not closed")?;
    let Some((pattern, rest)) = words.split_first() else { return Ok(()) };
    let mut vars = Vars::new();
    for word in rest {
        if word.starts_with('#') {
            break;
        }
        let (key, value) =
            word.split_once('=').ok_or_else(|| format!("`{word}` is not written `name=value`"))?;
        vars.insert(key.to_owned(), value.to_owned());
    }
    // `host:2222` is a port; an IPv6 address has several colons.
    let pattern = match pattern.rsplit_once(':') {
        Some((name, port)) if port.parse::<u16>().is_ok() && !name.contains(':') => {
            vars.insert("ansible_port".to_owned(), port.to_owned());
            name
        }
        _ => pattern,
    };
    for name in model.expand(pattern)? {
        model.hosts.entry(name.clone()).or_default().extend(vars.clone());
        model.groups.entry(group.to_owned()).or_default().hosts.insert(name);
    }
    Ok(())
}

fn read_yaml(model: &mut Model, node: &Node, diagnostics: &mut Diagnostics) {
    let Yaml::Map(groups) = &node.value else {
        return diagnostics.error(node.span, "an Ansible inventory is a map of groups");
    };
    for (name, group) in groups {
        yaml_group(model, &name.value, group, diagnostics);
    }
}

fn yaml_group(model: &mut Model, name: &str, node: &Node, diagnostics: &mut Diagnostics) {
    model.groups.entry(name.to_owned()).or_default();
    let entries = |part: &str| match node.get(part).map(|part| &part.value) {
        Some(Yaml::Map(entries)) => entries.clone(),
        _ => Vec::new(),
    };
    for (pattern, vars) in entries("hosts") {
        match model.expand(&pattern.value) {
            Ok(names) => {
                for host in names {
                    model.hosts.entry(host.clone()).or_default().extend(yaml_vars(&vars));
                    model.groups.entry(name.to_owned()).or_default().hosts.insert(host);
                }
            }
            Err(why) => diagnostics.error(pattern.span, why),
        }
    }
    for (child, below) in entries("children") {
        model.groups.entry(name.to_owned()).or_default().children.insert(child.value.clone());
        yaml_group(model, &child.value, &below, diagnostics);
    }
    if let Some(vars) = node.get("vars") {
        model.groups.entry(name.to_owned()).or_default().vars.extend(yaml_vars(vars));
    }
}

fn yaml_vars(node: &Node) -> Vars {
    let Yaml::Map(entries) = &node.value else { return Vars::new() };
    entries
        .iter()
        .map(|(key, value)| {
            let text = match &value.value {
                Yaml::Str(text) => text.clone(),
                Yaml::Null | Yaml::Bool(_) | Yaml::Int(_) | Yaml::Float(_) | Yaml::List(_) | Yaml::Map(_) => {
                    value.to_json().to_string()
                }
            };
            (key.value.clone(), text)
        })
        .collect()
}

/// One variable, sorted into what has a place here and what has not.
#[derive(Debug, Default)]
struct Sorted {
    address: Option<String>,
    ssh: Vec<String>,
    local: bool,
    comments: Vec<String>,
}

impl Sorted {
    fn of(vars: &Vars) -> Self {
        let mut sorted = Self::default();
        let yes = |value: &str| ["true", "yes", "1", "on"].contains(&value.to_ascii_lowercase().as_str());
        for (key, value) in vars {
            match key.as_str() {
                "ansible_host" | "ansible_ssh_host" => sorted.address = Some(value.clone()),
                "ansible_port" | "ansible_ssh_port" => match value.parse::<u16>() {
                    Ok(port) => sorted.ssh.push(format!("port: {port}")),
                    Err(_) => sorted
                        .comments
                        .push(format!("{key}: {} (not copied: it is no number)", quoted(value))),
                },
                "ansible_user" | "ansible_ssh_user" => sorted.ssh.push(format!("user: {}", quoted(value))),
                "ansible_ssh_private_key_file" | "ansible_private_key_file" => {
                    sorted.ssh.push(format!("identity_file: {}", quoted(value)));
                }
                "ansible_become" if yes(value) => sorted.ssh.push("become: sudo".to_owned()),
                "ansible_connection" if value == "local" => sorted.local = true,
                // What only Ansible needs on a host.
                "ansible_python_interpreter" | "ansible_connection" | "ansible_become" => {}
                _ if ["pass", "secret", "token"].iter().any(|word| key.contains(word)) => {
                    sorted.comments.push(format!("{key}: not copied; see `secrets:` and --ask-become-pass"));
                }
                "ansible_ssh_common_args" | "ansible_ssh_extra_args" => {
                    sorted
                        .comments
                        .push(format!("{key}: {value} (a jump host is `ssh: {{ jump: [HOST] }}`)"));
                }
                _ => sorted.comments.push(format!("{key}: {}", quoted(value))),
            }
        }
        sorted
    }
}

/// A YAML scalar that is text, a number or a boolean as it was.
fn quoted(value: &str) -> String {
    let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "/._~-".contains(c))
        && !value.is_empty()
        && (!value.starts_with(['-', '~', '.']) || value.starts_with("~/"));
    if plain { value.to_owned() } else { in_quotes(value) }
}

/// Control characters and line ends are no YAML as they are.
fn is_odd(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A text of YAML in double quotes.
fn in_quotes(value: &str) -> String {
    let json = serde_json::json!(value).to_string();
    json.chars().fold(String::new(), |mut text, c| {
        if is_odd(c) {
            put!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
        text
    })
}

fn comment(text: &mut String, indent: &str, lines: &[String]) {
    // A comment ends at whatever YAML takes for the end of a line.
    for line in lines {
        put!(text, "{indent}# {}\n", line.replace(is_odd, " "));
    }
}

impl Model {
    /// Names of a pattern, as long as all patterns together do not make too many.
    fn expand(&mut self, pattern: &str) -> Result<Vec<String>, String> {
        let names = if self.named < MAX_NAMED { expand(pattern)? } else { Vec::new() };
        self.named += names.len();
        if self.hosts.len() > MAX_HOSTS || self.named >= MAX_NAMED {
            return Err(hostlist::too_many());
        }
        Ok(names)
    }

    fn write(&self, cluster: &str, from: &str) -> String {
        let mut text = format!(
            "# Made from {from} by `provision inventory import`. Variables that it had are comments: those that\n\
             # a playbook knows belong under `vars:`; any other name would be an error here.\n\
             cluster: {cluster}\n\nssh:\n  known_hosts: ./known_hosts    # strict; `provision inventory trust` records the keys\n"
        );
        let none = Vars::new();
        let all = Sorted::of(self.groups.get("all").map_or(&none, |group| &group.vars));
        for line in &all.ssh {
            put!(text, "  {line}\n");
        }
        comment(&mut text, "", &all.comments);
        if all.local {
            text.push_str("transport: local\n");
        }
        text.push_str("\nplaybooks:\n  - base\n\ngroups:\n");
        let mut named = IndexSet::new();
        for (name, group) in
            self.groups.iter().filter(|(name, _)| !["all", "ungrouped"].contains(&name.as_str()))
        {
            Self::write_group(&mut text, name, group);
            named.extend(&group.hosts);
        }
        let rest: Vec<&str> =
            self.hosts.keys().filter(|host| !named.contains(host)).map(String::as_str).collect();
        if !rest.is_empty() {
            let hosts = in_quotes(&hostlist::fold(rest));
            put!(text, "  nodes:    # those without a group\n    hosts: {hosts}\n");
        }
        text.push_str("\nhosts:\n");
        for (host, vars) in &self.hosts {
            let sorted = Sorted::of(vars);
            let mut fields = Vec::new();
            fields.extend(sorted.address.map(|address| format!("address: {}", in_quotes(&address))));
            if sorted.local {
                fields.push("transport: local".to_owned());
            }
            if !sorted.ssh.is_empty() {
                fields.push(format!("ssh: {{ {} }}", sorted.ssh.join(", ")));
            }
            if !fields.is_empty() {
                put!(text, "  {}: {{ {} }}\n", quoted(host), fields.join(", "));
            }
            if !sorted.comments.is_empty() {
                comment(&mut text, "  ", &[format!("{host}:")]);
                comment(&mut text, "  ", &indented(&sorted.comments));
            }
        }
        if text.ends_with("\nhosts:\n") {
            text.truncate(text.len() - "\nhosts:\n".len());
        }
        text
    }

    fn write_group(text: &mut String, name: &str, group: &AnsibleGroup) {
        put!(text, "  {}:\n", quoted(name));
        let empty = text.len();
        if !group.hosts.is_empty() {
            let hosts = in_quotes(&hostlist::fold(group.hosts.iter().map(String::as_str)));
            put!(text, "    hosts: {hosts}\n");
        }
        if !group.children.is_empty() {
            let children: Vec<String> = group.children.iter().map(|child| quoted(child)).collect();
            put!(text, "    children: [{}]\n", children.join(", "));
        }
        let sorted = Sorted::of(&group.vars);
        if !sorted.ssh.is_empty() {
            put!(text, "    ssh: {{ {} }}\n", sorted.ssh.join(", "));
        }
        if sorted.local {
            text.push_str("    transport: local\n");
        }
        if text.len() == empty {
            text.push_str("    hosts: []\n");
        }
        comment(text, "    ", &sorted.comments);
    }
}

fn indented(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| format!("  {line}")).collect()
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;
    use proptest::prelude::*;

    use super::*;

    fn of(name: &str, text: &str) -> Result<String, String> {
        let mut sources = Sources::default();
        let source = sources.add(name, text);
        import(&sources, source, "mine").map_err(|diagnostics| diagnostics.render(&sources, false))
    }

    #[test]
    fn what_would_be_too_much_is_refused_before_it_is_made() {
        for (pattern, why) in [
            (format!("n{}", "[0:1]".repeat(40)), "at most 253 characters and 8 ranges"),
            (format!("n{}", "[0:9]".repeat(8)), "more than 65536 hosts"),
            ("n[0:18446744073709551615]".to_owned(), "is not a number"),
            ("n[0:99999999]".to_owned(), "more than 65536 hosts"),
            // As wide as no number is written.
            (format!("n[{}:2]", "0".repeat(70_000)), "is not a number"),
            (format!("{}[0:65000]", "n".repeat(1 << 20)), "at most 253 characters and 8 ranges"),
            (
                (0..400).fold(String::new(), |text, i| text + &format!("n{i}[0:65000]\n")),
                "at most 65536 hosts, named at most 1048576 times",
            ),
            (format!("n[0:60000] why={}\n", "x".repeat(200)), "would make an inventory of 12 MiB"),
            ("n[0:65000]\n".repeat(400), "at most 65536 hosts, named at most 1048576 times"),
        ] {
            let error = of("hosts.ini", &format!("{pattern}\n")).unwrap_err();
            assert!(error.contains(why), "{why}:\n{error}");
        }
        assert_eq!(
            expand("r[0:1]n[00:20:10]x").unwrap(),
            ["r0n00x", "r0n10x", "r0n20x", "r1n00x", "r1n10x", "r1n20x"]
        );
        assert_eq!(expand("n[0:1000000:500000]").unwrap().len(), 3);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "([a-c0:=#;'\"é漢 ]|\\[|\\]|\n|\n  |ansible_host|:children|:vars|hosts:|all:|[0-9]{1,20}){0,40}|(?s).{0,40}") {
            drop(of("hosts.ini", &text));
            drop(of("hosts.yaml", &text));
        }
    }

    const INI: &str = "\
login0 ansible_host=192.0.2.1

[a100]
gpu[00:03] ansible_user=ubuntu
[h100]
gpu[04:06:2] ansible_port=2222 ansible_become_password=hunter2 rack='r 1'
[h100]
gpu04 ansible_host=192.0.2.9
[gpu:children]
a100
h100
[gpu:vars]
ansible_become=true
cuda=12.4
";

    #[test]
    fn an_ini_file_becomes_an_inventory_that_loads() {
        let text = of("hosts.ini", INI).expect("it is read");
        assert_eq!(
            text.split_once("\ngroups:\n").unwrap().1,
            "  a100:
    hosts: \"gpu[00-03]\"
  h100:
    hosts: \"gpu[04,06]\"
  gpu:
    children: [a100, h100]
    ssh: { become: sudo }
    # cuda: 12.4
  nodes:    # those without a group
    hosts: \"login0\"

hosts:
  login0: { address: \"192.0.2.1\" }
  gpu00: { ssh: { user: ubuntu } }
  gpu01: { ssh: { user: ubuntu } }
  gpu02: { ssh: { user: ubuntu } }
  gpu03: { ssh: { user: ubuntu } }
  gpu04: { address: \"192.0.2.9\", ssh: { port: 2222 } }
  # gpu04:
  #   ansible_become_password: not copied; see `secrets:` and --ask-become-pass
  #   rack: \"r 1\"
  gpu06: { ssh: { port: 2222 } }
  # gpu06:
  #   ansible_become_password: not copied; see `secrets:` and --ask-become-pass
  #   rack: \"r 1\"
"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(folder.path().join("inventory.yaml")).unwrap();
        std::fs::write(&path, text).unwrap();
        let project = crate::project::load(&path, &crate::project::LoadOptions::default())
            .map_err(|error| error.render(false))
            .unwrap();
        assert_eq!(project.hosts.len(), 7);
    }

    #[test]
    fn yaml_says_the_same() {
        let text = of(
            "hosts.yaml",
            "all:\n  vars: { ansible_user: root }\n  children:\n    gpu:\n      hosts:\n        gpu[0:1]: {}\n        gpu2: { ansible_connection: local }\n",
        )
        .expect("it is read");
        assert!(text.contains("  user: root\n"), "{text}");
        assert!(text.contains("hosts: \"gpu[0-2]\""), "{text}");
        assert!(text.contains("gpu2: { transport: local }"), "{text}");
    }

    #[test]
    fn what_is_not_understood_is_told_with_its_line() {
        for (text, says) in [
            ("[gpu\ngpu0", "bracket is not closed"),
            ("gpu[0-3]\n", "is not a range"),
            ("gpu[3:0]\n", "is empty"),
            ("gpu[0:99999999999]\n", "more than 65536 hosts"),
            ("gpu0 user\n", "is not written `name=value`"),
            ("gpu0 a='x\n", "a quote is not closed"),
            ("[gpu:host]\n", "not a kind of section"),
            ("2001:db8::1\n", "give the host one"),
            ("\n# nothing\n", "names no host"),
        ] {
            let error = of("hosts", text).expect_err(text);
            assert!(error.contains(says), "{text:?}: {error}");
        }
    }
}
