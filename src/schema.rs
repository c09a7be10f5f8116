//! JSON Schemas of the files that users write, for editors.

use serde_json::{Map, Value as Json, json};

use crate::config::{FromNode as _, Record as _};
use crate::inventory::file::InventoryFile;
use crate::playbook::file::{LoopRecord, PlaybookRecord, TaskRecord};
use crate::resources::Kind;

/// Schema of an inventory.
pub fn inventory() -> Json {
    head("Inventory of provision", InventoryFile::schema())
}

/// Schema of a playbook.
pub fn playbook() -> Json {
    let mut schema = PlaybookRecord::schema();
    for key in ["tasks", "handlers"] {
        if let Some(list) = schema.pointer_mut(&format!("/properties/{key}")).and_then(Json::as_object_mut) {
            list.insert("items".to_owned(), json!({ "$ref": "#/$defs/task" }));
        }
    }
    if let Some(map) = schema.as_object_mut() {
        map.insert("$defs".to_owned(), json!({ "task": task(crate::resources::kinds()) }));
    }
    head("Playbook of provision", schema)
}

fn head(title: &str, schema: Json) -> Json {
    let mut whole = Map::new();
    whole.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.insert("title".to_owned(), json!(title));
    if let Json::Object(schema) = schema {
        whole.extend(schema);
    }
    Json::Object(whole)
}

/// A task: its own keys and exactly one resource.
fn task(kinds: &[Kind]) -> Json {
    let mut schema = TaskRecord::schema();
    let mut choices = vec![json!({ "required": ["include"] }), json!({ "required": ["block"] })];
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        properties
            .insert("when".to_owned(), json!({ "type": ["string", "boolean"], "description": doc("when") }));
        properties.insert("loop".to_owned(), loop_schema());
        for key in ["block", "always"] {
            let tasks =
                json!({ "type": "array", "items": { "$ref": "#/$defs/task" }, "description": doc(key) });
            properties.insert(key.to_owned(), tasks);
        }
        for kind in kinds {
            let mut fields = Map::new();
            let mut required = Vec::new();
            for field in (kind.fields)() {
                let mut schema = templated(field.schema);
                if let Some(object) = schema.as_object_mut() {
                    object.insert("description".to_owned(), json!(field.doc));
                }
                fields.insert(field.name.to_owned(), schema);
                if field.need == crate::config::Need::Required {
                    required.push(json!(field.name));
                }
            }
            let body = json!({
                "type": "object",
                "description": (kind.doc)(),
                "properties": fields,
                "required": required,
                "additionalProperties": false,
            });
            properties.insert(kind.name.to_owned(), body);
            choices.push(json!({ "required": [kind.name] }));
        }
    }
    if let Some(map) = schema.as_object_mut() {
        map.insert("oneOf".to_owned(), Json::Array(choices));
    }
    schema
}

/// A list, an expression, or several of them.
fn loop_schema() -> Json {
    let list = json!({ "type": ["array", "string"] });
    let mut product = LoopRecord::record_schema();
    if let Some(lists) = product.pointer_mut("/properties/product/additionalProperties") {
        *lists = list.clone();
    }
    json!({ "anyOf": [list, product], "description": doc("loop") })
}

fn doc(name: &str) -> &'static str {
    TaskRecord::fields().iter().find(|field| field.name == name).map_or("", |field| field.doc)
}

/// The same schema, where any value may be written as a template.
fn templated(schema: Json) -> Json {
    let Json::Object(mut map) = schema else { return schema };
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = map.get_mut(key).filter(|inner| inner.is_object()) {
            *inner = templated(inner.take());
        }
    }
    if let Some(Json::Array(choices)) = map.get_mut("anyOf") {
        for choice in choices {
            *choice = templated(choice.take());
        }
    }
    if let Some(Json::Object(properties)) = map.get_mut("properties") {
        for value in properties.values_mut() {
            *value = templated(value.take());
        }
    }
    if map.get("type").and_then(Json::as_str) == Some("string") && !map.contains_key("pattern") {
        return Json::Object(map);
    }
    json!({ "anyOf": [Json::Object(map), { "type": "string", "pattern": "\\{[{%]" }] })
}
