//! `provision why`: the first cause, the rank that broke among 512, and texts that nobody bounds.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "a test that starts the program")]

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use provision::causes::{self, Output, TABLE};
use provision::reference;
use provision::why::{Answer, Limits, Told, Why};

/// Number of ranks of a job, eight on each host.
const RANKS: usize = 512;
/// The rank that breaks first, on gpu4.
const BROKEN: usize = 37;

fn answer(texts: &[(String, String)]) -> Answer {
    let mut why = Why::new(texts.len() > 1, Limits::default());
    for (name, text) in texts {
        why.read(name, &mut text.as_bytes()).unwrap();
    }
    why.answer()
}

fn host(rank: usize) -> String {
    format!("gpu{}", rank / 8)
}

/// Where the lines of a rank begin, as NCCL prints them.
fn nccl(rank: usize) -> String {
    format!("{}:{}:{} [{}]", host(rank), 4000 + rank, 9000 + rank, rank % 8)
}

/// The start of a rank. Lines of <https://github.com/NVIDIA/nccl/issues/1536> (2024-12-08).
fn start(rank: usize, network: &str) -> String {
    let (before, address) = (nccl(rank), format!("10.0.0.{}", rank / 8));
    format!(
        "{before} NCCL INFO Bootstrap : Using eth0:{address}<0>\n\
         {before} NCCL INFO NET/Plugin : dlerror=libnccl-net.so: cannot open shared object file: No such file or directory No plugin found (libnccl-net.so), using internal implementation\n\
         {before} NCCL INFO Using network {network}\n\
         {before} NCCL INFO comm 0x55d0 rank {rank} nranks {RANKS} cudaDev {} nvmlDev {} busId 18000 commId 0x6a - Init COMPLETE\n",
        rank % 8,
        rank % 8,
    )
}

/// The watchdog of a rank that waits. Words of `ProcessGroupNCCL.cpp` of `PyTorch` 2.6.
fn waits(rank: usize, kind: &str, enqueued: u32) -> String {
    format!(
        "[rank{rank}]:[E1130 10:40:00.1 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=173, OpType={kind}, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600029 milliseconds before timing out.\n\
         [rank{rank}]:[E1130 10:40:00.2 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] Exception (either an error or timeout) detected by watchdog at work: 173, last enqueued NCCL work: {enqueued}, last completed NCCL work: 172.\n"
    )
}

fn lost(rank: usize) -> String {
    format!(
        "{} misc/socket.cc:71 NCCL WARN socketProgress: Connection closed by remote peer 10.0.0.{}<36138>\n",
        nccl(rank),
        BROKEN / 8
    )
}

