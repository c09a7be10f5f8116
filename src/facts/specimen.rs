//! Specimen facts: one whole `facts` object per supported family. They are the schema that
//! `validate` checks templates and conditions against, so every field that can exist is there.

use serde_json::Value as Json;

const FAMILIES: &[(&str, &str)] = &[
    ("debian", include_str!("specimen/debian.json")),
    ("ubuntu", include_str!("specimen/ubuntu.json")),
    ("rhel", include_str!("specimen/rhel.json")),
    ("alinux", include_str!("specimen/alinux.json")),
];

/// Specimen facts (the whole `facts` object) for each supported OS family, by a name for
/// messages ("debian", "rhel"). Every field that can exist is there, so they are also the schema.
pub fn specimens() -> Vec<(&'static str, Json)> {
    // A test reads all of them: none is left out here.
    FAMILIES.iter().filter_map(|(name, text)| Some((*name, serde_json::from_str(text).ok()?))).collect()
}
