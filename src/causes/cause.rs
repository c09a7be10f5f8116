//! A row of the catalogue.

/// Where the text of a sign comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// The kernel's log.
    Kernel,
}

/// How much a sign counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counts {
    /// Nothing is wrong, or it is said beside something that is.
    Note,
    /// It may be wrong, or hurts only now and then.
    Warn,
    /// The host should get no jobs.
    Fail,
}

/// A condition on what else the same log says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// One of these causes is said as well.
    Beside(&'static [&'static str]),
    /// It is said at least so often, of the same device.
    Times(usize),
}

/// What makes a sign count for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worse {
    /// When it does.
    pub when: When,
    /// For how much it counts then.
    pub counts: Counts,
}

/// One of several causes of a sign, told by what is said beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apart {
    /// The causes of which one is said as well.
    pub beside: &'static [&'static str],
    /// What to do then, in place of what the row itself says.
    pub act: &'static str,
}

/// Where a row is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// A page, a file of a source or a report that anybody can open.
    pub place: &'static str,
    /// The day that it has, or was looked at: `2026-11-29`.
    pub day: &'static str,
}

/// A sign and what it means.
#[derive(Debug, Clone, Copy)]
pub struct Cause {
    /// Its id: `nvidia.open_modules`.
    pub id: &'static str,
    /// Whose words the sign is.
    pub output: Output,
    /// The check that tells of it.
    pub check: &'static str,
    /// What is printed, from the beginning of a message: a pattern in what POSIX extended expressions and the
    /// crate `regex` read alike, with parts that have names, and with the words of [`super::table`] for an address or
    /// the name of a process.
    pub sign: &'static str,
    /// The words of a finding, with parts of the sign: `Xid {number}`. A text in brackets is left out where the line
    /// has no such part: `Xid {number}[ on link {link}]`.
    pub says: &'static str,
    /// What it means, in a sentence.
    pub means: &'static str,
    /// How much it counts by itself.
    pub counts: Counts,
    /// What makes it count for more.
    pub worse: &'static [Worse],
    /// What to do.
    pub act: &'static str,
    /// Its causes, where what is said beside it tells them apart; the first that fits is taken.
    pub apart: &'static [Apart],
    /// Causes that take it back when they are said later of the same device.
    pub ended_by: &'static [&'static str],
    /// Whether later lines of the same message are signs of their own.
    pub begins: bool,
    /// Where it is from.
    pub sources: &'static [Source],
    /// Lines as they were printed, shortened, with other names and addresses.
    pub samples: &'static [&'static str],
}

/// A row to begin with: only what differs is written.
pub(super) const ROW: Cause = Cause {
    id: "",
    output: Output::Kernel,
    check: "",
    sign: "",
    says: "",
    means: "",
    counts: Counts::Warn,
    worse: &[],
    act: "",
    apart: &[],
    ended_by: &[],
    begins: false,
    sources: &[],
    samples: &[],
};

/// A source with its day.
pub(super) const fn seen(place: &'static str, day: &'static str) -> Source {
    Source { place, day }
}
