//! Reads a node of a JSON Schema as one plain node: references are followed, `allOf` is merged, and one branch of
//! `anyOf` or `oneOf` is chosen.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The maximum number of steps through references and branches, for schemas that lead in circles.
const DEEPEST: u8 = 8;

/// The node without references and branches. If there is a hint, the branch that can hold it is chosen.
pub(super) fn resolve<'v>(
    root: &'v Value,
    node: &'v Value,
    hint: Option<&Value>,
    depth: u8,
) -> Cow<'v, Value> {
    let Some(map) = node.as_object() else {
        return Cow::Borrowed(node);
    };
    if depth > DEEPEST {
        return Cow::Borrowed(node);
    }
    if let Some(target) = map.get("$ref").and_then(Value::as_str) {
        let Some(found) = target.strip_prefix('#').and_then(|at| root.pointer(at)) else {
            return Cow::Borrowed(node);
        };
        let found = resolve(root, found, hint, depth + 1);
        return Cow::Owned(merged(without(map, "$ref"), &found));
    }
    if let Some(parts) = map.get("allOf").and_then(Value::as_array) {
        let whole = parts.iter().fold(without(map, "allOf"), |whole, part| {
            let part = resolve(root, part, hint, depth + 1);
            match merged(whole, &part) {
                Value::Object(map) => map,
                _ => Map::new(),
            }
        });
        let whole = Value::Object(whole);
        return Cow::Owned(resolve(root, &whole, hint, depth + 1).into_owned());
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(branches) = map.get(key).and_then(Value::as_array) {
            let branches: Vec<Cow<'_, Value>> = branches
                .iter()
                .map(|branch| resolve(root, branch, hint, depth + 1))
                .collect();
            let fits = |branch: &&Cow<'_, Value>| {
                hint.is_some_and(|hint| types(branch).any(|kind| is_type(hint, kind)))
            };
            let something = |branch: &&Cow<'_, Value>| types(branch).next() != Some("null");
            let chosen = branches
                .iter()
                .find(fits)
                .or_else(|| branches.iter().find(something))
                .or(branches.first());
            if let Some(branch) = chosen {
                return Cow::Owned(merged(without(map, key), branch));
            }
        }
    }
    Cow::Borrowed(node)
}

/// The types that a node allows, inferred if it names none.
pub(super) fn types(node: &Value) -> impl Iterator<Item = &str> {
    let named: Vec<&str> = match node.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ if node.get("properties").is_some() => vec!["object"],
        _ if node.get("items").is_some() => vec!["array"],
        _ => vec![],
    };
    named.into_iter()
}

/// Whether a value is of a type, given by its name in JSON Schema.
pub(super) fn is_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    }
}

fn without(map: &Map<String, Value>, key: &str) -> Map<String, Value> {
    let mut map = map.clone();
    map.remove(key);
    map
}

/// Combines two nodes: properties and required names are united; for other keywords the first node wins.
fn merged(mut whole: Map<String, Value>, part: &Value) -> Value {
    for (key, value) in part.as_object().into_iter().flatten() {
        match (whole.get_mut(key), value) {
            (Some(Value::Object(mine)), Value::Object(theirs)) if key == "properties" => {
                for (name, property) in theirs {
                    mine.entry(name).or_insert_with(|| property.clone());
                }
            }
            (Some(Value::Array(mine)), Value::Array(theirs)) if key == "required" => {
                mine.extend(theirs.iter().cloned());
            }
            (Some(_), _) => {}
            (None, value) => {
                whole.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Object(whole)
}
