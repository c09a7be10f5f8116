//! Loaded kernel modules. Format: proc(5) `modules`.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact};

pub(super) const FACT: BaseFact = BaseFact {
    name: "modules",
    doc: "loaded kernel modules",
    script: crate::shell!("facts/base/modules/modules.sh"),
    parse,
    touched_by: |touches| touches.units() || touches.modules(),
    specimen: |_| {
        json!({
            "loaded": ["ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib", "nvidia", "nvidia_peermem"]
        })
    },
};

/// Kernel modules.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Modules {
    /// Names of the loaded ones.
    pub loaded: Vec<String>,
}

impl Fact for Modules {
    const NAME: &'static str = "modules";
}

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
