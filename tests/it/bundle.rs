//! A bundle is the same for the same project, holds no secret, and is worked on by the machine that it is for.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests start the program")]

use std::ops::Deref;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output};

use crate::context::{Context, said};
use crate::this_host;

const POISON: &str = "p01son-w1th-'quote";
/// What a leak of it has: as it is, in base64, in hex.
const FORMS: [&str; 3] = ["p01son", "cDAxc29u", "703031736f6e"];

const INVENTORY: &str = "
cluster: site
secrets: { token: { env: POISON_TOKEN }, beside: { file: ./beside.txt } }
sources: { mirrors: { 'https://example.org': { url: 'http://mirror', key: ../keys/mirror.asc } } }
hosts_from: [{ run: [sh, -c, 'echo \"[listed]\"'] }]
playbooks: [../books/play.yaml]
hosts: { n0: {}, n1: {} }
";

const PLAY: &str = "
name: play
tasks:
  - name: token
    file: { path: OUT/token, content: \"token={{ secrets.token }}\\n\", mode: \"0600\" }
  - name: plain
    copy: { src: ./plain.txt, path: OUT/plain, mode: \"0644\" }
  - name: tree
    copy: { src: ./tree, path: OUT/tree }
  - name: large
    copy: { src: ./large, path: OUT/large, mode: \"0644\" }
  - name: text
    template: { src: ./text.j2, path: OUT/text, mode: \"0644\" }
  - name: once
    run_once: true
    command: { run: [touch, OUT/once], creates: OUT/once }
";

struct Site(Context);

impl Deref for Site {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.0
    }
}

impl Site {
    fn new(play: &str) -> Self {
        let site = Self(Context::new());
        let out = site.path("out");
        std::fs::create_dir(&out).unwrap();
        site.write("project/inventories/site.yaml", INVENTORY);
        site.write("project/inventories/beside.txt", POISON);
        site.write("project/keys/mirror.asc", "key");
        site.write("project/books/play.yaml", play.replace("OUT", &out));
        site.write("project/books/plain.txt", "plain\n");
        site.write("project/books/tree/a/b", "b\n");
        site.write("project/books/large", "large\n".repeat(400_000));
        site.write("project/books/text.j2", "{{ host.name }} of {{ hosts | length }}\n");
        site
    }

    fn path(&self, name: &str) -> String {
        self.root().join(name).to_str().unwrap().to_owned()
    }

    fn chmod(&self, name: &str, mode: u32) {
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).env("POISON_TOKEN", POISON).output().unwrap()
    }

    #[track_caller]
    fn ends(&self, code: i32, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        let said = said(&done);
        assert_eq!(done.status.code(), Some(code), "{arguments:?}\n{said}");
        said
    }

    #[track_caller]
    fn pack(&self) -> Vec<u8> {
        self.ends(0, &["bundle", "project/inventories/site.yaml", "--root", "project", "-o", "site.bundle"]);
        std::fs::read(self.path("site.bundle")).unwrap()
    }
}

fn leaks(bytes: &[u8]) -> bool {
    FORMS.iter().any(|form| bytes.windows(form.len()).any(|part| part == form.as_bytes()))
}

fn leaking(path: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(path).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            leaking(&entry.path(), found);
        } else if leaks(&std::fs::read(entry.path()).unwrap()) {
            found.push(entry.path().display().to_string());
        }
    }
}

#[test]
fn the_same_project_gives_the_same_bytes_wherever_it_is_and_no_secret() {
    let (one, two) = (Site::new("name: play\ntasks: []\n"), Site::new("name: play\ntasks: []\n"));
    assert!(one.pack() == two.pack());
    let bytes = Site::new(PLAY).pack();
    assert!(!leaks(&bytes));
    assert!(
        bytes.windows(6).any(|part| part == b"listed") && bytes.windows(6).any(|part| part == b"plain\n")
    );
    for form in FORMS {
        assert!(leaks(&[&bytes[..], form.as_bytes()].concat()), "{form}");
    }
}

