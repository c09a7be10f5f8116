//! `NVLink` between the GPUs of a host. Format: `nvidia-smi topo -m`, where `NV18` are 18 links.

use serde_json::{Value as Json, json};

use super::{BaseFact, bus_touched};
use crate::facts::nvidia::topology;

pub(super) const FACT: BaseFact = BaseFact {
    name: "nvlinks",
    doc: "NVLink connections of each GPU with each of them, -1 for itself, as Slurm's gres.conf has them; empty where there are none, or nvidia-smi does not tell",
    script: crate::shell!("facts/base/nvlinks/nvlinks.sh"),
    parse,
    touched_by: |touches| bus_touched(touches),
    specimen: |_| json!([{ "gpu": 0, "links": [-1, 18] }, { "gpu": 1, "links": [18, -1] }]),
};

fn parse(output: &str) -> Result<Json, String> {
    // Empty without a driver; `No devices were found` and the like have no matrix.
    let Ok(matrix) = topology(output) else { return Ok(json!([])) };
    let mut gpus: Vec<(u32, &String)> =
        matrix.keys().filter_map(|name| Some((name.strip_prefix("GPU")?.parse().ok()?, name))).collect();
    gpus.sort_unstable();
    let rows: Vec<(u32, Vec<i64>)> = gpus
        .iter()
        .map(|(number, name)| {
            let relation = |other: &(u32, &String)| match matrix.get(*name).and_then(|row| row.get(other.1)) {
                _ if other.0 == *number => -1,
                Some(text) => text.strip_prefix("NV").and_then(|links| links.parse().ok()).unwrap_or(0),
                None => 0,
            };
            (*number, gpus.iter().map(relation).collect())
        })
        .collect();
    let columns =
        matrix.values().next().map_or(0, |row| row.keys().filter(|name| name.starts_with("GPU")).count());
    if rows.len() != columns {
        return Err(format!("its matrix has {} of {columns} rows", rows.len()));
    }
    let any = rows.iter().any(|(_, links)| links.iter().any(|links| *links > 0));
    let told = rows.iter().filter(|_| any);
    Ok(told.map(|(gpu, links)| json!({ "gpu": gpu, "links": links })).collect())
}
