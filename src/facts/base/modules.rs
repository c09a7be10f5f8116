//! Loaded kernel modules. Format: proc(5) `modules`.

use serde_json::{Value as Json, json};

use super::BaseFact;

pub(super) const FACT: BaseFact = BaseFact {
    name: "modules",
    doc: "loaded kernel modules",
    script: crate::shell!("facts/modules.sh"),
    parse,
    touched_by: |touches| touches.units() || touches.modules(),
    specimen: |_| {
        json!({
            "loaded": ["ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib", "nvidia", "nvidia_peermem"]
        })
    },
};

fn parse(output: &str) -> Result<Json, String> {
    if !output.lines().any(|line| line == "end") {
        return Err("the list of modules was cut short".to_owned());
    }
    let mut loaded: Vec<&str> = output
        .lines()
        .filter(|line| *line != "end")
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    loaded.sort_unstable();
    Ok(json!({ "loaded": loaded }))
}
