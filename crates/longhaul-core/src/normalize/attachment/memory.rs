//! Attachments for memory files and standing reminders.

use super::fields::{filled, first, objects};
use crate::json::ObjectReader;
use crate::normalize::fragment::fill;
use crate::quoting::{hosts_words, inline, quoted};

/// Returns the text for memory.
pub(super) fn tell(kind: &str, attachment: ObjectReader<'_>) -> Option<String> {
    match kind {
        "nested_memory" | "current_session_memory" => {
            let inner = attachment.object("content");
            let content = match inner {
                Some(inner) => filled(inner, "content")?,
                None => filled(attachment, "content")?,
            };
            let path = first(attachment, &["path", "displayPath"])
                .or_else(|| filled(inner?, "path"))
                .unwrap_or_else(|| "-".into());
            Some(remembered(&path, &content))
        }
        "relevant_memories" => {
            let memories = objects(attachment, "memories")?.into_iter().map(|memory| {
                let path = filled(memory, "path").unwrap_or_else(|| "-".into());
                let content = filled(memory, "content")?;
                Some(format!("{}:\n{}", inline(&path), quoted(&content)))
            });
            let memories: Option<Vec<String>> = memories.collect();
            let memories = memories.filter(|memories| !memories.is_empty())?;
            Some(fill(
                include_str!("fragments/memories.txt"),
                &[("items", &memories.join("\n\n"))],
            ))
        }
        "critical_system_reminder" => {
            let content = filled(attachment, "content")?;
            Some(fill(
                include_str!("fragments/noted.txt"),
                &[("content", &hosts_words(&content))],
            ))
        }
        _ => None,
    }
}

fn remembered(path: &str, content: &str) -> String {
    fill(
        include_str!("fragments/memory.txt"),
        &[("path", &inline(path)), ("content", &quoted(content))],
    )
}
