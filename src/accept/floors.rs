//! Figures that models of GPUs are known to reach, from the file of versions.
//!
//! Rows are `acceptance.MODEL.NAME`; `for` has the models as `nvidia-smi` prints them. A row has a figure that somebody
//! reached, or a floor that somebody asks for.

use crate::accept::judge::Floor;
use crate::playbook::versions::{Day, Evidence, Value, Versions};

/// The table of the file.
const TABLE: &str = "acceptance.";

/// The share of a figure of our own that each GPU of the model has to reach.
///
/// The same GPU gives 658 to 675 TFLOP/s from run to run, libraries and drivers move it by some percent, and healthy GPUs
/// of one node may be 5 % apart (ml-engineering, "Not all accelerators are created equal"). All of that fits in ten
/// percent; what is between is found by the fleet.
const OF_OURS: f64 = 0.9;

/// The share of a figure that others reached with a tool of theirs.
///
/// They take other shapes, other data and a shorter time: for a bf16 product on an H200 790 TFLOP/s are public, of thirty
/// products in a twentieth of a second, and ours is 667, which is 84 %. A tenth less than that is what ours leaves too.
const OF_OTHERS: f64 = 0.75;

/// Floors of all models that the file knows.
pub fn floors(versions: &Versions) -> Vec<Floor> {
    versions.values.iter().flat_map(of_row).collect()
}

/// Floors of a row, one for each model; none where it is another row.
fn of_row(value: &Value) -> Vec<Floor> {
    let Some(name) = value.id.strip_prefix(TABLE).and_then(|rest| rest.split_once('.')).map(|(_, name)| name)
    else {
        return Vec::new();
    };
    let row = value.value.to_json();
    let number = |key: &str| row.get(key).and_then(serde_json::Value::as_f64);
    let day = match value.checked {
        Day(Some(day)) => format!(", {day}"),
        Day(None) => String::new(),
    };
    let from = format!("{}{day}", value.source);
    let (least, source) = match (number("floor"), number("figure")) {
        (Some(floor), _) => (floor, from),
        (None, Some(figure)) => {
            let share = match value.evidence {
                Evidence::Measured => OF_OURS,
                Evidence::Vendor
                | Evidence::Tracker
                | Evidence::ThirdParty
                | Evidence::Computed
                | Evidence::Nothing => OF_OTHERS,
            };
            (figure * share, format!("{:.0} % of {figure}, {from}", share * 100.0))
        }
        (None, None) => return Vec::new(),
    };
    let floor =
        |model: &String| Floor { model: model.clone(), name: name.to_owned(), least, source: source.clone() };
    value.names.iter().map(floor).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::playbook::versions::VERSIONS;

    #[test]
    fn rows_are_floors() {
        let floors = floors(&VERSIONS);
        let of = |model: &str, name: &str| {
            let found: Vec<&Floor> =
                floors.iter().filter(|floor| floor.model == model && floor.name == name).collect();
            assert!(found.len() < 2, "{model} {name} stands twice");
            found.first().map(|floor| (floor.least, floor.source.clone()))
        };
        let (least, source) = of("NVIDIA H200", "matmul.bf16").unwrap();
        assert!((least - 600.3).abs() < 0.01, "{least}");
        assert_eq!(source, "90 % of 667, docs/evidence/acceptance.md, 2026-12-01");
        let (least, source) = of("NVIDIA H200", "peers").unwrap();
        assert!((least - 316.0).abs() < 1e-9, "what somebody asks for is asked as it is: {least}");
        assert!(source.starts_with("https://"), "{source}");
        let (least, _) = of("NVIDIA H100 80GB HBM3", "matmul.bf16").unwrap();
        assert!((least - 547.5).abs() < 1e-9, "{least}");
        assert!(of("NVIDIA A100-SXM4-80GB", "matmul.fp8").is_none(), "it has none");
        let models: BTreeSet<&str> = floors.iter().map(|floor| floor.model.as_str()).collect();
        assert_eq!(models.len(), 8, "{models:?}");
    }

    #[test]
    fn rows_of_the_table_are_whole() {
        let rows: Vec<&Value> = VERSIONS.values.iter().filter(|value| value.id.starts_with(TABLE)).collect();
        assert!(rows.len() > 25, "{}", rows.len());
        for row in rows {
            let json = row.value.to_json();
            assert!(!row.names.is_empty(), "{}: which models?", row.id);
            assert!(json.get("floor").is_some() != json.get("figure").is_some(), "{}: {json}", row.id);
            assert!(json.get("unit").is_some_and(serde_json::Value::is_string), "{}: {json}", row.id);
            assert_eq!(of_row(row).len(), row.names.len(), "{}", row.id);
        }
    }
}
