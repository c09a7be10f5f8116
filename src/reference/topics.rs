//! Topics of `explain` beside resources, checks, facts and exit codes.

use std::sync::LazyLock;

use serde_json::Value as Json;

use super::pages::{self, first_sentence, row};
use crate::foreign::{self, Place};
use crate::inventory::RECORDED;
use crate::template::{expression, filters, package_names, text};
use crate::{put, schema};

/// Names of pages with what is on them.
pub const TOPICS: &[(&str, &str)] = &[
    ("resources", "what a task can do"),
    ("checks", "what `verify` checks"),
    ("keys", "keys of an inventory, a playbook and a task"),
    ("host-expressions", "how hosts are named and picked"),
    ("conditions", "`when` and `loop`"),
    ("templates", "`{{ ... }}` in texts, and filters"),
    ("facts", "what hosts are asked for"),
    ("outcomes", "how a task, a host and a check end, and the signs of a plan"),
    ("exit-codes", "how a command ends"),
    ("from-ansible", "words of Ansible, and what is written here"),
];

/// The words for how something ends, each with what it means.
const OUTCOMES: &[(&str, &[(&str, &str)])] = &[
    (
        "A task on a host",
        &[
            ("unchanged", "it was as declared, and nothing was done"),
            ("changed", "it was not as declared, was changed, and was asked for again: now it is"),
            (
                "ran",
                "a handler, or a command without `creates`, `unless` or `check`: nothing tells whether it is needed, so it runs every time",
            ),
            (
                "skipped",
                "its `when` is false, what it was for is not there, or the host was left before its turn came",
            ),
            (
                "blocked",
                "it cannot be done now, and nothing failed: it waits for a reboot, the end of a job, your agreement, or is for the machine below a container. The reason stands with it; what else the task has is done all the same. `apply` does it once that is so",
            ),
            (
                "failed",
                "the tasks behind it were not begun on that host, unless it has `on_failure: continue`",
            ),
            (
                "known after",
                "in a plan: what it will find depends on an earlier task that has something to do",
            ),
        ],
    ),
    (
        "A host",
        &[
            ("ok", "all of its tasks ended well"),
            ("unreachable", "no login was possible"),
            (
                "quarantined",
                "it was reached, and then did not answer in time, was lost for too long or was rebooted by somebody else: nothing more is done there in this run",
            ),
            ("not started", "its turn did not come: the run was stopped, by you or by failures"),
            ("offline", "the inventory says that it is away"),
        ],
    ),
    (
        "A sign in a plan",
        &[
            ("~", "a change"),
            ("!", "what runs: a handler, or a command of which nothing tells whether it is done"),
            ("?", "what is known after an earlier task only"),
            ("x", "what is blocked"),
            ("E", "what could not be planned"),
        ],
    ),
    (
        "A word in brackets behind a change",
        &[
            ("[service]", "it interrupts a service"),
            ("[gpu]", "it interrupts the GPUs: made only when you agree and nobody uses the host"),
            (
                "[network]",
                "it interrupts the network or its drivers: made only when you agree and nobody uses the host",
            ),
            ("[reboot]", "it is the reboot itself: made only when you agree and nobody uses the host"),
        ],
    ),
    (
        "A check of `verify`",
        &[
            ("pass", "as it should be"),
            ("warn", "not as it should be, and the host works"),
            ("fail", "wrong"),
            ("unknown", "it could not be told, which counts as wrong"),
            ("skip", "it does not apply to that host; `verify -v` says why"),
        ],
    ),
];

/// The page of these words.
pub fn outcomes() -> String {
    let mut text = String::from("# How things end\n");
    for (heading, rows) in OUTCOMES {
        put!(text, "\n{heading}:\n\n");
        rows.iter().for_each(|(word, meaning)| text.push_str(&row(word, 12, meaning)));
    }
    text
}

/// Explains one of these words.
pub fn outcome(word: &str) -> Option<String> {
    let word = word.replace(['_', '-'], " ");
    let rows = OUTCOMES.iter().flat_map(|(heading, rows)| rows.iter().map(move |row| (heading, row)));
    let mut rows = rows.filter(|(_, (known, _))| *known == word);
    rows.next().map(|(heading, (_, meaning))| format!("# {word}\n\n{heading}: {meaning}.\n"))
}

