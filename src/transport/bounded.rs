//! Output with a limit: the head and the tail are kept, the middle is counted.

use super::Gap;

/// Collects bytes in bounded memory (three times the limit at most).
#[derive(Debug, Clone)]
pub(super) struct Bounded {
    head: Vec<u8>,
    head_limit: usize,
    tail: Vec<u8>,
    tail_limit: usize,
    dropped: u64,
}

impl Bounded {
    /// Keeps `limit` bytes: the first half (rounded up) and the last half.
    pub(super) fn new(limit: usize) -> Self {
        let tail_limit = limit / 2;
        Self { head: Vec::new(), head_limit: limit - tail_limit, tail: Vec::new(), tail_limit, dropped: 0 }
    }

    /// Takes more output.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.head_limit - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        if rest.len() >= self.tail_limit {
            // The new bytes alone fill the tail.
            let (gone, kept) = rest.split_at(rest.len() - self.tail_limit);
            self.dropped += (self.tail.len() + gone.len()) as u64;
            self.tail.clear();
            self.tail.extend_from_slice(kept);
        } else {
            self.tail.extend_from_slice(rest);
            // Trimmed at twice the limit, so that short pushes stay cheap.
            if self.tail.len() > 2 * self.tail_limit {
                self.trim();
            }
        }
    }

    fn trim(&mut self) {
        let excess = self.tail.len().saturating_sub(self.tail_limit);
        self.tail.drain(..excess);
        self.dropped += excess as u64;
    }

    /// Returns what was kept, and the gap where something was not.
    pub(super) fn finish(mut self) -> (Vec<u8>, Option<Gap>) {
        self.trim();
        let gap = (self.dropped > 0).then_some(Gap { at: self.head.len(), bytes: self.dropped });
        self.head.append(&mut self.tail);
        (self.head, gap)
    }

    /// Returns what was kept, as text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.clone().finish().0).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Bounded, Gap};

    proptest! {
        #[test]
        fn head_and_tail_stay(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
            limit in 0usize..80,
        ) {
            let all = chunks.concat();
            let mut bounded = Bounded::new(limit);
            for chunk in &chunks {
                bounded.push(chunk);
                prop_assert!(bounded.head.len() + bounded.tail.len() <= 2 * limit + 1);
            }
            let (kept, gap) = bounded.finish();
            if all.len() <= limit {
                prop_assert_eq!(gap, None);
                prop_assert_eq!(kept, all);
            } else {
                let (head, tail) = (limit - limit / 2, limit / 2);
                prop_assert_eq!(gap, Some(Gap { at: head, bytes: (all.len() - limit) as u64 }));
                prop_assert_eq!(&kept[..head], &all[..head]);
                prop_assert_eq!(&kept[head..], &all[all.len() - tail..]);
            }
        }
    }
}
