//! Messages until they are delivered: by webhook, in order, bounded.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::message::Message;
use super::vendor::Delivery;
use crate::backoff::Backoff;

/// Most messages that wait for one webhook; the oldest goes for another.
const MOST: usize = 100;
/// The first pause after a try that failed, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_secs(5), Duration::from_mins(10)];
/// Between two messages: DingTalk and WeCom take 20 a minute.
const BETWEEN: Duration = Duration::from_secs(4);
/// Time for which a message that the service itself refuses keeps back those behind it.
const REFUSED: SignedDuration = SignedDuration::from_hours(72);

/// Result of one try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Somebody answered, with this.
    Answer(Delivery),
    /// Nobody did: why.
    Silence(String),
}

/// Messages that wait for one webhook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Queue {
    letters: VecDeque<Message>,
    /// Tries of the first one that failed.
    tries: u32,
    /// Not before this.
    next: Option<Timestamp>,
    /// Since when the service refuses the first one.
    refused: Option<Timestamp>,
    /// Messages that found no room, or were refused for too long.
    lost: u64,
}

/// Messages that wait for all webhooks, by the names of these.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Outbox(BTreeMap<String, Queue>);

impl Outbox {
    /// Forgets webhooks that the inventory does not have any more; their names, with how many messages they
    /// had.
    pub fn keep(&mut self, names: &[&str]) -> Vec<(String, usize)> {
        let gone = self
            .0
            .iter()
            .filter(|(name, queue)| !names.contains(&name.as_str()) && !queue.letters.is_empty());
        let gone = gone.map(|(name, queue)| (name.clone(), queue.letters.len())).collect();
        self.0.retain(|name, _| names.contains(&name.as_str()));
        gone
    }

    /// Puts a message behind the others of a webhook.
    pub fn add(&mut self, name: &str, message: Message) {
        let queue = self.0.entry(name.to_owned()).or_default();
        queue.letters.push_back(message);
        while queue.letters.len() > MOST {
            queue.lose();
        }
    }

    /// The message that a webhook is to get now. One before which others were lost says so.
    pub fn due(&self, name: &str, now: Timestamp) -> Option<Message> {
        let queue = self.0.get(name)?;
        if queue.next.is_some_and(|next| next > now) {
            return None;
        }
        let mut message = queue.letters.front()?.clone();
        if queue.lost > 0 {
            message.footer = format!("{} older messages were lost; {}", queue.lost, message.footer);
        }
        Some(message)
    }

    /// When the next message is due; the past for now.
    pub fn next(&self) -> Option<Timestamp> {
        let waiting = self.0.values().filter(|queue| !queue.letters.is_empty());
        waiting.map(|queue| queue.next.unwrap_or(Timestamp::UNIX_EPOCH)).min()
    }

    /// Returns the number of messages that wait.
    pub fn waiting(&self) -> usize {
        self.0.values().map(|queue| queue.letters.len()).sum()
    }

    /// Takes what a try came to; what to say of it. `id` is of the message that was tried.
    pub fn take(&mut self, name: &str, id: &str, reply: Reply, now: Timestamp) -> Option<String> {
        let queue = self.0.get_mut(name)?;
        queue.letters.front().filter(|letter| letter.id == id)?;
        match reply {
            Reply::Answer(Delivery::Delivered) => {
                queue.letters.pop_front();
                queue.lost = 0;
                queue.begin(later(now, BETWEEN));
                None
            }
            Reply::Answer(Delivery::Never(reason)) => {
                queue.lose();
                queue.begin(later(now, BETWEEN));
                Some(format!("it does not take this message, which is dropped: {reason}"))
            }
            Reply::Answer(Delivery::Later { reason, after }) => {
                let since = *queue.refused.get_or_insert(now);
                if now.duration_since(since) > REFUSED {
                    queue.lose();
                    queue.begin(None);
                    return Some(format!("it has refused a message for days, which is dropped: {reason}"));
                }
                let pause = queue.pause().max(after);
                queue.next = later(now, pause);
                Some(format!("{reason}; tried again in {}", words(pause)))
            }
            Reply::Silence(reason) => {
                let pause = queue.pause();
                queue.next = later(now, pause);
                Some(format!("{reason}; tried again in {}", words(pause)))
            }
        }
    }
}

impl Queue {
    fn lose(&mut self) {
        self.letters.pop_front();
        self.lost += 1;
        (self.tries, self.refused) = (0, None);
    }

    /// Begins with the message that is first now.
    fn begin(&mut self, next: Option<Timestamp>) {
        (self.tries, self.refused, self.next) = (0, None, next);
    }

    fn pause(&mut self) -> Duration {
        let [first, longest] = PAUSES;
        let mut backoff = Backoff::new(first, longest);
        let pause = (0..=self.tries.min(16)).map(|_| backoff.pause()).last().unwrap_or(first);
        self.tries = self.tries.saturating_add(1);
        pause
    }
}

fn later(now: Timestamp, pause: Duration) -> Option<Timestamp> {
    SignedDuration::try_from(pause).ok().and_then(|pause| now.checked_add(pause).ok())
}

fn words(pause: Duration) -> String {
    let seconds = pause.as_secs();
    if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) }
}
