//! The work in hand: todo lists, plans, background tasks.

use super::fields::{filled, first, items, objects};
use crate::json::Object;
use crate::normalize::fragment::fill;

/// What the model is told of the work.
pub(super) fn tell(kind: &str, attachment: Object<'_>) -> Option<String> {
    let plan = |fragment: &str| {
        let path = filled(attachment, "planFilePath").unwrap_or_else(|| "-".into());
        Some(fill(fragment, &[("path", &path)]))
    };
    match kind {
        "todo" | "todo_reminder" | "task_reminder" => todo(attachment),
        "plan_file_reference" => Some(fill(
            include_str!("fragments/plan_file.txt"),
            &[
                ("path", &filled(attachment, "planFilePath")?),
                ("content", &filled(attachment, "planContent")?),
            ],
        )),
        "plan_mode" | "plan_mode_reentry" => plan(include_str!("fragments/plan_mode.txt")),
        "plan_mode_exit" => plan(include_str!("fragments/plan_mode_off.txt")),
        "task_status" => {
            let detail = first(attachment, &["deltaSummary", "summary", "outputFilePath"]);
            Some(fill(
                include_str!("fragments/task.txt"),
                &[
                    ("id", &first(attachment, &["taskId", "id"])?),
                    ("description", &filled(attachment, "description")?),
                    ("status", &filled(attachment, "status")?),
                    ("detail", &detail.unwrap_or_default()),
                ],
            ))
        }
        _ => None,
    }
}

fn todo(attachment: Object<'_>) -> Option<String> {
    if items(attachment, "content")?.is_empty() {
        return Some(include_str!("fragments/todo_empty.txt").trim_end().into());
    }
    let items = objects(attachment, "content")?;
    let lines: Option<Vec<String>> = items
        .into_iter()
        .map(|item| {
            let what = first(item, &["content", "subject"])?;
            let status = filled(item, "status")?;
            Some(format!("- [{status}] {what}"))
        })
        .collect();
    Some(fill(
        include_str!("fragments/todo.txt"),
        &[("items", &lines?.join("\n"))],
    ))
    .filter(|text| text.contains("- ["))
}
