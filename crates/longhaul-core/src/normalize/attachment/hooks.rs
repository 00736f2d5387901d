//! Attachments for the output of the user's hooks.

use super::fields::{filled, first, text_or_lines};
use crate::json::ObjectReader;
use crate::normalize::fragment::fill;
use crate::quoting::{inline, quoted};

/// Returns the text for a hook's output.
pub(super) fn tell(kind: &str, attachment: ObjectReader<'_>) -> Option<String> {
    let fragment = match kind {
        "hook_success"
        | "hook_additional_context"
        | "hook_system_message"
        | "async_hook_response" => include_str!("fragments/hook.txt"),
        "hook_blocking_error" | "hook_stopped_continuation" => {
            include_str!("fragments/hook_blocked.txt")
        }
        "hook_non_blocking_error" | "hook_error_during_execution" => {
            include_str!("fragments/hook_failed.txt")
        }
        _ => return None,
    };
    let name = first(attachment, &["hookName", "hookEvent"]).unwrap_or_else(|| "-".into());
    Some(fill(
        fragment,
        &[
            ("name", &inline(&name)),
            ("content", &quoted(&output(attachment)?)),
        ],
    ))
}

fn output(attachment: ObjectReader<'_>) -> Option<String> {
    let blocking = || {
        let error = attachment.object("blockingError")?;
        filled(error, "blockingError")
    };
    text_or_lines(attachment, "content")
        .or_else(blocking)
        .or_else(|| {
            first(
                attachment,
                &["blockingError", "message", "stderr", "stdout"],
            )
        })
}
