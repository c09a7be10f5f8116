//! NCCL, Open MPI, nccl-tests and perftest as they are installed.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::probe::Probe;
use super::section::{Sections, pair};
use super::{BatchPart, Gap, GapKind, Query, Seen};

/// Software that lies on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Versions of NCCL's header by prefix.
    pub nccl: BTreeMap<String, String>,
    /// NCCL's libraries with the file that they are.
    pub libraries: BTreeMap<String, String>,
    /// Whether perftest is there.
    pub perftest: bool,
    /// Whether it was built with CUDA.
    pub perftest_cuda: bool,
    /// Prefixes that programs of nccl-tests were built with, where they are known.
    #[serde(default)]
    pub homes: BTreeMap<String, Homes>,
}

/// Libraries that a program is linked with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linked {
    /// Libraries with their files.
    pub libraries: BTreeMap<String, String>,
    /// Libraries that are not found.
    pub missing: Vec<String>,
    /// Files of libnccl and libmpi with all links followed, by their name.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The user in whose login the loader was asked.
    #[serde(default)]
    pub user: String,
}

/// Prefixes that a program was built with, as the stamp of its build says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Homes {
    /// Prefix of NCCL, as it was named and as it really is.
    pub nccl: Option<(String, String)>,
    /// Prefix of MPI, likewise.
    pub mpi: Option<(String, String)>,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Software {
    /// From files.
    pub files: Seen<Files>,
    /// Versions of Open MPI by prefix.
    pub openmpi: BTreeMap<String, Seen<String>>,
    /// Programs of nccl-tests.
    pub tests: BTreeMap<String, Seen<Linked>>,
    /// Packages of the distribution that are half-done.
    #[serde(default = "unasked")]
    pub half_done: Seen<HalfDone>,
}

/// Packages that a cut transaction or a failed script left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HalfDone {
    /// Their states by name: `half-configured`, `twice`.
    pub packages: BTreeMap<String, String>,
    /// Process that changes packages at this moment.
    pub busy: Option<String>,
}

fn unasked() -> Seen<HalfDone> {
    Err(Gap::new(GapKind::Absent, "packages", "neither dpkg nor rpm is installed"))
}

/// NCCL, Open MPI, nccl-tests and perftest as they are installed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct SoftwareQuery;

pub(crate) const FAMILY: &super::Family = <SoftwareQuery as super::Question>::FAMILY;

impl Probe for SoftwareQuery {
    type Shown = Software;
    const NAME: &'static str = "software";
    const SCRIPT: &'static str = crate::shell!(
        "facts/probe/ask.sh",
        "shell/rooted.sh",
        "shell/package_holder.sh",
        "facts/software/software.sh"
    );
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(40));

    fn read(sections: &Sections<'_>) -> Software {
        parse(sections)
    }
}

/// The names of a path below a root, when it has so many.
fn parts<'a>(path: &'a str, root: &str, count: std::ops::RangeInclusive<usize>) -> Option<Vec<&'a str>> {
    let parts: Vec<&str> = path.strip_prefix(root)?.split('/').collect();
    (count.contains(&parts.len()) && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

/// Whether the probe finds an NCCL in this prefix.
pub fn finds_nccl(prefix: &str) -> bool {
    matches!(prefix, "/usr" | "/usr/local")
        || parts(prefix, "/usr/local/", 1..=1).is_some()
        || parts(prefix, "/opt/", 1..=2).is_some()
}

/// Whether the probe finds an Open MPI in this prefix.
pub fn finds_openmpi(prefix: &str) -> bool {
    finds_nccl(prefix) || prefix == "/usr/lib64/openmpi" || parts(prefix, "/usr/mpi/gcc/", 1..=1).is_some()
}

/// Whether the probe finds programs of nccl-tests in this directory.
pub fn finds_tests(directory: &str) -> bool {
    let below = |root: &str, names: &[&str]| {
        parts(directory, root, 2..=2)
            .is_some_and(|parts| parts.last().is_some_and(|last| names.contains(last)))
    };
    matches!(directory, "/usr/local/bin" | "/usr/bin")
        || below("/opt/", &["build", "bin"])
        || below("/usr/local/", &["build"])
}

/// Tells who starts jobs on the host: what the loader finds depends on the login.
pub fn in_jobs_of(mut parts: Vec<BatchPart>, user: Option<&str>) -> Vec<BatchPart> {
    for part in parts.iter_mut().filter(|part| part.queries.iter().any(Query::is::<SoftwareQuery>)) {
        part.part.script.args = vec![user.unwrap_or_default().into()];
    }
    parts
}

/// Reads the sections.
pub fn parse(sections: &Sections<'_>) -> Software {
    let mut openmpi = BTreeMap::new();
    for (command, section) in sections.starting("/") {
        if let Some(prefix) = command.strip_suffix("/bin/mpirun --version") {
            openmpi.insert(format!("/{prefix}"), section.read(mpirun));
        }
    }
    let tests = sections.starting("ldd ").map(|(program, section)| (program.to_owned(), section.read(ldd)));
    Software {
        files: sections.read("software", "the list was cut short", |text| Ok(files(text))),
        openmpi,
        tests: tests.collect(),
        half_done: sections
            .get("packages")
            .map_or_else(unasked, |section| section.read(|text| Ok(half_done(text)))),
    }
}

/// `half-configured ok drbd-dkms`, `busy process 4711 (apt-get)`.
fn half_done(text: &str) -> HalfDone {
    let mut found = HalfDone::default();
    for line in text.lines() {
        if let Some(who) = line.strip_prefix("busy ") {
            found.busy = Some(who.to_owned());
        } else if let [state, flag, name] = line.split(' ').collect::<Vec<_>>().as_slice() {
            let state = if *flag == "reinstreq" { "half-installed" } else { state };
            found.packages.insert((*name).to_owned(), state.to_owned());
        }
    }
    found
}

fn files(text: &str) -> Files {
    let mut files = Files::default();
    for (key, value) in text.lines().filter_map(pair) {
        let (first, second) = value.split_once(' ').unwrap_or((value, ""));
        match key {
            "nccl" => drop(files.nccl.insert(first.to_owned(), second.to_owned())),
            "library" => drop(files.libraries.insert(first.to_owned(), second.to_owned())),
            "home" => home(&mut files.homes, value),
            "perftest" => files.perftest = true,
            "perftest_cuda" => files.perftest_cuda = true,
            _ => {}
        }
    }
    files
}

/// `/opt/nccl-tests/build/all_reduce_perf NCCL /usr/local/nccl /usr/local/nccl`.
fn home(homes: &mut BTreeMap<String, Homes>, value: &str) {
    let mut words = value.split(' ').map(str::to_owned);
    let (Some(program), Some(what), Some(named), Some(real)) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return;
    };
    let homes = homes.entry(program).or_default();
    match what.as_str() {
        "NCCL" => homes.nccl = Some((named, real)),
        "MPI" => homes.mpi = Some((named, real)),
        _ => {}
    }
}

