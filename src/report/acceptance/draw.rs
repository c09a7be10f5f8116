//! The common parts of all drawings: scales, their marks, and places in SVG.

use super::numbers::{float, written};

/// Maps numbers to places of a drawing; what is beyond its ends is drawn at them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// The number at the start.
    pub(super) least: f64,
    /// The number at the end.
    pub(super) most: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// A scale of numbers, which may be all the same, over the places from `start` to `end`.
    pub(super) fn new(least: f64, most: f64, start: f64, end: f64) -> Self {
        // Half the largest number: what lies between two of them is a number as well.
        let limit = f64::MAX / 4.0;
        let (least, most) = (least.clamp(-limit, limit), most.clamp(-limit, limit));
        let room = if most > least { 0.0 } else { (0.01 * least.abs()).max(0.5) };
        Self { least: least - room, most: most + room, start, end }
    }

    /// The place of a number.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = ((value - self.least) / (self.most - self.least)).clamp(0.0, 1.0);
        self.start + share * (self.end - self.start)
    }

    /// About so many round numbers on the scale, as they are written.
    pub(super) fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        let rough = (self.most - self.least) / float(about.max(1));
        let power = 10_f64.powf(rough.log10().floor());
        // The widest step that leaves not many fewer than that.
        let marks = |step: f64| (self.most / step).floor() - (self.least / step).ceil() + 1.5;
        let steps = [10.0, 5.0, 2.0, 1.0, 0.5].map(|of| of * power);
        let step = steps.into_iter().find(|step| marks(*step) > float(about.saturating_sub(1)));
        let Some(step) = step.filter(|step| step.is_normal()) else { return Vec::new() };
        // As many digits as the step has.
        let is_whole = |digits: &i32| {
            let scaled = step * 10_f64.powi(*digits);
            (scaled - scaled.round()).abs() < 1e-6
        };
        let digits = (0..6).find(is_whole).and_then(|digits| usize::try_from(digits).ok()).unwrap_or(6);
        let first = (self.least / step).ceil() * step;
        let values = (0..=about * 2).map(|number| first + float(number) * step);
        let end = self.most + step / 1000.0;
        // Without the sign of a zero below it.
        values.take_while(|value| *value <= end).map(|value| (value, written(value + 0.0, digits))).collect()
    }
}

/// A place, exact to a tenth, in as few characters as it takes.
pub(super) fn place(at: f64) -> String {
    let text = format!("{at:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: Scale) -> Vec<String> {
        scale.ticks(4).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn round_numbers_are_marked() {
        assert_eq!(texts(Scale::new(466.0, 671.0, 0.0, 100.0)), ["500", "550", "600", "650"]);
        assert_eq!(texts(Scale::new(0.0, 100.0, 0.0, 100.0)), ["0", "50", "100"]);
        assert_eq!(texts(Scale::new(50.1, 50.65, 0.0, 100.0)), ["50.2", "50.4", "50.6"]);
        assert_eq!(texts(Scale::new(50.115, 50.175, 0.0, 100.0)), ["50.12", "50.14", "50.16"]);
        assert_eq!(texts(Scale::new(0.0, 0.0, 0.0, 100.0)), ["-0.5", "0.0", "0.5"]);
        let texts = texts(Scale::new(-1e308, 1e308, 0.0, 1.0));
        assert!((3..8).contains(&texts.len()) && texts.iter().any(|text| text == "0"), "{texts:?}");
    }

    #[test]
    fn places_are_short_and_on_the_drawing() {
        let scale = Scale::new(0.0, 10.0, 5.0, 105.0);
        assert_eq!(["5", "55", "105"], [-3.0, 5.0, 1e9].map(|value| place(scale.at(value))));
        assert_eq!(place(12.34), "12.3");
        assert_eq!(place(Scale::new(7.0, 7.0, 0.0, 10.0).at(7.0)), "5");
    }
}
