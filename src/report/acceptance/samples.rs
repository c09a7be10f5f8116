//! Clocks, power and temperature over the run: a line for each GPU of few hosts, bands over all GPUs of many, and the
//! odd ones by name.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::draw::{Scale, place};
use super::numbers::{Summary, float, quantile, whole, written};
use super::text::{NAME, line, part_of};
use crate::accept::record::{HostRecord, Samples};
use crate::put;
use crate::report::style::seconds;
use crate::words::count;

/// Points of a line at most.
const POINTS: usize = 100;
/// Hosts up to which each has lines of its own.
const FEW: usize = 8;
/// Odd GPUs of each quantity that are drawn.
const ODD: usize = 3;
/// Reasons to hold a clock back that are listed.
const REASONS: usize = 20;
/// Empty points that a line passes over; where more are missing, nothing was seen.
const GAP: usize = 3;

/// Units of a drawing.
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 104.0;
/// The places at which the plot begins, beside the numbers of its axis, and ends.
const SIDES: (f64, f64) = (44.0, 354.0);
const TOP: f64 = 8.0;

/// A thing that is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Clock,
    Power,
    Temperature,
}

const QUANTITIES: [Quantity; 3] = [Quantity::Clock, Quantity::Power, Quantity::Temperature];

impl Quantity {
    fn word(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Power => "power",
            Self::Temperature => "temperature",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Clock => "MHz",
            Self::Power => "W",
            Self::Temperature => "°C",
        }
    }

    fn values(self, of: &Samples) -> &[f64] {
        match self {
            Self::Clock => &of.mhz,
            Self::Power => &of.watts,
            Self::Temperature => &of.celsius,
        }
    }

    /// Whether a GPU that is so far above the others (below, where negative) is odd. One that takes little power
    /// stands still, one that takes much is a wrong limit; a cool one is fine.
    fn is_odd(self, away: f64) -> bool {
        match self {
            Self::Clock => away < 0.0,
            Self::Power => true,
            Self::Temperature => away > 0.0,
        }
    }
}

/// A GPU with its samples.
#[derive(Clone, Copy)]
struct Gpu<'a> {
    host: &'a str,
    record: &'a HostRecord,
    samples: &'a Samples,
}

impl Gpu<'_> {
    fn label(&self) -> String {
        part_of(self.record, &self.samples.part)
    }
}

/// One GPU: a value for each span of time, where there is one.
struct Line<'a> {
    of: Gpu<'a>,
    points: Vec<Option<f64>>,
    mean: f64,
}

/// The samples as the page shows them: nothing where there are none.
pub(super) fn data(hosts: &[(&str, &HostRecord)]) -> Option<Json> {
    let gpus: Vec<Gpu<'_>> = hosts
        .iter()
        .flat_map(|(host, record)| record.samples.iter().map(|samples| Gpu { host, record, samples }))
        .filter(|gpu| !gpu.samples.at.is_empty())
        .collect();
    let times = gpus.iter().flat_map(|gpu| gpu.samples.at.iter().copied());
    let end = times.filter(|at| at.is_finite()).fold(0.0, f64::max).max(1.0);
    let points = gpus.iter().map(|gpu| gpu.samples.at.len()).max()?.min(POINTS);
    let mut sampled: Vec<&str> = gpus.iter().map(|gpu| gpu.host).collect();
    sampled.dedup();
    let is_few = sampled.len() <= FEW;
    let mut rows: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
    let (mut bands, mut odd, mut more_odd) = (Vec::new(), Vec::new(), Vec::new());
    for quantity in QUANTITIES {
        let lines: Vec<Line<'_>> =
            gpus.iter().filter_map(|gpu| Line::of(quantity, *gpu, points, end)).collect();
        let Some(band) = Band::of(&lines, points) else { continue };
        let (away, usual, more) = odd_of(quantity, &lines);
        // Of few hosts each line is drawn somewhere, of many the band and the odd ones.
        let drawn: Vec<&Line<'_>> = if is_few { lines.iter().collect() } else { away.clone() };
        let plot = Plot { quantity, scale: band.scale(&drawn), points, end };
        if is_few {
            for host in &sampled {
                let of_host = lines.iter().filter(|line| line.of.host == *host);
                rows.entry(host).or_default().push(plot.chart(&plot.lines(of_host, "line")));
            }
        } else {
            bands.push(plot.chart(&plot.band(&band)));
        }
        let unit = quantity.unit();
        let chart = |away: &&Line<'_>| {
            let inner = plot.band(&band) + &plot.lines([*away].into_iter(), "line alone");
            json!({
                "host": line(away.of.host, NAME),
                "part": away.of.label(),
                "text": format!("mean {} {unit}, others {} {unit}", written(away.mean, 0), written(usual, 0)),
                "chart": plot.chart(&inner),
            })
        };
        odd.extend(away.iter().map(chart));
        if more > 0 {
            more_odd.push(format!("{} with an odd {}", count(more as u64, "other GPU"), quantity.word()));
        }
    }
    let row = |host: &&str| json!({ "host": line(host, NAME), "charts": rows.get(host).cloned() });
    Some(json!({
        "gpus": count(gpus.len() as u64, "GPU"),
        "hosts": count(sampled.len() as u64, "host"),
        "took": seconds(end),
        "rows": if is_few { sampled.iter().map(row).collect::<Vec<_>>() } else { Vec::new() },
        "bands": bands,
        "odd": odd,
        "more_odd": more_odd,
        "held": held(&gpus),
    }))
}

