//! Tests of everything that a job needs from its hosts together: SSH between them, processes started by
//! `mpirun`, all GPUs in one `all_reduce_perf`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::gate::{gate, slowest};
use super::judge::PairEnded;
use super::member::{LIMIT, Participant, said, skipped, untold};
use super::nccl;
use crate::checks;
use crate::checks::active::{ALL_REDUCE, MPIRUN};
use crate::checks::ssh::MESH;
use crate::events::{CheckResult, CheckStatus, Evidence};
use crate::facts::nvidia::Gpu;
use crate::hostlist::fold;
use crate::inventory::expect::ExpectSoftware;
use crate::secrets::Secrets;
use crate::shell;
use crate::transport::{Script, line_of_ssh};
use crate::words::count;

/// Up to so many hosts each logs in to every other.
const ALL: usize = 16;
/// Seconds for all logins of one host.
const MESH_SECONDS: u64 = 100;
/// Seconds for `mpirun hostname`.
const START_SECONDS: u64 = 90;
/// Seconds for `all_reduce_perf`.
const REDUCE_SECONDS: u64 = 300;
/// Seconds that a run past its time limit may take to end.
pub(super) const GRACE: u64 = 15;
/// Environment that makes NCCL log its version and the network that it uses.
const LOG: [&str; 2] = ["NCCL_DEBUG=INFO", "NCCL_DEBUG_SUBSYS=INIT,ENV,NET"];
/// Lines of a failed run that are shown.
const LINES: usize = 6;
/// Largest size of `all_reduce_perf` in bytes, where the GPUs hold it.
const LARGEST: u64 = 16 << 30;

/// Results by place in the members.
type Results = BTreeMap<usize, CheckResult>;
/// Results of logins from one host to another, by their places.
type Logins = BTreeMap<(usize, usize), PairEnded>;
type Say<'a> = &'a (dyn Fn(&str) + Send + Sync);
/// Names of hosts by place.
type Names<'a> = dyn Fn(usize) -> &'a str + 'a;

pub(super) const NO_MPI: &str = "Open MPI is not installed where `explain software.openmpi` looks";
pub(super) const NO_USER: &str =
    "neither an `ssh_mesh` task nor `expect.software.mpi_user` says who starts jobs";

fn named(status: CheckStatus, check: &str, message: String, evidence: Vec<Evidence>) -> CheckResult {
    let hint = status.is_finding().then(|| checks::hint(check).to_owned());
    CheckResult {
        check: check.to_owned(),
        status,
        message,
        evidence,
        hint,
        because: None,
        acknowledged: None,
    }
}

fn evidence(from: &str, text: &str) -> Vec<Evidence> {
    // mpirun frames what it has to say, and may end it with a NUL.
    let says = |line: &&str| !line.trim_matches(|c: char| c == '-' || c.is_control()).is_empty();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(says).collect();
    let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
    if last.is_empty() {
        return vec![Evidence { from: from.to_owned(), line: "it printed nothing".to_owned() }];
    }
    last.iter().map(|line| Evidence { from: from.to_owned(), line: (*line).to_owned() }).collect()
}

/// Whom host `host` of `hosts` logs in to. Each begins behind itself, so that no sshd gets all at once.
fn partners(hosts: usize, host: usize) -> Vec<usize> {
    let behind = |offset: usize| (host + offset) % hosts;
    if hosts <= ALL {
        return (1..hosts).map(behind).collect();
    }
    std::iter::successors(Some(1), |offset| Some(offset * 2))
        .take_while(|offset| *offset < hosts)
        .map(behind)
        .collect()
}

/// A program in the name of a user.
pub(super) fn as_user(
    seconds: u64,
    user: &str,
    words: impl IntoIterator<Item = String>,
) -> (Script, Duration) {
    let script = Script::new(shell!("shell/rooted.sh", "active/as_user.sh"));
    (script.arg(seconds.to_string()).arg(user.to_owned()).args(words), Duration::from_secs(seconds + GRACE))
}

