//! Parts of one model held against each other.

use super::measured::Better;
use super::robust::{Robust, reach};

/// With fewer parts than this nobody is the odd one out.
pub(super) const FEWEST: usize = 4;

/// A part that stays behind the median by less than this share has no fault, however equal the others are.
///
/// The same GPU gives 658 to 675 TFLOP/s for the same product from one run to the next, 2.5 % between them. Copies to
/// the host are equal to 0.1 % on all GPUs, and without this one that is 0.5 % behind would be blamed for it.
pub(super) const ALLOWANCE: f64 = 0.03;

/// With fewer parts than this no two groups are told apart; two pairs that are far from each other are chance.
const FEWEST_OF_TWO: usize = 8;

/// The smaller of two groups has at least this share of the parts. Fewer are single slow ones, and each is named.
const SMALLER: f64 = 0.3;

/// Two groups lie apart by this many standard deviations of the wider one. Halves of a single normal group are apart by
/// 2.6, those of an even one by 3.5.
const APART: f64 = 6.0;

/// The opinion of the others about a part.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fleet {
    /// There are too few of them, or they were not asked.
    Silent,
    /// They are of two kinds.
    TwoGroups {
        /// The worse group.
        worse: Robust,
        /// The better group.
        better: Robust,
    },
    /// They are of one kind, which ends here.
    One {
        /// All of them.
        all: Robust,
        /// The share of the median by which a part may stay behind.
        share: f64,
        /// The last value that fits.
        bound: f64,
    },
}

/// Looks at the values of all parts of one model; `behind` is the share that the inventory gives.
pub(super) fn look(values: Vec<f64>, better: Better, behind: Option<f64>) -> Fleet {
    let Some(all) = Robust::of(values) else { return Fleet::Silent };
    let asked = behind.is_none_or(|share| share < 1.0);
    // A share of nothing is nothing, so that counters of errors are none of this.
    if all.count() < FEWEST || all.median <= 0.0 || !asked {
        return Fleet::Silent;
    }
    if let Some(share) = behind {
        let bound = better.behind(all.median, share);
        return Fleet::One { all, share, bound };
    }
    if let Some((low, high)) = two_groups(&all) {
        return match better {
            Better::Higher => Fleet::TwoGroups { worse: low, better: high },
            Better::Lower => Fleet::TwoGroups { worse: high, better: low },
        };
    }
    let share = (reach(all.count()) * all.deviation / all.median).max(ALLOWANCE);
    let bound = better.behind(all.median, share);
    Fleet::One { all, share, bound }
}

/// The lower and the upper group where there are two.
fn two_groups(all: &Robust) -> Option<(Robust, Robust)> {
    if all.count() < FEWEST_OF_TWO {
        return None;
    }
    let cut = best_cut(&all.sorted)?;
    let (low, high) = all.sorted.split_at_checked(cut)?;
    let (low, high) = (Robust::of(low.to_vec())?, Robust::of(high.to_vec())?);
    let distance = high.median - low.median;
    let apart = distance >= ALLOWANCE * high.median && distance >= APART * low.deviation.max(high.deviation);
    apart.then_some((low, high))
}

/// The number of values below the cut that leaves both sides as even as can be; none where one side is a few only.
#[expect(clippy::cast_precision_loss, reason = "as many parts as a float counts exactly")]
fn best_cut(sorted: &[f64]) -> Option<usize> {
    let count = sorted.len() as f64;
    let total: f64 = sorted.iter().sum();
    let (mut below, mut best) = (0.0, None::<(f64, usize, f64)>);
    for (index, value) in sorted.iter().enumerate() {
        below += value;
        let (low, high) = ((index + 1) as f64, count - (index + 1) as f64);
        if high < 1.0 {
            break;
        }
        let between = (total - below) / high - below / low;
        let gain = low * high * between * between;
        if best.is_none_or(|(most, ..)| gain > most) {
            best = Some((gain, index + 1, low.min(high)));
        }
    }
    let (_, cut, smaller) = best?;
    (smaller >= SMALLER * count).then_some(cut)
}
