//! Figures of one family as one: a GPU whose clock is held back is slow in each product.
//!
//! Where the spread of healthy parts is partly chance of each figure, their mean spreads less than each, and the same
//! slowness stands out more. Where it is the same in all, the mean spreads as much as they do, and nothing is lost: how
//! much it spreads is seen from the means themselves.

use std::collections::BTreeMap;

use super::fleet::{self, Fleet};
use super::measured::{Better, Measured};

/// Figures of parts, by host and key: each with what it reached of its median.
type Parts<'m> = BTreeMap<(&'m str, &'m str), Vec<(&'m Measured, f64)>>;

/// The unit of a mean over a family.
pub const OF_MEDIAN: &str = "of the median";

/// The mean of a part over a family: how much of the median it reached, as a figure of its own.
///
/// `fleets` are those of the single names; a family whose names are not all of one group is left out, as is a part that
/// lacks one of them. The figure has the family's name: `matmul` of `matmul.bf16` and `matmul.fp8`.
pub(super) fn means(
    measured: &[Measured],
    fleets: &BTreeMap<(&str, &str), Fleet>,
) -> Vec<(Vec<Measured>, Fleet)> {
    let mut families: BTreeMap<(&str, &str), Parts<'_>> = BTreeMap::new();
    let mut names: BTreeMap<(&str, &str), Option<usize>> = BTreeMap::new();
    for ((model, name), fleet) in fleets {
        let Some((family, _)) = name.split_once('.') else { continue };
        let count = names.entry((*model, family)).or_insert(Some(0));
        *count = match fleet {
            Fleet::One { .. } => count.map(|count| count + 1),
            Fleet::Silent | Fleet::TwoGroups { .. } => None,
        };
    }
    for one in measured.iter().filter(|one| one.value.is_finite() && one.value > 0.0) {
        let Some((family, _)) = one.name.split_once('.') else { continue };
        let Some(Fleet::One { all, .. }) = fleets.get(&(one.model.as_str(), one.name.as_str())) else {
            continue;
        };
        let reached = match one.better {
            Better::Higher => one.value / all.median,
            Better::Lower => all.median / one.value,
        };
        let parts = families.entry((&one.model, family)).or_default();
        parts.entry((&one.host, &one.part)).or_default().push((one, reached));
    }
    let mut found = Vec::new();
    for (key, parts) in families {
        let Some(count) = names.get(&key).copied().flatten().filter(|count| *count > 1) else { continue };
        let whole = parts.into_values().filter(|figures| figures.len() == count);
        let means: Vec<Measured> = whole.filter_map(|figures| mean(key.1, &figures)).collect();
        let fleet = fleet::look(means.iter().map(|one| one.value).collect(), Better::Higher, None);
        found.push((means, fleet));
    }
    found
}

/// The mean of a part.
fn mean(family: &str, figures: &[(&Measured, f64)]) -> Option<Measured> {
    let (first, _) = figures.first()?;
    #[expect(clippy::cast_precision_loss, reason = "a handful of figures")]
    let count = figures.len() as f64;
    let value = figures.iter().map(|(_, reached)| reached).sum::<f64>() / count;
    let unit = OF_MEDIAN.to_owned();
    let name = family.to_owned();
    Some(Measured { name, value, unit, better: Better::Higher, ..(*first).clone() })
}