#[test]
fn a_node_does_its_part_where_nothing_else_of_the_project_is() {
    let _alone = this_host::alone();
    let site = Site::new(PLAY);
    site.pack();
    std::fs::remove_dir_all(site.path("project")).unwrap();
    let here = ["--bundle", "site.bundle", "--here"];
    let said = site.ends(3, &[&["plan"][..], &here].concat());
    assert!(said.contains("no host of the inventory is") && said.contains("--as NAME"), "{said}");
    let said = site.ends(3, &[&["plan"][..], &here, &["--as", "n9"]].concat());
    assert!(said.contains("there is no host `n9` in it"), "{said}");
    let n1 = [&here[..], &["--as", "n1"]].concat();
    site.ends(7, &[&["plan"][..], &n1, &["--exit-code"]].concat());
    site.ends(0, &[&["apply"][..], &n1].concat());
    let read = |name: &str| std::fs::read_to_string(site.path(&format!("out/{name}"))).unwrap();
    assert_eq!(read("token"), format!("token={POISON}\n"));
    assert_eq!((read("plain").as_str(), read("tree/a/b").as_str()), ("plain\n", "b\n"));
    assert_eq!((read("text").as_str(), read("large").len()), ("n1 of 3\n", 2_400_000));
    // n0 is the one that does it, whoever else works.
    assert!(!Path::new(&site.path("out/once")).exists());
    let said = site.ends(0, &[&["apply", "-v"][..], &n1].concat());
    assert!(said.contains("runs once, on n0, which is no part of this run"), "{said}");
    site.ends(0, &["plan", "--exit-code", "site.bundle", "--here", "--as", "n1"]);
    assert!(
        site.ends(0, &["facts", "--only", "os", "--bundle", "site.bundle", "--here", "--as", "n1"])
            .contains("n1")
    );
    let listed = site.ends(0, &["report", "list", "site.bundle"]);
    assert!(listed.contains("apply") && !listed.contains("bundle"), "{listed}");
    // Who asks by another inventory of the cluster is told whose runs they are.
    std::fs::copy(site.path("site.bundle"), site.path("other.bundle")).unwrap();
    assert!(site.ends(0, &["report", "list", "other.bundle"]).contains("  site.bundle\n"));
    site.ends(0, &["apply", "--bundle", "site.bundle", "--here", "--as", "n0"]);
    assert!(Path::new(&site.path("out/once")).exists());
    // Nothing is left of what was unpacked, and the secret is where it belongs.
    let left = std::fs::read_dir(site.path("cache/provision/bundles")).unwrap().flatten();
    assert_eq!(left.map(|entry| entry.file_name()).collect::<Vec<_>>(), ["lock"]);
    let mut found = Vec::new();
    leaking(site.root(), &mut found);
    assert_eq!(found, [site.path("out/token")]);
}

#[test]
fn a_changed_bundle_or_one_of_another_format_is_refused() {
    let site = Site::new(PLAY);
    let good = site.pack();
    let end = good.iter().position(|byte| *byte == b'\n').unwrap();
    let mut cases = vec![("is no bundle", b"cluster: c\n".to_vec())];
    for (place, says) in [(end + 20, "the index of the bundle"), (good.len() - 3, "is not what was packed")] {
        let mut bad = good.clone();
        bad[place] ^= 1;
        cases.push((says, bad));
    }
    cases.push(("is not what was packed", good[..good.len() - 1].to_vec()));
    cases.push(("has more in it", [&good[..], b"x"].concat()));
    let other = String::from_utf8_lossy(&good[..end]).replace("bundle 1 ", "bundle 2 ");
    cases.push(("has the format 2", [other.as_bytes(), &good[end..]].concat()));
    for (says, bytes) in cases {
        std::fs::write(site.path("bad.bundle"), bytes).unwrap();
        let said = site.ends(3, &["apply", "--bundle", "bad.bundle", "--here", "--as", "n0"]);
        assert!(said.contains(says) && said.contains("hint: "), "{says}: {said}");
        assert!(!Path::new(&site.path("out/plain")).exists());
    }
}

#[test]
fn what_is_secret_or_elsewhere_is_not_packed() {
    let task =
        |src: &str| format!("name: play\ntasks:\n  - name: x\n    copy: {{ src: {src}, path: OUT/x }}\n");
    let site = Site::new(&task("../inventories/beside.txt"));
    let pack = ["bundle", "project/inventories/site.yaml", "--root", "project", "-o", "site.bundle"];
    assert!(site.ends(3, &pack).contains("is the secret `beside`, and a bundle holds no secrets"));
    let site = Site::new(&task("/etc/passwd"));
    assert!(site.ends(3, &pack).contains("`/etc/passwd` is no file of this project"));
    assert!(!Path::new(&site.path("site.bundle")).exists());
}

