//! The fuzzer: `FUZZ_TARGET` says which target takes its bytes. `scripts/fuzz.sh` starts it.
#![no_main]

mod targets;

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use camino::Utf8PathBuf;
use libfuzzer_sys::fuzz_target;
use targets::{TARGETS, Target, seeds};

/// The target, and a folder of its own in memory.
static CHOSEN: LazyLock<(&Target, Utf8PathBuf)> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names a target");
    let target = TARGETS.iter().find(|target| target.name == name).expect("FUZZ_TARGET is a target");
    let folder = Utf8PathBuf::from(std::env::var("FUZZ_FOLDER").expect("FUZZ_FOLDER is a folder"));
    assert!(Command::new("mkfifo").arg(folder.join("pipe")).status().expect("mkfifo").success());
    (target, folder)
});

/// With `FUZZ_SEEDS`, writes what the repository has of the kind into that folder; prints what the target
/// reads.
fn start() {
    let (target, _) = &*CHOSEN;
    eprintln!("reads: {}", target.reads);
    let Ok(folder) = std::env::var("FUZZ_SEEDS") else { return };
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    for (number, seed) in seeds(target.name, repository).iter().enumerate() {
        std::fs::write(format!("{folder}/{number:04}"), seed).expect("a seed can be written");
    }
}

fuzz_target!(init: start(), |bytes: &[u8]| {
    let (target, folder) = &*CHOSEN;
    (target.run)(bytes, folder);
});