/// A way to be the first that fails: the lines of that rank, and of each other one.
type Way = (&'static str, fn() -> String, fn(usize) -> String);

const WAYS: &[Way] = &[
    (
        "it has no memory left",
        || {
            format!(
                "[rank{BROKEN}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 5 has a total capacity of 79.10 GiB of which 1.05 GiB is free.\n"
            )
        },
        |rank| waits(rank, "ALLREDUCE", 175),
    ),
    (
        "its GPU lost data",
        || format!("[rank{BROKEN}]: RuntimeError: CUDA error: uncorrectable ECC error encountered\n"),
        |rank| waits(rank, "ALLREDUCE", 175),
    ),
    ("it takes sockets", String::new, |rank| waits(rank, "ALLREDUCE", 175)),
    ("it is stopped", String::new, |rank| waits(rank, "ALLREDUCE", 175)),
    ("it is behind", || waits(BROKEN, "ALLREDUCE", 172), |rank| waits(rank, "ALLREDUCE", 175)),
    ("it calls another collective", || waits(BROKEN, "BROADCAST", 175), |rank| waits(rank, "ALLREDUCE", 175)),
    ("its process is gone", String::new, lost),
    (
        "its program fails",
        || {
            format!(
                "[rank{BROKEN}]: Traceback (most recent call last):\n[rank{BROKEN}]: ValueError: shard 37 has 0 rows\n"
            )
        },
        |rank| waits(rank, "ALLREDUCE", 175),
    ),
    (
        "it is killed",
        || {
            format!(
                "[rank{BROKEN}]: Out of memory: Killed process {} (python) total-vm:812345kB, anon-rss:712345kB, file-rss:0kB, shmem-rss:0kB\n",
                4000 + BROKEN
            )
        },
        lost,
    ),
    (
        "its card has an error",
        || {
            format!(
                "{} transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.9<38560> with status=4 opcode=0 len=0 vendor err 81 (Recv) localGid fe80::1 remoteGids fe80::2 hca mlx5_5\n",
                nccl(BROKEN)
            )
        },
        lost,
    ),
];

#[test]
fn the_rank_that_broke_is_named_among_512() {
    let mut wrong = Vec::new();
    for (way, broken, other) in WAYS {
        for several in [false, true] {
            let texts: Vec<(String, String)> = (0..RANKS)
                .map(|rank| {
                    let network = if rank == BROKEN && *way == "it takes sockets" { "Socket" } else { "IB" };
                    let rest = if rank == BROKEN { broken() } else { other(rank) };
                    (format!("rank{rank}.log"), start(rank, network) + &rest)
                })
                .collect();
            let texts = if several {
                texts
            } else {
                // One text, the ranks in any order, each line of a rank behind its earlier ones.
                let mut all = String::new();
                for at in 0..RANKS {
                    write!(all, "{}", texts[(at * 197) % RANKS].1).unwrap();
                }
                vec![("job.out".to_owned(), all)]
            };
            let answer = answer(&texts);
            let broke = answer.job.as_ref().map(|job| job.broke.clone()).unwrap_or_default();
            if broke != ["rank 37 on gpu4"] {
                wrong.push(format!("{way}, several texts: {several}: {broke:?}, {:?}", answer.first));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_healthy_job_gets_no_finding() {
    let texts: Vec<_> = (0..RANKS).map(|rank| (format!("rank{rank}.log"), start(rank, "IB"))).collect();
    let answer = answer(&texts);
    assert!(answer.first.is_none() && answer.job.is_none() && answer.unknown.is_empty(), "{answer:?}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn read(name: &str, bytes: &[u8], limits: Limits) -> Answer {
    let mut why = Why::new(false, limits);
    why.read(name, &mut &*bytes).unwrap();
    why.answer()
}

const XID: &str = "NVRM: Xid (PCI:0000:4a:00): 79, pid=55182, name=python, GPU has fallen off the bus.";

#[test]
fn whatever_a_text_is_made_of_it_is_read() {
    let plain = format!("a\nb\n{XID}\nend\n");
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    let inner = gzip(plain.as_bytes());
    header.set_size(inner.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    tar.append_data(&mut header, "logs/nvidia-bug-report.log.gz", &*inner).unwrap();
    let tar = tar.into_inner().unwrap();
    let forms: Vec<(&str, Vec<u8>, &str)> = vec![
        ("plain", plain.clone().into(), "plain:3"),
        ("crlf", plain.replace('\n', "\r\n").into(), "crlf:3"),
        ("colour", plain.replace("NVRM", "\x1b[31mNVRM\x1b[0m").into(), "colour:3"),
        ("binary", [b"\0\xff\xfe\x80\n\n".as_slice(), XID.as_bytes()].concat(), "binary:3"),
        ("progress", format!("10%\r50%\r100%\n\n{XID}").into(), "progress:3"),
        ("gzip", gzip(plain.as_bytes()), "gzip:3"),
        ("tar", tar.clone(), "tar:logs/nvidia-bug-report.log.gz:3"),
        ("tgz", gzip(&tar), "tgz:logs/nvidia-bug-report.log.gz:3"),
        ("long", [vec![b'x'; 1 << 20], b"\n\n".to_vec(), XID.into()].concat(), "long:3"),
    ];
    for (name, bytes, place) in forms {
        let answer = read(name, &bytes, Limits::default());
        let first = answer.first.unwrap_or_else(|| panic!("{name}: {:?}", answer.texts));
        assert_eq!((first.id, first.place.as_str()), ("xid.off_the_bus", place));
    }
}

#[test]
fn what_comes_out_of_an_archive_is_bounded() {
    let bomb = gzip(&vec![b'\n'; 64 << 20]);
    assert!(bomb.len() < 1 << 20);
    let answer = read("bomb.gz", &bomb, Limits { unpacked: 1 << 20, ..Limits::default() });
    assert_eq!(answer.texts[0].lines, 1 << 20);
    assert!(answer.texts[0].cut.is_some(), "{:?}", answer.texts);
    // A damaged end is told, and what stands before it is read.
    let mut cut = gzip(format!("{XID}\n{}", "x\n".repeat(1 << 16)).as_bytes());
    cut.truncate(cut.len() / 2);
    let answer = read("cut.gz", &cut, Limits::default());
    assert!(answer.first.is_some() && answer.texts[0].cut.is_some(), "{:?}", answer.texts);
    let mut why = Why::new(false, Limits::default());
    let error = why.read("a.xz", &mut &[0xfd, b'7', b'z', b'X', b'Z', 0][..]).unwrap_err();
    assert_eq!(error.to_string(), "cannot read a.xz: it is xz: `xz -dc FILE | provision why`");
}

/// `apply` says them too: `src/engine/causes.rs` has that test.
#[test]
fn why_explain_the_page_and_the_checks_say_the_same() {
    let page = include_str!("../../docs/reference/symptoms.md");
    // Each twentieth row, of the kernel and of tools.
    for cause in TABLE.iter().step_by(20) {
        let Some(sample) = cause.samples.first() else { continue };
        let answer = answer(&[("log".to_owned(), (*sample).to_owned())]);
        let told: Vec<&Told> = [&answer.others, &answer.follows, &answer.harmless]
            .into_iter()
            .flatten()
            .chain(&answer.first)
            .filter(|told| told.id == cause.id)
            .collect();
        let [told] = told.as_slice() else { panic!("{}: {sample}", cause.id) };
        let explained = reference::symptom(sample).unwrap();
        // A log may tell of several devices.
        let says = causes::Reading::of(sample)
            .ranked()
            .into_iter()
            .find(|one| one.cause.id == cause.id)
            .unwrap()
            .says();
        assert!(told.says.ends_with(&says), "{} does not end in {says}", told.says);
        for words in [says.as_str(), &told.act, told.means] {
            assert!(explained.contains(words), "{}: {words} is not in {explained}", cause.id);
        }
        assert!(page.contains(&format!("### {}\n", cause.id)) && page.contains(told.means), "{}", cause.id);
        if cause.output == Output::Kernel {
            let said = causes::read([*sample]);
            let said = said.iter().find(|said| said.cause.id == cause.id).unwrap();
            assert_eq!((said.says(), said.act(&[])), (says, told.act.as_str()));
        }
    }
}

#[test]
fn a_device_is_not_read() {
    let program = env!("CARGO_BIN_EXE_provision");
    let ran = std::process::Command::new(program).args(["why", "/dev/zero"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("/dev/zero: it is a device"), "{ran:?}");
}
