//! Differences between the view of a job and that of a login (`verify --through`).
//!
//! [`compare`] holds the view behind a launcher against that of a new login. Each row of it belongs to a check, or
//! is meant to be: another cgroup is how jobs are kept apart. The checks of this file only read their rows.

use std::collections::BTreeSet;

use super::shared::verdict::{Checked, Findings, Verdict, evidence};
use super::{Check, Needs, Subject, TABLE};
use crate::events::CheckStatus::{Fail, Warn};
use crate::events::Difference;
use crate::facts::Seen;
use crate::facts::view::{GpuPlace, Limit, View, cpus};
use crate::words::{bytes, count};

/// Whether there is a shell behind the launcher at all.
pub(in crate::checks) const STARTED: &str = "job.started";
/// Allowed difference of clocks, in seconds: they are read one after the other.
const CLOCK: u64 = 2;
/// Families of checks that look at what a job uses, not at how the host was set up.
const SEEN_IN_JOBS: &[&str] = &["gpu.", "rdma.", "software.", "system.shm"];

pub(in crate::checks) const CHECKS: &[Check] = &[
    Check {
        id: STARTED,
        title: "the launcher starts a shell on the host",
        needs: Needs::Job,
        severity: Fail,
        expects: "a shell behind the launcher of `--through` within a minute. With `--through slurm` a node that is down or drained is not tried, and its reason is told",
        why: "Where no job starts, nothing that is right over SSH is of use.",
        hint: "start the same launcher by hand; with Slurm, `scontrol show node NAME` has the state and its reason, and `squeue -w NAME` the jobs that are before",
        source: "srun(1), sinfo(1)",
        run: started,
    },
    Check {
        id: "job.host",
        title: "the launcher starts on the host that it names",
        needs: Needs::Job,
        severity: Fail,
        expects: "the same boot as over SSH",
        why: "What is seen on another machine says nothing of this one. Slurm goes by NodeName and NodeAddr, which may lead elsewhere than the inventory.",
        hint: "compare NodeAddr and NodeHostname of `scontrol show node NAME` with the address in the inventory; a launcher without `{host}` starts where it likes unless it is started on each host",
        source: "slurm.conf(5); random(4)",
        run: |subject| judge(subject, "job.host"),
    },
    Check {
        id: "job.memlock",
        title: "a job may lock as much memory as a login",
        needs: Needs::Job,
        severity: Fail,
        expects: "at least the limit of a new login; a warning on hosts without RDMA devices",
        why: "RDMA locks its buffers: with less, ibv_reg_mr fails in the job, while the same program works over SSH. Jobs have their limits from the daemon that starts them, not from limits.conf.",
        hint: "Slurm: `LimitMEMLOCK=infinity` in a drop-in of slurmd.service and `PropagateResourceLimitsExcept=MEMLOCK` in slurm.conf, then restart slurmd; Docker: `--ulimit memlock=-1`; Kubernetes: LimitMEMLOCK of the unit of containerd",
        source: "slurm.conf(5); systemd.exec(5); docker-run(1)",
        run: memlock,
    },
    Check {
        id: "job.nofile",
        title: "a job may open as many files as a login",
        needs: Needs::Job,
        severity: Warn,
        expects: "at least the limit of a new login",
        why: "Large jobs open a socket to each peer: with a lower limit they work on a few hosts and die on many.",
        hint: "`LimitNOFILE=1048576` in a drop-in of the unit that starts jobs (slurmd, containerd, docker), then restart it; Docker: `--ulimit nofile=1048576`",
        source: "systemd.exec(5); docker-run(1)",
        run: |subject| judge(subject, "job.nofile"),
    },
    Check {
        id: "job.devices",
        title: "a job may open the GPUs and RDMA devices that a login may",
        needs: Needs::Job,
        severity: Fail,
        expects: "every /dev/nvidia* and /dev/infiniband/uverbs* that a new login can open, and CUDA_VISIBLE_DEVICES that leaves no GPU out",
        why: "A device cgroup or a container hides devices from jobs only. A GPU that is missing in gres.conf is given to nobody.",
        hint: "Slurm: all GPUs in gres.conf (`AutoDetect=nvml`, or `Name=gpu File=/dev/nvidia[0-7]`) and in `Gres=` of the node, and a launcher that asks for them (`--gres=gpu:8`); Docker: `--gpus all --device /dev/infiniband`; Kubernetes: the resources of both device plugins in the limits of the pod",
        source: "gres.conf(5), cgroup.conf(5); docker-run(1)",
        run: |subject| judge(subject, "job.devices"),
    },
    Check {
        id: "job.cpus",
        title: "a job has CPUs beside each of its GPUs",
        needs: Needs::Job,
        severity: Warn,
        expects: "for each GPU that the job sees, one CPU of the list that its PCI device names (local_cpulist) among the CPUs of the job, where a login has one",
        why: "From CPUs of the other socket every copy to the GPU and every doorbell of the card crosses the link between the sockets.",
        hint: "Slurm: `Cores=` in gres.conf or `AutoDetect=nvml`, `TaskPlugin=task/cgroup,task/affinity`, and a launcher that asks for enough CPUs (`--cpus-per-task`, `--exclusive`); Docker: no `--cpuset-cpus`, or the right one",
        source: "gres.conf(5), srun(1); Linux kernel: Documentation/ABI/testing/sysfs-bus-pci",
        run: |subject| judge(subject, "job.cpus"),
    },
    Check {
        id: "job.network",
        title: "a job is in the network of the host",
        needs: Needs::Job,
        severity: Warn,
        expects: "the same network namespace as a new login, or all of its devices",
        why: "In a namespace of its own a job lacks the devices that NCCL and RoCE take their addresses from, and falls back to slow ones or finds no peer.",
        hint: "Docker: `--network host`; Kubernetes: `hostNetwork: true`, or a secondary network for each card; with cards handed over on purpose, leave this out by `expect.ignore`",
        source: "network_namespaces(7); docker-run(1)",
        run: |subject| judge(subject, "job.network"),
    },
    Check {
        id: "job.libraries",
        title: "a job loads the libraries that a login loads",
        needs: Needs::Job,
        severity: Fail,
        expects: "the same files for libnccl, libmpi, libibverbs and libcuda, as far as LD_PRELOAD, LD_LIBRARY_PATH and the cache of the loader decide. In another root directory, as in a container, only that none is missing",
        why: "Another NCCL than the one that was tested has other bugs, and two of them in one job do not talk to each other. Modules, prologs and exported environments bring it in.",
        hint: "look for LD_LIBRARY_PATH and LD_PRELOAD in the prolog of tasks (TaskProlog), in modules and in what srun exports (`srun --export`)",
        source: "ld.so(8); srun(1)",
        run: |subject| judge(subject, "job.libraries"),
    },
    Check {
        id: "job.nccl",
        title: "NCCL goes by the same settings in a job",
        needs: Needs::Job,
        severity: Warn,
        expects: "what nccl.conf and the environment say over SSH is said in the job, too, and the job turns nothing off (NCCL_..._DISABLE)",
        why: "Without NCCL_IB_HCA or NCCL_SOCKET_IFNAME NCCL picks cards and interfaces itself; with NCCL_IB_DISABLE it is slow and does not say so.",
        hint: "bring /etc/nccl.conf into the container (`--volume /etc/nccl.conf:/etc/nccl.conf:ro`), or export the variables to jobs; look for what sets others in the prolog of tasks",
        source: "NVIDIA NCCL documentation: Environment Variables",
        run: |subject| judge(subject, "job.nccl"),
    },
    Check {
        id: "job.clock",
        title: "a job has the clock of the host",
        needs: Needs::Job,
        severity: Warn,
        expects: "the same time of boot by its clock, to 2 seconds",
        why: "Times in logs of jobs and of the host cannot be put in order, and credentials with a time in them are refused.",
        hint: "the job runs behind another kernel (a virtual machine) or in a time namespace: synchronise that clock, too",
        source: "time_namespaces(7)",
        run: |subject| judge(subject, "job.clock"),
    },
    Check {
        id: "job.checks",
        title: "what is right over SSH is right in the job",
        needs: Needs::Job,
        severity: Fail,
        expects: "checks of GPUs, RDMA devices and software say the same in the job as over SSH. What a job may not read, often because only root may, is left out",
        why: "Tools that run as a job see what jobs see: fewer GPUs, other ports, other programs.",
        hint: "`provision explain ID` of the check that is named; the other findings about the job mostly have the cause",
        source: "provision explain",
        run: same_checks,
    },
];