/// Logs in from each host to others.
pub(super) async fn mesh(members: &[Participant], secrets: &Secrets, say: Say<'_>) -> Results {
    let mut results = Results::new();
    let mut takes_part = Vec::new();
    for (place, member) in members.iter().enumerate() {
        match (member.left_out(MESH), &member.expect.mpi_user) {
            (Some(result), _) => drop(results.insert(place, result)),
            (None, Some(user)) => takes_part.push((place, user.as_str())),
            (None, None) => drop(results.insert(place, skipped(MESH, NO_USER))),
        }
    }
    if let [(place, _)] = takes_part.as_slice() {
        results.insert(*place, skipped(MESH, "there is no other host"));
        return results;
    }
    if !takes_part.is_empty() {
        say(&format!("SSH between {}", count(takes_part.len() as u64, "host")));
    }
    let name = |at: usize| {
        takes_part
            .get(at)
            .and_then(|(place, _)| members.get(*place))
            .map_or("?", |member| member.name.as_str())
    };
    let name = &name;
    let hosts = takes_part.len();
    let tests = takes_part.iter().enumerate().map(|(at, (place, user))| async move {
        let others = partners(hosts, at);
        let Some(member) = members.get(*place) else { return Vec::new() };
        let words = ["sh", "-c", include_str!("mesh.sh"), "sh"].map(str::to_owned);
        let words = words.into_iter().chain(others.iter().map(|other| name(*other).to_owned()));
        let (script, deadline) = as_user(MESH_SECONDS, user, words);
        let text = said(member, script, deadline, LIMIT, secrets).await;
        let ended = |other: usize| match &text {
            Ok(text) => login(text, name(other)),
            Err(reason) => Err(reason.clone()),
        };
        others.into_iter().map(|other| ((at, other), ended(other))).collect()
    });
    let logins: Logins = futures::future::join_all(tests).await.into_iter().flatten().collect();
    let shut = shut(&logins);
    for (at, (place, user)) in takes_part.iter().enumerate() {
        results.insert(*place, reaches(at, hosts, user, (&logins, &shut), name));
    }
    results
}

/// Hosts that nobody gets in to, of more than one who tried.
fn shut(logins: &Logins) -> BTreeSet<usize> {
    let mut tries: BTreeMap<usize, Vec<bool>> = BTreeMap::new();
    for ((_, to), ended) in logins {
        tries.entry(*to).or_default().push(ended.is_ok());
    }
    tries.retain(|_, tries| tries.len() > 1 && !tries.contains(&true));
    tries.into_keys().collect()
}

/// Parses the result of the login to one host from the script's output.
fn login(text: &str, name: &str) -> PairEnded {
    for line in text.lines() {
        let Some((status, said)) =
            line.strip_prefix(name).and_then(|rest| rest.strip_prefix(' ')?.split_once(' '))
        else {
            continue;
        };
        return if status == "0" { Ok(said.to_owned()) } else { Err(said.trim().to_owned()) };
    }
    Err(text.lines().last().map_or("it was not tried before the time ran out", str::trim).to_owned())
}

