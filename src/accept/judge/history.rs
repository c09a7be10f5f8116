//! A part held against what it did before.

use super::measured::Better;
use super::robust::Robust;

/// With fewer earlier values than this a part has no past.
const FEWEST: usize = 3;

/// A part that stays behind its own past by less than this share has no fault.
///
/// Two runs of the same GPU differ by up to 2.5 %, and a summer's day, a driver or a library takes another 2 %.
const ALLOWANCE: f64 = 0.05;

/// So many standard deviations of its own past are no fault either.
const REACH: f64 = 5.0;

/// The past of a part.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Own {
    /// Its earlier values.
    pub(super) earlier: Robust,
    /// The share by which it may stay behind.
    pub(super) share: f64,
    /// The last value that fits.
    pub(super) bound: f64,
}

/// Looks at earlier values; `behind` is the share that the inventory gives.
pub(super) fn look(earlier: &[f64], better: Better, behind: Option<f64>) -> Option<Own> {
    let numbers: Vec<f64> = earlier.iter().copied().filter(|number| number.is_finite()).collect();
    if numbers.len() < FEWEST || behind.is_some_and(|share| share >= 1.0) {
        return None;
    }
    let earlier = Robust::of(numbers).filter(|earlier| earlier.median > 0.0)?;
    let share = behind.unwrap_or_else(|| (REACH * earlier.deviation / earlier.median).max(ALLOWANCE));
    let bound = better.behind(earlier.median, share);
    Some(Own { earlier, share, bound })
}
