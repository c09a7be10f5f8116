//! Numbers of many parts: where most of them lie, which is worse, and how they are written.

use std::cmp::Ordering;

/// The numbers that are the good ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Better {
    /// More is better: throughput.
    More,
    /// Less is better: time, heat.
    Less,
}

impl Better {
    /// By the unit: a time or a temperature is the better the lower it is.
    pub(super) fn of(unit: &str) -> Self {
        if matches!(unit, "s" | "ms" | "µs" | "μs" | "us" | "ns" | "°C") { Self::Less } else { Self::More }
    }

    /// Orders the worst first.
    pub(super) fn worst_first(self, one: f64, other: f64) -> Ordering {
        match self {
            Self::More => one.total_cmp(&other),
            Self::Less => other.total_cmp(&one),
        }
    }

    /// A number as a share of the usual one: below 1 is worse.
    pub(super) fn share(self, value: f64, usual: f64) -> f64 {
        let (above, below) = match self {
            Self::More => (value, usual),
            Self::Less => (usual, value),
        };
        if below.abs() < f64::MIN_POSITIVE { 1.0 } else { above / below }
    }
}

/// The place of numbers: the middle, the ends, the spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    /// Their number.
    pub(super) number: usize,
    /// The least.
    pub(super) least: f64,
    /// A twentieth of them is below.
    pub(super) low: f64,
    /// The middle one.
    pub(super) median: f64,
    /// A twentieth of them is above.
    pub(super) high: f64,
    /// The most.
    pub(super) most: f64,
    /// Median absolute deviation, scaled so that it is the standard deviation of a normal distribution.
    pub(super) deviation: f64,
}

impl Summary {
    /// Of the numbers that are finite; `None` when there are none.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let median = quantile(&sorted, 0.5)?;
        let mut away: Vec<f64> = sorted.iter().map(|value| (value - median).abs()).collect();
        away.sort_by(f64::total_cmp);
        Some(Self {
            number: sorted.len(),
            least: *sorted.first()?,
            low: quantile(&sorted, 0.05)?,
            median,
            high: quantile(&sorted, 0.95)?,
            most: *sorted.last()?,
            deviation: 1.4826 * quantile(&away, 0.5)?,
        })
    }

    /// Whether a number is so much worse than the others that chance does not explain it: more than four deviations,
    /// and more than one part of a hundred.
    pub(super) fn stands_out(&self, value: f64, better: Better) -> bool {
        let worse = match better {
            Better::More => self.median - value,
            Better::Less => value - self.median,
        };
        worse > 4.0 * self.deviation && worse > 0.01 * self.median.abs()
    }

    /// Digits behind the point, so that about four of a number count.
    pub(super) fn decimals(&self) -> usize {
        decimals(self.median)
    }
}

/// The number below which a share of sorted numbers lies, between two of them where it falls there.
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * float(sorted.len().checked_sub(1)?);
    let (below, above) = (sorted.get(whole(place))?, sorted.get(whole(place.ceil()))?);
    Some(below + (above - below) * place.fract())
}

/// Digits behind the point of a number of this size.
pub(super) fn decimals(size: f64) -> usize {
    match size.abs() {
        1000.0.. => 0,
        100.0.. => 1,
        10.0.. => 2,
        _ => 3,
    }
}

/// A number with so many digits behind the point; one that nobody can read with its exponent.
pub(super) fn written(value: f64, decimals: usize) -> String {
    if value.abs() < 1e12 { format!("{value:.decimals$}") } else { format!("{value:.3e}") }
}

/// A share of the usual, in parts of a hundred; of nothing there is none.
pub(super) fn percent(share: f64) -> String {
    if share.is_finite() { format!("{} %", written(100.0 * share, 1)) } else { "–".to_owned() }
}

/// A count as a number to compute with.
#[expect(clippy::cast_precision_loss, reason = "counts of parts")]
pub(super) fn float(count: usize) -> f64 {
    count as f64
}

/// The whole part of a number that is not negative; 0 for what is none.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
pub(super) fn whole(value: f64) -> usize {
    value as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_numbers_lie() {
        let of = Summary::of((0..=100).map(f64::from).chain([f64::NAN, f64::INFINITY])).unwrap();
        let shown = (of.number, of.least, of.low, of.median, of.high, of.most);
        assert_eq!(shown, (101, 0.0, 5.0, 50.0, 95.0, 100.0));
        assert!((of.deviation - 37.065).abs() < 1e-9);
        assert_eq!(Summary::of([1.0, 2.0]).map(|of| of.median), Some(1.5));
        assert_eq!(Summary::of([f64::NAN]), None);
    }

    #[test]
    fn who_stands_out() {
        let of = Summary::of((0..100).map(|number| 667.0 + f64::from(number % 7))).unwrap();
        assert!(!of.stands_out(666.0, Better::More) && !of.stands_out(900.0, Better::More));
        assert!(of.stands_out(634.0, Better::More) && of.stands_out(900.0, Better::Less));
        // Where all are the same, a hair's breadth is nothing.
        let same = Summary::of([100.0; 8]).unwrap();
        assert!(!same.stands_out(99.5, Better::More) && same.stands_out(98.0, Better::More));
    }

    #[test]
    fn how_numbers_are_written() {
        for (value, text) in [(4294.31, "4294"), (667.31, "667.3"), (50.317, "50.32"), (1.5, "1.500")] {
            assert_eq!(written(value, decimals(value)), text);
        }
        assert_eq!(written(1e300, 0), "1.000e300");
        assert_eq!(percent(0.9914), "99.1 %");
        assert_eq!(whole(-3.0), 0);
        let shares = [("µs", 4.0, 2.0), ("GB/s", 4.0, 2.0), ("GB/s", 4.0, 0.0)];
        let shares = shares.map(|(unit, value, usual)| percent(Better::of(unit).share(value, usual)));
        assert_eq!(shares, ["50.0 %", "200.0 %", "100.0 %"]);
    }
}
