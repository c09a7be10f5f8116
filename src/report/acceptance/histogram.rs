//! Numbers of many parts as a drawing: how many have which, what they are held against, and which fail.

use super::draw::{Scale, place};
use super::numbers::{decimals, float, whole, written};
use super::text::{UNIT, escaped};
use crate::accept::record::By;
use crate::put;
use crate::words::count;

/// Units of the drawing; at 360 they are about pixels on the smallest screen.
const WIDTH: f64 = 360.0;
/// The places at which bars begin and end.
const SIDES: (f64, f64) = (6.0, 354.0);
/// Height of the highest bar.
const HEIGHT: f64 = 92.0;
/// Height of a line of text.
const LINE: f64 = 14.0;

/// A number with what became of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dot {
    /// The number.
    pub(super) value: f64,
    /// Whether it does not hold.
    pub(super) fails: bool,
}

/// A threshold, from the least to the most where parts have different ones.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    /// The one who sets it.
    pub(super) by: By,
    /// The least of all parts.
    pub(super) least: f64,
    /// The most of all parts.
    pub(super) most: f64,
    /// Its text, ready for HTML.
    pub(super) label: String,
}

/// The drawing; empty where there is nothing to draw.
pub(super) fn svg(dots: &[Dot], marks: &[Mark], unit: &str, noun: &str) -> String {
    let dots: Vec<Dot> = dots.iter().copied().filter(|dot| dot.value.is_finite()).collect();
    let marks: Vec<&Mark> = marks.iter().filter(|mark| (mark.least + mark.most).is_finite()).collect();
    let least = dots.iter().map(|dot| dot.value).fold(f64::INFINITY, f64::min);
    let most = dots.iter().map(|dot| dot.value).fold(f64::NEG_INFINITY, f64::max);
    if dots.len() < 2 {
        return String::new();
    }
    let scale = scale(least, most, &marks);
    let bars = bars(&dots, &scale);
    let highest = bars.iter().map(|bar| bar.number).max().unwrap_or(0).max(1);
    let unit = escaped(unit, UNIT);
    let top = LINE * float(marks.len()) + LINE + 6.0;
    let bottom = top + HEIGHT;
    let mut out = String::new();
    put!(out, r#"<svg class="plot" viewBox="0 0 {} {}" role="img">"#, WIDTH, bottom + 2.0 * LINE + 4.0);
    put!(
        out,
        "<title>{} from {} to {} {unit}</title>",
        count(dots.len() as u64, noun),
        written(least, decimals(most)),
        written(most, decimals(most))
    );
    put!(out, r#"<path class="grid" d="M{} {}H{}"/>"#, place(SIDES.0), place(top), place(SIDES.1));
    put!(
        out,
        r#"<text class="dim" x="{}" y="{}">{}</text>"#,
        place(SIDES.0),
        place(top - 4.0),
        count(highest as u64, noun)
    );
    let width = (SIDES.1 - SIDES.0) / float(bars.len());
    let (mut good, mut bad, mut crosses) = (String::new(), String::new(), String::new());
    for (at, bar) in bars.iter().enumerate() {
        let x = SIDES.0 + width * float(at);
        // One of thousands is still seen.
        let tall = |number: usize| (HEIGHT * float(number) / float(highest)).max(2.0);
        if bar.number > 0 {
            rectangle(&mut good, x, bottom, width, tall(bar.number));
        }
        if bar.fails > 0 {
            rectangle(&mut bad, x, bottom, width, tall(bar.fails));
            let (x, y) = (place(x + width / 2.0), place(bottom - tall(bar.number) - 3.0));
            put!(crosses, r#"<text class="cross" x="{x}" y="{y}">✕</text>"#);
        }
    }
    put!(out, r#"<path class="bar" d="{good}"/>"#);
    if !bad.is_empty() {
        put!(out, r#"<path class="bar fails" d="{bad}"/>{crosses}"#);
    }
    let drawn: Vec<[String; 2]> = marks
        .iter()
        .enumerate()
        .map(|(row, mark)| threshold(mark, &scale, LINE * float(row), bottom))
        .collect();
    // All texts stand above all lines.
    for part in [0, 1] {
        out.extend(drawn.iter().filter_map(|of| of.get(part)).map(String::as_str));
    }
    put!(out, r#"<path class="axis" d="M{} {}H{}"#, place(SIDES.0), place(bottom), place(SIDES.1));
    let ticks = scale.ticks(5);
    for (value, _) in &ticks {
        put!(out, "M{} {}v4", place(scale.at(*value)), place(bottom));
    }
    put!(out, r#""/>"#);
    for (value, text) in &ticks {
        let x = scale.at(*value);
        put!(out, r#"<text {} y="{}">{text}</text>"#, anchored(x), place(bottom + LINE + 2.0));
    }
    let (x, y) = (place(WIDTH / 2.0), place(bottom + 2.0 * LINE + 1.0));
    put!(out, r#"<text class="middle dim" x="{x}" y="{y}">{unit}</text></svg>"#);
    out
}

/// The scale holds all numbers. A threshold that is farther away than they are from one another would press them into
/// a corner: it is named at the side.
fn scale(least: f64, most: f64, marks: &[&Mark]) -> Scale {
    let plain = Scale::new(least, most, 0.0, 1.0);
    let reach = plain.most - plain.least;
    let (mut least, mut most) = (plain.least, plain.most);
    for value in marks.iter().flat_map(|mark| [mark.least, mark.most]) {
        if value > plain.least - reach && value < plain.most + reach {
            least = least.min(value - reach / 40.0);
            most = most.max(value + reach / 40.0);
        }
    }
    Scale::new(least, most, SIDES.0, SIDES.1)
}

/// A bar: how many parts, and how many of them fail.
#[derive(Debug, Clone, Copy, Default)]
struct Bar {
    number: usize,
    fails: usize,
}

fn bars(dots: &[Dot], scale: &Scale) -> Vec<Bar> {
    let most = whole((2.0 * float(dots.len()).sqrt()).clamp(16.0, 58.0));
    let mut bars = vec![Bar::default(); most];
    for dot in dots {
        let share = (dot.value - scale.least) / (scale.most - scale.least);
        let at = whole(share * float(most)).min(most - 1);
        if let Some(bar) = bars.get_mut(at) {
            bar.number += 1;
            bar.fails += usize::from(dot.fails);
        }
    }
    bars
}

fn rectangle(path: &mut String, x: f64, bottom: f64, width: f64, height: f64) {
    let wide = place((width - 0.6).max(0.6));
    put!(path, "M{} {}h{wide}v-{}h-{wide}z", place(x + 0.3), place(bottom), place(height));
}

/// Text that stays on the drawing: near an end it begins or ends there.
fn anchored(x: f64) -> String {
    if x < 24.0 {
        format!(r#"x="{}""#, place(SIDES.0))
    } else if x > WIDTH - 24.0 {
        format!(r#"class="end" x="{}""#, place(SIDES.1))
    } else {
        format!(r#"class="middle" x="{}""#, place(x))
    }
}

/// The line or band of a threshold, and its text, which is in a row of its own: the lines of two may be one.
fn threshold(mark: &Mark, scale: &Scale, top: f64, bottom: f64) -> [String; 2] {
    let class = super::text::by_word(mark.by);
    let text = top + LINE - 3.0;
    if mark.most < scale.least {
        let label = format!(r#"<text x="{}" y="{}">◂ {}</text>"#, place(SIDES.0), place(text), mark.label);
        return [String::new(), label];
    }
    if mark.least > scale.most {
        let x = place(SIDES.1);
        let label = format!(r#"<text class="end" x="{x}" y="{}">{} ▸</text>"#, place(text), mark.label);
        return [String::new(), label];
    }
    let (from, to) = (scale.at(mark.least), scale.at(mark.most));
    let mut out = String::new();
    if to - from > 1.0 {
        let (x, y, wide, tall) = (place(from), place(top + 2.0), place(to - from), place(bottom - top - 2.0));
        put!(out, r#"<rect class="zone" x="{x}" y="{y}" width="{wide}" height="{tall}"/>"#);
    }
    put!(out, r#"<path class="mark {class}" d="M{} {}V{}"/>"#, place(to), place(top + 2.0), place(bottom));
    let (class, x) = if to > WIDTH / 2.0 { (r#" class="end""#, from.min(to) - 3.0) } else { ("", to + 3.0) };
    [out, format!(r#"<text{class} x="{}" y="{}">{}</text>"#, place(x), place(text), mark.label)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dots(values: &[f64]) -> Vec<Dot> {
        values.iter().map(|value| Dot { value: *value, fails: *value < 600.0 }).collect()
    }

    fn mark(least: f64, most: f64) -> Mark {
        Mark { by: By::Floor, least, most, label: "floor 600 &lt;".to_owned() }
    }

    #[test]
    fn who_fails_is_marked_by_more_than_a_colour() {
        let drawn = svg(&dots(&[510.0, 667.0, 668.0, 669.0]), &[mark(600.0, 600.0)], "TFLOP/s", "GPU");
        assert_eq!(drawn.matches("✕").count(), 1);
        assert!(drawn.contains(r#"<path class="mark floor""#) && drawn.contains("floor 600 &lt;"), "{drawn}");
        assert!(drawn.contains(">TFLOP/s</text>") && drawn.contains("4 GPUs from 510.0 to 669.0 TFLOP/s"));
        assert!(!svg(&dots(&[667.0, 668.0]), &[], "", "GPU").contains("✕"));
    }

    #[test]
    fn a_threshold_far_away_is_named_at_the_side() {
        let drawn = svg(&dots(&[666.0, 667.0, 668.0]), &[mark(500.0, 500.0)], "TFLOP/s", "GPU");
        assert!(drawn.contains("◂ floor") && !drawn.contains("class=\"mark"), "{drawn}");
        let drawn = svg(&dots(&[666.0, 667.0, 668.0]), &[mark(900.0, 900.0)], "TFLOP/s", "GPU");
        assert!(drawn.contains("▸"), "{drawn}");
        let drawn = svg(&dots(&[666.0, 667.0, 668.0]), &[mark(665.0, 667.0)], "TFLOP/s", "GPU");
        assert!(drawn.contains("class=\"zone\""), "{drawn}");
    }

    #[test]
    fn numbers_that_are_none_break_nothing() {
        assert_eq!(svg(&dots(&[f64::NAN, 1.0]), &[], "s", "host"), "");
        for values in [[0.0, 0.0], [-1e308, 1e308], [1e-320, 2e-320], [f64::MAX, f64::MAX]] {
            let drawn = svg(&dots(&values), &[mark(f64::NAN, 1.0), mark(-f64::MAX, f64::MAX)], "<b>", "host");
            assert!(!drawn.contains("NaN") && !drawn.contains("inf") && !drawn.contains("<b>"), "{drawn}");
        }
    }
}
