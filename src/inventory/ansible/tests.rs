//! Tests of what is refused, of what is written, and that no text panics. `tests/it/ansible.rs` asks Ansible
//! itself.

use camino::Utf8PathBuf;
use proptest::prelude::*;

use super::model::expand;
use super::*;

fn of(name: &str, text: &str) -> Result<String, String> {
    let mut sources = Sources::default();
    let source = sources.add(name, text);
    import(&sources, source, &[], "mine")
        .map(|made| made.text)
        .map_err(|diagnostics| diagnostics.render(&sources, false))
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
        (
            // Every host has another address, and is a line of its own.
            format!("n[0:60000] ansible_host={}{{{{inventory_hostname}}}}\n", "x".repeat(200)),
            "would make an inventory of 13 MiB",
        ),
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
        drop(of("hosts.json", &text));
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
  nodes:    # those without a group
    hosts: \"login0\"

hosts:
  login0: { address: \"192.0.2.1\" }
  \"gpu[00-03]\": { ssh: { user: ubuntu } }
  gpu04: { address: \"192.0.2.9\", ssh: { port: 2222 } }
  gpu06: { ssh: { port: 2222 } }
"
    );
    assert_eq!(
        text.split_once("cluster:").unwrap().0,
        "# Made from hosts.ini by `provision inventory import`.
# Not taken over:
#   hosts.ini:6: `ansible_become_password`: a secret is never copied; see `secrets:` and --ask-become-pass (2 times)
#   hosts.ini:6: `rack`: a variable; set it under `vars:` when a playbook here knows it (2 times)
#   hosts.ini:14: `cuda`: a variable; set it under `vars:` when a playbook here knows it
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

/// A host gets no setting from its group that is not known of the host, and a host that is reached directly
/// stays that.
#[test]
fn no_host_gets_the_login_of_another() {
    let text = of(
        "hosts.ini",
        "[web]
h1 ansible_user=\"{{ lookup('env','USER') }}\"
h2
h3 ansible_port=70000
h4 ansible_ssh_common_args=\"-o ProxyCommand='ssh -W %h:%p b6'\"
h5 ansible_ssh_common_args=\"\"
h6 ansible_become=true ansible_sudo_user=postgres
h7 ansible_user=1000 ansible_ssh_private_key_file=null
[web:vars]
ansible_user=ops
ansible_port=2022
ansible_ssh_common_args=-J bastion
[bastions]
bastion ansible_ssh_common_args=\"-o ProxyJump=none\"
",
    )
    .expect("it is read");
    assert_eq!(
        text.split_once("\ngroups:\n").unwrap().1,
        "  web:
    hosts: \"h[1-7]\"
    ssh: { jump: [\"bastion\"] }
  bastions:
    hosts: \"bastion\"

hosts:
  h1: { ssh: { port: 2022 } }
  \"h[2,6]\": { ssh: { user: ops, port: 2022 } }
  h3: { ssh: { user: ops } }
  \"h[4-5]\": { ssh: { user: ops, port: 2022, jump: [] } }
  h7: { ssh: { user: \"1000\", port: 2022, identity_file: \"null\" } }
"
    );
    let told = text.split_once("cluster:").unwrap().0;
    assert!(told.contains("`ansible_sudo_user`: only root is become here"), "{told}");
    let text = of(
        "hosts.yaml",
        "all:\n  hosts:\n    h1:\n      ansible_user: !vault |\n        $ANSIBLE_VAULT;1.1;AES256\n        6231\n",
    )
    .expect("it is read");
    assert!(
        !text.contains("6231") && text.contains("`ansible_user`: is filled in by Ansible alone"),
        "{text}"
    );
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
        ("[a:children]\nb\n[b:children]\na\n[a]\nn0\n", "groups are below themselves: `a`, `b`"),
        ("2001:db8::1\n", "give the host one"),
        ("[2001:db8::1]:22\n", "give the host one"),
        ("\n# nothing\n", "names no host"),
    ] {
        let error = of("hosts", text).expect_err(text);
        assert!(error.contains(says), "{text:?}: {error}");
    }
    let error = of("mine.yaml", "cluster: mine\nhosts: { a: {} }\n").expect_err("ours");
    assert!(error.contains("this is an inventory of provision already"), "{error}");
}

/// Common mistakes, and what is said of each.
#[test]
fn what_is_no_inventory_is_told() {
    for (name, text, says) in [
        ("hosts.yaml", "all:\n  hosts: [gpu0, gpu1]\n", "write each name with a colon"),
        ("aws.yml", "plugin: amazon.aws.aws_ec2\nregions: [eu-west-1]\n", "ansible-inventory -i PATH --list"),
        ("hosts.json", "[1]\n", "is a map of groups"),
    ] {
        let error = of(name, text).expect_err(text);
        assert!(error.contains(says), "{text:?}: {error}");
    }
    // The first line says what a file without an ending is.
    for text in ["all:\n  hosts: gpu0\n", "---\nall: { hosts: gpu0 }\n", "{\"all\": {\"hosts\": [\"gpu0\"]}}"]
    {
        assert!(of("hosts", text).unwrap().contains("gpu0"), "{text}");
    }
}

/// Ansible refuses a group of groups that names one without a section.
#[test]
fn a_child_without_a_section_is_told() {
    let text = of("hosts", "[a:children]\nb\nc\n[b]\nn0\n").unwrap();
    assert!(text.contains("hosts:3: `c` has no section of its own"), "{text}");
    assert!(!text.contains("`b` has no section"), "{text}");
}
