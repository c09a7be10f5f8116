//! From texts of any tool to the first cause: what the catalogue of causes knows of them, across the ranks of a job.
//!
//! ```text
//!   files, archives, stdin ── text ──> lines ──┬─ causes::Reading ──> findings ──┬──> answer
//!                                              └─ ranks ──> who broke, who waited ┘
//! ```
//!
//! Texts come from strangers: what is read is bounded, nothing of it is run or followed, and archives are unpacked
//! in memory, never onto a path.

mod answer;
mod ranks;
mod text;

pub use answer::{Answer, Job, Told, Unknown, Why, sure_word};
pub use text::{Limits, Text, TextError};

/// Returns the shell text that prints the logs of a host, of the last `minutes`: the words of a command.
pub fn logs(minutes: u32) -> Vec<String> {
    const LOGS: &str =
        crate::shell!("shell/base64.sh", "shell/text.sh", "shell/rooted.sh", "shell/held.sh", "why/logs.sh");
    ["sh", "-c", LOGS, "sh", &minutes.to_string()].map(str::to_owned).into()
}
