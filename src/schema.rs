//! JSON Schemas.
/// Of the inventory.
pub fn inventory() -> serde_json::Value { serde_json::json!({}) }
/// Of a playbook.
pub fn playbook() -> serde_json::Value { serde_json::json!({}) }
