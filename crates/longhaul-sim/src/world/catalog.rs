//! The list of models, as `GET /v1/models` returns it.

use longhaul_core::models::{ModelSpec, ModelTable};
use serde_json::{Value, json};

/// The list, with the newest names first.
pub(super) fn list(table: &ModelTable) -> Value {
    let served = table.models().filter(|spec| !spec.retired);
    let mut data: Vec<Value> = served.map(entry).collect();
    data.reverse();
    let id = |entry: Option<&Value>| entry.and_then(|entry| entry.get("id")).cloned();
    json!({
        "data": data,
        "has_more": false,
        "first_id": id(data.first()),
        "last_id": id(data.last()),
    })
}

/// One model, by any of its names.
pub(super) fn one(table: &ModelTable, id: &str) -> Option<Value> {
    let spec = table.resolve(id).spec;
    let known = table.models().any(|known| known.id == spec.id);
    known.then(|| entry(&spec))
}

fn entry(spec: &ModelSpec) -> Value {
    json!({
        "type": "model",
        "id": spec.id,
        "display_name": display_name(&spec.id),
        "created_at": "2026-01-01T00:00:00Z",
        "max_input_tokens": spec.window,
        "max_tokens": spec.max_output,
    })
}

/// Turns `claude-opus-5-5` into `Claude Opus 5.5`.
fn display_name(id: &str) -> String {
    let mut name = String::new();
    for part in id.split('-') {
        let number = part.bytes().all(|byte| byte.is_ascii_digit());
        let after_number = name.ends_with(|last: char| last.is_ascii_digit());
        if !name.is_empty() {
            name.push(if number && after_number { '.' } else { ' ' });
        }
        let mut letters = part.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}