/// `mpirun (Open MPI) 4.1.3`.
fn mpirun(text: &str) -> Result<String, String> {
    let version = text.lines().find_map(|line| line.split_once("(Open MPI) "));
    version.map(|(_, version)| version.trim().to_owned()).ok_or_else(|| "it is not Open MPI".to_owned())
}

fn owned((name, file): (&str, &str)) -> (String, String) {
    (name.to_owned(), file.to_owned())
}

/// `libnccl.so.2 => /opt/nccl/lib/libnccl.so.2 (0x00007f...)`, or `=> not found`.
fn ldd(text: &str) -> Result<Linked, String> {
    let mut linked = Linked::default();
    for line in text.lines() {
        match pair(line) {
            Some(("user", user)) => user.clone_into(&mut linked.user),
            Some(("file", file)) => linked.files.extend(file.split_once(' ').map(owned)),
            _ => {}
        }
        let Some((name, file)) = line.trim().split_once(" => ") else { continue };
        if file.starts_with("not found") {
            linked.missing.push(name.to_owned());
        } else {
            linked.libraries.insert(name.to_owned(), file.split(' ').next().unwrap_or("").to_owned());
        }
    }
    if linked.libraries.is_empty() && linked.missing.is_empty() {
        Err("it shows no library".to_owned())
    } else {
        Ok(linked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Software is expected in the places that the script searches, and nowhere else.
    #[test]
    fn places_are_those_of_the_script() {
        let places = |end: &str| -> Vec<String> {
            let words =
                SoftwareQuery::SCRIPT.split_whitespace().map(|word| word.trim_end_matches([';', '\\']));
            let places = words.filter(|word| word.starts_with('/')).filter_map(|word| word.strip_suffix(end));
            places.map(|place| place.replace('*', "x")).collect()
        };
        let nccl = places("/include/nccl.h");
        let (openmpi, tests) = (places("/bin/mpirun"), places("/all_reduce_perf"));
        assert!(nccl.len() >= 5 && openmpi.len() >= 7 && tests.len() >= 5, "{nccl:?} {openmpi:?} {tests:?}");
        assert_eq!(nccl.iter().find(|place| !finds_nccl(place)), None);
        assert_eq!(openmpi.iter().find(|place| !finds_openmpi(place)), None);
        assert_eq!(tests.iter().find(|place| !finds_tests(place)), None);
        for elsewhere in ["/", "/srv/x", "/opt", "/opt/", "/opt/x/y/z", "/usr/local/x/y", "/usr/lib", "/usrx"]
        {
            assert!(!finds_nccl(elsewhere) && !finds_openmpi(elsewhere), "{elsewhere}");
        }
        for elsewhere in
            ["/opt/x", "/opt/x/y", "/opt/build", "/opt/x/y/build", "/usr/local/x/bin", "/srv/x/build"]
        {
            assert!(!finds_tests(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn a_training_host() {
        let text = "\n\u{1e}ask software\nnccl=/usr/local/nccl 2.27.7\nlibrary=/usr/local/nccl/lib/libnccl.so.2 /usr/local/nccl/lib/libnccl.so.2.27.7\nperftest=1\n\n\u{1e}end 0\n\n\u{1e}ask /opt/openmpi/bin/mpirun --version\nmpirun (Open MPI) 4.1.3\n\n\u{1e}end 0\n\n\u{1e}ask ldd /opt/nccl-tests/build/all_reduce_perf\n\tlibmpi.so.40 => not found\n\tlibnccl.so.2 => /usr/local/nccl/lib/libnccl.so.2 (0x00007f0000000000)\n\n\u{1e}end 0\n";
        let software = parse(&Sections::split(text));
        let files = software.files.unwrap();
        assert_eq!(files.nccl["/usr/local/nccl"], "2.27.7");
        assert!(files.perftest && !files.perftest_cuda);
        assert_eq!(software.openmpi["/opt/openmpi"].as_deref(), Ok("4.1.3"));
        let linked = software.tests["/opt/nccl-tests/build/all_reduce_perf"].as_ref().unwrap();
        assert_eq!(linked.missing, ["libmpi.so.40"]);
        assert_eq!(linked.libraries["libnccl.so.2"], "/usr/local/nccl/lib/libnccl.so.2");
    }
}
