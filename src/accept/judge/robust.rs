//! The middle and the spread of numbers of which some are wrong.

/// Makes the median absolute deviation of a normal distribution its standard deviation.
const NORMAL: f64 = 1.4826;

/// The share of runs in which a figure of a healthy fleet may blame somebody.
///
/// One of a thousand: a fleet is accepted once and looked at weekly, with about ten figures for each GPU, so that a false
/// alarm is a matter of years.
const FALSE_ALARMS: f64 = 0.001;

/// Numbers and what they tell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Robust {
    /// The numbers in order.
    pub(super) sorted: Vec<f64>,
    /// Their middle.
    pub(super) median: f64,
    /// Their standard deviation, as the middle half of them tells it.
    pub(super) deviation: f64,
}

impl Robust {
    /// Looks at numbers; none without a number.
    pub(super) fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let middle = median(&numbers)?;
        let mut away: Vec<f64> = numbers.iter().map(|number| (number - middle).abs()).collect();
        away.sort_by(f64::total_cmp);
        let deviation = NORMAL * median(&away)?;
        Some(Self { sorted: numbers, median: middle, deviation })
    }

    /// Counts them.
    pub(super) fn count(&self) -> usize {
        self.sorted.len()
    }
}

/// The middle of numbers that are in order; of two in the middle their mean.
pub(super) fn median(sorted: &[f64]) -> Option<f64> {
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

/// The standard deviations that the furthest of so many healthy ones is away from the median.
///
/// The more there are, the further out the last one is by chance; 8000 need 5.2. The deviation of few is itself a guess
/// and often far too small, which the factor makes up for: 8 need three times what they would need if it were known, and
/// 4 five times. Both together keep [`FALSE_ALARMS`] where healthy ones spread by up to 1 %.
pub(super) fn reach(count: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "as many parts as a float counts exactly")]
    let count = count.max(1) as f64;
    tail(FALSE_ALARMS / count) * (1.0 + 16.0 / count)
}

/// The number of standard deviations above which a normal number lies with a probability below a half.
///
/// The rational approximation 26.2.23 of Abramowitz and Stegun; it errs by less than 0.00045.
fn tail(probability: f64) -> f64 {
    let t = (-2.0 * probability.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_numbers() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[1.0, 2.0]), Some(1.5));
        assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
        let robust = Robust::of(vec![103.0, 100.0, 99.0, 101.0, 0.0]).unwrap();
        assert_eq!((robust.median, robust.count()), (100.0, 5));
        assert!((robust.deviation - NORMAL).abs() < 1e-9, "one that is far out changes nothing: {robust:?}");
        assert!(Robust::of(vec![5.0; 8]).unwrap().deviation < 1e-9);
        assert_eq!(Robust::of(Vec::new()), None);
    }

    #[test]
    fn tails_of_the_normal_distribution() {
        for (probability, sigma) in [(0.158_655, 1.0), (0.022_750, 2.0), (0.001_35, 3.0), (2.867e-7, 5.0)] {
            assert!((tail(probability) - sigma).abs() < 1e-3, "{probability}: {}", tail(probability));
        }
        assert!(reach(4) > reach(8) && reach(8) > reach(16), "few need more");
        assert!((reach(8000) - 5.17).abs() < 0.02, "{}", reach(8000));
    }
}
