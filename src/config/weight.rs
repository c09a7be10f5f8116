//! Memory that values take, so that a small file cannot ask for all of it.

use serde_json::Value as Json;

/// Bytes that a value takes, roughly. It is counted up to somewhat more than `most`.
pub fn weight(value: &Json, most: usize) -> usize {
    let mut sum = size_of::<Json>();
    match value {
        Json::String(text) => sum += text.len(),
        Json::Array(items) => {
            for item in items {
                if sum > most {
                    break;
                }
                sum += weight(item, most - sum);
            }
        }
        Json::Object(map) => {
            for (key, value) in map {
                if sum > most {
                    break;
                }
                sum += size_of::<String>() + key.len() + weight(value, most - sum);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
    sum
}
