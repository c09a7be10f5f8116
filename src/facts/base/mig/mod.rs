//! Instances of GPUs in multi-instance mode. Format: `/proc/driver/nvidia/capabilities/gpuN/mig/giN[/ciN]/access`, whose
//! `DeviceFileMinor` is the number of `/dev/nvidia-caps/nvidia-capN`: "Device Nodes and Capabilities" in NVIDIA's MIG User Guide.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{BaseFact, bus_touched};

pub(super) const FACT: BaseFact = BaseFact {
    name: "mig",
    doc: "compute instances of GPUs in multi-instance mode, with the numbers of the two device files in /dev/nvidia-caps that a job needs; empty without any",
    script: crate::shell!("facts/base/mig/mig.sh"),
    parse,
    touched_by: |touches| bus_touched(touches),
    specimen: |_| json!([{ "gpu": 0, "instance": 1, "compute": 0, "devices": [12, 13] }]),
};

fn parse(output: &str) -> Result<Json, String> {
    if output.lines().last() != Some("end") {
        return Err("the host did not tell all of its instances".to_owned());
    }
    // `.../gpu0/mig/gi1/ci0/access:13`; the file of the GPU instance lacks `ci0`.
    let mut numbers = BTreeMap::new();
    for (path, number) in output.lines().filter_map(|line| line.rsplit_once(':')) {
        let part = |name: &str| path.split('/').find_map(|part| part.strip_prefix(name)?.parse::<u32>().ok());
        let (Some(gpu), Some(instance)) = (part("gpu"), part("gi")) else { continue };
        let Ok(number) = number.parse::<u32>() else {
            return Err(format!("an instance of GPU {gpu} has no device file"));
        };
        numbers.insert((gpu, instance, part("ci")), number);
    }
    numbers
        .iter()
        .filter_map(|(&(gpu, instance, compute), number)| Some((gpu, instance, compute?, number)))
        .map(|(gpu, instance, compute, number)| {
            let around = numbers.get(&(gpu, instance, None));
            let around =
                around.ok_or_else(|| format!("instance {instance} of GPU {gpu} has no device file"))?;
            Ok(json!({ "gpu": gpu, "instance": instance, "compute": compute, "devices": [around, number] }))
        })
        .collect()
}
