//! Attachments for the current work: todo lists, plans, background tasks.

use super::fields::{filled, first, items, objects};
use crate::json::ObjectReader;
use crate::normalize::fragment::fill;
use crate::quoting::{hosts_words, inline, quoted};

/// Returns the text for the current work.
pub(super) fn tell(kind: &str, attachment: ObjectReader<'_>) -> Option<String> {
    let plan = |fragment: &str| {
        // A host may bring its own wording.
        let own = filled(attachment, "content").map(|content| hosts_words(&content));
        own.or_else(|| {
            let path = filled(attachment, "planFilePath").unwrap_or_else(|| "-".into());
            Some(fill(fragment, &[("path", &inline(&path))]))
        })
    };
    match kind {
        "todo" | "todo_reminder" | "task_reminder" => todo(attachment),
        "plan_file_reference" => {
            let said = filled(attachment, "calledOffBy");
            let fragment = match said {
                None => include_str!("fragments/plan_file.txt"),
                Some(_) => include_str!("fragments/plan_file_off.txt"),
            };
            Some(fill(
                fragment,
                &[
                    ("path", &inline(&filled(attachment, "planFilePath")?)),
                    ("content", &quoted(&filled(attachment, "planContent")?)),
                    ("said", &inline(&said.unwrap_or_default())),
                ],
            ))
        }
        "plan_mode" | "plan_mode_reentry" => plan(include_str!("fragments/plan_mode.txt")),
        "plan_mode_exit" => plan(include_str!("fragments/plan_mode_off.txt")),
        "task_status" => {
            let detail = first(attachment, &["deltaSummary", "summary", "outputFilePath"]);
            Some(fill(
                include_str!("fragments/task.txt"),
                &[
                    ("id", &inline(&first(attachment, &["taskId", "id"])?)),
                    ("description", &inline(&filled(attachment, "description")?)),
                    ("status", &inline(&filled(attachment, "status")?)),
                    ("detail", &inline(&detail.unwrap_or_default())),
                ],
            ))
        }
        _ => None,
    }
}

fn todo(attachment: ObjectReader<'_>) -> Option<String> {
    if items(attachment, "content")?.is_empty() {
        return Some(include_str!("fragments/todo_empty.txt").trim_end().into());
    }
    let mut stands = Vec::new();
    let mut off: Vec<(String, Vec<String>)> = Vec::new();
    for item in objects(attachment, "content")? {
        let what = first(item, &["content", "subject"])?;
        let status = filled(item, "status")?;
        let line = format!("- [{}] {}", inline(&status), inline(&what));
        let Some(said) = filled(item, "calledOffBy") else {
            stands.push(line);
            continue;
        };
        match off.iter_mut().find(|(known, _)| *known == said) {
            Some((_, lines)) => lines.push(line),
            None => off.push((said, vec![line])),
        }
    }
    let mut parts = Vec::new();
    if !stands.is_empty() {
        let items = stands.join("\n");
        parts.push(fill(
            include_str!("fragments/todo.txt"),
            &[("items", &items)],
        ));
    }
    parts.extend(off.iter().map(|(said, lines)| {
        fill(
            include_str!("fragments/todo_off.txt"),
            &[("said", &inline(said)), ("items", &lines.join("\n"))],
        )
    }));
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}
