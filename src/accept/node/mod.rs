//! A host by itself, under load: started over its login, and then on its own until it ends.

mod lines;

use std::time::Duration;

pub use lines::{Gpu, Report, Sample, State};

/// Tests of each GPU, in the order in which they run.
const TESTS: [&str; 6] = ["matmul.fp32", "matmul.bf16", "matmul.fp8", "memory", "copy", "peers"];
/// Tests that GPUs make one after the other.
const ALONE: [&str; 2] = ["copy", "peers"];
/// GPUs that a host has, as long as it has not said how many.
const GPUS: u32 = 8;
/// Seconds for the compiler, and for what the first GPU takes to come to life.
const BEFORE: u32 = 45;
/// Seconds that a test takes beside its own time.
const AROUND: u32 = 3;
/// Samples of a GPU that are taken at most, so that three days are no longer than an hour.
const SAMPLES: u32 = 600;

/// How long hosts are loaded.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Load {
    /// Seconds for each test.
    pub seconds: u32,
    /// Times that all tests are made.
    pub rounds: u32,
    /// Seconds after which no round begins, where it is to last for so long.
    #[serde(default)]
    pub total: u32,
    /// The account that loads the GPUs.
    pub user: String,
}

impl Load {
    /// A minute or two for each GPU.
    pub const QUICK: (u32, u32) = (10, 1);
    /// Each test for a minute, three times.
    pub const USUAL: (u32, u32) = (60, 3);

    /// Returns a load for so many seconds for each test and so many rounds.
    pub fn new((seconds, rounds): (u32, u32), user: &str) -> Self {
        Self { seconds, rounds, total: 0, user: user.to_owned() }
    }

    /// Returns a load that takes so long at least, and a round more at most.
    pub fn lasting(time: Duration, user: &str) -> Self {
        let total = u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
        Self { total, ..Self::new((Self::USUAL.0, u32::MAX), user) }
    }

    /// Seconds that it takes on a host with so many GPUs, at most.
    pub fn most(&self, gpus: u32) -> u32 {
        let each = self.seconds.saturating_add(AROUND);
        let tests = TESTS.iter().map(|test| if ALONE.contains(test) { gpus.max(1) } else { 1 }).sum::<u32>();
        let round = each.saturating_mul(tests);
        let rounds =
            if self.total > 0 { self.total.saturating_add(round) } else { round.saturating_mul(self.rounds) };
        BEFORE.saturating_add(rounds)
    }

    /// Tests that a GPU of a host must have come to the end of, each so many times at least.
    pub fn wanted(&self) -> (impl Iterator<Item = &'static str> + use<>, usize) {
        let rounds = if self.total > 0 { 1 } else { self.rounds };
        (TESTS.into_iter(), usize::try_from(rounds).unwrap_or(usize::MAX))
    }

    /// Seconds after which hosts whose tests did not end are given up.
    pub fn patience(&self) -> u64 {
        u64::from(self.most(GPUS)) * 2 + 300
    }
}

/// Returns the words of the command that starts the tests of run `id`, or joins them.
pub fn start(id: &str, load: &Load) -> Vec<String> {
    const START: &str = crate::shell!("accept/node/start.sh");
    const TEXT: &str = include_str!("tests.sh");
    const SOURCE: &str = include_str!("gpu.cu");
    const USERS: &str = crate::shell!("facts/owner_of.sh", "facts/base/busy/busy.sh");
    let total = u64::from(load.most(GPUS)) * 1000;
    let each = (total / u64::from(SAMPLES)).max(1000);
    let words = [
        id.to_owned(),
        load.seconds.to_string(),
        load.rounds.to_string(),
        load.user.clone(),
        TESTS.join(" "),
        each.to_string(),
        load.total.to_string(),
        USERS.to_owned(),
        TEXT.to_owned(),
        SOURCE.to_owned(),
    ];
    command(START, words)
}

/// Returns the words of the command that says how the tests of run `id` stand, after `seconds` at most.
pub fn follow(id: &str, seconds: u32) -> Vec<String> {
    const FOLLOW: &str = crate::shell!("accept/node/follow.sh");
    command(FOLLOW, [id.to_owned(), seconds.to_string()])
}

/// Returns the words of the command that ends the tests of a host at once.
pub fn stop() -> Vec<String> {
    const STOP: &str = crate::shell!("accept/node/stop.sh");
    command(STOP, [])
}

fn command(text: &str, words: impl IntoIterator<Item = String>) -> Vec<String> {
    ["sh", "-c", text, "sh"].map(str::to_owned).into_iter().chain(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_takes_about_as_long_as_was_asked() {
        let quick = Load::new(Load::QUICK, "nobody");
        assert!(quick.most(1) <= 240, "{}", quick.most(1));
        assert!(quick.most(8) <= 600, "{}", quick.most(8));
        let days = Load::lasting(Duration::from_hours(72), "nobody");
        let hours = f64::from(days.most(8)) / 3600.0;
        assert!((72.0..73.0).contains(&hours), "{hours}");
        assert_eq!(days.total, 72 * 3600);
    }
}
