//! A row of the catalogue.

/// Source of a sign's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// The kernel's log.
    Kernel,
    /// A program of a host or a job; the words tell which, as texts come without a name.
    Tool,
}

/// Severity of a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counts {
    /// Nothing is wrong, or it is said beside something that is.
    Note,
    /// It may be wrong, or hurts only now and then.
    Warn,
    /// The host should get no jobs.
    Fail,
}

/// Place of a sign between the first cause and its last consequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It names what went wrong.
    Cause,
    /// It tells of trouble whose cause stands elsewhere: a peer that is gone, a package that another one broke.
    Effect,
    /// It only counts up what was said before: `Sub-process returned an error code`.
    Summary,
}

/// Certainty of what a row says, which is that of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sure {
    /// One of several causes of these words.
    Guess,
    /// The usual cause.
    Likely,
    /// The words have no other cause, or the source proved it.
    Confirmed,
}

/// The heaviest thing that a remedy asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Nothing, or a look.
    Look,
    /// Settings, a service or a job that is started again, files, accounts.
    Settings,
    /// Packages, modules or images in another version.
    Install,
    /// A reset of a device, a reboot, a power cycle.
    Reset,
    /// Another part.
    Replace,
}

/// A condition on what else the same log says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// One of these causes is said as well.
    Beside(&'static [&'static str]),
    /// It is said at least so often, of the same device.
    Times(usize),
}

/// Condition under which a sign counts for more.
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
    /// Remedy in that case, in place of the one of the row itself.
    pub act: &'static str,
}

/// Source of a row.
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
    /// Source of the sign's words.
    pub output: Output,
    /// The check that tells of it; empty for what no check asks for.
    pub check: &'static str,
    /// Pattern of the printed text, with parts that have names. Of the kernel: from the beginning of a message, in what
    /// POSIX extended expressions and the crate `regex` read alike, with the words of `super::table` for
    /// an address or the name of a process. Of a tool: anywhere in a line, in what the crate `regex` reads.
    pub sign: &'static str,
    /// The words of a finding, with parts of the sign: `Xid {number}`. A text in brackets is left out where the line
    /// has no such part: `Xid {number}[ on link {link}]`.
    pub says: &'static str,
    /// Its meaning, in a sentence.
    pub means: &'static str,
    /// Place between first cause and last consequence.
    pub role: Role,
    /// Causes that bring it about, where they are said in the same texts.
    pub follows: &'static [&'static str],
    /// Patterns of lines near it whose named parts belong to it.
    pub near: &'static [&'static str],
    /// Severity by itself.
    pub counts: Counts,
    /// Conditions under which it counts for more.
    pub worse: &'static [Worse],
    /// Remedy.
    pub act: &'static str,
    /// The heaviest thing that the remedy asks for.
    pub remedy: Remedy,
    /// Whether it goes by itself in a moment, so that a second try is worth it.
    pub passing: bool,
    /// Certainty.
    pub sure: Sure,
    /// Its causes, where what is said beside it tells them apart; the first that fits is taken.
    pub apart: &'static [Apart],
    /// Causes that take it back when they are said later of the same device.
    pub ended_by: &'static [&'static str],
    /// Whether later lines of the same message are signs of their own.
    pub begins: bool,
    /// Sources of the row.
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
    role: Role::Cause,
    follows: &[],
    near: &[],
    counts: Counts::Warn,
    worse: &[],
    act: "",
    remedy: Remedy::Look,
    passing: false,
    sure: Sure::Likely,
    apart: &[],
    ended_by: &[],
    begins: false,
    sources: &[],
    samples: &[],
};

/// A row of a tool to begin with.
pub(super) const TOOL: Cause = Cause { output: Output::Tool, counts: Counts::Fail, ..ROW };

/// A source with its day.
pub(super) const fn seen(place: &'static str, day: &'static str) -> Source {
    Source { place, day }
}
