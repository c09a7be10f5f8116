//! The time that a change has.

use std::time::Duration;

use tokio::time::Instant;

use super::hints::human;

/// Time to see how a change ended whose own time is over, as after a lost connection.
const LEAST: Duration = Duration::from_secs(5);

/// Time limit of a change, from when it began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    limit: Duration,
    began: Instant,
}

impl Deadline {
    /// A limit that counts from then.
    pub(super) fn new(limit: Duration, began: Instant) -> Self {
        Self { limit, began }
    }

    /// Time that a change has in all.
    pub(super) fn limit(self) -> Duration {
        self.limit
    }

    /// Time that is left. To see how it ended there are a few seconds, but never more than the limit.
    pub(super) fn left(self) -> Duration {
        self.limit.saturating_sub(self.began.elapsed()).max(LEAST.min(self.limit))
    }

    /// Whether no time is left to begin anything.
    pub(super) fn is_over(self) -> bool {
        self.began.elapsed() >= self.limit
    }

    /// Instant at which it is over.
    pub(super) fn end(self) -> Instant {
        self.began + self.limit
    }

    /// The limit in words.
    pub(super) fn words(self) -> String {
        human(self.limit)
    }

    /// Message about a change that was not done in time.
    pub(super) fn missed(self) -> String {
        format!("not finished within its deadline of {}", self.words())
    }
}