/// Lists the differences between a new login and a job, in the order that people look for them: user, limits,
/// devices, places, software.
pub fn compare(login: &View, job: &View) -> Vec<Difference> {
    let mut rows = Rows::default();
    machine(&mut rows, login, job);
    rows.plain("user", &login.user, &job.user);
    rows.plain("groups", &login.groups, &job.groups);
    limits(&mut rows, login, job);
    devices(&mut rows, login, job);
    places(&mut rows, login, job);
    libraries(&mut rows, login, job);
    nccl(&mut rows, login, job);
    environment(&mut rows, login, job);
    rows.0
}

#[derive(Default)]
struct Rows(Vec<Difference>);

impl Rows {
    fn row(&mut self, check: Option<&str>, what: &str, login: &str, job: &str) {
        let or_none = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
        self.0.push(Difference {
            what: what.to_owned(),
            login: or_none(login),
            job: or_none(job),
            check: check.map(str::to_owned),
        });
    }

    /// A difference that is meant to be.
    fn plain(&mut self, what: &str, login: &str, job: &str) {
        if login != job {
            self.row(None, what, login, job);
        }
    }
}

fn machine(rows: &mut Rows, login: &View, job: &View) {
    if login.boot == job.boot {
        rows.plain("hostname", &login.hostname, &job.hostname);
        if let (Some(one), Some(other)) = (login.booted, job.booted)
            && one.abs_diff(other) > CLOCK
        {
            let ahead = format!("{} s {}", one.abs_diff(other), if other > one { "ahead" } else { "behind" });
            rows.row(Some("job.clock"), "clock", "the clock of the host", &ahead);
        }
    } else {
        let name = |view: &View| format!("{} (boot {})", view.hostname, view.boot);
        rows.row(Some("job.host"), "machine", &name(login), &name(job));
    }
    if login.root != job.root {
        rows.plain(
            "root directory",
            &format!("{} ({})", login.os, login.root),
            &format!("{} ({})", job.os, job.root),
        );
    }
}

