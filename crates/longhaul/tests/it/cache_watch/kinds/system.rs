//! Changes of the system prompt.

use longhaul_core::cache::RequestChange;
use serde_json::json;

use super::{Kind, SYSTEM, is, kind};

pub(super) fn kinds() -> Vec<Kind> {
    vec![
        kind(
            "one byte in the system prompt",
            SYSTEM,
            |s| {
                let text = s.system[0]["text"].as_str().unwrap().replacen(' ', "_", 1);
                s.system[0]["text"] = json!(text);
            },
            |_, words| words.contains("system edited, same length (block 0)"),
        ),
        kind(
            "the date in the system prompt",
            SYSTEM,
            |s| {
                let text = s.system[1]["text"]
                    .as_str()
                    .unwrap()
                    .replace("2026-11-14", "2026-11-15");
                s.system[1]["text"] = json!(text);
            },
            |_, words| words.contains("system edited, same length (block 1)"),
        ),
        kind(
            "system prompt longer",
            SYSTEM,
            |s| {
                let text = format!(
                    "{}{}",
                    s.system[1]["text"].as_str().unwrap(),
                    "x".repeat(142)
                );
                s.system[1]["text"] = json!(text);
            },
            |_, words| words.contains("system +142 chars (block 1)"),
        ),
        kind(
            "system block added",
            SYSTEM,
            |s| {
                s.system
                    .insert(0, json!({ "type": "text", "text": "Be brief." }))
            },
            |_, words| words.contains("system +9 chars (block 0)"),
        ),
        kind(
            "system block removed",
            SYSTEM,
            |s| {
                s.system.remove(1);
            },
            |cause, words| {
                words.contains("system −") && is(cause, |c| matches!(c, RequestChange::System(_)))
            },
        ),
        kind(
            "system blocks in another order",
            SYSTEM,
            |s| s.system.swap(0, 1),
            |cause, _| is(cause, |c| matches!(c, RequestChange::System(_))),
        ),
    ]
}
