//! Whether an input matches a schema, as far as our tools use schemas.

use serde_json::Value;

/// Describes what does not match.
pub(crate) fn misfit(schema: &Value, value: &Value) -> Option<String> {
    let kind = schema["type"].as_str().unwrap_or("");
    let right = match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    if !right {
        return Some(format!("{value} is no {kind}"));
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        return Some(format!("{value} is none of {values:?}"));
    }
    if let Some(least) = schema["minimum"].as_i64()
        && value.as_i64().is_some_and(|value| value < least)
    {
        return Some(format!("{value} is below {least}"));
    }
    if let (Some(items), Some(array)) = (schema.get("items"), value.as_array()) {
        return array.iter().find_map(|item| misfit(items, item));
    }
    let fields = value.as_object()?;
    for name in schema["required"].as_array().into_iter().flatten() {
        if !fields.contains_key(name.as_str().unwrap()) {
            return Some(format!("{name} is missing in {value}"));
        }
    }
    fields
        .iter()
        .find_map(|(name, field)| match schema["properties"].get(name) {
            Some(schema) => misfit(schema, field).map(|what| format!("{name}: {what}")),
            None => Some(format!("{name} is not known")),
        })
}