/// Whether one limit is lower than another.
fn is_lower(limit: &str, than: &str) -> bool {
    match (limit.parse::<u64>(), than.parse::<u64>()) {
        (Ok(limit), Ok(than)) => limit < than,
        // What is no number is `unlimited`.
        (Ok(_), Err(_)) => true,
        (Err(_), _) => false,
    }
}

fn limits(rows: &mut Rows, login: &View, job: &View) {
    for (name, one) in &login.limits {
        let Some(other) = job.limits.get(name) else { continue };
        let check = match name.as_str() {
            "memlock" => Some("job.memlock"),
            "nofile" => Some("job.nofile"),
            _ => None,
        };
        // A job may raise the soft limit itself; few do.
        let check = check.filter(|_| is_lower(&other.soft, &one.soft));
        let text = |limit: &Limit| {
            let value = |text: &str| match text.parse() {
                Ok(number) if matches!(name.as_str(), "memlock" | "stack") => bytes(number),
                _ => text.to_owned(),
            };
            if limit.soft == limit.hard {
                value(&limit.soft)
            } else {
                format!("{} (up to {})", value(&limit.soft), value(&limit.hard))
            }
        };
        if one != other {
            rows.row(check, name, &text(one), &text(other));
        }
    }
    let memory = |view: &View| view.memory.map_or_else(|| "unlimited".to_owned(), bytes);
    rows.plain("memory of the cgroup", &memory(login), &memory(job));
}

/// GPUs that are given to it by `CUDA_VISIBLE_DEVICES`; `None` where that is not set.
fn visible(view: &View) -> Option<usize> {
    let list = view.env.get("CUDA_VISIBLE_DEVICES")?;
    Some(list.split(',').filter(|name| !matches!(name.trim(), "" | "NoDevFiles" | "-1")).count())
}

/// N of `/dev/nvidiaN`.
fn minor(device: &str) -> Option<u32> {
    device.strip_prefix("/dev/nvidia")?.parse().ok()
}