#[test]
fn a_secret_that_is_a_file_of_the_project_is_handed_over() {
    let _alone = this_host::alone();
    let site = Site::new(
        "name: play\ntasks:\n  - name: x\n    file: { path: OUT/token, content: \"{{ secrets.beside }}\", mode: \"0600\" }\n",
    );
    site.pack();
    std::fs::remove_dir_all(site.path("project")).unwrap();
    let apply = ["apply", "--bundle", "site.bundle", "--here", "--as", "n0"];
    let said = site.ends(3, &apply);
    assert!(said.contains("`beside`") && said.contains("--secrets FILE"), "{said}");
    site.write("values.json", serde_json::json!({ "beside": POISON }).to_string());
    let with = [&apply[..], &["--secrets", "values.json"]].concat();
    for mode in [0o644, 0o620, 0o602] {
        site.chmod("values.json", mode);
        let said = site.ends(3, &with);
        assert!(
            said.contains("the secrets in values.json are not used") && said.contains("chmod 600"),
            "{said}"
        );
    }
    site.chmod("values.json", 0o600);
    site.ends(0, &with);
    assert_eq!(std::fs::read_to_string(site.path("out/token")).unwrap(), POISON);
}

#[test]
fn what_is_suggested_for_this_machine_alone_can_be_typed() {
    let _alone = this_host::alone();
    let site = Site::new("name: play\ntasks:\n  - name: fails\n    command: { run: [\"false\"] }\n");
    site.pack();
    site.write("secrets.json", "{}");
    site.chmod("secrets.json", 0o600);
    let words = ["apply", "--bundle", "site.bundle", "--here", "--as", "n0", "--secrets", "secrets.json"];
    let said = site.ends(5, &words);
    let (_, line) = said.lines().find_map(|line| line.split_once("continue with: provision ")).unwrap();
    assert!(line.contains("--secrets secrets.json") && !line.contains("--hosts"), "{line}");
    let again: Vec<&str> = line.split(' ').collect();
    assert!(site.ends(5, &again).contains("fails"));
}

/// A file that goes to all machines holds nothing that the project reaches only by its way out.
#[test]
fn nothing_outside_of_the_project_is_packed_however_it_is_spelled() {
    let play =
        |src: &str| format!("name: play\ntasks:\n  - name: x\n    copy: {{ src: {src}, path: OUT/x }}\n");
    let inventory = |book: &str| format!("cluster: c\nplaybooks: [{book}]\nhosts: {{ n0: }}\n");
    let site = Site::new(&play("./in.txt"));
    site.write("home/id_ed25519", POISON);
    site.write("home/book.yaml", play("./id_ed25519").replace("OUT", "/tmp"));
    site.write("home/list", "hosts: { n1: }\n");
    site.write("hostile/in.txt", "in\n");
    let hostile = |name: &str| site.path(&format!("hostile/{name}"));
    symlink(site.path("home"), hostile("way")).unwrap();
    symlink("../home/id_ed25519", hostile("key")).unwrap();
    std::fs::create_dir(hostile("tree")).unwrap();
    symlink("../../home/id_ed25519", hostile("tree/key")).unwrap();
    let home = site.path("home/id_ed25519");
    let spellings = [
        ("./p.yaml", play(&home)),
        ("./p.yaml", play("../home/id_ed25519")),
        ("./p.yaml", play("./way/id_ed25519")),
        ("./p.yaml", play("./way/../home/id_ed25519")),
        ("./p.yaml", play("./key")),
        ("./p.yaml", play("./tree")),
        ("./p.yaml", play("../home")),
        ("./p.yaml", play("\"{{ '../home/' ~ 'id_ed25519' }}\"")),
        ("./p.yaml", "name: p\ntasks:\n- include: ../home/book.yaml\n".to_owned()),
        ("../home/book.yaml", String::new()),
        ("./way/book.yaml", String::new()),
    ];
    for (book, text) in spellings {
        site.write("hostile/p.yaml", text.replace("OUT", "/tmp"));
        site.write("hostile/inv.yaml", inventory(book));
        let whole = hostile("inv.yaml");
        for (from, name) in [
            ("hostile", "inv.yaml"),
            ("hostile", "./inv.yaml"),
            (".", "hostile/inv.yaml"),
            (".", whole.as_str()),
        ] {
            let done = Command::new(env!("CARGO_BIN_EXE_provision"))
                .args(["bundle", name, "-o", &site.path("out.bundle")])
                .current_dir(site.path(from))
                .env("HOME", site.root())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(3), "{name} {book} {text}: {said}");
            let why =
                said.contains("is no file of this project") || said.contains("is outside of the project");
            // The templated one is known to the playbook only.
            let place = said.contains(".yaml:") || text.contains("~ 'id");
            assert!(why && place, "{name} {book} {text}: {said}");
            assert!(!Path::new(&site.path("out.bundle")).exists());
        }
    }
    // Lists and keys of mirrors, which no task names.
    site.write("hostile/p.yaml", "name: p\ntasks: []\n");
    for more in [
        "hosts_from: [{ file: ../home/list }]\n",
        "sources: { mirrors: { 'https://example.org': { url: 'http://mirror', key: ./key } } }\n",
    ] {
        site.write("hostile/inv.yaml", format!("{}{more}", inventory("./p.yaml")));
        let said = site.ends(3, &["bundle", "hostile/inv.yaml", "-o", "out.bundle"]);
        assert!(said.contains("is outside of the project"), "{said}");
    }
    // A secret by another name.
    site.write("hostile/token", POISON);
    symlink("token", hostile("other")).unwrap();
    site.write("hostile/p.yaml", play("./other").replace("OUT", "/tmp"));
    site.write(
        "hostile/inv.yaml",
        format!("{}secrets: {{ t: {{ file: ./token }} }}\n", inventory("./p.yaml")),
    );
    let said = site.ends(3, &["bundle", "hostile/inv.yaml", "-o", "out.bundle"]);
    assert!(said.contains("is the secret `t`"), "{said}");
    // A link inside of the project is none out of it.
    symlink("in.txt", hostile("inner")).unwrap();
    site.write("hostile/p.yaml", play("./inner").replace("OUT", "/tmp"));
    site.ends(0, &["bundle", "hostile/inv.yaml", "-o", "out.bundle"]);
    let said = site.ends(3, &["bundle", "hostile/inv.yaml", "--root", "home", "-o", "out.bundle"]);
    assert!(said.contains("is not below"), "{said}");
}

