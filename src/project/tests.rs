use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::json;

use super::testing::{Case, language, load, show};
use super::world::{Env, inventory_scope};
use super::{Inputs, LoadOptions, Part, Registered};
use crate::inventory::{Become, Layer};
use crate::placeholder;
use crate::playbook::OnFailure;
use crate::template::Lookup as _;
use crate::template::Segment;
use crate::template::text::Values as _;

const SMALL: &str = "\
--- inventory.yaml
cluster: c
playbooks: [{ use: ./p.yaml, with: { greeting: \"hi {{ host.name }}\" } }]
vars: { mtu: 9000 }
groups: { g: { hosts: \"n[0-2]\", vars: { mtu: 4200 } } }
hosts: { n0: { address: 10.0.0.1, vars: { mtu: 1500 } }, x: , \"n[1-2]\": { address: \"10.0.1.{{ host.number + 10 }}\" } }
secrets: { token: { env: TOKEN } }
";

fn small(playbook: &str) -> String {
    format!(
        "{SMALL}--- p.yaml\nname: P\nparams:\n  mtu: {{ type: int }}\n  greeting: {{ type: string }}\n  names: {{ type: list, default: [a, b] }}\n  none: {{ type: string, default: null }}\n{playbook}"
    )
}

#[test]
fn the_examples_of_the_design() {
    let path = camino::Utf8PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/cases/config/design/inventory.yaml"
    ));
    let project = super::load_with(&path, &LoadOptions::default(), language())
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(project.hosts.len(), 129);
    let host = project.host("gpu001").unwrap();
    assert_eq!(host.address, "10.0.1.11");
    assert_eq!(host.ssh.port, Some(22));
    assert_eq!(host.ssh.become_method, Become::Sudo { password: None });
    assert_eq!(host.groups.iter().map(String::as_str).collect::<Vec<_>>(), ["a100", "gpu"]);
    assert_eq!(host.vars["mtu"].layer, Layer::Cluster);
    assert_eq!(host.vars["gpus_per_node"].origin, "group a100");
    assert_eq!(host.nics.len(), 2);
    assert_eq!(host.expect.gpu.as_ref().unwrap().count, Some(8));
    assert_eq!(project.host("gpu017").unwrap().offline.as_deref(), Some("RMA 4711"));
    assert_eq!(project.rollout.may_fail(100), Some(5));
    let titles: Vec<&str> = project.steps.iter().map(|step| step.title.as_str()).collect();
    assert_eq!(titles.last(), Some(&"load nvidia-peermem"));
    assert!(project.validate().is_empty(), "{}", project.validate().render(&project.sources, false));
}

#[test]
fn layers_and_types() {
    let project = load(&small(
        "tasks:\n- name: show {{ mtu }}\n  command: { run: [echo, \"{{ greeting }}\", \"{{ mtu }}\"], mtu: \"{{ mtu }}\" }\n",
    ))
    .unwrap();
    for (host, want) in [
        (
            "n0",
            r#"show 1500: Ready { resource: Thing { object: User("command"), wants: "(Some([\"echo\", \"hi n0\", \"1500\"]), None, None, Some(1500))" }, condition: Ok(true) }"#,
        ),
        (
            "n2",
            r#"show 4200: Ready { resource: Thing { object: User("command"), wants: "(Some([\"echo\", \"hi n2\", \"4200\"]), None, None, Some(4200))" }, condition: Ok(true) }"#,
        ),
    ] {
        assert_eq!(show(&project, 0, host, &Inputs::none()).trim(), want);
    }
    assert!(show(&project, 0, "x", &Inputs::none()).contains("9000"));
    assert_eq!(project.host("n1").unwrap().address, "10.0.1.11");
    let case = Case::new(&small(
        "tasks:\n- name: a\n  command: { mtu: \"{{ mtu }}\", script: \"{{ greeting }}\" }\n",
    ));
    let options =
        LoadOptions { set: vec!["mtu=7".to_owned(), "greeting=010".to_owned()], ..LoadOptions::default() };
    let project = case.load(&options).unwrap();
    let shown = show(&project, 0, "n0", &Inputs::none());
    assert!(shown.contains(r#"Some(\"010\"), None, Some(7)"#), "{shown}");
}

#[test]
fn conditions_loops_and_what_waits() {
    let project = load(&small(
        "tasks:
- name: no
  when: mtu == 1
  file: { path: /a, content: \"{{ facts.os.id }}\" }
- name: family
  when: facts.os.family == \"debian\"
  file: { path: /a }
- name: content
  file: { path: /a, content: \"{{ facts.kernel.release }}\" }
- name: item {{ item }}
  loop: \"{{ names }}\"
  when: item != \"a\"
  file: { path: \"/{{ item }}\" }
- name: ask
  command: { run: [id], changes: false, parse: lines }
  register: answer
- name: use
  when: \"'x' in answer\"
  file: { path: /b, content: \"{{ answer | length }}\" }
- name: others
  template: { src: hosts.j2, path: /etc/hosts }
- name: empty
  file: { path: /c, mode: \"{{ none }}\" }
--- hosts.j2
{% for name, h in hosts %}{{ name }}={{ h.address }}/{% if h.facts is defined %}{{ h.facts.os.id }}{% endif %} {% endfor %}
",
    ))
    .unwrap();
    let none = Inputs::none();
    let facts = json!({ "os": { "id": "ubuntu", "family": "debian" }, "kernel": { "release": "6.8" } });
    let answers = BTreeMap::from([("answer".to_owned(), Registered::Known(json!(["x", "y"])))]);
    let known = Inputs { facts: Some(&facts), registers: Some(&answers), fleet: None };
    assert!(show(&project, 0, "n0", &none).contains("Skipped"));
    assert!(show(&project, 1, "n0", &none).contains("condition: Err("), "{}", show(&project, 1, "n0", &none));
    assert!(show(&project, 1, "n0", &known).contains("condition: Ok(true)"));
    assert_eq!(show(&project, 2, "n0", &none), "content: Waiting({Fact(\"kernel\")})\n");
    assert!(show(&project, 2, "n0", &known).contains("6.8"));
    let loops = show(&project, 3, "n0", &none);
    assert!(loops.starts_with("item a: Skipped") && loops.contains("item b: Ready"), "{loops}");
    assert_eq!(show(&project, 5, "n0", &none), "use: Waiting({Register(\"answer\")})\n");
    assert!(
        show(&project, 5, "n0", &known).contains(r#"Some(\"2\")"#),
        "{}",
        show(&project, 5, "n0", &known)
    );
    assert_eq!(project.steps[5].registers.iter().collect::<Vec<_>>(), ["answer"]);
    assert_eq!(project.steps[1].facts.iter().collect::<Vec<_>>(), ["os"]);
    assert!(project.steps[6].fleet);
    assert_eq!(project.steps[6].fleet_facts().iter().collect::<Vec<_>>(), ["os"]);
    assert_eq!(show(&project, 6, "n0", &known), "others: Waiting({Hosts})\n");
    let fleet = project.fleet(BTreeMap::from([(0, facts.clone())]));
    let all = Inputs { fleet: Some(&fleet), ..known };
    let shown = show(&project, 6, "n0", &all);
    assert!(shown.contains("n0=10.0.0.1/ubuntu n1=10.0.1.11/ n2=10.0.1.12/ x=x/"), "{shown}");
    assert!(show(&project, 7, "n0", &none).contains("(None, None)"));
    assert_eq!(project.stages(), vec![0..6, 6..8]);
}

#[test]
fn selection_by_hosts_and_tags() {
    let case = Case::new(&small(
        "tasks:\n- name: a\n  tags: [one]\n  file: { path: /a }\n- name: b\n  hosts: x\n  file: { path: /b }\n",
    ));
    let options = LoadOptions { hosts: Some("n[0-1]".to_owned()), ..LoadOptions::default() };
    let project = case.load(&options).unwrap();
    assert_eq!(project.steps.len(), 1);
    assert_eq!(project.steps[0].hosts.len(), 2);
    for options in [
        LoadOptions { hosts: Some("n0 & x".to_owned()), ..LoadOptions::default() },
        LoadOptions { hosts: Some("n9".to_owned()), ..LoadOptions::default() },
        LoadOptions { tags: vec!["on".to_owned()], ..LoadOptions::default() },
        LoadOptions { skip_tags: vec!["on".to_owned()], ..LoadOptions::default() },
        LoadOptions { set: vec!["mtuu=1".to_owned()], ..LoadOptions::default() },
        LoadOptions { set: vec!["mtu=big".to_owned()], ..LoadOptions::default() },
        LoadOptions { set: vec!["mtu".to_owned()], ..LoadOptions::default() },
    ] {
        let error = case.load(&options).unwrap_err();
        assert!(error.usage, "{options:?}: {error}");
    }
}

const ANSWERS: &str = "tasks:
- name: first
  command: { run: [id], changes: false }
  register: x1
- name: second
  command: { run: [id, \"{{ x1 }}\"], changes: false }
  register: x2
- name: other
  command: { run: [id], changes: false }
  register: x3
- name: use
  tags: [one]
  notify: tell
  file: { path: /a }
handlers:
- name: tell
  command: { run: [echo, \"{{ x2 }}\"] }
";

/// Chosen tasks bring them, and so do handlers that may wait without any chosen task notifying them.
#[test]
fn questions_that_are_read_are_asked_whatever_the_tags() {
    for playbook in [ANSWERS.to_owned(), ANSWERS.replace("  notify: tell\n", "")] {
        let case = Case::new(&small(&playbook));
        let options = LoadOptions { tags: vec!["one".to_owned()], ..LoadOptions::default() };
        let project = case.load(&options).unwrap();
        let titles: Vec<&str> = project.steps.iter().map(|step| step.title.as_str()).collect();
        assert_eq!(titles, ["first", "second", "use"], "{playbook}");
        assert!(!project.validate().has_errors(), "{}", project.validate().render(&project.sources, false));
    }
}

#[test]
fn skipped_tags_win_over_chosen_ones() {
    let playbook = "tasks:
- name: ask
  tags: [slow]
  command: { run: [id], changes: false }
  register: x1
- name: a
  tags: [one]
  file: { path: /a }
- name: b
  tags: [one, slow]
  file: { path: /b }
- name: c
  file: { path: /c, content: \"{{ x1 }}\" }
";
    let case = Case::new(&small(playbook));
    let titles = |only: &[&str], never: &[&str]| {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let options = LoadOptions { tags: words(only), skip_tags: words(never), ..LoadOptions::default() };
        let project = case.load(&options).unwrap();
        let titles: Vec<String> = project.steps.iter().map(|step| step.title.clone()).collect();
        titles.join(" ")
    };
    assert_eq!(titles(&[], &[]), "ask a b c");
    assert_eq!(titles(&["one"], &["slow"]), "a");
    assert_eq!(titles(&[], &["one"]), "ask c");
    // An answer that a chosen task reads is asked for all the same.
    assert_eq!(titles(&[], &["slow"]), "ask a c");
    let options = LoadOptions { skip_tags: vec!["slwo".to_owned()], ..LoadOptions::default() };
    let error = case.load(&options).unwrap_err().to_string();
    assert!(
        error.contains("no task has the tag `slwo`") && error.contains("did you mean `slow`?"),
        "{error}"
    );
    assert!(error.contains("--skip-tags"), "{error}");
}

#[test]
fn an_assertion_is_known_when_what_it_reads_is() {
    let project = load(&small(
        "tasks:
- name: ask
  command: { run: [id], changes: false, parse: lines }
  register: answer
- name: check {{ host.name }}
  loop: [9000, 1500]
  assert: { that: [facts.os.family == \"debian\", \"'x' in answer\", mtu == item], message: \"{{ greeting }}\" }
",
    ))
    .unwrap();
    assert_eq!(project.steps[1].facts.iter().collect::<Vec<_>>(), ["os"]);
    assert_eq!(project.steps[1].registers.iter().collect::<Vec<_>>(), ["answer"]);
    // One that is false decides before the others are known.
    let none = show(&project, 1, "x", &Inputs::none());
    let (first, second) = none.split_once('\n').unwrap();
    assert_eq!(first, "check x: Waiting({Fact(\"os\"), Register(\"answer\")})");
    assert!(second.contains("hi x (`mtu == item` is false: `mtu` is 9000, `item` is 1500)"), "{second}");
    let facts = json!({ "os": { "family": "rhel" } });
    let answers = BTreeMap::from([("answer".to_owned(), Registered::Known(json!(["x"])))]);
    let known = Inputs { facts: Some(&facts), registers: Some(&answers), fleet: None };
    let shown = show(&project, 1, "x", &known);
    assert!(shown.contains("is false: `facts.os.family` is \\\"rhel\\\")"), "{shown}");
    let facts = json!({ "os": { "family": "debian" } });
    let shown = show(&project, 1, "x", &Inputs { facts: Some(&facts), ..known });
    assert!(shown.starts_with("check x: Ready { resource: Assert { failure: None }"), "{shown}");
}

#[test]
fn the_name_of_the_cluster_is_known() {
    let project = load(&small(
        "tasks:
- name: on {{ cluster.name }}
  when: cluster.name == \"c\"
  file: { path: \"/{{ cluster.name }}\", content: \"{{ cluster.name | upper }}\" }
",
    ))
    .unwrap();
    let shown = show(&project, 0, "x", &Inputs::none());
    assert!(shown.starts_with("on c: Ready") && shown.contains("\"/c\"") && shown.contains('C'), "{shown}");
    let wrong = |task: &str| load(&small(&format!("tasks:\n- name: a\n  {task}\n"))).unwrap_err();
    let error = wrong("file: { path: \"/{{ cluster.nam }}\" }");
    assert!(error.contains("did you mean `name`?"), "{error}");
    let error = wrong("vars: { cluster: x }\n  file: { path: /a }");
    assert!(error.contains("`cluster` is a name that every task already has"), "{error}");
}

#[test]
fn a_loop_over_several_lists_has_each_combination() {
    let task = |product: &str, path: &str| {
        small(&format!(
            "tasks:
- name: ask
  command: {{ run: [id], changes: false, parse: lines }}
  register: answer
- name: \"{{{{ item.a }}}}{{{{ item.b }}}}\"
  loop: {{ product: {product} }}
  when: item.b != 2
  file: {{ path: \"/{{{{ {path} }}}}\" }}
"
        ))
    };
    let project = load(&task("{ a: names, b: [1, \"{{ mtu }}\", 2] }", "item.a")).unwrap();
    let shown = show(&project, 1, "x", &Inputs::none());
    let lines: Vec<&str> = shown.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(lines, ["a1:", "a9000:", "a2:", "b1:", "b9000:", "b2:"], "{shown}");
    assert!(shown.lines().nth(2).unwrap().contains("Skipped"), "{shown}");
    assert!(project.steps[1].program.reads.vars.contains("mtu"));
    let project = load(&task("{ a: answer, b: \"{{ facts.net }}\" }", "item.a")).unwrap();
    let waits = show(&project, 1, "x", &Inputs::none());
    assert!(waits.contains("Waiting({Fact(\"net\"), Register(\"answer\")})"), "{waits}");
    let project = load(&task("{ a: names, b: [] }", "item.a")).unwrap();
    assert_eq!(show(&project, 1, "x", &Inputs::none()), "");
    for (product, path, wanted) in [
        ("{ a: names, b: names }", "item.c", "`item.c` is not defined"),
        ("{ a: mtu }", "item.a", "a loop needs a list, this is a number"),
        ("{ a: { b: c } }", "item.a", "expected a list, found a map"),
        ("{}", "item.a", "a product needs lists"),
        ("[[a], [b]]", "item.a", "expected a map"),
    ] {
        let error = load(&task(product, path)).unwrap_err();
        assert!(error.contains(wanted), "{product}: {error}");
    }
    let error = load(&task("{ a: names }", "item.a").replace("product", "prodct")).unwrap_err();
    assert!(error.contains("did you mean `product`?"), "{error}");
}

#[test]
fn what_is_said_of_a_block_is_said_of_its_tasks() {
    let project = load(&small(
        "tasks:
- name: unit
  when: host.name != \"n1\"
  hosts: g
  tags: [one]
  vars: { place: \"/srv/{{ mtu }}\" }
  block:
  - name: a
    tags: [two]
    file: { path: \"{{ place }}/a\" }
  - block:
    - name: b
      vars: { own: b }
      when: mtu != 1500
      file: { path: \"{{ place }}/{{ own }}\" }
    on_failure: continue
  always:
  - name: c
    file: { path: \"{{ place }}/c\" }
- name: d
  file: { path: /d }
",
    ))
    .unwrap();
    let titles: Vec<&str> = project.steps.iter().map(|step| step.title.as_str()).collect();
    assert_eq!(titles, ["a", "b", "c", "d"]);
    let tags: Vec<&String> = project.steps[0].tags.iter().collect();
    assert_eq!(tags, ["one", "two"]);
    assert_eq!(project.steps.iter().map(|step| step.hosts.len()).collect::<Vec<_>>(), [3, 3, 3, 4]);
    let shown = |step: usize, host: &str| show(&project, step, host, &Inputs::none());
    assert!(shown(0, "n0").contains("/srv/1500/a"), "{}", shown(0, "n0"));
    assert!(shown(0, "n1").contains("Skipped"), "{}", shown(0, "n1"));
    assert!(shown(1, "n0").contains("Skipped"), "{}", shown(1, "n0"));
    assert!(shown(1, "n2").contains("/srv/4200/b"), "{}", shown(1, "n2"));
    let units = |step: usize| -> Vec<(usize, Part, OnFailure)> {
        project.steps[step].units.iter().map(|unit| (unit.id, unit.part, unit.on_failure)).collect()
    };
    assert_eq!(units(0), [(0, Part::Tasks, OnFailure::Stop)]);
    assert_eq!(units(1), [(0, Part::Tasks, OnFailure::Stop), (1, Part::Tasks, OnFailure::Continue)]);
    assert_eq!(units(2), [(0, Part::Always, OnFailure::Stop)]);
    assert_eq!(units(3), []);
}

#[test]
fn an_answer_and_a_variable_of_one_name() {
    let playbook = |registered: &str, vars: &str| {
        small(&format!(
            "tasks:\n- name: ask\n  command: {{ run: [id], changes: false }}\n  register: {registered}\n- name: use\n  {vars}command: {{ run: [echo, \"{{{{ {registered} }}}}\"] }}\n"
        ))
    };
    let answers = BTreeMap::from([("other".to_owned(), Registered::Known(json!("answered")))]);
    let known = Inputs { registers: Some(&answers), ..Inputs::none() };
    // A variable of the inventory that the playbook does not declare is not seen there.
    let text = playbook("other", "")
        .replace("vars: { mtu: 9000 }", "vars: { mtu: 9000, other: set, none: \"{{ other }}\" }");
    let project = load(&text).unwrap();
    assert!(show(&project, 1, "x", &known).contains("answered"), "{}", show(&project, 1, "x", &known));
    assert!(project.steps[1].registers.contains("other"));
    let project = load(&playbook("other", "vars: { other: own }\n  ")).unwrap();
    assert!(show(&project, 1, "x", &known).contains("own"), "{}", show(&project, 1, "x", &known));
    assert!(load(&playbook("mtu", "")).unwrap_err().contains("`mtu` is a parameter already"));
}

#[test]
fn secrets_are_placeholders() {
    let project =
        load(&small("tasks:\n- name: a\n  file: { path: /a, content: \"t={{ secrets.token }}\" }\n"))
            .unwrap();
    let shown = show(&project, 0, "n0", &Inputs::none());
    assert!(placeholder::shown(&shown).contains("t=(secret token)"), "{shown}");
}

#[test]
fn nobody_is_asked_for_a_secret_that_is_not_needed() {
    let project = load(
        "--- inventory.yaml
cluster: c
playbooks: [./p.yaml]
ssh: { become: { method: sudo, password: { secret: sudo } } }
secrets: { sudo: { env: A }, task: { env: B }, other: { env: C } }
vars: { token: \"{{ secrets.task }}\" }
hosts: { n0: }
--- p.yaml
name: P
params: { token: { type: string } }
tasks:
- name: a
  file: { path: /a, content: \"{{ token }}\" }
",
    )
    .unwrap();
    let names = |tasks| project.needed_secrets(tasks).into_keys().collect::<Vec<_>>();
    assert_eq!(names(true), ["sudo", "task"]);
    assert_eq!(names(false), ["sudo"]);
}

#[test]
fn a_secret_in_a_variable_of_another_host_is_needed() {
    let project = |text: &str| {
        load(&format!(
            "--- inventory.yaml\ncluster: c\nplaybooks: [./p.yaml]\nsecrets: {{ task: {{ env: B }}, other: {{ env: C }} }}\n\
             vars: {{ m: {{ x: \"{{{{ secrets.task }}}}\" }} }}\ngroups: {{ g: {{ hosts: [n0] }} }}\n--- p.yaml\nname: P\n\
             params: {{ m: {{ type: map }} }}\ntasks:\n- name: a\n  file: {{ path: /a, content: '{text}' }}\n"
        ))
    };
    for text in ["{{ hosts.n0.vars.m.x }}", "{% for h in groups.g %}{{ hosts[h].vars.m.x }}{% endfor %}"] {
        let needed = project(text).unwrap().needed_secrets(true);
        assert_eq!(needed.into_keys().collect::<Vec<_>>(), ["task"], "{text}");
    }
    let error = project("{{ hosts.n0.vars.m.x | upper }}").unwrap_err();
    assert!(error.contains("cannot be changed"), "{error}");
}

#[test]
fn what_a_host_says_is_no_placeholder() {
    let foreign = "{{provision-secret:token}}";
    let project =
        load(&small("tasks:\n- name: a\n  file: { path: /a, content: \"{{ facts.kernel.release }}\" }\n"))
            .unwrap();
    let facts = json!({ "kernel": { "release": foreign } });
    let shown = show(&project, 0, "n0", &Inputs { facts: Some(&facts), ..Inputs::none() });
    assert!(shown.contains(foreign) && !placeholder::is_in(&shown), "{shown}");
}

#[test]
fn aliases_of_numbers() {
    let project = load("--- inventory.yaml\ncluster: c\nhosts:\n  n0: { ssh: { port: &p 2222 } }\n  n1: { ssh: { port: *p } }\n").unwrap();
    assert_eq!(project.host("n1").unwrap().ssh.port, Some(2222));
}

#[test]
fn what_a_host_is_told_of_itself() {
    for (text, want) in [
        ("{{ host.name }} {{ host.index }} {{ host.number }}", "n1 1 1"),
        ("{{ host.labels.rack | default(value='none') }}", "none"),
        ("all {{ host | keys | sort | join(sep=' ') }}", "all address groups index labels name nics number"),
        ("{% for group in host.groups %}{{ group }}{% endfor %}", "g"),
        ("{{ groups.g | join(sep=' ') }} {{ groups | length }}", "n0 n1 n2 1"),
    ] {
        let project =
            load(&small(&format!("tasks:\n- name: \"{text}\"\n  command: {{ run: [\"true\"] }}\n")));
        let project = project.unwrap_or_else(|error| panic!("{text}: {error}"));
        let shown = show(&project, 0, "n1", &Inputs::none());
        assert!(shown.starts_with(&format!("{want}: ")), "{text}: {shown}");
    }
}

#[test]
fn a_list_of_all_hosts_is_not_copied_for_each() {
    let project = load(&small("tasks:\n- name: a\n  command: { run: [\"true\"] }\n")).unwrap();
    let inputs = Inputs::none();
    let env = |host: &'static str| Env {
        world: &project.world,
        host: project.host(host).unwrap(),
        scope: inventory_scope(),
        inputs,
        item: None,
        depth: 0,
    };
    let list = |host| {
        let groups = env(host).variable("groups", &[]).unwrap();
        groups.get_from_path("g").unwrap().as_array().unwrap().as_ptr()
    };
    assert_eq!(list("n0"), list("n1"));
    let path = [Segment::Key("g".to_owned())];
    assert!(matches!(env("n0").resolve("groups", &path), Ok(Cow::Borrowed(_))));
}

#[test]
fn pipes_and_devices_are_not_read() {
    for (inventory, playbook, place) in [
        ("playbooks: [./PIPE]", "", "inventory.yaml:2:"),
        ("playbooks: [./p.yaml]", "tasks: [{ include: ./PIPE }]", "p.yaml:2:"),
        ("playbooks: [./p.yaml]", "tasks: [{ name: t, template: { src: PIPE, path: /x } }]", "p.yaml:2:"),
        ("playbooks: [./p.yaml]", "tasks: [{ name: t, template: { src: tree, path: /x } }]", "p.yaml:2:"),
        ("sources: { mirrors: { \"http://a\": { url: \"http://b\", key: PIPE } } }", "", "inventory.yaml:2:"),
    ] {
        for (name, what) in [("pipe", "pipe"), ("/dev/zero", "device")] {
            let text = format!(
                "--- inventory.yaml\ncluster: c\n{inventory}\nhosts: {{ a: }}\n--- p.yaml\nname: P\n{playbook}\n"
            );
            let case = Case::new(
                &text.replace("./PIPE", if what == "pipe" { "./pipe" } else { name }).replace("PIPE", name),
            );
            crate::disk::make_pipe(&case.path("pipe"));
            std::fs::create_dir(case.path("tree")).unwrap();
            std::os::unix::fs::symlink(case.path("").join(name), case.path("tree/link")).unwrap();
            let error = match case.load(&LoadOptions::default()) {
                Err(error) => error.render(false),
                Ok(project) => project.validate().render(&project.sources, false),
            };
            assert!(error.contains(&format!("it is a {what}, not a file")), "{error}");
            assert!(case.relative(&error).contains(place), "{place}:\n{error}");
            // It is there.
            assert!(!error.contains("relative to"), "{error}");
        }
    }
    let case = Case::new("");
    crate::disk::make_pipe(&case.path("inventory.yaml"));
    let error = case.load(&LoadOptions::default()).unwrap_err().render(false);
    assert!(error.contains("inventory.yaml`: it is a pipe, not a file"), "{error}");
}

#[test]
fn too_many_hosts_are_not_made() {
    let keys = |key: fn(usize) -> String| (0..300).fold(String::new(), |text, i| text + &key(i));
    for text in [
        format!("hosts:\n{}", keys(|i| format!("  \"x{i}n[0-40000]\":\n"))),
        format!("groups:\n{}", keys(|i| format!("  g{i}: {{ hosts: \"n[0-65000]\" }}\n"))),
    ] {
        let error = load(&format!("--- inventory.yaml\ncluster: c\n{text}")).unwrap_err();
        assert_eq!(error.matches("error: these are too many").count(), 1, "{error}");
    }
}

/// Checks the secrets that each host is given where each does its own part: by `hosts:` of a playbook, by
/// variables of hosts, by `run_once`, and by a default that a variable of the host replaces.
#[test]
fn a_host_that_works_alone_needs_the_secrets_of_its_own_tasks() {
    let project = load(
        "--- inventory.yaml
cluster: c
playbooks:
- { use: ./p.yaml, hosts: \"n[0-1]\" }
- { use: ./q.yaml, hosts: n2 }
secrets: { a: { env: A }, b: { env: B }, common: { env: C }, db: { env: D }, first: { env: E } }
vars: { inner: \"{{ secrets.common }}\" }
hosts:
  n0: { vars: { token: \"{{ secrets.a }}\" } }
  n1: { vars: { token: \"{{ secrets.b }} {{ inner }}\", inner: x } }
  n2: {}
--- p.yaml
name: P
params: { token: { type: string }, inner: { type: string } }
tasks:
- name: own
  file: { path: /a, content: \"{{ token }}\" }
- name: once
  run_once: true
  file: { path: /b, content: \"{{ secrets.first }}\" }
- name: of all
  file: { path: /c, content: \"{{ inner }}\" }
--- q.yaml
name: Q
tasks:
- name: db
  file: { path: /a, content: \"{{ secrets.db }}\" }
",
    )
    .unwrap();
    let names = |index| project.secrets_alone(index).into_iter().collect::<Vec<_>>();
    assert_eq!(names(0), ["a", "common", "first"]);
    assert_eq!(names(1), ["b"]);
    assert_eq!(names(2), ["db"]);
    // A host asks for no more than it is given.
    let mut project = project;
    project.leave_alone(1, true);
    assert_eq!(project.needed_secrets(true).into_keys().collect::<Vec<_>>(), ["b"]);
}

#[test]
fn what_is_written_of_all_hosts_has_the_order_of_their_names() {
    let tasks = "--- p.yaml
name: p
tasks:
- name: all
  command: { script: \"{% for name, node in hosts %}{{ name }} {% endfor %}/{{ groups['b'] | join(sep=' ') }}/{{ groups['every'] | join(sep=' ') }}\" }
";
    let inventories = [
        "groups: { a: { hosts: [n10, n2] }, b: { hosts: \"n[1,20,3]\" }, every: { children: [a, b] } }\nhosts: { ctl: }\n",
        "hosts: { ctl: }\ngroups: { every: { children: [b, a] }, b: { hosts: \"n[3,1,20]\" }, a: { hosts: [n2, n10] } }\n",
    ];
    for inventory in inventories {
        let text = format!("--- inventory.yaml\ncluster: c\nplaybooks: [./p.yaml]\n{inventory}{tasks}");
        let project = load(&text).unwrap();
        let shown = show(&project, 0, "n2", &Inputs::none());
        assert!(shown.contains("ctl n1 n2 n3 n10 n20 /n1 n3 n20/n1 n2 n3 n10 n20"), "{shown}");
        let targets = std::sync::Arc::new(project.steps[0].hosts.clone());
        let roster = project.world.roster(project.host("n2").unwrap(), &targets);
        let names: Vec<&str> = roster.members.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["ctl", "n1", "n2", "n3", "n10", "n20"]);
    }
}
