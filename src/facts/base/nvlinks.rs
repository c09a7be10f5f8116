//! `NVLink` between the GPUs of a host. Format: `nvidia-smi topo -m`, where `NV18` are 18 links.

use serde_json::{Value as Json, json};

use super::{BaseFact, bus_touched};
use crate::facts::nvidia::topology;

pub(super) const FACT: BaseFact = BaseFact {
    name: "nvlinks",
    doc: "NVLink connections of each GPU with each of them, -1 for itself, as Slurm's gres.conf has them; empty where there are none",
    script: crate::shell!("facts/nvlinks.sh"),
    parse,
    touched_by: |touches| bus_touched(touches),
    specimen: |_| json!([{ "gpu": 0, "links": [-1, 18] }, { "gpu": 1, "links": [18, -1] }]),
};

fn parse(output: &str) -> Result<Json, String> {
    if output.trim().is_empty() {
        return Ok(json!([]));
    }
    let matrix = topology(output)?;
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
    let any = rows.iter().any(|(_, links)| links.iter().any(|links| *links > 0));
    Ok(if any {
        rows.iter().map(|(gpu, links)| json!({ "gpu": gpu, "links": links })).collect()
    } else {
        json!([])
    })
}
