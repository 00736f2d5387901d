//! The list of models in OpenAI's shape.

use serde_json::{Value, json};

/// The body for `GET /v1/models`.
pub fn models<'a>(ids: impl IntoIterator<Item = &'a str>) -> Value {
    let data: Vec<Value> = ids.into_iter().map(model).collect();
    json!({ "object": "list", "data": data })
}

/// The body for `GET /v1/models/{id}`.
pub fn model(id: &str) -> Value {
    json!({ "id": id, "object": "model", "created": 1_760_000_000, "owned_by": "longhaul-sim" })
}
