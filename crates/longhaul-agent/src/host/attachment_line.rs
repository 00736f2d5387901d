//! What goes to the model with a message, in one line for people: its content is for the model.

use longhaul_core::figures::counted;
use serde_json::Value;

use super::call_line::within;

/// The line of an attachment of a session in this folder.
pub(super) fn of(attachment: &Value, cwd: &str) -> String {
    let kind = attachment["type"].as_str().unwrap_or_default();
    let text = |name: &str| attachment[name].as_str().unwrap_or_default();
    let path = ["filename", "path", "filePath", "displayPath"]
        .into_iter()
        .map(text)
        .find(|path| !path.is_empty());
    let path = path.map(|path| within(path, cwd)).unwrap_or_default();
    let count = |name: &str, noun: &str| {
        let number = attachment[name].as_array().map_or(0, Vec::len);
        counted(number as u64, noun)
    };
    match kind {
        "file" => match attachment["content"]["file"]["numLines"].as_u64() {
            Some(lines) => format!("file {path}, {}", counted(lines, "line")),
            None => format!("file {path}"),
        },
        "directory" => format!("folder {path}"),
        "nested_memory" => format!("memory file {path}"),
        "agent_listing_delta" => count("addedTypes", "kind of sub-agents")
            .replace("kind of sub-agentss", "kinds of sub-agents"),
        "skill_listing" => "the list of skills".to_owned(),
        "hook_additional_context" => match text("hookName") {
            "" => "text of a hook".to_owned(),
            hook => format!("text of a {hook} hook"),
        },
        "plan_mode" => "a reminder of plan mode".to_owned(),
        "task_status" => {
            let what = text("description");
            format!("report of a sub-agent: {what}")
        }
        "" => "something for the model".to_owned(),
        other => {
            let words = other.replace('_', " ");
            format!("{words} {path}").trim_end().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn q3_an_attachment_is_one_line() {
        let file = json!({"type": "file", "filename": "/project/a.txt", "content": {
            "type": "text", "file": {"content": "x", "numLines": 12}}});
        assert_eq!(of(&file, "/project"), "file a.txt, 12 lines");
        let kinds = json!({"type": "agent_listing_delta", "addedTypes": ["a", "b"]});
        assert_eq!(of(&kinds, "/project"), "2 kinds of sub-agents");
        let kinds = json!({"type": "agent_listing_delta", "addedTypes": ["a"]});
        assert_eq!(of(&kinds, "/project"), "1 kind of sub-agents");
        let other = json!({"type": "edited_text_file", "filename": "/else/b.rs"});
        assert_eq!(of(&other, "/project"), "edited text file /else/b.rs");
    }
}
