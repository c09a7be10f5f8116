//! JSON Schemas of the files that users write, for editors.

use serde_json::{Map, Value as Json, json};

use crate::config::{FromNode as _, Record as _};
use crate::inventory::file::InventoryFile;
use crate::playbook::file::{PlaybookRecord, TaskRecord};
use crate::resources::Kind;

/// Schema of an inventory.
pub fn inventory() -> Json {
    head("Inventory of provision", InventoryFile::schema())
}

/// Schema of a playbook.
pub fn playbook() -> Json {
    playbook_of(crate::resources::kinds())
}

fn playbook_of(kinds: &[Kind]) -> Json {
    let mut schema = PlaybookRecord::schema();
    for key in ["tasks", "handlers"] {
        if let Some(list) = schema.pointer_mut(&format!("/properties/{key}")).and_then(Json::as_object_mut) {
            list.insert("items".to_owned(), json!({ "$ref": "#/$defs/task" }));
        }
    }
    if let Some(map) = schema.as_object_mut() {
        map.insert("$defs".to_owned(), json!({ "task": task(kinds) }));
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
    let mut choices = vec![json!({ "required": ["include"] })];
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        properties
            .insert("when".to_owned(), json!({ "type": ["string", "boolean"], "description": doc("when") }));
        properties
            .insert("loop".to_owned(), json!({ "type": ["array", "string"], "description": doc("loop") }));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{SourceId, Sources, yaml};

    /// As much of JSON Schema as ours use.
    fn valid(schema: &Json, root: &Json, value: &Json) -> Result<(), String> {
        if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
            return valid(root.pointer(reference.trim_start_matches('#')).unwrap(), root, value);
        }
        if let Some(any) = schema.get("anyOf").and_then(Json::as_array) {
            let errors: Vec<String> = any.iter().filter_map(|one| valid(one, root, value).err()).collect();
            return if errors.len() < any.len() { Ok(()) } else { Err(errors.join(" | ")) };
        }
        if let Some(words) = schema.get("enum").and_then(Json::as_array) {
            return if words.contains(value) { Ok(()) } else { Err(format!("{value} is none of {words:?}")) };
        }
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Json::String(kind)) => vec![kind],
            Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).collect(),
            _ => Vec::new(),
        };
        let fits = |kind: &&str| match *kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            _ => false,
        };
        if !kinds.is_empty() && !kinds.iter().any(fits) {
            return Err(format!("{value} is not {kinds:?}"));
        }
        if let (Some(items), Some(list)) = (schema.get("items"), value.as_array()) {
            for item in list {
                valid(items, root, item)?;
            }
        }
        if let Some(map) = value.as_object() {
            let none = Map::new();
            let properties = schema.get("properties").and_then(Json::as_object).unwrap_or(&none);
            for name in schema.get("required").and_then(Json::as_array).into_iter().flatten() {
                if !map.contains_key(name.as_str().unwrap()) {
                    return Err(format!("{name} is missing"));
                }
            }
            for (key, value) in map.iter().filter(|(_, value)| !value.is_null() || kinds.contains(&"null")) {
                match (properties.get(key), schema.get("additionalProperties")) {
                    (None, Some(Json::Bool(false))) => return Err(format!("{key} is not known")),
                    (Some(schema), _) | (None, Some(schema)) => valid(schema, root, value)?,
                    (None, None) => {}
                }
            }
        }
        Ok(())
    }

    fn file(name: &str) -> Json {
        let path = format!("{}/tests/cases/config/design/{name}", env!("CARGO_MANIFEST_DIR"));
        let mut sources = Sources::default();
        let id: SourceId = sources.add(path.clone(), std::fs::read_to_string(path).unwrap());
        yaml::parse(&sources, id).unwrap().to_json()
    }

    #[test]
    fn examples_are_valid() {
        let schema = inventory();
        valid(&schema, &schema, &file("inventory.yaml")).unwrap();
        let schema = playbook_of(&crate::project::testing::language().kinds);
        for name in ["roce-v2.yaml", "rdma-core.yaml", "base.yaml", "nvidia-driver.yaml"] {
            valid(&schema, &schema, &file(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let bad = json!({ "name": "x", "tasks": [{ "name": "y", "file": { "pth": "/a" } }] });
        assert!(valid(&schema, &schema, &bad).is_err());
        let filled = json!({ "name": "x", "tasks": [{ "name": "y", "command": { "mtu": "{{ mtu }}" } }] });
        valid(&schema, &schema, &filled).unwrap();
    }

    #[test]
    fn written_schemas_are_current() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference");
        for (name, schema) in [("inventory", inventory()), ("playbook", playbook())] {
            let path = format!("{directory}/{name}.schema.json");
            let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
            if std::env::var_os("BLESS").is_some() {
                std::fs::create_dir_all(directory).unwrap();
                std::fs::write(&path, &text).unwrap();
            }
            let written = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(written == text, "{path} is old: run the tests with BLESS=1");
        }
    }
}