fn devices(rows: &mut Rows, login: &View, job: &View) {
    let names: BTreeSet<&String> = login.devices.keys().chain(job.devices.keys()).collect();
    for name in names {
        let state = |view: &View| view.devices.get(name).map_or("not there", String::as_str).to_owned();
        let (one, other) = (state(login), state(job));
        if one != other {
            let check = (other != "open").then_some("job.devices");
            rows.row(check, name, &one, &other);
        }
    }
    let gpus = login.devices.keys().filter(|name| minor(name).is_some()).count().max(login.gpus.len());
    let given = visible(job);
    if given != visible(login) {
        let text =
            |view: &View| view.env.get("CUDA_VISIBLE_DEVICES").map_or("not set", String::as_str).to_owned();
        let check =
            given.is_some_and(|given| given < visible(login).unwrap_or(gpus)).then_some("job.devices");
        rows.row(
            check,
            "CUDA_VISIBLE_DEVICES",
            &format!("{}, {}", text(login), count(gpus as u64, "GPU")),
            &text(job),
        );
    }
}

fn places(rows: &mut Rows, login: &View, job: &View) {
    let (wide, narrow) = (cpus(&login.cpus), cpus(&job.cpus));
    let far = |gpu: &&GpuPlace| {
        let beside = cpus(&gpu.cpus);
        let device = gpu.minor.map(|minor| format!("/dev/nvidia{minor}"));
        let is_seen =
            device.is_none_or(|device| job.devices.get(&device).is_some_and(|state| state == "open"));
        is_seen && !beside.is_disjoint(&wide) && beside.is_disjoint(&narrow)
    };
    let far: Vec<&GpuPlace> = login.gpus.iter().filter(far).collect();
    if let Some(first) = far.first() {
        let gpus = format!("beside {}: {}", count(far.len() as u64, "GPU"), first.cpus);
        rows.row(Some("job.cpus"), "CPUs", &gpus, &job.cpus);
    } else {
        rows.plain("CPUs", &login.cpus, &job.cpus);
    }
    rows.plain("memory nodes", &login.mems, &job.mems);
    rows.plain("cgroup", &login.cgroup.join(" "), &job.cgroup.join(" "));
    if login.netns != job.netns {
        let missing: Vec<&str> = login.nets.difference(&job.nets).map(String::as_str).collect();
        let check = (!missing.is_empty()).then_some("job.network");
        let lacks = match missing.as_slice() {
            [] => "its own, with the same devices".to_owned(),
            [first] => format!("its own, without {first}"),
            [first, rest @ ..] => format!("its own, without {first} and {} more", rest.len()),
        };
        rows.row(check, "network namespace", "that of the host", &lacks);
    }
}

fn libraries(rows: &mut Rows, login: &View, job: &View) {
    let names: BTreeSet<&String> = login.libraries.keys().chain(job.libraries.keys()).collect();
    let same_root = login.root == job.root && login.boot == job.boot;
    for name in names {
        let file = |view: &View| view.libraries.get(name).map(|library| library.file.clone());
        let (one, other) = (file(login), file(job));
        if one == other {
            continue;
        }
        let is_bad = match (&one, &other) {
            (_, None) => true,
            (Some(_), Some(_)) => same_root,
            (None, Some(_)) => same_root && name.starts_with("libnccl"),
        };
        let text = |file: Option<String>| file.unwrap_or_else(|| "not found".to_owned());
        rows.row(is_bad.then_some("job.libraries"), name, &text(one), &text(other));
    }
    let names: BTreeSet<&String> = login.programs.keys().chain(job.programs.keys()).collect();
    for name in names {
        let path = |view: &View| view.programs.get(name).map_or("not found", String::as_str).to_owned();
        rows.plain(name, &path(login), &path(job));
    }
}

fn nccl(rows: &mut Rows, login: &View, job: &View) {
    let (ours, theirs) = (login.nccl(), job.nccl());
    let names: BTreeSet<&str> = ours.keys().chain(theirs.keys()).copied().collect();
    for name in names {
        let (one, other) = (ours.get(name), theirs.get(name));
        if one == other {
            continue;
        }
        let turned_off = name.ends_with("_DISABLE") && other.is_some_and(|value| *value != "0");
        let check = (one.is_some() || turned_off).then_some("job.nccl");
        let text =
            |value: Option<&&str>| value.map_or_else(|| "not set".to_owned(), |value| (*value).to_owned());
        rows.row(check, name, &text(one), &text(other));
    }
}