/// The list of topics.
pub fn topics() -> String {
    let mut text = String::from("Topics (`provision explain TOPIC`):\n\n");
    for (name, what) in TOPICS {
        text.push_str(&row(name, 16, what));
    }
    text
}

/// Writes the page on naming hosts: in an inventory, and where some of them are picked.
pub fn host_expressions() -> String {
    let recorded: Vec<String> = RECORDED.iter().map(|name| format!("`@{name}`")).collect();
    format!(
        "# Host lists and host expressions\n\n\
         A host list names hosts: in `hosts:` of an inventory and of its groups. It is written as in Slurm and `clush`, and \
         hosts are printed in the same way. A list is as short as that of `ClusterShell`; where names have two numbers it may be a little longer:\n\n\
         - `gpu[0-127,130]`: `gpu0` to `gpu127`, and `gpu130`; spaces may stand around a comma and just inside the brackets, and nowhere else\n\
         - `gpu[000-127]`: `gpu000` to `gpu127`; a leading zero fixes the width, \
         also that of `gpu[08-100]`: Slurm reads it so, `ClusterShell` refuses ranges whose ends are of different width\n\
         - `gpu[0-10/2]`: every second number\n\
         - `r[1-4]n[0-9]`: each number of the first with each of the second; `n[0-1][0-1]`, too, which `ClusterShell` refuses\n\
         - `a,b`: both\n\n\
         A host expression picks some of the hosts that there are: in `--hosts`, and in `hosts:` of a playbook's entry and of a \
         task. It is made of\n\n\
         - host lists, and `all`\n\
         - groups, by their names\n\
         - labels: `rack=r3`, `rack=r[1-4]`\n\
         - hosts of the last run, after `--hosts`: {}\n\n\
         and of marks, of which the first binds least:\n\n\
         - `x, y`: hosts of either\n\
         - `x & y`: hosts of both\n\
         - `!x`: all others\n\
         - parentheses\n\n\
         So `gpu & !gpu7, login0` is `login0` and the group `gpu` without `gpu7`. Most of these marks mean something to a shell: \
         write `--hosts 'gpu & !gpu7'`. A name that is no host, group or label is a mistake, never an empty list.\n",
        recorded.join(", ")
    )
}

/// Writes the page on conditions.
pub fn conditions() -> String {
    let operators: Vec<String> = expression::Op::ALL.iter().map(|op| format!("`{}`", op.as_str())).collect();
    format!(
        "# Conditions\n\n\
         `when: CONDITION` makes a task one for hosts where it holds; `loop: LIST` may be an expression as well, and \
         so may each list of `loop: {{ product: {{ NAME: LIST, NAME: LIST }} }}`. \
         They and those of `assert` are no templates: \
         write names without braces.\n\n\
         - paths: `facts.os.family`, `host.labels[\"rack\"]`, `groups[\"gpu\"]`, a parameter, `item` in a loop\n\
         - literals: `\"text\"`, `8`, `2.5`, `true`, `false`, `none`, `[1, 2]`\n\
         - comparisons: {}, `x in y`, `x not in y`; texts that are ordered are versions\n\
         - `and`, `or`, `not`, parentheses\n\
         - `x is defined`, `x is not defined`, `x is none`, `x is not none`\n\
         - `x | length`, the only filter\n\n\
         A name that nobody declared, a fact that does not exist and a comparison of two types are mistakes \
         that `provision validate` tells; they are never silently false.\n\n\
         ```yaml\nwhen: facts.os.family == \"debian\" and facts.pci.nics | length > 0\n```\n",
        operators.join(", ")
    )
}

