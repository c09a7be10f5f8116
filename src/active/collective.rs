//! `all_reduce` over groups of hosts that somebody else chooses.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::fleet::Fleet;
use super::gate::{gate, slowest};
use super::jobs::{GRACE, NO_MPI, NO_USER, all_reduce_perf, as_user, mpirun_words, nccl_words, open_mpi};
use super::member::{LIMIT, Participant, said};
use super::nccl::{self, Busbw, PASSES};
use crate::checks::active::ALL_REDUCE;
use crate::secrets::Secrets;
use crate::transport::line_of_ssh;

/// Seconds of one run; what is not over then hangs.
const SECONDS: u64 = 120;
/// The least and the largest size in bytes, and the factor between two: 8 B to 1 GiB in ten steps. Latency is that of
/// the first, bandwidth that of the last.
const SIZES: [&str; 3] = ["8", "1073741824", "8"];
/// Bytes of memory of a GPU that this takes: a buffer to send and one to receive, and what they are compared with.
const MEMORY_MIB: u64 = 4096;

/// Seconds for the compiler of a host.
const BUILD_SECONDS: u64 = 60;
/// The program that stands for NCCL where MPI alone is there.
const SOURCE: &str = include_str!("allreduce.c");

/// The means of a reduction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum By {
    /// `all_reduce_perf` over GPUs.
    #[default]
    Nccl,
    /// MPI's allreduce over the memory of the hosts, by a program of ours: no host has what NCCL needs.
    Mpi,
}

/// Hosts that can reduce together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reducers {
    /// Their means.
    pub by: By,
    /// The program of each, by the host's place in the fleet.
    pub programs: BTreeMap<usize, String>,
    /// Processes of each: its GPUs, or one.
    pub each: usize,
    /// The reasons why others take no part.
    pub without: BTreeMap<usize, String>,
    /// The reasons why GPUs are left out where MPI stands for NCCL.
    pub passed_over: BTreeMap<usize, String>,
    /// GB/s that are known of such GPUs or declared for them, who says so, and whether that is the inventory.
    pub floor: Option<(f64, String, bool)>,
}

/// The end of one run.
#[derive(Debug, Clone, PartialEq)]
pub enum Reduced {
    /// It came to its end.
    Figures {
        /// GB/s of the bus at the largest size.
        busbw: f64,
        /// Microseconds of the least size.
        latency_us: Option<f64>,
    },
    /// It ended with a mistake, or with wrong values.
    Failed(String),
    /// It was ended since its time was over.
    Hung,
}

impl Reducers {
    /// Takes the hosts that have what most of them have: so many GPUs, and the program in the same place, since mpirun
    /// starts one command on all.
    fn choose(&mut self, ready: BTreeMap<usize, (usize, String)>) {
        let mut counts: BTreeMap<&(usize, String), usize> = BTreeMap::new();
        for kind in ready.values() {
            *counts.entry(kind).or_default() += 1;
        }
        let usual = counts.into_iter().max_by_key(|(_, hosts)| *hosts).map(|(kind, _)| kind.clone());
        let Some((each, program)) = usual else { return };
        for (place, (own, path)) in ready {
            if own != each {
                self.without.insert(place, format!("it has {own} GPUs where the others have {each}"));
            } else if path != program {
                self.without
                    .insert(place, format!("its program is {path} where that of the others is {program}"));
            } else {
                self.programs.insert(place, path);
            }
        }
        self.each = each;
    }
}

/// Seconds of a run at most.
pub fn reduce_seconds() -> u64 {
    SECONDS + GRACE
}

impl Fleet {
    /// Finds the hosts that can reduce together. With NCCL on fewer than two, MPI's allreduce stands for it, and each
    /// host builds it.
    pub async fn reducers(&self, free: &BTreeSet<usize>) -> Reducers {
        let mut by_nccl = self.by_nccl(free);
        if by_nccl.programs.len() > 1 {
            return by_nccl;
        }
        let mut by_mpi = Reducers { by: By::Mpi, each: 1, ..Reducers::default() };
        let mut ready = BTreeMap::new();
        let built = free.iter().filter_map(|place| {
            let member = self.members.get(*place)?;
            Some(async move { (*place, built(member, &self.secrets).await) })
        });
        for (place, program) in futures::future::join_all(built).await {
            match program {
                Ok(program) => drop(ready.insert(place, (1, program))),
                Err(why) => drop(by_mpi.without.insert(place, why)),
            }
        }
        by_mpi.choose(ready);
        if by_mpi.programs.len() > 1 {
            let alone = "no other host can do it";
            let alone = by_nccl.programs.into_keys().map(|place| (place, alone.to_owned()));
            let why = by_nccl.without.into_iter().chain(alone);
            by_mpi.passed_over = why.filter(|(place, _)| self.has_gpus(*place)).collect();
            return by_mpi;
        }
        for (place, why) in by_mpi.without {
            by_nccl
                .without
                .entry(place)
                .and_modify(|own| crate::put!(own, "; and by MPI: {why}"))
                .or_insert(why);
        }
        by_nccl
    }

