//! Pauses between tries, each twice as long as the one before.

use std::time::Duration;

/// Gives pauses up to a longest one, without end.
#[derive(Debug, Clone)]
pub struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    /// Begins with a first pause.
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { next: first, longest }
    }

    /// The pause that is due now.
    pub fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_get_longer_up_to_the_longest() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(5));
        assert_eq!([1, 2, 4, 5, 5].map(Duration::from_secs), [(); 5].map(|()| backoff.pause()));
    }
}
