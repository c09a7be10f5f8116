//! NCCL, Open MPI, nccl-tests and perftest.

use super::shared::values::fits;
use super::shared::verdict::{Checked, Findings, Verdict};
use super::{Check, Needs, Subject};
use crate::events::CheckStatus::{Fail, Warn};
use crate::facts::GapKind;
use crate::facts::software::{Linked, Software, finds_nccl, finds_openmpi, finds_tests};
use crate::inventory::expect::ExpectSoftware;

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: "software.nccl",
        title: "NCCL is where it should be, in the declared version",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.software.nccl` and `expect.software.nccl_prefix`; skipped when neither is declared",
        why: "With another NCCL on one host a job ends in its first collective, or is slow.",
        hint: "apply the playbook `nccl` with this version and prefix",
        source: "NVIDIA/nccl, src/nccl.h.in",
        run: nccl,
    },
    Check {
        id: "software.nccl_copies",
        title: "all copies of NCCL are of one version",
        needs: Needs::Idle,
        severity: Warn,
        expects: "one version of libnccl.so.2 below /opt, /usr/local and /usr",
        why: "Which copy a job gets depends on LD_LIBRARY_PATH, which differs between shells, Slurm and MPI.",
        hint: "remove the copies that nothing needs; containers and Python wheels bring their own",
        source: "ld.so(8)",
        run: nccl_copies,
    },
    Check {
        id: "software.openmpi",
        title: "Open MPI is where it should be, in the declared version",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`expect.software.openmpi` and `expect.software.openmpi_prefix`; skipped when neither is declared",
        why: "mpirun starts its daemon on every host by its path: with another prefix or version it does not start.",
        hint: "apply the playbook `openmpi` with this version and prefix",
        source: "mpirun(1)",
        run: openmpi,
    },
    Check {
        id: "software.nccl_tests",
        title: "the programs of nccl-tests are built with MPI and load the right NCCL and MPI",
        needs: Needs::Idle,
        severity: Fail,
        expects: "`all_reduce_perf` in `expect.software.nccl_tests`, and each one found below /opt and /usr/local: no library missing, libnccl and libmpi among them, from where their build took them; `expect.software.nccl_prefix` and `expect.software.openmpi_prefix` of the inventory are stronger than that, those of tasks weaker. The loader is asked in a login of `expect.software.mpi_user`, else of the user of the connection",
        why: "Without MPI each process runs alone, and shows the bandwidth of NVLink instead of the network's. With another NCCL than the installed one they test the wrong library, or do not start.",
        hint: "build them with MPI=1, MPI_HOME and NCCL_HOME: the playbook `nccl-tests`. Where another copy wins: `library_path` (the playbooks `nccl` and `openmpi` with `loader: true`), and LD_LIBRARY_PATH in the login's profile",
        source: "NVIDIA/nccl-tests, README.md; ldd(1)",
        run: nccl_tests,
    },
    Check {
        id: "software.half_done",
        title: "no package is half-installed",
        needs: Needs::Idle,
        severity: Fail,
        expects: "each package of dpkg is installed to its end, and of rpm there is one of each, kernels aside; skipped while a program changes packages",
        why: "A script of the package failed, or its transaction was cut: each later change of packages ends with it, and it may not work.",
        hint: "`dpkg --configure -a` on the host says why; a DKMS module has its log below /var/lib/dkms. With rpm: `dnf check --duplicates`, then `dnf remove --duplicates`",
        source: "dpkg-query(1), db:Status-Status; dnf(8), check",
        run: half_done,
    },
    Check {
        id: "software.perftest",
        title: "the perftest tools are installed, with CUDA support as declared",
        needs: Needs::Idle,
        severity: Warn,
        expects: "`expect.software.perftest_cuda`; skipped when it is not declared",
        why: "Without CUDA ib_write_bw measures host memory only, and nobody sees a slow path to the GPUs.",
        hint: "install the package perftest; where `expect.software.perftest_cuda` asks for tests from GPU memory, build it with CUDA_H_PATH=/usr/local/cuda/include/cuda.h",
        source: "linux-rdma/perftest, README",
        run: perftest,
    },
];

fn software<'a>(subject: &Subject<'a>) -> Result<&'a Software, Verdict> {
    subject.software().map_err(|gap| Verdict::gap(&gap, None))
}

fn expect(subject: &Subject<'_>) -> ExpectSoftware {
    subject.expect.software.clone().unwrap_or_default()
}

/// Holds versions by prefix against what is declared.
fn declared(
    found: &[(String, String)],
    version: Option<&str>,
    prefix: Option<&str>,
    (what, file): (&str, &str),
    is_looked_at: fn(&str) -> bool,
) -> Checked {
    if version.is_none() && prefix.is_none() {
        return Err(Verdict::Skip(format!("neither a task nor expect.software declares {what}")));
    }
    let list: Vec<String> = found.iter().map(|(prefix, version)| format!("{prefix} {version}")).collect();
    let list = if list.is_empty() { "nothing found".to_owned() } else { list.join(", ") };
    if let Some(prefix) = prefix {
        let prefix = prefix.trim_end_matches('/');
        let from = format!("{prefix}/{file}");
        return Ok(match found.iter().find(|(seen, _)| seen == prefix) {
            Some((_, seen)) if version.is_none_or(|wanted| fits(seen, wanted)) => {
                Verdict::Pass(format!("{seen} in {prefix}"))
            }
            Some((_, seen)) => {
                let wanted = version.unwrap_or_default();
                Verdict::finding(format!("{what} {seen} in {prefix}, expected {wanted}"), &from, seen)
            }
            None if !is_looked_at(prefix) => {
                Verdict::unknown(format!("{prefix} is not one of the places that are looked at"), &from, list)
            }
            None => Verdict::finding(format!("no {what} in {prefix}"), &from, list),
        });
    }
    let wanted = version.unwrap_or_default();
    match found.iter().find(|(_, seen)| fits(seen, wanted)) {
        Some((prefix, seen)) => Ok(Verdict::Pass(format!("{seen} in {prefix}"))),
        None => Ok(Verdict::finding(format!("no {what} {wanted}"), file, list)),
    }
}

fn nccl(subject: &Subject<'_>) -> Checked {
    let expect = expect(subject);
    let found: Vec<(String, String)> = match (&expect.nccl, &expect.nccl_prefix) {
        (None, None) => Vec::new(),
        _ => subject.seen(Ok(&software(subject)?.files), None)?.nccl.clone().into_iter().collect(),
    };
    let (version, prefix) = (expect.nccl.as_deref(), expect.nccl_prefix.as_deref());
    declared(&found, version, prefix, ("NCCL", "include/nccl.h"), finds_nccl)
}

fn nccl_copies(subject: &Subject<'_>) -> Checked {
    let files = subject.seen(Ok(&software(subject)?.files), None)?;
    let versions: Vec<(&String, &str)> = files
        .libraries
        .iter()
        .filter_map(|(library, file)| Some((library, file.rsplit_once("libnccl.so.")?.1)))
        .collect();
    let Some((_, first)) = versions.first() else {
        return Err(Verdict::Skip("no NCCL below /opt and /usr".to_owned()));
    };
    let mut findings = Findings::default();
    if versions.iter().any(|(_, version)| version != first) {
        for (library, version) in &versions {
            findings.wrong(library, *version, "readlink -f", format!("{library} {version}"));
        }
    }
    Ok(findings.verdict(*first))
}

fn openmpi(subject: &Subject<'_>) -> Checked {
    let expect = expect(subject);
    let (version, prefix) = (expect.openmpi.as_deref(), expect.openmpi_prefix.as_deref());
    let mut found = Vec::new();
    if version.is_some() || prefix.is_some() {
        for (place, seen) in &software(subject)?.openmpi {
            match seen {
                Ok(seen) => found.push((place.clone(), seen.clone())),
                Err(gap) if prefix.is_some_and(|prefix| prefix.trim_end_matches('/') == place) => {
                    return Err(Verdict::gap(gap, None));
                }
                Err(_) => {}
            }
        }
    }
    declared(&found, version, prefix, ("Open MPI", "bin/mpirun"), finds_openmpi)
}

fn nccl_tests(subject: &Subject<'_>) -> Checked {
    let tests = &software(subject)?.tests;
    let directory = expect(subject).nccl_tests;
    let mut findings = Findings::default();
    if let Some(directory) = &directory {
        let directory = directory.trim_end_matches('/');
        let program = format!("{directory}/all_reduce_perf");
        if !tests.contains_key(&program) {
            if !finds_tests(directory) {
                let text = format!("{directory} is not one of the places that are looked at");
                return Err(Verdict::unknown(text, &program, "not looked at"));
            }
            findings.wrong(directory, "no all_reduce_perf", &program, "no such file");
        }
    } else if tests.is_empty() {
        return Err(Verdict::Skip("there are no nccl-tests, and none are declared".to_owned()));
    }
    for (program, linked) in tests {
        let from = format!("ldd {program}");
        match linked {
            Err(gap) => findings.unknown(program, gap.reason.clone(), from),
            Ok(linked) => {
                for library in &linked.missing {
                    findings.wrong(
                        program,
                        format!("{library} is not found"),
                        &from,
                        format!("{library} => not found"),
                    );
                }
                let has = |stem: &str| {
                    linked.libraries.keys().chain(&linked.missing).any(|name| name.starts_with(stem))
                };
                if !has("libmpi.so") {
                    findings.wrong(program, "built without MPI", &from, "no libmpi.so");
                }
                for (stem, home) in wanted(subject, program) {
                    if let Some((name, file)) = elsewhere(linked, stem, &home) {
                        let login = if linked.user.is_empty() {
                            String::new()
                        } else {
                            format!(" as {}", linked.user)
                        };
                        let text = format!("{name} is {file}{login}, not the one in {}", home.0);
                        findings.wrong(program, text, &from, format!("{name} => {file}"));
                    }
                }
            }
        }
    }
    let found: Vec<String> =
        tests.iter().map(|(program, linked)| with_nccl(program, linked.as_ref().ok())).collect();
    Ok(findings.verdict(found.join(", ")))
}

/// A program and the NCCL that the loader finds for it.
fn with_nccl(program: &str, linked: Option<&Linked>) -> String {
    let nccl =
        linked.and_then(|linked| linked.libraries.iter().find(|(name, _)| name.starts_with("libnccl.so")));
    nccl.map_or_else(|| program.to_owned(), |(_, file)| format!("{program} with {file}"))
}

/// Returns the prefixes that libnccl and libmpi of a program should come from: the one that the inventory
/// declares, else that of its build, else one that a task made. Each is given as it is named and as it really
/// is.
fn wanted(subject: &Subject<'_>, program: &str) -> Vec<(&'static str, (String, String))> {
    let (expect, Ok(software)) = (expect(subject), subject.software()) else { return Vec::new() };
    let files = software.files.as_ref().ok();
    let built = files.and_then(|files| files.homes.get(program));
    // A declared prefix that holds nothing is told by the check of its own.
    let declared = |prefix: Option<String>, holds: &dyn Fn(&str) -> bool| {
        let prefix = prefix?.trim_end_matches('/').to_owned();
        holds(&prefix).then(|| (prefix.clone(), prefix))
    };
    let first = |key: &str, declared: Option<(String, String)>, built: Option<(String, String)>| {
        if subject.is_promised(key) { built.or(declared) } else { declared.or(built) }
    };
    let nccl = declared(expect.nccl_prefix, &|at| files.is_some_and(|files| files.nccl.contains_key(at)));
    let nccl = first("software.nccl_prefix", nccl, built.and_then(|built| built.nccl.clone()));
    let mpi = declared(expect.openmpi_prefix, &|at| software.openmpi.contains_key(at));
    let mpi = first("software.openmpi_prefix", mpi, built.and_then(|built| built.mpi.clone()));
    nccl.map(|home| ("libnccl.so", home)).into_iter().chain(mpi.map(|home| ("libmpi.so", home))).collect()
}

/// The library of this stem when it does not come from a prefix, by its name in the program and its file.
fn elsewhere<'a>(linked: &'a Linked, stem: &str, home: &(String, String)) -> Option<(&'a str, &'a str)> {
    let (name, found) = linked.libraries.iter().find(|(name, _)| name.starts_with(stem))?;
    let real = linked.files.get(name).unwrap_or(found);
    let inside = |file: &str, home: &str| {
        let below = |home: &str| file.strip_prefix(home).is_some_and(|rest| rest.starts_with('/'));
        // /usr/local is not of the distribution.
        below(home) && !(home == "/usr" && below("/usr/local"))
    };
    let good = [found, real].into_iter().any(|file| inside(file, &home.0) || inside(file, &home.1));
    (!good).then_some((name.as_str(), real.as_str()))
}

fn half_done(subject: &Subject<'_>) -> Checked {
    const FROM: &str = "dpkg-query -W, rpm -qa";
    let seen = match &software(subject)?.half_done {
        Err(gap) if gap.kind == GapKind::Absent => return Err(Verdict::Skip(gap.reason.clone())),
        seen => subject.seen(Ok(seen), None)?,
    };
    if let Some(who) = &seen.busy {
        return Err(Verdict::Skip(format!("{who} changes packages now")));
    }
    let mut findings = Findings::default();
    for (name, state) in &seen.packages {
        findings.wrong(name, state.as_str(), FROM, format!("{state} {name}"));
    }
    Ok(findings.verdict("all are".to_owned()))
}

fn perftest(subject: &Subject<'_>) -> Checked {
    const FROM: &str = "ib_write_bw --help";
    let Some(cuda) = expect(subject).perftest_cuda else {
        return Err(Verdict::Skip(
            "neither a task nor expect.software.perftest_cuda declares perftest".to_owned(),
        ));
    };
    let files = subject.seen(Ok(&software(subject)?.files), None)?;
    if !files.perftest {
        return Ok(Verdict::finding("perftest is not installed", FROM, "no ib_write_bw"));
    }
    if cuda && !files.perftest_cuda {
        return Ok(Verdict::finding("built without CUDA", FROM, "no --use_cuda"));
    }
    Ok(Verdict::Pass(if files.perftest_cuda { "with CUDA" } else { "without CUDA" }.to_owned()))
}
