//! What the fuzzer found once, or might have: every file of `fuzz/corpus/`, through the targets of
//! `make fuzz`. Neither a panic nor a hang.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "tests make a named pipe")]
#![allow(dead_code, unreachable_pub, missing_debug_implementations, reason = "the fuzzer has the rest")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use camino::Utf8PathBuf;

#[path = "../../fuzz/src/targets.rs"]
mod targets;
use targets::{TARGETS, Target, seeds};

/// Runs an input where it cannot take the test with it.
fn try_input(target: &'static Target, name: &str, bytes: Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(folder.path().to_owned()).unwrap();
    assert!(Command::new("mkfifo").arg(path.join("pipe")).status().unwrap().success());
    let (done, ended) = mpsc::channel();
    // The stack that it has in the program: files of users are read by its first thread. One that overflows
    // ends the whole test, and says the name of its thread.
    let stack = if matches!(target.name, "inventory" | "playbook" | "ansible") { 8 << 20 } else { 2 << 20 };
    let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(stack).spawn(move || {
        (target.run)(&bytes, &path);
        done.send(()).unwrap();
    });
    // Each takes milliseconds; what does not end at all has to be told by some number.
    let hangs = ended.recv_timeout(Duration::from_mins(2)) == Err(mpsc::RecvTimeoutError::Timeout);
    assert!(!hangs, "{}: {name} does not end", target.name);
    assert!(thread.unwrap().join().is_ok(), "{}: {name} panics", target.name);
}

#[test]
fn the_corpus_neither_panics_nor_hangs() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let known: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    for folder in std::fs::read_dir(&corpus).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(name.as_str()), "fuzz/corpus/{name} is of no target");
    }
    for target in TARGETS {
        let files = std::fs::read_dir(corpus.join(target.name)).unwrap();
        let mut count = 0;
        for file in files {
            let path = file.unwrap().path();
            try_input(target, &path.display().to_string(), std::fs::read(&path).unwrap());
            count += 1;
        }
        assert!(count > 0, "{} has no corpus", target.name);
    }
}

/// Seeds that a target does not understand lead the fuzzer nowhere.
#[test]
fn seeds_are_understood() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, least) in
        [("inventory", 5), ("playbook", 40), ("conditions", 20), ("facts", 200), ("probes", 10)]
    {
        let seeds = seeds(name, repository);
        assert!(seeds.len() >= least, "{name}: {} seeds", seeds.len());
        assert!(seeds.iter().all(|seed| !seed.is_empty()), "{name} has an empty seed");
    }
}
