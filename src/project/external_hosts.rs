//! Lists of hosts that a program of this machine prints or a file holds.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::budget::Budget;
use crate::disk;
use crate::inventory::{Listed, Lists, Origin};
use crate::playbook::files;
use crate::process;
use crate::resources::shared::value::sha256;

/// The longest list, in bytes: 10 000 devices of NetBox have 30 MB.
const LONGEST: usize = 64 << 20;

/// Way of getting lists of hosts.
#[derive(Debug, Clone, Default)]
pub struct Outside {
    /// Whether programs may be run; else their last answer counts, however old.
    pub run: bool,
    /// Directory for answers; without it none are kept.
    pub kept: Option<Utf8PathBuf>,
    /// Output of the programs when a bundle was made, by their command lines as JSON; none is run then.
    pub carried: Option<BTreeMap<String, String>>,
    /// The lists that were had.
    pub heard: Arc<Mutex<Vec<(Origin, String)>>>,
    /// The budget of the whole project.
    pub budget: Budget,
}

impl Outside {
    /// The lists that were had so far.
    pub(super) fn heard(&self) -> Vec<(Origin, String)> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the file for the answer of a program, and the time for which that answer is used again.
    fn place(&self, origin: &Origin) -> Option<(Utf8PathBuf, Duration)> {
        let Origin::Program { argv, directory, cache: Some(cache), .. } = origin else { return None };
        let kept = self.kept.as_ref()?;
        Some((kept.join(format!("hosts-{}.json", key(argv, directory))), *cache))
    }
}

impl Lists for Outside {
    fn ask(&self, origin: &Origin) -> Result<Listed, String> {
        let listed = self.get(origin)?;
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.push((origin.clone(), listed.text.clone()));
        Ok(listed)
    }

    fn named(&self, number: usize) {
        self.budget.hosts(number as u64);
    }

    fn keep(&self, origin: &Origin, text: &str) {
        let Some((path, _)) = self.place(origin) else { return };
        let written = path.parent().map_or(Ok(()), disk::private_directory);
        if let Err(error) = written.and_then(|()| disk::replace(&path, text.as_bytes())) {
            tracing::warn!(%path, %error, "the list of hosts is not kept");
        }
    }
}

impl Outside {
    fn get(&self, origin: &Origin) -> Result<Listed, String> {
        let (argv, directory, timeout) = match origin {
            Origin::File(path) => return files::read_text(path).map(|text| Listed { text, fresh: false }),
            Origin::Program { argv, directory, timeout, .. } => (argv, directory, *timeout),
        };
        if let Some(carried) = &self.carried {
            let text = serde_json::to_string(argv).ok().and_then(|key| carried.get(&key));
            let text = text.ok_or("the bundle does not have what it printed")?.clone();
            return Ok(Listed { text, fresh: false });
        }
        if let Some((path, most)) = self.place(origin)
            && (!self.run || age(&path).is_some_and(|age| age < most))
            && let Ok(text) = disk::read_text(&path, LONGEST as u64)
        {
            return Ok(Listed { text, fresh: false });
        }
        if !self.run {
            return Err("programs are not run here".to_owned());
        }
        ask(argv, directory, timeout).map(|text| Listed { text, fresh: true })
    }
}

/// The same words in another directory are another program.
fn key(argv: &[String], directory: &Utf8Path) -> String {
    let text = format!("{directory}\0{}", argv.join("\0"));
    sha256(text.as_bytes()).chars().take(16).collect()
}

/// Returns the time since a file was written.
fn age(path: &Utf8Path) -> Option<Duration> {
    path.metadata().ok()?.modified().ok()?.elapsed().ok()
}

fn ask(argv: &[String], directory: &Utf8Path, timeout: Duration) -> Result<String, String> {
    let Some((program, words)) = argv.split_first() else { return Err("there is no program".to_owned()) };
    let mut command = process::heard(program);
    command.args(words).current_dir(directory);
    let done = process::run_bounded(&mut command, b"", timeout, LONGEST)
        .map_err(|error| format!("`{program}`: {}", disk::short(&error)))?;
    if done.stdout.len() > LONGEST {
        return Err(format!("it prints more than {} MiB", LONGEST >> 20));
    }
    if !done.status.success() {
        let errors = String::from_utf8_lossy(&done.stderr);
        let last = errors.lines().map(str::trim).rfind(|line| !line.is_empty());
        return Err(match last {
            Some(last) => format!("it ended with {}: {last}", done.status),
            None => format!("it ended with {}", done.status),
        });
    }
    String::from_utf8(done.stdout).map_err(|_| "what it prints is no UTF-8 text".to_owned())
}
