//! Properties of a healthy GPU, by model.

/// A model.
#[derive(Debug, Clone, Copy)]
pub(in crate::checks) struct Model {
    /// A part of its product name; longer names first.
    pub(in crate::checks) name: &'static str,
    /// Total memory in MiB.
    pub(in crate::checks) memory_mib: u64,
    /// Active `NVLink`s; `None` where bridges decide.
    pub(in crate::checks) links: Option<u32>,
    /// Whether it sits on a board with `NVSwitch`es that report a fabric state.
    pub(in crate::checks) fabric: bool,
    /// Whether its `PCIe` generation stays up when idle.
    pub(in crate::checks) sxm: bool,
}

const fn model(name: &'static str, memory_mib: u64, links: Option<u32>, fabric: bool, sxm: bool) -> Model {
    Model { name, memory_mib, links, fabric, sxm }
}

/// Rows that the source marks as certain; other models are compared over the fleet only.
const MODELS: &[Model] = &[
    model("A100-SXM4-40GB", 40_960, Some(12), false, true),
    model("A100-SXM4-80GB", 81_920, Some(12), false, true),
    model("A100 80GB PCIe", 81_920, None, false, false),
    model("A800-SXM4-80GB", 81_920, Some(8), false, true),
    model("H100 80GB HBM3", 81_559, Some(18), true, true),
    model("H100 PCIe", 81_559, None, false, false),
    model("H200 NVL", 143_771, None, false, false),
    model("H200", 143_771, Some(18), true, true),
];

/// The model of a product name.
pub(in crate::checks) fn find(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| name.ends_with(model.name))
}

/// Whether error correction of such a board is off when it is delivered.
pub(in crate::checks) fn is_workstation(name: &str) -> bool {
    let name = name.strip_prefix("NVIDIA ").unwrap_or(name);
    let family = ["RTX", "Quadro", "GeForce", "TITAN"].iter().any(|family| name.starts_with(family));
    family && !name.contains("Server Edition")
}

/// Whether clouds give it half of its lanes: A10G, T4 and L40S of AWS report 8 of 16.
pub(in crate::checks) fn has_half_a_slot(name: &str) -> bool {
    ["A10G", "Tesla T4", "L40S"].iter().any(|model| name.ends_with(model))
}