/// Judges the logins of one host. A host that nobody can log in to is itself reported for that, not the hosts
/// that tried.
fn reaches(
    host: usize,
    hosts: usize,
    user: &str,
    (logins, shut): (&Logins, &BTreeSet<usize>),
    name: &Names<'_>,
) -> CheckResult {
    let own: Vec<(usize, &PairEnded)> =
        logins.range((host, 0)..(host + 1, 0)).map(|((_, to), ended)| (*to, ended)).collect();
    let from = |from: usize, to: usize| format!("ssh {} from {} as {user}", name(to), name(from));
    let mut failed = Vec::new();
    let mut messages = Vec::new();
    let errors = own.iter().filter_map(|(to, ended)| Some((*to, ended.as_ref().err()?)));
    let lost: Vec<(usize, &String)> = errors.filter(|(to, _)| !shut.contains(to)).collect();
    if let Some((_, reason)) = lost.first() {
        messages.push(format!("does not reach {}: {reason}", fold(lost.iter().map(|(to, _)| name(*to)))));
        failed.extend(
            lost.iter().map(|(to, reason)| Evidence { from: from(host, *to), line: (*reason).clone() }),
        );
    }
    if shut.contains(&host) {
        let tries = logins.iter().filter(|((_, to), _)| *to == host);
        let told: Vec<Evidence> = tries
            .filter_map(|((who, to), ended)| {
                Some(Evidence { from: from(*who, *to), line: ended.as_ref().err()?.clone() })
            })
            .collect();
        messages.push(format!("no host reaches it: {}", told.first().map_or("", |first| &first.line)));
        failed.extend(told);
    }
    if !messages.is_empty() {
        failed.truncate(8);
        let result = named(CheckStatus::Fail, MESH, messages.join("; "), failed);
        let refused =
            user == "root" && result.evidence.iter().any(|line| line.line.contains("Permission denied"));
        // Keys of ssh-mesh do not help where sshd takes none of root.
        let hint = "sshd may refuse root: `sshd -T | grep -i permitrootlogin` on the host that is refused. With PermitRootLogin no, name another user in `expect.software.mpi_user` and `users:` of ssh-mesh, or set `PermitRootLogin prohibit-password`; otherwise run `provision apply` with the playbook `ssh-mesh`";
        return CheckResult { hint: if refused { Some(hint.to_owned()) } else { result.hint }, ..result };
    }
    let good = own.iter().filter(|(_, ended)| ended.is_ok()).count();
    let others: Vec<&str> = own.iter().filter(|(to, _)| shut.contains(to)).map(|(to, _)| name(*to)).collect();
    let but = if others.is_empty() {
        String::new()
    } else {
        format!(", not {}, which no host reaches", fold(others))
    };
    named(
        CheckStatus::Pass,
        MESH,
        format!("reaches {good} of {} other hosts as {user}{but}", hosts - 1),
        Vec::new(),
    )
}

/// Open MPI of a host: the declared one, or the first that is there.
pub(super) fn open_mpi(member: &Participant) -> Option<String> {
    let found = &member.software.as_ref()?.openmpi;
    let prefix = match &member.expect.openmpi_prefix {
        Some(declared) => found.keys().find(|prefix| *prefix == declared.trim_end_matches('/'))?,
        None => found.iter().find(|(_, version)| version.is_ok())?.0,
    };
    Some(format!("{prefix}/bin/mpirun"))
}

/// `all_reduce_perf` of a host, by the same rule.
pub(super) fn all_reduce_perf(member: &Participant) -> Option<String> {
    let found = &member.software.as_ref()?.tests;
    let mut programs =
        found.iter().filter(|(_, linked)| linked.as_ref().is_ok_and(|linked| linked.missing.is_empty()));
    match &member.expect.nccl_tests {
        Some(folder) => programs.find(|(program, _)| {
            program.strip_suffix("/all_reduce_perf") == Some(folder.trim_end_matches('/'))
        }),
        None => programs.next(),
    }
    .map(|(program, _)| program.clone())
}

/// Words of `mpirun` for so many processes on each of these hosts.
pub(super) fn mpirun_words(program: &str, network: Option<&str>, hosts: &[&str], each: usize) -> Vec<String> {
    let list: Vec<String> = hosts.iter().map(|host| format!("{host}:{each}")).collect();
    let total = (hosts.len() * each).to_string();
    let map = format!("ppr:{each}:node");
    let mut words: Vec<String> = [
        program,
        "--allow-run-as-root",
        "-np",
        &total,
        "--host",
        &list.join(","),
        "--map-by",
        &map,
        "--bind-to",
        "none",
    ]
    .map(str::to_owned)
    .into();
    for key in ["oob_tcp_if_include", "btl_tcp_if_include"] {
        words.extend(network.iter().flat_map(|network| ["--mca", key, network].map(str::to_owned)));
    }
    words
}

