//! The input schema of a server's tool, in a form that requests accept: a rejected schema would make every request
//! fail.

use serde_json::{Map, Value};

/// Keywords that providers reject at the top level of a schema.
const REFUSED: [&str; 3] = ["oneOf", "allOf", "anyOf"];

/// The schema, with what every schema must have and without what no schema may have.
pub(super) fn accepted(given: &Map<String, Value>) -> Value {
    let mut schema = given.clone();
    // Without these, the schema accepts more than the server does, which then reports an error.
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