/// It says what root does on this machine.
#[test]
fn a_bundle_that_others_may_write_is_not_used() {
    let site = Site::new("name: play\ntasks: []\n");
    site.pack();
    let plan = ["plan", "--bundle", "site.bundle", "--here", "--as", "n0"];
    for mode in [0o666, 0o660, 0o602] {
        site.chmod("site.bundle", mode);
        let said = site.ends(3, &plan);
        assert!(said.contains("is not used: others may write it") && said.contains("chmod 600"), "{said}");
    }
    site.chmod("site.bundle", 0o644);
    site.ends(0, &plan);
    if std::os::unix::fs::chown(site.path("site.bundle"), Some(12345), None).is_err() {
        return println!("skipped: only root gives files away");
    }
    assert!(site.ends(3, &plan).contains("it belongs to another user"));
}

/// A run that Slurm carries sends all of it over a network that others may listen on.
#[test]
fn what_slurm_would_show_is_not_sent_unasked() {
    let site = Site::new(PLAY);
    let inventory = "
cluster: site
secrets: { token: { env: POISON_TOKEN } }
playbooks:
- { use: ../books/play.yaml, hosts: gpu }
- { use: ../books/key.yaml, hosts: n1 }
groups: { gpu: { hosts: [n0, n1] }, login: { hosts: [login0] } }
hosts: { login0: { transport: local } }
";
    site.write("project/inventories/slurm.yaml", inventory);
    site.write("project/books/own.key", POISON);
    let key = "name: key\ntasks:\n- name: a key\n  tags: [key]\n  copy: { src: ./own.key, path: OUT/key, mode: MODE }\n";
    let of = |command: &str, more: &[&str]| {
        let all = [
            &[command, "project/inventories/slurm.yaml", "--engine", "slurm", "--engine-at", "login0"],
            more,
        ];
        let done = site.run(&all.concat());
        (done.status.code().unwrap(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    for (mode, private) in [("\"0600\"", true), ("\"0640\"", true), ("\"0644\"", false)] {
        site.write("project/books/key.yaml", key.replace("MODE", mode).replace("OUT", &site.path("out")));
        for command in ["apply", "plan", "verify"] {
            let (code, said) = of(command, &["--hosts", "gpu"]);
            assert_eq!(code, 2, "{said}");
            assert!(
                said.contains("clear text: the secret `token`") && said.contains("--secrets-in-clear"),
                "{said}"
            );
            assert_eq!(said.contains("the file `./own.key` of the task `a key`"), private, "{mode}: {said}");
            assert!(!said.contains(POISON), "{said}");
        }
    }
    // Each of these goes on to the host with Slurm, where there is none.
    for (command, more) in [
        ("apply", &["--hosts", "gpu", "--secrets-in-clear"][..]),
        ("facts", &["--hosts", "gpu"]),
        ("plan", &["--hosts", "n1", "--tags", "key"]),
    ] {
        let (code, said) = of(command, more);
        assert!(code != 2 && !said.contains("clear text"), "{command}: {code} {said}");
    }
    // The option is for nothing else.
    let done = site.run(&["plan", "project/inventories/slurm.yaml", "--secrets-in-clear"]);
    assert_eq!(done.status.code(), Some(2));
}
