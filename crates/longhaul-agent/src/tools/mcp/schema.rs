//! The input schema of a server's tool, as requests accept it: one that they refuse would fail every request.

use serde_json::{Map, Value};

/// What providers refuse at the top of a schema.
const REFUSED: [&str; 3] = ["oneOf", "allOf", "anyOf"];

/// The schema, with what every schema must have and without what none may.
pub(super) fn accepted(given: &Map<String, Value>) -> Value {
    let mut schema = given.clone();
    // Without these it takes more than the server does, which then says so.
    schema.retain(|name, _| !REFUSED.contains(&&**name));
    schema.insert("type".to_owned(), "object".into());
    let properties = schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    if !properties.is_object() {
        *properties = Value::Object(Map::new());
    }
    Value::Object(schema)
}