/// Words of `mpirun` for a program of NCCL: MPI only starts it.
pub(super) fn nccl_words() -> impl Iterator<Item = String> {
    let mpi = ["--mca", "pml", "ob1", "--mca", "coll", "^hcoll"].into_iter();
    mpi.chain(LOG.into_iter().flat_map(|variable| ["-x", variable])).map(str::to_owned)
}

/// Reports why mpirun started nothing, where its output says so; without a scheduler it logs in by ssh.
fn why(text: &str) -> String {
    // PRRTE of Open MPI 5 where it has no way to start a process.
    if text.contains("No available launching agents were found") {
        return "; is an ssh client installed there?".to_owned();
    }
    // What ssh says stands before many lines of mpirun.
    line_of_ssh(text).map(|line| format!(": {line}")).unwrap_or_default()
}

/// The verdict on a host without Open MPI: it is missing only where it is declared.
fn without_mpi(id: &str, expect: &ExpectSoftware) -> CheckResult {
    if expect.openmpi.is_some() || expect.openmpi_prefix.is_some() {
        untold(id, NO_MPI)
    } else {
        skipped(id, NO_MPI)
    }
}

/// Starts `hostname` on all hosts from the first of them.
pub(super) async fn mpirun(members: &[Participant], secrets: &Secrets, say: Say<'_>) -> Results {
    let mut results = Results::new();
    let mut ready = Vec::new();
    for (place, member) in members.iter().enumerate() {
        if let Some(result) = member.left_out(MPIRUN) {
            results.insert(place, result);
        } else if member.expect.mpi_user.is_none() {
            results.insert(place, skipped(MPIRUN, NO_USER));
        } else if let Some(program) = open_mpi(member) {
            ready.push((place, member, program));
        } else {
            results.insert(place, without_mpi(MPIRUN, &member.expect));
        }
    }
    let Some((head, first, program)) = ready.first() else { return results };
    let Some(user) = &first.expect.mpi_user else { return results };
    say(&format!("mpirun on {}", count(ready.len() as u64, "host")));
    let names: Vec<&str> = ready.iter().map(|(_, member, _)| member.name.as_str()).collect();
    let mut words = mpirun_words(program, first.expect.mpi_network.as_deref(), &names, 1);
    words.push("hostname".to_owned());
    let (script, deadline) = as_user(START_SECONDS, user, words);
    let text = said(first, script, deadline, LIMIT, secrets).await.unwrap_or_else(|error| error);
    let mut printed: BTreeMap<&str, usize> = BTreeMap::new();
    for line in text.lines() {
        *printed.entry(line.trim()).or_default() += 1;
    }
    let from = format!("mpirun on {} as {user}", first.name);
    let mut expected: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, member, _) in &ready {
        *expected.entry(&member.hostname).or_default() += 1;
    }
    let none = !expected.keys().any(|name| printed.contains_key(name));
    for (place, member, _) in &ready {
        let alike = expected.get(member.hostname.as_str()).copied().unwrap_or_default();
        let result = match printed.get(member.hostname.as_str()) {
            Some(times) if *times == alike => named(
                CheckStatus::Pass,
                MPIRUN,
                format!("one of {} processes that {} started", ready.len(), first.name),
                Vec::new(),
            ),
            Some(times) => {
                let message = format!("{} was printed {times} times, expected {alike}", member.hostname);
                named(CheckStatus::Fail, MPIRUN, message.clone(), evidence(&from, &message))
            }
            // mpirun starts all or none; who is to blame, the logins tell.
            None if none && place != head => {
                skipped(MPIRUN, &format!("mpirun on {} started nothing", first.name))
            }
            None if none => {
                let message =
                    format!("mpirun starts nothing on {}{}", fold(names.iter().copied()), why(&text));
                named(CheckStatus::Fail, MPIRUN, message, evidence(&from, &text))
            }
            None => named(
                CheckStatus::Fail,
                MPIRUN,
                "mpirun started nothing on it".to_owned(),
                evidence(&from, &text),
            ),
        };
        results.insert(*place, result);
    }
    results
}

