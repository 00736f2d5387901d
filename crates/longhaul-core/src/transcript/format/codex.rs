//! Codex rollouts: JSONL of typed payloads.

use super::{DetectedFormat, FileStart, foreign};

pub(super) fn recognize(head: &FileStart<'_>) -> Option<DetectedFormat> {
    let is_rollout = head.objects().any(|item| {
        let kind = item.string("type");
        let kind = kind.as_deref();
        item.get("payload").is_some() && matches!(kind, Some("session_meta" | "response_item" | "event_msg" | "turn_context"))
            // This is the first line of older rollouts.
            || item.get("instructions").is_some() && item.get("timestamp").is_some() && item.get("id").is_some()
    });
    is_rollout.then(|| foreign("a Codex rollout")).flatten()
}
