//! Our scripts and questions with the tools of other makers: busybox, and uutils as Debian 13 has them.

use std::sync::LazyLock;

use super::questions::{READERS, all_questions, answer, differences};
use super::*;

/// Who made the tools of a sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Maker {
    /// Whoever made those of this machine.
    System,
    Busybox,
    Uutils,
}

/// Questions whose answer is another one each time: a key that is made, and where the tools are.
const OTHERWISE: &[&str] = &["ssh_key", "login"];

/// Scripts whose made-up programs are tools of busybox, which takes its own where one of its tools starts another.
const OWN: &[&str] = &["scheduler/end.sh"];

/// What busybox has.
static APPLETS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let list = Command::new("busybox").arg("--list").output().unwrap();
    String::from_utf8(list.stdout).unwrap().lines().map(str::to_owned).collect()
});

/// Where the tools of uutils are, by their names.
static UUTILS: LazyLock<PathBuf> = LazyLock::new(|| {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let release = std::env::var("TOOLS_OF").unwrap_or_else(|_| "trixie".to_owned());
    let tools = project.join("target/other-tools").join(&release);
    let fetched =
        Command::new(project.join("scripts/other-tools.sh")).arg(&release).arg(&tools).status().unwrap();
    assert!(fetched.success(), "scripts/other-tools.sh {release} gets no tools");
    tools.join("bin")
});

impl Maker {
    /// The command that is a tool: the system's, where this maker has none.
    pub(crate) fn command(self, tool: &str) -> Option<String> {
        let own = match self {
            Self::System => None,
            // Shells are tried elsewhere.
            Self::Busybox => (tool != "sh" && APPLETS.contains(tool)).then(|| format!("/bin/busybox {tool}")),
            Self::Uutils => {
                Some(UUTILS.join(tool)).filter(|path| path.exists()).map(|path| path.display().to_string())
            }
        };
        own.or_else(|| found(tool).map(|path| path.display().to_string()))
    }
}

#[test]
fn every_script_does_its_work_with_the_tools_of_each_maker() {
    let rows = rows();
    let all = rows.iter().flat_map(|row| [Maker::Busybox, Maker::Uutils].map(|maker| (row, maker)));
    let own = |row: &Row| OWN.iter().any(|file| row.files.contains(file));
    let tries: Vec<_> = all.filter(|(row, maker)| *maker != Maker::Busybox || !own(row)).collect();
    let wrong: Vec<String> = at_once(&tries, |(row, maker)| {
        let sandbox = Sandbox::of(*maker, TOOLS, row.made_up, None);
        let output = sandbox.script(SHELLS[0], row);
        let silent = !String::from_utf8_lossy(&output.stdout).contains(row.says);
        let wrong = !well(row, &output) || !sandbox.ok(row.done) || silent;
        wrong.then(|| format!("{} with the tools of {maker:?}: {output:?}", row.files))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), tries.len(), wrong.join("\n"));
}

/// Those of busybox are tried where busybox is the shell: where one of its tools starts another, it takes its own, not
/// what is made up here.
#[test]
fn every_question_has_the_same_answer_with_uutils() {
    let all = all_questions();
    let tools = format!("{TOOLS} {READERS}");
    let wrong: Vec<String> = at_once(&all, |asked| {
        let label = (asked.query)("S").label();
        if OTHERWISE.iter().any(|start| label.starts_with(start)) {
            return None;
        }
        let ask = |maker| answer(&Sandbox::of(maker, &tools, asked.row.made_up, None), SHELLS[0], asked);
        let whole = ask(Maker::System).unwrap();
        let mut found = Vec::new();
        match ask(Maker::Uutils) {
            Some(got) => differences("", "", &whole, &got, &mut found),
            None => found.push("no answer".to_owned()),
        }
        (!found.is_empty()).then(|| format!("{label}: {}", found.join("; ")))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}