/// Writes the page on templates.
pub fn templates() -> String {
    let mut page = String::from(
        "# Templates\n\n\
         `{{ name }}` in any text of a task, in `address` and in files of `template` is filled in for each host; the \
         language is Tera, which looks like Jinja. A text that is nothing but one `{{ expression }}` becomes the type \
         that its field wants. In YAML such a text stands in quotes: `path: \"{{ path }}\"`. `raw: true` on a task leaves \
         braces alone.\n\n\
         What may be read: parameters of the playbook, `vars`, answers that were registered, `item` in a loop, and\n\n\
         - `host`: `name`, `index`, `number`, `address`, `groups`, `labels`, `nics`\n\
         - `facts`: those of this host (`provision explain facts`)\n\
         - `hosts[\"gpu0\"]`: another host, with its `facts`\n\
         - `groups[\"gpu\"]`: the names of its hosts; like `hosts`, in the order of names, wherever they stand in the inventory\n\
         - `cluster.name`: the cluster, as `cluster:` of the inventory says\n\
         - `secrets.NAME`: alone between braces\n\n\
         Filters stand behind `|`, as in `{{ path | basename }}`:\n\n",
    );
    for (name, what) in filters::FILTERS {
        put!(page, "- `{name}`: {what}\n");
    }
    let others: Vec<String> = text::TERA_FILTERS.iter().map(|name| format!("`{name}`")).collect();
    put!(page, "- those of Tera: {}\n", others.join(", "));
    page.push_str("\nArguments have names: `default(value=\"x\")`, `join(sep=\",\")`, `replace(from=\"a\", to=\"b\")`.\n");
    page.push_str(
        "\n## Names of packages\n\n\
         `{{ packages | package_names(os=facts.os) }}` turns a list of Debian's names into those of the host's \
         distribution. A name that is not in the table stays as it is.\n\n\
         | Debian, Ubuntu | RHEL, Rocky, Alma 8 to 10, Alibaba Cloud Linux 3 |\n|---|---|\n",
    );
    for (debian, rhel) in package_names::TABLE {
        put!(page, "| {debian} | {} |\n", rhel.join(", "));
    }
    page
}

/// Words of Ansible and what is written here.
pub fn from_ansible() -> String {
    let mut page = String::from(
        "# From Ansible\n\n\
         `provision inventory import hosts.ini` takes over an inventory. What a word of Ansible is here:\n",
    );
    for (place, heading, _) in Place::ALL {
        put!(page, "\n## {heading}\n\n| Ansible | here |\n|---|---|\n");
        for row in foreign::TABLE.iter().filter(|row| row.place == place) {
            let words: Vec<String> = row.words.iter().map(|word| format!("`{word}`")).collect();
            put!(page, "| {} | {} |\n", words.join(", "), row.here);
        }
    }
    page
}

/// Explains the replacement for one word of Ansible.
pub fn foreign_word(word: &str) -> Option<String> {
    let found: Vec<String> = Place::ALL
        .iter()
        .filter_map(|(place, _, here)| Some(format!("- {here}: {}\n", foreign::here(word, &[*place])?)))
        .collect();
    let list = "\n`provision explain from-ansible` has the other words.\n";
    let head = format!("# {word}\n\nA word of Ansible. What is written here instead:\n\n");
    (!found.is_empty()).then(|| format!("{head}{}{list}", found.concat()))
}

/// The keys of each kind of file, without those inside of them.
pub fn keys_index() -> String {
    let mut page = String::from(
        "Keys (`provision explain KEY`; those inside of another with a dot, as in `ssh.jump`):\n",
    );
    for (heading, schema) in files() {
        put!(page, "\n{heading}:\n\n");
        for (name, field) in properties(schema) {
            let doc = field.get("description").and_then(Json::as_str).unwrap_or("");
            page.push_str(&row(name, 16, &first_sentence(doc)));
        }
    }
    page
}

/// Explains a key such as `rollout` or `ssh.jump`, wherever it stands.
pub fn key(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('.').collect();
    let mut pages: Vec<(String, String)> = Vec::new();
    for (heading, schema) in files() {
        find(schema, heading, &parts, &mut pages);
    }
    // The same key of the cluster, of groups and of hosts is told once.
    let mut told: Vec<(Vec<String>, String)> = Vec::new();
    for (place, page) in pages {
        match told.iter_mut().find(|(_, known)| *known == page) {
            Some((places, _)) => places.push(place),
            None => told.push((vec![place], page)),
        }
    }
    let told = told.into_iter().map(|(places, page)| format!("In {}:\n\n{page}", places.join("; ")));
    let text = told.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| format!("# {path}\n\n{text}"))
}

/// The schemas of what users write, each with its name.
fn files() -> &'static [(&'static str, Json); 3] {
    static FILES: LazyLock<[(&str, Json); 3]> = LazyLock::new(|| {
        let playbook = schema::playbook();
        let mut task = playbook.pointer("/$defs/task").cloned().unwrap_or_default();
        if let Some(fields) = task.get_mut("properties").and_then(Json::as_object_mut) {
            fields.retain(|name, _| crate::resources::kind(name).is_none());
        }
        [("an inventory", schema::inventory()), ("a playbook", playbook), ("a task", task)]
    });
    &FILES
}