/// Bytes of the largest size: a power of two of which the GPU holds four.
fn largest_size(gpus: &[Gpu]) -> u64 {
    let memory = gpus.iter().filter_map(|gpu| gpu.memory_mib).min().unwrap_or(0) << 20;
    let mut size = LARGEST;
    while size > memory / 4 && size > 1 << 20 {
        size /= 2;
    }
    size
}

/// Returns the hosts that take part in `all_reduce_perf`: their places, with their GPUs and the program. The
/// results of all others go into `results`.
fn with_gpus<'a>(
    members: &'a [Participant],
    results: &mut Results,
) -> Vec<(usize, &'a Participant, &'a [Gpu], String)> {
    let mut ready = Vec::new();
    for (place, member) in members.iter().enumerate() {
        let told = match (member.left_out(ALL_REDUCE), member.idle_gpus()) {
            (Some(result), _) => result,
            (None, Err(why)) => skipped(ALL_REDUCE, &why),
            (None, Ok(gpus)) => match all_reduce_perf(member) {
                Some(program) => {
                    ready.push((place, member, gpus, program));
                    continue;
                }
                None => untold(ALL_REDUCE, "no `all_reduce_perf` with all its libraries is installed"),
            },
        };
        results.insert(place, told);
    }
    // mpirun starts the same number on each host.
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for (_, _, gpus, _) in &ready {
        *counts.entry(gpus.len()).or_default() += 1;
    }
    let usual = counts.iter().max_by_key(|(_, hosts)| **hosts).map_or(0, |(gpus, _)| *gpus);
    for (place, _, gpus, _) in ready.iter().filter(|(_, _, gpus, _)| gpus.len() != usual) {
        let text = format!("{} GPUs where the others have {usual}", gpus.len());
        results.insert(*place, skipped(ALL_REDUCE, &text));
    }
    ready.retain(|(_, _, gpus, _)| gpus.len() == usual);
    ready
}

/// Runs `all_reduce_perf` over all GPUs that nobody uses; on one host without mpirun.
pub(super) async fn all_reduce(members: &[Participant], secrets: &Secrets, say: Say<'_>) -> Results {
    let mut results = Results::new();
    let ready = with_gpus(members, &mut results);
    let Some((_, first, gpus, program)) = ready.first() else { return results };
    let mut all =
        |result: &CheckResult| results.extend(ready.iter().map(|(place, ..)| (*place, result.clone())));
    let user = first.expect.mpi_user.as_deref().unwrap_or("");
    let mut words = Vec::new();
    let per_process = if ready.len() == 1 {
        words.push("env".to_owned());
        words.extend(LOG.map(str::to_owned));
        gpus.len()
    } else {
        let Some(mpirun) = open_mpi(first).filter(|_| !user.is_empty()) else {
            let why = if user.is_empty() {
                skipped(ALL_REDUCE, NO_USER)
            } else {
                without_mpi(ALL_REDUCE, &first.expect)
            };
            all(&why);
            return results;
        };
        let names: Vec<&str> = ready.iter().map(|(_, member, ..)| member.name.as_str()).collect();
        words.extend(mpirun_words(&mpirun, first.expect.mpi_network.as_deref(), &names, gpus.len()));
        words.extend(nccl_words());
        1
    };
    let size = largest_size(gpus);
    let (size_text, per_process) = (size.to_string(), per_process.to_string());
    let test =
        [program.as_str(), "-b", "1048576", "-e", &size_text, "-f", "2", "-g", &per_process, "-c", "1"];
    words.extend(test.map(str::to_owned));
    say(&format!(
        "all_reduce_perf on {} of {}",
        count((gpus.len() * ready.len()) as u64, "GPU"),
        count(ready.len() as u64, "host")
    ));
    let (script, deadline) = as_user(REDUCE_SECONDS, user, words);
    let from = format!("all_reduce_perf on {}", first.name);
    let gpu = gpus.first().map_or("", |gpu| gpu.name.as_str());
    let fabric = slowest(ready.iter().map(|(_, member, ..)| member.fabric));
    let (declared, gdr) = (first.thresholds.all_reduce, first.gdr.unwrap_or(false));
    let gate = gate(gpu, gpus.len(), ready.len(), fabric, declared, gdr);
    let result = match said(first, script, deadline, LIMIT * ready.len(), secrets).await {
        Err(reason) => named(CheckStatus::Fail, ALL_REDUCE, reason.clone(), evidence(&from, &reason)),
        Ok(text) => reduced(&text, &gate, &from, nccl_of(first, program)),
    };
    all(&result);
    results
}