    /// Whether a host has GPUs of which something is to be said.
    fn has_gpus(&self, place: usize) -> bool {
        let gpus = self.members.get(place).map(|member| &member.gpus);
        gpus.is_some_and(|gpus| gpus.as_ref().is_ok_and(|gpus| !gpus.is_empty()))
    }

    /// Finds the hosts that can reduce by NCCL: with free GPUs, as many as most of them, `all_reduce_perf` and Open MPI.
    fn by_nccl(&self, free: &BTreeSet<usize>) -> Reducers {
        let mut reducers = Reducers::default();
        let mut ready = BTreeMap::new();
        for (place, member) in self.members.iter().enumerate().filter(|(place, _)| free.contains(place)) {
            match program(member) {
                Ok(found) => drop(ready.insert(place, found)),
                Err(why) => drop(reducers.without.insert(place, why)),
            }
        }
        reducers.choose(ready);
        reducers.floor = self.floor(&reducers);
        reducers
    }

    /// GB/s that runs over several hosts must reach.
    fn floor(&self, reducers: &Reducers) -> Option<(f64, String, bool)> {
        let members: Vec<&Participant> =
            reducers.programs.keys().filter_map(|place| self.members.get(*place)).collect();
        let first = members.first()?;
        let gpu = first.gpus.as_ref().ok()?.first()?.name.as_str();
        let fabric = slowest(members.iter().map(|member| member.fabric));
        let declared = members.iter().filter_map(|member| member.thresholds.all_reduce).min();
        match gate(gpu, reducers.each, members.len(), fabric, declared, false).busbw? {
            Busbw::Expected(busbw) => {
                let who =
                    if declared.is_some() { "the inventory expects" } else { "are expected of such hosts" };
                Some((
                    busbw * PASSES,
                    format!("{:.0} % of the {busbw:.0} GB/s that {who}", PASSES * 100.0),
                    declared.is_some(),
                ))
            }
            Busbw::Floor(busbw) => Some((busbw, "which such hosts are known to exceed".to_owned(), false)),
        }
    }

    /// Reduces over all GPUs of a group, from its first host.
    pub async fn reduce(&self, reducers: &Reducers, group: &[usize]) -> Reduced {
        let members: Vec<&Participant> = group.iter().filter_map(|place| self.members.get(*place)).collect();
        let program = group.first().and_then(|place| reducers.programs.get(place));
        let (Some(first), Some(program)) = (members.first(), program) else {
            return Reduced::Failed("no such host".to_owned());
        };
        let (Some(mpirun), Some(user)) = (open_mpi(first), first.expect.mpi_user.as_deref()) else {
            return Reduced::Failed(NO_USER.to_owned());
        };
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        let mut words = mpirun_words(&mpirun, first.expect.mpi_network.as_deref(), &names, reducers.each);
        match reducers.by {
            By::Nccl => {
                words.extend(nccl_words());
                let [least, most, factor] = SIZES;
                let test = [program.as_str(), "-b", least, "-e", most, "-f", factor, "-g", "1", "-c", "1"];
                words.extend(test.map(str::to_owned));
            }
            By::Mpi => words.push(program.clone()),
        }
        let (script, deadline) = as_user(SECONDS, user, words);
        let began = Instant::now();
        let ended = said(first, script, deadline, LIMIT * members.len(), &self.secrets).await;
        if began.elapsed() >= Duration::from_secs(SECONDS) {
            return Reduced::Hung;
        }
        let text = match ended {
            Ok(text) => text,
            Err(reason) => return Reduced::Failed(reason),
        };
        if reducers.by == By::Mpi {
            return of_mpi(&text, members.len());
        }
        let run = match nccl::parse(&text) {
            Ok(run) => run,
            Err(failed) => return Reduced::Failed(failed.message),
        };
        // The speed is judged by who chose the groups.
        let is_direct = first.gdr.unwrap_or(false);
        let gate = nccl::Gate {
            ranks: reducers.each * members.len(),
            busbw: None,
            gdr: is_direct,
            between_hosts: true,
        };
        if let Some(first) = nccl::judge(&run, &gate).fails.into_iter().next() {
            return Reduced::Failed(first);
        }
        let latency_us = run.rows.iter().min_by_key(|row| row.size).map(|row| row.out_of_place.time_us);
        run.busbw().map_or_else(
            || Reduced::Failed("it printed no bandwidth".to_owned()),
            |busbw| Reduced::Figures { busbw, latency_us },
        )
    }
}

/// Builds MPI's allreduce on a host, as the user who starts jobs; the program.
async fn built(member: &Participant, secrets: &Secrets) -> Result<String, String> {
    if let Some(left_out) = member.left_out(ALL_REDUCE) {
        return Err(format!("{ALL_REDUCE}: {}", left_out.message));
    }
    let mpirun = open_mpi(member).ok_or(NO_MPI)?;
    let user = member.expect.mpi_user.as_deref().ok_or(NO_USER)?;
    let compiler =
        mpirun.strip_suffix("mpirun").map_or_else(|| "mpicc".to_owned(), |bin| format!("{bin}mpicc"));
    let words =
        ["sh", "-c", include_str!("allreduce.sh"), "sh", compiler.as_str(), SOURCE].map(str::to_owned);
    let (script, deadline) = as_user(BUILD_SECONDS, user, words);
    let text = said(member, script, deadline, LIMIT, secrets).await?;
    let program = text.lines().rev().find_map(|line| line.strip_prefix("built "));
    let last = || text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    program.map(str::to_owned).ok_or_else(|| format!("MPI's allreduce is not built: {}", last()))
}

