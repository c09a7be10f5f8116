//! The catalogue against itself, against logs of healthy hosts, and against accounts that forge signs.

use std::collections::BTreeSet;

use super::table::TABLE;
use super::table::judge_line;
use super::{Cause, Counts, Output, Said, read};

/// The rows of one output.
fn rows(output: Output) -> impl Iterator<Item = &'static Cause> {
    TABLE.iter().copied().filter(move |cause| cause.output == output)
}

fn ids(said: &[Said<'_>]) -> Vec<&'static str> {
    said.iter().map(|said| said.cause.id).collect()
}

#[test]
fn every_row_is_whole() {
    let mut seen = BTreeSet::new();
    for cause in TABLE.iter() {
        let id = cause.id;
        assert!(seen.insert(id), "{id} is there twice");
        assert!(!cause.samples.is_empty(), "{id} has no sample");
        assert!(!cause.sources.is_empty(), "{id} has no source");
        let owned = crate::checks::find(cause.check).is_some();
        assert!(
            owned || cause.check.is_empty() && cause.output == Output::Tool,
            "{id}: no check {}",
            cause.check
        );
        assert!(!cause.says.is_empty() && cause.means.ends_with('.'), "{id} says too little");
        assert!(
            cause.counts == Counts::Note && cause.worse.is_empty() || !cause.act.is_empty(),
            "{id} has no act"
        );
        for source in cause.sources {
            assert!(source.day.starts_with("20") && source.day.len() == 10, "{id}: {}", source.day);
        }
        let beside = cause.apart.iter().flat_map(|apart| apart.beside);
        let worse = cause.worse.iter().flat_map(|worse| match worse.when {
            super::When::Beside(ids) => ids,
            super::When::Times(_) => &[],
        });
        for other in beside.chain(worse).chain(cause.ended_by).chain(cause.follows) {
            assert!(super::find(other).is_some(), "{id} names {other}, which is not there");
        }
        // Only what both kinds of expressions read alike.
        for taken in ["\\d", "\\s", "\\w", "\\b", "(?:", "(?i", "*?", "+?", "^"] {
            let inside = cause.sign.replace("[^", "");
            let is_for_grep = !inside.contains(taken) || cause.output == Output::Tool;
            assert!(is_for_grep, "{id}: {taken} is not for grep");
        }
    }
}

#[test]
fn each_sample_is_its_row() {
    let mut others = Vec::new();
    for cause in rows(Output::Tool) {
        for sample in cause.samples {
            let said = judge_line(sample);
            let found = said.as_ref().map(|said| said.cause.id);
            // A part that a line of the row lacks stands in brackets.
            let words = said.map(|said| said.says()).unwrap_or_default();
            if words.contains("itit") || words.contains("  ") || words.starts_with(' ') {
                others.push(format!("{}: {sample:?} says {words:?}", cause.id));
            }
            if found != Some(cause.id) {
                others.push(format!("{}: {sample:?} is {found:?}", cause.id));
            }
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    for cause in rows(Output::Kernel) {
        for sample in cause.samples {
            let said = read([*sample]);
            let found = ids(&said);
            assert!(found.contains(&cause.id), "{}: {sample:?} is {found:?}", cause.id);
            // A message of several lines may have a row for each.
            assert!(found.len() == 1 || sample.contains("\\x0a"), "{}: {found:?}", cause.id);
        }
    }
}

/// The expression that a host sifts with finds what is judged.
#[test]
fn the_sift_passes_what_is_judged() {
    let grep = |pattern: &str, lines: &str| {
        let mut child = crate::process::heard("grep")
            .args(["-E", pattern])
            .env("LC_ALL", "C")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let (mut stdin, lines) = (child.stdin.take().unwrap(), lines.to_owned());
        let writer = std::thread::spawn(move || std::io::Write::write_all(&mut stdin, lines.as_bytes()));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let pattern = super::sift(Output::Kernel, |_| true);
    // As dmesg and journalctl print it, whatever the sample stands behind.
    let lines: Vec<String> = rows(Output::Kernel)
        // What is a note and nothing else is not asked for.
        .filter(|cause| !["xid.note", "oom.group", "disk.discard"].contains(&cause.id))
        .flat_map(|cause| cause.samples)
        .flat_map(|sample| {
            let line = super::messages([*sample])[0].line;
            let text = line.split_once(super::messages([*sample])[0].text).unwrap().1;
            let text = super::messages([*sample])[0].text.to_owned() + text;
            [
                format!("[12345.000001] {text}"),
                format!("[    1.000001][  T123] {text}"),
                format!("[Tue Sep  8 17:16:02 2026] {text}"),
                format!("2026-11-20T01:00:00+00:00 gpu0 kernel: {text}"),
                text,
            ]
        })
        .collect();
    let passed = grep(&pattern, &(lines.join("\n") + "\n"));
    let passed: BTreeSet<&str> = passed.lines().collect();
    for line in &lines {
        assert!(passed.contains(line.as_str()), "the sift drops {line:?}");
    }
}

/// No text that an ordinary account can have the kernel print is a sign, be it the name of a process, of a
/// file, of a link of its own user namespace, options of a mount or texts of a device that is plugged in; in
/// the middle, at the beginning, and behind a line break.
#[test]
fn nobody_forges_a_sign() {
    let signs: Vec<&str> = rows(Output::Kernel)
        .flat_map(|cause| cause.samples)
        .map(|sample| {
            let first = super::messages([*sample])[0];
            first.text
        })
        .collect();
    let forms = |sign: &str| {
        let name: String = sign.chars().take(15).collect();
        // One more in front, for a line break.
        let short: String = sign.chars().take(14).collect();
        let speaker: String = sign.split(' ').next().unwrap().chars().take(12).collect();
        let crash = |name: &str, file: &str| {
            format!(
                "[  884.340083] {name}[8251]: segfault at 0 ip 0000562a2a61c170 sp 00007ffc5c2a6400 error 6 in {file}[1170,562a2a61c000+1000] likely on CPU 1 (core 1, socket 0)"
            )
        };
        let pad = "               ";
        vec![
            crash(&name, "a"),
            crash(sign.get(..15).unwrap_or(sign), sign),
            crash("x", sign),
            crash(&name, sign),
            crash(&speaker, &format!("a\n{pad}{sign}")),
            crash(&speaker, &format!("a\\x0a{sign}")),
            crash(&format!("{speaker} a"), &format!("a\\x0a{sign}")),
            crash("x", &format!("a\n{pad}{sign}\n{pad}{sign}")),
            crash(&format!("x\n{pad}{short}"), sign),
            crash(&format!("x\\x0a{short}"), sign),
            // The file alone makes the rest of a sign that the name begins.
            crash(&name, &sign.chars().skip(15).collect::<String>()),
            format!(
                "[  9.1] traps: {name}[812] trap divide error ip:401136 sp:7ffd error:0 in {sign}[401000+1000]"
            ),
            format!(
                "[  9.1] traps: {name}[812] general protection fault ip:401136 sp:7ffd error:0 in {sign}[401000+1000]"
            ),
            format!("[  9.1] {name}[812]: unhandled signal 11 code 1 at 0000 in {sign}[401000+1000]"),
            format!(
                "[  9.1] potentially unexpected fatal signal 11.\n[  9.1] CPU: 1 PID: 812 Comm: {name} Not tainted 6.1.0"
            ),
            format!("[  9.1] {name}/812: potentially unexpected fatal signal 11."),
            format!("[  9.1] CPU: 3 UID: 1000 PID: 812 Comm: {name} Tainted: G OE 6.18.0"),
            format!(
                "[  9.1] audit: type=1701 audit(1.1:2): auid=1000 uid=1000 pid=812 comm=\"{sign}\" exe=\"/tmp/{sign}\" sig=11"
            ),
            format!(
                "[  9.1] audit: type=1400 audit(1.1:2): apparmor=\"DENIED\" name=\"/tmp/{sign}\" comm=\"{name}\""
            ),
            format!("[  9.1] process '{sign}' launched '/tmp/{sign}' with NULL argv: empty string added"),
            format!("[  9.1] warning: `{name}' uses 32-bit capabilities (legacy support in use)"),
            format!(
                "[  9.1] x86/split lock detection: #AC: {name}/812 took a split_lock trap at address: 0x401136"
            ),
            format!(
                "[  9.1] x86/split lock detection: #AC: {name}/812 took a split_lock trap at address: 0x401136\\x0a{sign}"
            ),
            format!("[  9.1] {name} (812) used greatest stack depth: 10000 bytes left"),
            format!("[  9.1] TCP: request_sock_TCP: Possible SYN flooding on port 1. {sign}"),
            format!("[  9.1] tmpfs: Unknown parameter '{sign}'"),
            format!("[  9.1] tmpfs: Unknown parameter 'x\n{pad}{sign}'"),
            format!("[  9.1] tmpfs: Unknown parameter 'x\\x0a{sign}'"),
            format!("[  9.1] cgroup: Unknown subsys name '{sign}'"),
            format!("[  9.1] overlayfs: failed to resolve '{sign}': -2"),
            format!(
                "[  9.1] BTRFS: device label {sign} devid 1 transid 5 /dev/loop0 scanned by {name} (812)"
            ),
            format!("[  9.1] XFS (loop0): Mounting V5 Filesystem {sign}"),
            format!("[  9.1] EXT4-fs (loop0): mounted filesystem {sign} with ordered data mode"),
            format!("[  9.1] ISO 9660 Extensions: {sign}"),
            format!("[  9.1] usb 1-1: Product: {sign}"),
            format!("[  9.1] usb 1-1: SerialNumber: x\n{pad}{sign}"),
            format!("[  9.1] input: {sign} as /devices/pci0000:00/0000:00:14.0/usb1/1-1/input/input9"),
            format!("[  9.1] scsi 6:0:0:0: Direct-Access     {sign} PQ: 0 ANSI: 6"),
            format!("[  9.1] wlan0: authenticate with 00:00:00:00:00:00 ({sign})"),
            format!("[  9.1] {}: renamed from eth0", name.replace(' ', "_")),
            format!("[  9.1] IPv6: ADDRCONF(NETDEV_CHANGE): {name}: link becomes ready"),
            format!("[  9.1] device {name} entered promiscuous mode"),
            format!("[  9.1] {name}: loading out-of-tree module taints kernel."),
            format!(
                "[  9.1] {name}: page allocation failure: order:4, mode:0x40cc0(GFP_KERNEL|__GFP_COMP), nodemask=(null)"
            ),
            format!(
                "[  9.1] {name} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0"
            ),
            format!(
                "[  9.1] oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/user.slice/{sign},task={name},pid=812,uid=1000"
            ),
            format!(
                "[  9.1] Tasks state (memory values in pages):\n[  9.1] [    812]  1000   812      100       10    40960        0             0 {name}"
            ),
            format!("[  9.1] task:{name} state:D stack:0 pid:812 tgid:812 ppid:1 flags:0x00004002"),
            // Programs that write to /dev/kmsg, or whose messages go there.
            format!("user  :notice: [  9.1] {sign}"),
            format!("daemon:info  : [  9.1] {sign}"),
            format!("<14>[  9.1] {sign}"),
            format!("<30>{sign}"),
            format!("12,1,100,-;{sign}"),
            format!("2026-11-20T01:00:00+00:00 gpu0 mallory[812]: {sign}"),
            format!("2026-11-20T01:00:00+00:00 gpu0 systemd[1]: {sign}"),
            format!("Nov 20 01:00:00 gpu0 mallory: {sign}"),
        ]
    };
    let taken: Vec<String> = signs
        .into_iter()
        .flat_map(forms)
        .filter_map(|line| {
            let said = read(line.lines());
            (!said.is_empty()).then(|| format!("{:?}: {line}", ids(&said)))
        })
        .collect();
    assert!(taken.is_empty(), "{}", taken.join("\n"));
}

/// A name within a sign stays a name.
#[test]
fn a_name_within_a_sign_says_nothing_else() {
    let names = [
        "Oops: 0000 [#1]",
        "NVRM: Xid (PCI:",
        "a) b (c",
        "x\\x0aOops: 000",
        "\\xff\\xfe",
        "  ",
        "[1]: segfault a",
    ];
    for name in names {
        for (line, id) in [
            (format!("[  9.1] INFO: task {name}:812 blocked for more than 120 seconds."), "task.blocked"),
            (
                format!("[  9.1] Out of memory: Killed process 812 ({name}) total-vm:1kB, anon-rss:1kB"),
                "oom.host",
            ),
            (format!("[  9.1] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [{name}:812]"), "stall.soft"),
            (format!("[  9.1] BUG: Bad page state in process {name}  pfn:17374e"), "kernel.bad_page"),
            (
                format!("[  9.1] NVRM: Xid (PCI:0000:07:00): 13, pid=812, name={name}, Graphics Exception"),
                "xid.program",
            ),
            (
                format!("[  9.1] EXT4-fs error (device sda1): ext4_lookup:1: inode #2: comm {name}: x"),
                "fs.ext4",
            ),
        ] {
            // A name with a line break cuts its own message short and nothing else.
            let found = ids(&read([line.as_str()])).join(" ");
            assert!(found == id || found.is_empty() && name.contains("x0a"), "{line}: {found}");
        }
    }
    // A process that hangs says nothing by the length of its name: the kernel prints 15 bytes.
    let long =
        "[  9.1] INFO: task x[1]: segfault at 0 ip 0 in a:1 blocked for more than 120 seconds.[400000+1000]";
    assert!(read([long]).is_empty());
}

#[test]
fn what_stands_beside_a_sign_names_its_cause() {
    let advice = |lines: &str, id: &str| {
        let said = read(lines.lines());
        let one = said.iter().rev().find(|one| one.cause.id == id).unwrap();
        one.act(&said).to_owned()
    };
    let failed = "[ 5.5] NVRM: GPU 0000:03:00.0: RmInitAdapter failed! (0x22:0x56:884)\n";
    let cases = [
        ("", "in another host too"),
        (
            "[ 5.4] NVRM: The NVIDIA GPU 0000:03:00.0 (PCI ID: 10de:2c58)\n               NVRM: installed in this system requires use of the NVIDIA open kernel modules.\n",
            "open kernel modules",
        ),
        (
            "[ 5.4] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\n       NVRM: BAR1 is 0M @ 0x0 (PCI:0000:03:00.0)\n",
            "Above 4G Decoding",
        ),
        (
            "[ 1.4] pci 0000:03:00.0: BAR 1 [mem size 0x800000000 64bit pref]: can't assign; no space\n",
            "Above 4G Decoding",
        ),
        ("[ 5.4] NVRM: RmInitAdapter: Cannot initialize GSP firmware RM\n", "off and on again"),
        (
            "[ 5.4] NVRM: GPU 0000:03:00.0: GPU does not have the necessary power cables connected.\n",
            "power cables",
        ),
        ("[ 5.4] NVRM: GPU 0000:03:00.0 is already bound to NovaCore.\n", "nova_core"),
        ("[ 5.4] NVRM: Xid (PCI:0000:03:00): 79, GPU has fallen off the bus.\n", "power-cycle"),
    ];
    for (before, word) in cases {
        let act = advice(&format!("{before}{failed}"), "nvidia.rm_init");
        assert!(act.contains(word), "{before}: {act}");
        let replace = act.find("replace").unwrap_or(usize::MAX);
        assert!(
            replace == usize::MAX
                || act[..replace].contains("power-cycle")
                || act[..replace].contains("off and on"),
            "a GPU is replaced last: {act}"
        );
    }
}

#[test]
fn what_counts_for_more() {
    let nonfatal = "NVRM: Xid (PCI:0000:1b:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 11 (0x1)\n";
    let counts = |lines: &str| {
        let said = read(lines.lines());
        said.iter().map(|one| one.counts(&said)).max()
    };
    assert_eq!(counts(nonfatal), Some(Counts::Warn));
    let privilege =
        "NVRM: Xid (PCI:0000:1b:00): 137, RLW_RXPIPE interrupt hit on link 11 on GPU0: PRIV Error\n";
    assert_eq!(counts(&format!("{nonfatal}{privilege}")), Some(Counts::Fail));
    assert_eq!(counts(privilege), Some(Counts::Warn));
    let again = "NVRM: Xid (PCI:0000:0f:00): 94, Ch 8\n";
    assert_eq!((counts(again), counts(&again.repeat(2))), (Some(Counts::Warn), Some(Counts::Fail)));
    let fault = "pcieport 0000:00:03.0: pciehp: Slot(2): Link Down\n";
    let mended = "pcieport 0000:00:03.0: pciehp: Slot(2): Link Up\n";
    assert_eq!(counts(&format!("{fault}{mended}")), Some(Counts::Note));
    assert_eq!(counts(&format!("{mended}{fault}")), Some(Counts::Warn));
}

/// A fault that a later line of the same device takes back is not told any more; one of another device is.
#[test]
fn what_is_taken_back() {
    let rows = [
        (
            "device-mapper: thin: 252:9: switching pool to out-of-data-space (queue IO) mode",
            "device-mapper: thin: 252:9: switching pool to write mode",
            "device-mapper: thin: 252:7: switching pool to write mode",
        ),
        (
            "device-mapper: multipath: 253:3: Failing path 8:64.",
            "device-mapper: multipath: 253:3: Reinstating path 8:64.",
            "device-mapper: multipath: 253:3: Reinstating path 8:80.",
        ),
        (
            "md/raid1:md1: active with 1 out of 2 mirrors",
            "md: md1: recovery done.",
            "md: md12: recovery done.",
        ),
        (
            "md/raid1:md1: Disk failure on sdb1, disabling device.",
            "md: md1: recovery done.",
            "md: md1: recovery interrupted.",
        ),
        (
            "Lustre: x-OST1-osc-1: Connection to x-OST1 (at 10.0.9.7@o2ib) was lost; in progress operations using this service will wait",
            "Lustre: x-OST1-osc-1: Connection restored to 10.0.9.7@o2ib",
            "Lustre: x-OST2-osc-1: Connection restored to 10.0.9.8@o2ib",
        ),
        (
            "megaraid_sas 0000:03:00.0: Found FW in FAULT state, will reset adapter scsi0.",
            "megaraid_sas 0000:03:00.0: Reset successful for scsi0.",
            "megaraid_sas 0000:04:00.0: Reset successful for scsi1.",
        ),
    ];
    for (fault, mended, other) in rows {
        let id = ids(&read([fault]))[0];
        let stands = |lines: [&str; 2]| ids(&read(lines)).contains(&id);
        assert!(!stands([fault, mended]), "{mended}");
        assert!(stands([fault, other]), "{other}");
        assert!(stands([mended, fault]), "{fault} comes after");
    }
}

/// A link is named where the line names one.
#[test]
fn what_a_line_does_not_tell_is_left_out() {
    let says = |line: &str| read([line]).first().map(Said::says).unwrap_or_default();
    let fatal = |link: &str| format!("NVRM: Xid (PCI:0000:1b:00): 149, NETIR Fatal XC0 i0 Link {link} (0x1)");
    assert_eq!(says(&fatal("11")), "Xid 149 on link 11");
    assert_eq!(says(&fatal("-1")), "Xid 149");
    assert_eq!(says("NVRM: Xid (PCI:0000:1b:00): 145, something new"), "Xid 145");
    assert_eq!(
        says("NVRM: Xid (PCI:0000:1b:00): 137, RLW_RXPIPE interrupt hit on link 11 on GPU0: PRIV Error"),
        "Xid 137 on link 11"
    );
}

/// Six bits of the line say which end of a link of NVLink 5 is to be looked at.
#[test]
fn the_end_of_a_link_that_failed() {
    for reason in 0..64_u32 {
        let line = format!(
            "NVRM: Xid (PCI:0000:1b:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 02 (0x{:08x} 0x0)",
            0x1c6 | reason << 20
        );
        let wanted = match reason {
            21 | 32..=37 => "xid.nvlink5_peer",
            38 => "xid.nvlink5_here",
            _ => "xid.nvlink5_fatal",
        };
        assert_eq!(ids(&read([line.as_str()])), [wanted], "{reason}: {line}");
    }
}

fn cases() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/causes")
}

/// Lines that others published: what is said of each by itself, or nothing.
#[test]
fn what_others_saw() {
    let text = std::fs::read_to_string(cases().join("found.txt")).unwrap();
    let mut wrong = Vec::new();
    for (wanted, line) in text.lines().filter_map(|line| line.split_once(" | ")) {
        let said = read([line]);
        let told: Vec<String> = said
            .iter()
            .map(|one| format!("{} {}", format!("{:?}", one.counts(&said)).to_lowercase(), one.cause.id))
            .collect();
        let told = if told.is_empty() { "nothing".to_owned() } else { told.join(", ") };
        if told != wanted {
            wrong.push(format!("{wanted}, not {told}: {line}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(text.lines().filter(|line| line.contains(" | ")).count() > 100);
}

/// The log of a healthy host has no sign, however much of it has the words of one.
#[test]
fn healthy_boots_are_silent() {
    let folder = std::fs::read_dir(cases().join("healthy")).unwrap();
    let boots: Vec<std::path::PathBuf> = folder.map(|file| file.unwrap().path()).collect();
    assert!(boots.len() >= 10);
    for boot in boots {
        let text = std::fs::read_to_string(&boot).unwrap();
        let said = read(text.lines());
        let told: Vec<&str> = said.iter().map(|one| one.line).collect();
        assert!(said.is_empty(), "{}: {:?} {told:#?}", boot.display(), ids(&said));
    }
}

/// A program repeats the last warning of NCCL behind words of its own; it is read as NCCL prints it.
#[test]
fn what_a_program_repeats_of_nccl() {
    let first = |text: &str| super::Reading::of(text).ranked().first().map(|one| one.cause.id);
    let of_torch = "(Worker pid=97) ERROR [core.py:375] ncclSystemError: System call (e.g. socket, malloc) failed.\n\
        (Worker pid=97) ERROR [core.py:375] Last error:\n\
        (Worker pid=85) ERROR [core.py:375] Traceback\n\
        (Worker pid=97) ERROR [core.py:375] Error while creating shared memory segment /dev/shm/nccl-6R371p (size 9637888)\n";
    assert_eq!(first(of_torch), Some("nccl.shm"));
    let of_jax = "invalid usage ... Last NCCL warning(error): 'Bootstrap : no socket interface found'";
    assert_eq!(first(of_jax), Some("nccl.interface_missing"));
    assert_eq!(first("ncclSystemError: x\nLast error:\n\nsome words\n"), Some("nccl.result"));
}