/// The NCCL that the loader finds for a program.
fn nccl_of<'a>(member: &'a Participant, program: &str) -> Option<&'a str> {
    let linked = member.software.as_ref()?.tests.get(program)?.as_ref().ok()?;
    linked.libraries.iter().find(|(name, _)| name.starts_with("libnccl.so")).map(|(_, file)| file.as_str())
}

/// Judges what `all_reduce_perf` printed; `library` is the NCCL that the loader finds for it.
fn reduced(text: &str, gate: &nccl::Gate, from: &str, library: Option<&str>) -> CheckResult {
    let says = |line: &String| Evidence { from: from.to_owned(), line: line.clone() };
    let run = match nccl::parse(text) {
        Ok(run) => run,
        Err(failed) => {
            let told = failed.lines.iter().take(8).map(says);
            let rest = evidence(from, text);
            let rest = rest.into_iter().filter(|seen| !failed.lines.contains(&seen.line));
            let told: Vec<Evidence> = told.chain(rest).collect();
            return nccl::explained(named(CheckStatus::Fail, ALL_REDUCE, failed.message, told));
        }
    };
    let judged = nccl::judge(&run, gate);
    let told: BTreeSet<&String> = judged.fails.iter().chain(&judged.warns).collect();
    let mut lines: Vec<Evidence> = told.into_iter().take(8).map(says).collect();
    let version = run.nccl.as_deref().unwrap_or("of an unknown version");
    let place = library.map(|file| format!(" from {file}")).unwrap_or_default();
    lines.push(Evidence { from: from.to_owned(), line: format!("NCCL {version}{place}") });
    match (judged.fails.first(), judged.warns.first()) {
        (Some(first), _) => nccl::explained(named(CheckStatus::Fail, ALL_REDUCE, first.clone(), lines)),
        (None, Some(first)) => named(CheckStatus::Warn, ALL_REDUCE, first.clone(), lines),
        (None, None) => {
            let size = run.largest().map_or(0, |row| row.size);
            named(CheckStatus::Pass, ALL_REDUCE, speed(run.ranks, run.busbw(), size), lines)
        }
    }
}

