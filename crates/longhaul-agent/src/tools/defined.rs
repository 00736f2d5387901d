//! A tool's definition from its two fragments: what it is for, and what goes in.

use serde_json::{Value, json};

/// Name, description and input schema, as requests carry them.
pub(super) fn definition(name: &str, description: &str, schema: &str) -> Value {
    // The schema is part of the build and read by a test; an empty one would still be valid.
    let schema = serde_json::from_str(schema).unwrap_or_else(|_| json!({"type": "object"}));
    json!({"name": name, "description": description.trim_end(), "input_schema": schema})
}