impl<'a> Line<'a> {
    fn of(quantity: Quantity, of: Gpu<'a>, points: usize, end: f64) -> Option<Self> {
        let mut sums = vec![(0.0, 0_usize); points];
        for (at, value) in of.samples.at.iter().zip(quantity.values(of.samples)) {
            let place = whole(at / end * float(points)).min(points.saturating_sub(1));
            if value.is_finite()
                && at.is_finite()
                && let Some((sum, number)) = sums.get_mut(place)
            {
                *sum += value;
                *number += 1;
            }
        }
        let points: Vec<Option<f64>> =
            sums.iter().map(|(sum, number)| (*number > 0).then(|| sum / float(*number))).collect();
        let seen = points.iter().flatten().count();
        let mean = points.iter().flatten().sum::<f64>() / float(seen);
        mean.is_finite().then_some(Self { of, points, mean })
    }
}

/// Quantiles over all GPUs for each span of time: a twentieth, the half, all but a twentieth.
struct Band(Vec<Option<[f64; 3]>>);

impl Band {
    fn of(lines: &[Line<'_>], points: usize) -> Option<Self> {
        let at = |place: usize| {
            let mut values: Vec<f64> =
                lines.iter().filter_map(|line| line.points.get(place).copied().flatten()).collect();
            values.sort_by(f64::total_cmp);
            Some([quantile(&values, 0.05)?, quantile(&values, 0.5)?, quantile(&values, 0.95)?])
        };
        (!lines.is_empty()).then(|| Self((0..points).map(at).collect()))
    }

    /// A scale that is the same for all drawings of a quantity, so that they can be compared.
    fn scale(&self, lines: &[&Line<'_>]) -> Scale {
        let of_lines = lines.iter().flat_map(|line| line.points.iter().flatten().copied());
        let values = self.0.iter().flatten().flatten().copied().chain(of_lines);
        let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let room = 0.04 * (most - least);
        Scale::new(least - room, most + room, TOP + HEIGHT, TOP)
    }
}

/// A drawing over the time of the run.
struct Plot {
    quantity: Quantity,
    scale: Scale,
    points: usize,
    end: f64,
}

impl Plot {
    fn x(&self, point: usize) -> f64 {
        let share = (float(point) + 0.5) / float(self.points.max(1));
        SIDES.0 + share * (SIDES.1 - SIDES.0)
    }

    /// Lines of GPUs; where nothing was seen for long, they are interrupted.
    fn lines<'l>(&self, lines: impl Iterator<Item = &'l Line<'l>>, class: &str) -> String {
        let mut path = String::new();
        for line in lines {
            let mut last = None;
            for (at, value) in line.points.iter().enumerate() {
                let Some(value) = value else { continue };
                let is_near = last.is_some_and(|last| at - last <= GAP + 1);
                let (x, y) = (place(self.x(at)), place(self.scale.at(*value)));
                // A point by itself is seen as a dot.
                if is_near {
                    put!(path, "L{x} {y}");
                } else {
                    put!(path, "M{x} {y}h0");
                }
                last = Some(at);
            }
        }
        format!(r#"<path class="{class}" d="{path}"/>"#)
    }

    fn band(&self, band: &Band) -> String {
        let edge = |of: usize, at: usize, values: &[f64; 3]| {
            let value = values.get(of).copied().unwrap_or_default();
            format!("{} {}", place(self.x(at)), place(self.scale.at(value)))
        };
        let seen: Vec<(usize, &[f64; 3])> =
            band.0.iter().enumerate().filter_map(|(at, values)| Some((at, values.as_ref()?))).collect();
        let mut area: Vec<String> = seen.iter().map(|(at, values)| edge(0, *at, values)).collect();
        area.extend(seen.iter().rev().map(|(at, values)| edge(2, *at, values)));
        let middle: Vec<String> = seen.iter().map(|(at, values)| edge(1, *at, values)).collect();
        format!(
            r#"<path class="band" d="M{}z"/><path class="median" d="M{}"/>"#,
            area.join("L"),
            middle.join("L")
        )
    }

    /// The drawing with its axes.
    fn chart(&self, inner: &str) -> Json {
        let (quantity, bottom) = (self.quantity, TOP + HEIGHT);
        let mut out = String::new();
        put!(out, r#"<svg class="plot" viewBox="0 0 {WIDTH} {}" role="img">"#, bottom + 20.0);
        put!(out, "<title>{} over the run</title>", quantity.word());
        for (value, text) in self.scale.ticks(3) {
            let y = self.scale.at(value);
            put!(out, r#"<path class="grid" d="M{} {}H{}"/>"#, SIDES.0, place(y), SIDES.1);
            put!(out, r#"<text class="end" x="{}" y="{}">{text}</text>"#, SIDES.0 - 5.0, place(y + 4.0));
        }
        put!(out, r#"{inner}<path class="axis" d="M{} {bottom}H{}"/>"#, SIDES.0, SIDES.1);
        put!(out, r#"<text x="{}" y="{}">0s</text>"#, SIDES.0, bottom + 15.0);
        let end = seconds(self.end);
        put!(out, r#"<text class="end" x="{}" y="{}">{end}</text></svg>"#, SIDES.1, bottom + 15.0);
        json!({ "word": quantity.word(), "unit": quantity.unit(), "svg": out })
    }
}

/// GPUs that went another way than the others, the oddest first; the usual mean; and how many more there are.
fn odd_of<'l, 'a>(quantity: Quantity, lines: &'l [Line<'a>]) -> (Vec<&'l Line<'a>>, f64, usize) {
    let Some(of) = Summary::of(lines.iter().map(|line| line.mean)) else { return (Vec::new(), 0.0, 0) };
    let away = |line: &Line<'_>| line.mean - of.median;
    let is_odd = |line: &&Line<'_>| {
        let size = away(line).abs();
        quantity.is_odd(away(line)) && size > 4.0 * of.deviation && size > 0.04 * of.median.abs()
    };
    let mut odd: Vec<&Line<'_>> = lines.iter().filter(is_odd).collect();
    odd.sort_by(|one, other| away(other).abs().total_cmp(&away(one).abs()));
    let more = odd.len().saturating_sub(ODD);
    odd.truncate(ODD);
    (odd, of.median, more)
}

/// Reasons to hold clocks back: for each the number of GPUs, the usual time, and the one with the longest.
fn held(gpus: &[Gpu<'_>]) -> Vec<Json> {
    let mut reasons: BTreeMap<&str, Vec<(f64, &Gpu<'_>)>> = BTreeMap::new();
    for gpu in gpus {
        for (reason, time) in gpu.samples.held.iter().filter(|(_, time)| **time > 0.0) {
            reasons.entry(reason).or_default().push((*time, gpu));
        }
    }
    let row = |(reason, times): (&str, Vec<(f64, &Gpu<'_>)>)| {
        let of = Summary::of(times.iter().map(|(time, _)| *time))?;
        let (longest, gpu) = times.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
        Some(json!({
            "reason": line(reason, NAME),
            "gpus": format!("{} of {}", times.len(), count(gpus.len() as u64, "GPU")),
            "usual": seconds(of.median),
            "longest": seconds(*longest),
            "host": line(gpu.host, NAME),
            "part": gpu.label(),
        }))
    };
    reasons.into_iter().filter_map(row).take(REASONS).collect()
}

#[cfg(test)]
mod tests {
    use super::super::test_record::record;
    use super::super::text::in_order;
    use super::*;

    #[test]
    fn few_hosts_have_lines_and_many_have_bands() {
        let few = record(4, 1);
        let shown = data(&in_order(&few)).unwrap();
        assert_eq!(
            (shown["rows"].as_array().unwrap().len(), shown["bands"].as_array().unwrap().len()),
            (3, 0)
        );
        let charts = shown["rows"][0]["charts"].as_array().unwrap();
        let units: Vec<&str> = charts.iter().map(|chart| chart["unit"].as_str().unwrap()).collect();
        assert_eq!(units, ["MHz", "W", "°C"]);
        let many = record(100, 1);
        let shown = data(&in_order(&many)).unwrap();
        assert_eq!(
            (shown["rows"].as_array().unwrap().len(), shown["bands"].as_array().unwrap().len()),
            (0, 3)
        );
        assert!(data(&[]).is_none());
    }

    #[test]
    fn the_gpu_that_is_slow_and_hot_is_named() {
        let fleet = record(100, 1);
        let shown = data(&in_order(&fleet)).unwrap();
        let odd = shown["odd"].as_array().unwrap();
        assert!(
            odd.iter()
                .any(|odd| odd["host"] == "gpu017" && odd["part"] == "GPU 1650223001603 at 0000:4b:00.0")
        );
        assert_eq!(odd.len(), 3, "each quantity has one, and the others are as they should be");
        let held = shown["held"].as_array().unwrap();
        assert_eq!((&held[1]["reason"], &held[1]["host"]), (&json!("thermal"), &json!("gpu017")));
    }

    #[test]
    fn a_gap_is_no_line() {
        let values = |from: u32| (from..from + 20).map(f64::from);
        let samples = Samples {
            at: values(0).chain(values(60)).chain([100.0]).collect(),
            mhz: vec![1800.0; 41],
            ..Samples::default()
        };
        let host = HostRecord { samples: vec![samples], ..HostRecord::default() };
        let shown = data(&[("a", &host)]).unwrap();
        let svg = shown["rows"][0]["charts"][0]["svg"].as_str().unwrap();
        let line = svg.split_once(r#"<path class="line" d=""#).unwrap().1.split_once('"').unwrap().0;
        assert_eq!(line.matches('M').count(), 3, "{line}");
    }
}
