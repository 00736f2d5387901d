//! Makes inputs that conform to a tool's JSON Schema: given values are kept where the schema allows them, missing ones
//! are made up. It covers what tool definitions use: types, required fields, enums, constants, bounds, patterns,
//! arrays, nested objects, references and alternatives.

mod pattern;
mod resolve;
mod scalar;

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::chance::Chance;
use resolve::{is_type, resolve, types};

/// Below this depth only required fields are made.
const DEEPEST: u8 = 6;
/// Below this depth nothing is made: a schema that requires itself has no end.
const BOTTOM: u8 = 10;
/// The maximum number of values in one input. A schema may demand more items than there is memory for; it gets a short
/// answer instead.
const MOST_VALUES: usize = 10_000;

/// The source of made-up values, so that they are related to the conversation.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ValuePalette<'a> {
    /// Existing paths.
    pub(super) paths: &'a [String],
    /// Words and short phrases of the conversation.
    pub(super) phrases: &'a [String],
}

/// Whether fields that are not required are made up too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionalFields {
    /// Never.
    None,
    /// Now and then.
    Some,
}

/// An input for a schema that keeps those `hints` that the schema allows.
pub(super) fn fit(
    schema: &Value,
    hints: Value,
    extras: OptionalFields,
    palette: ValuePalette<'_>,
    chance: &mut Chance,
) -> Value {
    let mut fitter = SchemaFitter {
        root: schema,
        extras,
        palette,
        chance,
        left: MOST_VALUES,
    };
    let fitted = fitter.node(schema, Some(&hints), "", 0);
    match fitted {
        Value::Object(_) => fitted,
        _ => Value::Object(Map::new()),
    }
}

/// A node of a schema without references and branches.
pub(super) fn resolved<'v>(root: &'v Value, node: &'v Value) -> Cow<'v, Value> {
    resolve(root, node, None, 0)
}

/// A value for a schema of any type, for answers in a demanded format.
pub(super) fn answer(
    schema: &Value,
    hints: Value,
    palette: ValuePalette<'_>,
    chance: &mut Chance,
) -> Value {
    let mut fitter = SchemaFitter {
        root: schema,
        extras: OptionalFields::None,
        palette,
        chance,
        left: MOST_VALUES,
    };
    fitter.node(schema, Some(&hints), "", 0)
}

struct SchemaFitter<'a> {
    root: &'a Value,
    extras: OptionalFields,
    palette: ValuePalette<'a>,
    chance: &'a mut Chance,
    /// The number of values that may still be made.
    left: usize,
}

impl SchemaFitter<'_> {
    fn node(&mut self, node: &Value, hint: Option<&Value>, name: &str, depth: u8) -> Value {
        if depth > BOTTOM {
            return hint.cloned().unwrap_or(Value::Null);
        }
        let node = resolve(self.root, node, hint, 0);
        if let Some(value) = node.get("const") {
            return value.clone();
        }
        if let Some(values) = node.get("enum").and_then(Value::as_array) {
            return match hint {
                Some(hint) if values.contains(hint) => hint.clone(),
                _ if node
                    .get("default")
                    .is_some_and(|value| values.contains(value)) =>
                {
                    node["default"].clone()
                }
                _ => self.chance.pick(values).cloned().unwrap_or(Value::Null),
            };
        }
        let kinds: Vec<&str> = types(&node).collect();
        if kinds.is_empty()
            && let Some(hint) = hint
        {
            return hint.clone();
        }
        let kind = hint
            .and_then(|hint| kinds.iter().find(|kind| is_type(hint, kind)))
            .or_else(|| kinds.iter().find(|kind| **kind != "null"))
            .or(kinds.first())
            .copied()
            .unwrap_or("string");
        match kind {
            "object" => self.object(&node, hint, depth),
            "array" => self.array(&node, hint, name, depth),
            "null" => Value::Null,
            _ => scalar::value(&node, kind, hint, name, self.palette, self.chance),
        }
    }

    fn object(&mut self, node: &Value, hint: Option<&Value>, depth: u8) -> Value {
        let nothing = Map::new();
        let wanted = hint.and_then(Value::as_object).unwrap_or(&nothing);
        let properties = node
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&nothing);
        let required: Vec<&str> = node
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let mut made = Map::new();
        for (name, property) in properties {
            let hint = wanted.get(name);
            let extra = self.extras == OptionalFields::Some && depth < 2 && self.chance.odds(0.2);
            if hint.is_some() || required.contains(&name.as_str()) || extra {
                if depth >= DEEPEST && !required.contains(&name.as_str()) {
                    continue;
                }
                made.insert(name.clone(), self.node(property, hint, name, depth + 1));
            }
        }
        let any = Value::Bool(true);
        let rest = node.get("additionalProperties").unwrap_or(&any);
        for name in required {
            if !made.contains_key(name) {
                let value = self.node(rest, wanted.get(name), name, depth + 1);
                made.insert(name.to_owned(), value);
            }
        }
        if properties.is_empty() && rest != &Value::Bool(false) {
            for (name, value) in wanted {
                made.entry(name).or_insert_with(|| value.clone());
            }
        }
        Value::Object(made)
    }

    fn array(&mut self, node: &Value, hint: Option<&Value>, name: &str, depth: u8) -> Value {
        let bound = |key| {
            node.get(key)
                .and_then(Value::as_u64)
                .map(|bound| bound as usize)
        };
        let least = bound("minItems").unwrap_or(0);
        let most = bound("maxItems").unwrap_or(usize::MAX);
        let any = Value::Bool(true);
        let items = node.get("items").unwrap_or(&any);
        let fixed = node.get("prefixItems").and_then(Value::as_array);
        let wanted = hint.and_then(Value::as_array);
        let count = match (wanted, fixed) {
            (Some(wanted), _) => wanted.len().clamp(least, most.max(least)),
            (None, Some(fixed)) => fixed.len().max(least),
            (None, None) if depth >= DEEPEST => least,
            (None, None) => self.chance.between(1, 3).clamp(least, most.max(least)),
        };
        let unique = node.get("uniqueItems") == Some(&Value::Bool(true));
        let mut made: Vec<Value> = Vec::new();
        for index in 0..count.min(self.left) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let schema = fixed.and_then(|fixed| fixed.get(index)).unwrap_or(items);
            let hint = wanted.and_then(|wanted| wanted.get(index));
            let mut value = self.node(schema, hint, name, depth + 1);
            for _ in 0..16 {
                if !unique || !made.contains(&value) {
                    break;
                }
                value = self.node(schema, None, name, depth + 1);
            }
            if !unique || !made.contains(&value) {
                made.push(value);
            }
        }
        Value::Array(made)
    }
}