fn environment(rows: &mut Rows, login: &View, job: &View) {
    let names: BTreeSet<&String> = login.env.keys().chain(job.env.keys()).collect();
    for name in names.into_iter().filter(|name| !name.starts_with("NCCL_") && *name != "CUDA_VISIBLE_DEVICES")
    {
        let value = |view: &View| view.env.get(name).map_or("not set", String::as_str).to_owned();
        rows.plain(name, &value(login), &value(job));
    }
}

/// Both views.
///
/// # Errors
/// The verdict without a job, or without an answer of one of the two.
fn views<'a>(subject: &Subject<'a>) -> Result<(&'a View, &'a View), Verdict> {
    let Some(job) = subject.job else {
        return Err(Verdict::Skip("needs verify --through".to_owned()));
    };
    if job.facts.is_err() {
        return Err(Verdict::Skip("the launcher gave no shell".to_owned()));
    }
    let told = |view: &'a Seen<View>| view.as_ref().map_err(|gap| Verdict::gap(gap, None));
    Ok((told(&job.login)?, told(&job.view)?))
}

fn started(subject: &Subject<'_>) -> Checked {
    let Some(job) = subject.job else {
        return Err(Verdict::Skip("needs verify --through".to_owned()));
    };
    match &job.facts {
        Ok(_) => Ok(Verdict::Pass(job.launcher.clone())),
        Err(reason) => Ok(Verdict::finding(reason, &job.launcher, reason)),
    }
}

fn judge(subject: &Subject<'_>, id: &str) -> Checked {
    let (login, job) = views(subject)?;
    let mut findings = Findings::default();
    for row in compare(login, job).iter().filter(|row| row.check.as_deref() == Some(id)) {
        let how = format!("{} in the job, {} over SSH", row.job, row.login);
        findings.wrong(
            &row.what,
            &how,
            subject.job.map_or("", |job| job.launcher.as_str()),
            format!("{}: {how}", row.what),
        );
    }
    Ok(findings.verdict("the same as over SSH"))
}

fn memlock(subject: &Subject<'_>) -> Checked {
    let verdict = judge(subject, "job.memlock")?;
    Ok(if subject.devices().is_ok() { verdict } else { verdict.counted_as(Warn) })
}