/// Reads what MPI's allreduce printed on so many hosts.
fn of_mpi(text: &str, hosts: usize) -> Reduced {
    let (mut first, mut last, mut wrong) = (None, None, None);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["reduced", bytes, seconds, ranks] => {
                let (Ok(bytes), Ok(seconds)) = (bytes.parse::<f64>(), seconds.parse::<f64>()) else {
                    continue;
                };
                if ranks.parse() != Ok(hosts) {
                    return Reduced::Failed(format!("{ranks} processes, expected {hosts}"));
                }
                first.get_or_insert(seconds);
                last = Some((bytes, seconds));
            }
            ["wrong", number] => wrong = number.parse::<u64>().ok(),
            _ => {}
        }
    }
    let said =
        || line_of_ssh(text).or_else(|| text.lines().find(|line| !line.trim_matches('-').trim().is_empty()));
    match (last, wrong) {
        (_, Some(wrong)) if wrong > 0 => Reduced::Failed(format!("{wrong} wrong values")),
        (Some((bytes, seconds)), Some(_)) if seconds > 0.0 => {
            #[expect(clippy::cast_precision_loss, reason = "as many hosts as a float counts exactly")]
            let hosts = hosts as f64;
            // As nccl-tests counts it: each byte goes out and comes in, but for a host's own share.
            let busbw = bytes / seconds / 1e9 * 2.0 * (hosts - 1.0) / hosts;
            Reduced::Figures { busbw, latency_us: first.map(|seconds: f64| seconds * 1e6) }
        }
        (Some(_), _) => Reduced::Failed("it did not come to its end".to_owned()),
        (None, _) => Reduced::Failed(said().map_or("it printed nothing", str::trim).to_owned()),
    }
}

/// GPUs of a host and its program, or why it takes no part.
fn program(member: &Participant) -> Result<(usize, String), String> {
    if let Some(left_out) = member.left_out(ALL_REDUCE) {
        return Err(format!("{ALL_REDUCE}: {}", left_out.message));
    }
    let gpus = member.idle_gpus()?;
    if gpus.iter().any(|gpu| gpu.memory_mib.is_some_and(|memory| memory < MEMORY_MIB)) {
        return Err(format!("a GPU of it has less than {MEMORY_MIB} MiB"));
    }
    let program =
        all_reduce_perf(member).ok_or("no `all_reduce_perf` with all its libraries is installed")?;
    open_mpi(member).ok_or(NO_MPI)?;
    member.expect.mpi_user.as_ref().ok_or(NO_USER)?;
    Ok((gpus.len(), program))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Open MPI 4.1.4 of Debian 12, three processes on one host (2026-12-01).
    const MPI: &str = include_str!("../../tests/cases/active/mpi-allreduce.txt");

    #[test]
    fn what_stands_for_nccl_is_read() {
        let Reduced::Figures { busbw, latency_us } = of_mpi(MPI, 3) else { panic!("{:?}", of_mpi(MPI, 3)) };
        assert!(busbw > 0.1 && latency_us.is_some_and(|us| us > 0.1), "{busbw} {latency_us:?}");
        assert_eq!(of_mpi(MPI, 4), Reduced::Failed("3 processes, expected 4".to_owned()));
        let wrong = MPI.replace("wrong 0", "wrong 7");
        assert_eq!(of_mpi(&wrong, 3), Reduced::Failed("7 wrong values".to_owned()));
        let cut = MPI.replace("wrong 0\n", "");
        assert!(matches!(of_mpi(&cut, 3), Reduced::Failed(_)), "who did not come to the end has no figure");
        assert_eq!(of_mpi("", 3), Reduced::Failed("it printed nothing".to_owned()));
        let ssh = "mpi@n1: Permission denied (publickey).\nORTE was unable to reliably start\n";
        assert_eq!(of_mpi(ssh, 3), Reduced::Failed("mpi@n1: Permission denied (publickey).".to_owned()));
    }

    #[test]
    fn hosts_reduce_that_have_what_most_of_them_have() {
        let program = |path: &str| path.to_owned();
        let ready = [
            (0, (8, program("/opt/t"))),
            (1, (8, program("/opt/t"))),
            (2, (7, program("/opt/t"))),
            (3, (8, program("/usr/t"))),
        ];
        let mut reducers = Reducers::default();
        reducers.choose(ready.into());
        assert_eq!(reducers.programs.keys().copied().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(reducers.each, 8);
        assert_eq!(reducers.without[&2], "it has 7 GPUs where the others have 8");
        assert_eq!(reducers.without[&3], "its program is /usr/t where that of the others is /opt/t");
    }
}