/// Describes the speed of all GPUs. nccl-tests reports a bus bandwidth of 0 for one GPU: nothing goes over a
/// bus.
fn speed(gpus: usize, busbw: Option<f64>, size: u64) -> String {
    if gpus == 1 {
        return format!("no wrong value up to {size} bytes; one GPU alone has no bandwidth to measure");
    }
    format!("{:.1} GB/s at {size} bytes on {gpus} GPUs, no wrong value", busbw.unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_gpu_is_not_slow() {
        assert_eq!(
            speed(8, Some(479.96), 1 << 34),
            "480.0 GB/s at 17179869184 bytes on 8 GPUs, no wrong value"
        );
        assert!(!speed(1, Some(0.0), 1 << 34).contains("GB/s"));
    }

    #[test]
    fn mpirun_says_why() {
        // Open MPI 5.0.7, one host by a name that it does not have itself; then without an ssh client.
        let name = "ssh: Could not resolve hostname box: Temporary failure in name resolution\r\n----\n\
            PRTE has lost communication with a remote daemon.\n\n  HNP daemon   : [prterun-vm-6078@0,0] on node vm\n";
        assert_eq!(why(name), ": ssh: Could not resolve hostname box: Temporary failure in name resolution");
        assert_eq!(
            why("mpi@n1: Permission denied (publickey).\nORTE"),
            ": mpi@n1: Permission denied (publickey)."
        );
        assert_eq!(why("No available launching agents were found.\n"), "; is an ssh client installed there?");
        assert_eq!(why("There are not enough slots\n"), "");
    }

    /// A site with `ssh-mesh` alone runs no job of MPI.
    #[test]
    fn open_mpi_is_missed_only_where_it_is_declared() {
        let told = |expect: ExpectSoftware| without_mpi(MPIRUN, &expect).status;
        let declared = || Some("5.0.11".to_owned());
        assert_eq!(told(ExpectSoftware::default()), CheckStatus::Skip);
        assert_eq!(
            told(ExpectSoftware { mpi_user: Some("mpi".to_owned()), ..ExpectSoftware::default() }),
            CheckStatus::Skip
        );
        assert_eq!(
            told(ExpectSoftware { openmpi: declared(), ..ExpectSoftware::default() }),
            CheckStatus::Unknown
        );
        let prefix = Some("/opt/openmpi".to_owned());
        assert_eq!(
            told(ExpectSoftware { openmpi_prefix: prefix, ..ExpectSoftware::default() }),
            CheckStatus::Unknown
        );
    }

    #[test]
    fn every_host_is_asked_by_others() {
        for hosts in [2, 3, 16, 17, 100, 1000] {
            let mut asked = vec![0; hosts];
            for host in 0..hosts {
                let others = partners(hosts, host);
                assert!(!others.contains(&host) && others.len() <= ALL);
                let distinct: BTreeSet<&usize> = others.iter().collect();
                assert_eq!(distinct.len(), others.len());
                for other in others {
                    asked[other] += 1;
                }
            }
            assert!(asked.iter().all(|times| *times == asked[0] && *times > 0), "{asked:?}");
        }
        assert_eq!(partners(4, 2), [3, 0, 1]);
    }

    /// Logins between four hosts of which these fail.
    fn logins(failed: impl Fn(usize, usize) -> bool) -> Vec<CheckResult> {
        let name = |host: usize| ["gpu0", "gpu1", "gpu2", "gpu3"][host];
        let mut all = Logins::new();
        for from in 0..4 {
            for to in partners(4, from) {
                let ended = if failed(from, to) {
                    Err("Host key verification failed.".to_owned())
                } else {
                    Ok(name(to).to_owned())
                };
                all.insert((from, to), ended);
            }
        }
        (0..4).map(|host| reaches(host, 4, "mpi", (&all, &shut(&all)), &name)).collect()
    }

    #[test]
    fn the_host_is_named_that_none_reaches_or_that_reaches_none() {
        use CheckStatus::{Fail, Pass};
        let status = |results: &[CheckResult]| -> Vec<CheckStatus> {
            results.iter().map(|result| result.status).collect()
        };
        let well = logins(|_, _| false);
        assert_eq!(status(&well), [Pass; 4]);
        assert_eq!(well[0].message, "reaches 3 of 3 other hosts as mpi");
        let shut = logins(|_, to| to == 2);
        assert_eq!(status(&shut), [Pass, Pass, Fail, Pass]);
        assert_eq!(shut[2].message, "no host reaches it: Host key verification failed.");
        assert!(shut[0].message.ends_with("not gpu2, which no host reaches"), "{}", shut[0].message);
        let lost = logins(|from, _| from == 1);
        assert_eq!(status(&lost), [Pass, Fail, Pass, Pass]);
        assert_eq!(lost[1].message, "does not reach gpu[0,2-3]: Host key verification failed.");
        assert!(
            lost[1].hint.is_some() && lost[1].evidence[0].from.starts_with("ssh gpu0 from gpu1 as mpi"),
            "{lost:?}"
        );
        assert_eq!(status(&logins(|from, to| from == 3 && to == 0)), [Pass, Pass, Pass, Fail]);
    }

    /// The frame of Open MPI 5.0.7 ended with a NUL where it found no ssh.
    #[test]
    fn frames_are_no_evidence() {
        let text = "-----\nNo available launching agents were found.\n-----\n\u{0}\n";
        let lines: Vec<String> = evidence("mpirun", text).into_iter().map(|it| it.line).collect();
        assert_eq!(lines, ["No available launching agents were found."]);
    }

    #[test]
    fn what_the_script_said_of_a_host() {
        let text = "gpu1 0 gpu1.site\ngpu10 255 Host key verification failed.\n";
        assert_eq!(login(text, "gpu1"), Ok("gpu1.site".to_owned()));
        assert_eq!(login(text, "gpu10"), Err("Host key verification failed.".to_owned()));
        assert_eq!(
            login("su: user mpi does not exist\n", "gpu1"),
            Err("su: user mpi does not exist".to_owned())
        );
        assert_eq!(login("", "gpu1"), Err("it was not tried before the time ran out".to_owned()));
    }

    #[test]
    fn words_of_mpirun() {
        let words = mpirun_words("/opt/openmpi/bin/mpirun", Some("10.0.0.0/24"), &["gpu0", "gpu1"], 8);
        assert_eq!(
            words.join(" "),
            "/opt/openmpi/bin/mpirun --allow-run-as-root -np 16 --host gpu0:8,gpu1:8 --map-by ppr:8:node --bind-to none \
             --mca oob_tcp_if_include 10.0.0.0/24 --mca btl_tcp_if_include 10.0.0.0/24"
        );
    }

    #[test]
    fn sizes_fit_the_memory() {
        let gpus = |mib| [Gpu { memory_mib: Some(mib), ..Gpu::default() }];
        assert_eq!(largest_size(&gpus(143_771)), 16 << 30);
        assert_eq!(largest_size(&gpus(81_559)), 16 << 30);
        assert_eq!(largest_size(&gpus(40_960)), 8 << 30);
        assert_eq!(largest_size(&gpus(0)), 1 << 20);
    }

    #[test]
    fn a_run_is_judged() {
        let gate = gate("NVIDIA H200", 8, 1, None, None, false);
        let bad = reduced(
            "gpu0: Test NCCL failure common.cu:958 'internal error'\n",
            &gate,
            "all_reduce_perf on gpu0",
            None,
        );
        assert_eq!(bad.status, CheckStatus::Fail);
        assert!(bad.message.contains("Test NCCL failure"), "{}", bad.message);
        let run = include_str!("../../tests/cases/active/nccl-2.19-h200.txt");
        let ranks = nccl::parse(run).unwrap().ranks;
        let good = reduced(
            run,
            &nccl::Gate { ranks, busbw: None, gdr: false, between_hosts: false },
            "all_reduce_perf on gpu0",
            Some("/usr/local/nccl/lib/libnccl.so.2"),
        );
        assert_eq!(good.status, CheckStatus::Pass, "{good:?}");
        assert_eq!(good.evidence[0].line, "NCCL 2.30.7 from /usr/local/nccl/lib/libnccl.so.2");
    }

    #[test]
    fn what_nccl_warned_of_is_evidence() {
        let gate = gate("NVIDIA H200", 8, 1, None, None, false);
        let text = format!(
            "gpu0:9:9 [0] init.cc:1 NCCL WARN Cuda failure 'out of memory'\ngpu0: Test NCCL failure common.cu:958 'unhandled cuda error'\n{}",
            " .. gpu0 pid 91: Test failure common.cu:1100\n".repeat(8)
        );
        let bad = reduced(&text, &gate, "all_reduce_perf on gpu0", None);
        assert!(bad.evidence.iter().any(|seen| seen.line == "Cuda failure 'out of memory'"), "{bad:?}");
    }
}