fn same_checks(subject: &Subject<'_>) -> Checked {
    views(subject)?;
    let Some(seen) = subject.in_job() else {
        return Err(Verdict::Skip("the launcher gave no shell".to_owned()));
    };
    let verdict = |check: &Check, subject: &Subject<'_>| {
        let (Ok(verdict) | Err(verdict)) = (check.run)(subject);
        verdict
    };
    let ignored = subject.expect.ignore.clone().unwrap_or_default();
    let mut messages = Vec::new();
    let mut proofs = Vec::new();
    let mut worst = Warn;
    for check in
        TABLE.iter().filter(|check| check.needs == Needs::Idle && !ignored.iter().any(|id| id == check.id))
    {
        if !SEEN_IN_JOBS.iter().any(|family| check.id.starts_with(family)) {
            continue;
        }
        let Verdict::Finding { message, evidence: lines, severity, .. } = verdict(check, &seen) else {
            continue;
        };
        if matches!(verdict(check, subject), Verdict::Finding { .. }) {
            continue;
        }
        if severity.unwrap_or(check.severity) == Fail {
            worst = Fail;
        }
        proofs.extend(
            lines.into_iter().take(1).map(|line| evidence(format!("{}: {}", check.id, line.from), line.line)),
        );
        messages.push(format!("{}: {message}", check.id));
    }
    if messages.is_empty() {
        return Ok(Verdict::Pass("no check finds more in the job".to_owned()));
    }
    let finding = Verdict::Finding {
        message: messages.join("; "),
        evidence: proofs,
        hint: None,
        severity: Some(worst),
    };
    Ok(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::view::Library;

    fn healthy() -> View {
        let open = |name: &str| (name.to_owned(), "open".to_owned());
        let limit = |name: &str, value: &str| {
            (name.to_owned(), Limit { soft: value.to_owned(), hard: "unlimited".to_owned() })
        };
        let gpu = |minor: u32, cpus: &str| GpuPlace {
            address: format!("0000:{minor}1:00.0"),
            cpus: cpus.to_owned(),
            minor: Some(minor),
        };
        let library = Library {
            found: "/opt/nccl/lib/libnccl.so.2".into(),
            file: "/opt/nccl/lib/libnccl.so.2.27.7".into(),
        };
        View {
            boot: "b".to_owned(),
            limits: [limit("memlock", "unlimited"), limit("nofile", "1048576")].into(),
            cpus: "0-95".to_owned(),
            netns: "net:[1]".to_owned(),
            nets: ["lo", "eth0"].map(str::to_owned).into(),
            gpus: vec![gpu(0, "0-47"), gpu(1, "48-95")],
            devices: ["/dev/nvidia0", "/dev/nvidia1", "/dev/infiniband/uverbs0"].map(open).into(),
            conf: [("NCCL_IB_HCA".to_owned(), "=mlx5_0".to_owned())].into(),
            libraries: [("libnccl.so.2".to_owned(), library)].into(),
            booted: Some(1000),
            ..View::default()
        }
    }

    /// Returns the checks that find a change of the job's view; `-` stands for an intended difference.
    fn found(change: impl FnOnce(&mut View)) -> String {
        let login = healthy();
        let mut job = healthy();
        change(&mut job);
        let rows = compare(&login, &job);
        let row = |row: &Difference| row.check.clone().unwrap_or_else(|| "-".to_owned());
        rows.iter().map(row).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn one_difference_is_one_finding_and_a_healthy_job_has_none() {
        assert_eq!(found(|_| {}), "");
        let lower = |name: &'static str, value: &'static str| {
            found(move |job| job.limits.get_mut(name).unwrap().soft = value.to_owned())
        };
        assert_eq!(lower("memlock", "65536"), "job.memlock");
        assert_eq!(lower("nofile", "1024"), "job.nofile");
        assert_eq!(lower("nofile", "unlimited"), "-");
        assert_eq!(found(|job| drop(job.devices.remove("/dev/nvidia1"))), "job.devices");
        let denied = "Operation not permitted".to_owned();
        assert_eq!(
            found(|job| drop(job.devices.insert("/dev/infiniband/uverbs0".to_owned(), denied))),
            "job.devices"
        );
        let visible = |list: &str| {
            let list = list.to_owned();
            found(|job| drop(job.env.insert("CUDA_VISIBLE_DEVICES".to_owned(), list)))
        };
        assert_eq!((visible("0").as_str(), visible("0,1").as_str()), ("job.devices", "-"));
        assert_eq!(visible("NoDevFiles"), "job.devices");
        assert_eq!(found(|job| job.cpus = "0-7".to_owned()), "job.cpus");
        assert_eq!(found(|job| job.cpus = "0-7,48".to_owned()), "-");
        assert_eq!(found(|job| job.cgroup.push("0::/slurm".to_owned())), "-");
        assert_eq!(found(|job| job.netns = "net:[2]".to_owned()), "-");
        assert_eq!(
            found(|job| (job.netns, job.nets) = ("net:[2]".to_owned(), BTreeSet::new())),
            "job.network"
        );
        assert_eq!(
            found(|job| job.libraries.get_mut("libnccl.so.2").unwrap().file =
                "/opt/other/libnccl.so.2".to_owned()),
            "job.libraries"
        );
        assert_eq!(found(|job| job.libraries.clear()), "job.libraries");
        assert_eq!(found(|job| job.conf.clear()), "job.nccl");
        let sets = |name: &str, value: &str| {
            let (name, value) = (name.to_owned(), value.to_owned());
            found(|job| drop(job.env.insert(name, value)))
        };
        assert_eq!(sets("NCCL_IB_DISABLE", "1"), "job.nccl");
        assert_eq!(
            (sets("NCCL_IB_DISABLE", "0"), sets("NCCL_DEBUG", "INFO")),
            ("-".to_owned(), "-".to_owned())
        );
        assert_eq!(found(|job| job.booted = Some(1002)), "");
        assert_eq!(found(|job| job.booted = Some(1003)), "job.clock");
        // Of another machine everything else is told as well, and the cause stands first.
        assert_eq!(found(|job| job.boot = "other".to_owned()), "job.host");
        // A container has libraries of its own.
        assert_eq!(
            found(|job| {
                job.root = "other".to_owned();
                job.libraries.get_mut("libnccl.so.2").unwrap().file = "/usr/lib/libnccl.so.2".to_owned();
            }),
            "- -"
        );
    }
}