fn properties(schema: &Json) -> impl Iterator<Item = (&String, &Json)> {
    schema.get("properties").and_then(Json::as_object).into_iter().flatten()
}

/// The schemas of what is inside of a value.
fn inside(schema: &Json) -> Vec<&Json> {
    let mut found = vec![schema];
    let mut next = 0;
    while let Some(schema) = found.get(next).copied() {
        next += 1;
        found.extend(schema.get("items"));
        found.extend(schema.get("additionalProperties").filter(|inner| inner.is_object()));
        found.extend(schema.get("anyOf").and_then(Json::as_array).into_iter().flatten());
    }
    found
}

fn find(schema: &Json, place: &str, parts: &[&str], pages: &mut Vec<(String, String)>) {
    let [first, rest @ ..] = parts else { return };
    for inner in inside(schema) {
        for (name, field) in properties(inner) {
            if name == first {
                match rest {
                    [] => pages.push((place.to_owned(), pages::key_lines(inner, name))),
                    _ => find(field, &format!("`{name}` of {place}"), rest, pages),
                }
            }
            find(field, &format!("`{name}` of {place}"), parts, pages);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::WIDTH;
    use super::*;
    use crate::resources::Disruption;

    /// A plan shows what a change interrupts as a word in brackets, but for these two.
    #[test]
    fn every_word_in_brackets_is_explained() {
        let page = outcomes();
        for word in Disruption::WORDS.iter().filter(|word| !["none", "reload"].contains(word)) {
            assert!(page.contains(&format!("  [{word}] ")), "{word}: {page}");
        }
    }

    /// Every key of every file has a page, and an index names the whole first sentence of each.
    #[test]
    fn every_key_is_explained() {
        fn each(schema: &Json, above: &str, found: &mut Vec<String>) {
            for inner in inside(schema) {
                for (name, field) in properties(inner) {
                    let path = format!("{above}{name}");
                    found.push(path.clone());
                    each(field, &format!("{path}."), found);
                }
            }
        }
        let mut found = Vec::new();
        for (_, schema) in files() {
            each(schema, "", &mut found);
        }
        assert!(found.len() > 100 && found.contains(&"hosts.ssh.jump".to_owned()), "{found:?}");
        for path in &found {
            let page = key(path).unwrap_or_else(|| panic!("{path}"));
            let name = path.rsplit('.').next().unwrap();
            assert!(page.contains(&format!("- `{name}` (")), "{path}: {page}");
        }
        assert_eq!(key("nothing"), None);
    }

    #[test]
    fn no_line_of_an_index_is_cut() {
        for kind in crate::resources::kinds() {
            let first = first_sentence((kind.doc)());
            assert!(first.ends_with('.'), "{}: {first}", kind.name);
        }
        let index = pages::resource_index();
        let words: Vec<&str> = index.split_whitespace().collect();
        let all = words.join(" ");
        for kind in crate::resources::kinds() {
            assert!(all.contains(&first_sentence((kind.doc)())), "{}", kind.name);
        }
        assert!(index.lines().all(|line| line.chars().count() <= WIDTH), "{index}");
    }

    #[test]
    fn facts_of_a_few_words_name_them() {
        let index = pages::fact_index();
        for (keys, words) in crate::facts::base::WORDS {
            let path = keys.join(".");
            let page = pages::fact(&format!("facts.{path}")).unwrap();
            for word in words.iter().filter(|word| !word.is_empty()) {
                assert!(index.contains(&path) && index.contains(word), "{path}: {word}\n{index}");
                assert!(page.contains(word), "{path}: {word}\n{page}");
            }
        }
        assert!(index.lines().all(|line| line.chars().count() <= WIDTH), "{index}");
        assert_eq!(pages::fact("facts.nothing"), None);
        assert_eq!(pages::fact("facts.os.nme"), None);
        assert!(pages::fact("facts.os.name").is_some());
    }

    #[test]
    fn words_of_ansible_are_on_the_page() {
        let page = from_ansible();
        for word in ["apt", "shell", "with_*", "become", "delegate_to", "block", "ansible_host", "hosts"] {
            assert!(page.contains(&format!("`{word}`")), "{word}");
        }
        assert!(foreign_word("with_items").unwrap().contains("`loop: [a, b]`"));
        assert_eq!(foreign_word("package"), None);
    }
}
