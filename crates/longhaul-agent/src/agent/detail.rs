//! What people want to see before they agree to a call: the whole command, or the change to a file.

use serde_json::Value;
use similar::TextDiff;

use crate::tool::ToolAccess;

/// Files larger than this are not read for a diff.
const MOST_BYTES: u64 = 1 << 20;

/// A call in full: whoever agrees to it must be able to see all of it.
pub(crate) fn detail(input: &Value, access: &ToolAccess) -> String {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    match access {
        ToolAccess::Runs { command, .. } => command.clone(),
        ToolAccess::Writes(path) => {
            let edit = text("old_string").zip(text("new_string"));
            let write = || {
                let small = std::fs::metadata(path).is_ok_and(|file| file.len() <= MOST_BYTES);
                let old = small.then(|| std::fs::read_to_string(path).ok()).flatten();
                (old.unwrap_or_default(), text("content"))
            };
            match edit {
                // The place in the file is not known here, so there are no line numbers.
                Some((old, new)) => signed('-', old) + &signed('+', new),
                None => match write() {
                    (old, Some(new)) => diff(&old, new),
                    _ => pretty(input),
                },
            }
        }
        ToolAccess::Fetches(_)
        | ToolAccess::SearchesWeb(_)
        | ToolAccess::Reads(_)
        | ToolAccess::AsksUser(_)
        | ToolAccess::LeavesPlanMode
        | ToolAccess::Nothing
        | ToolAccess::Other => pretty(input),
    }
}

fn diff(old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(3).to_string()
}

fn signed(sign: char, text: &str) -> String {
    text.lines()
        .map(|line| format!("{sign} {line}\n"))
        .collect()
}

fn pretty(input: &Value) -> String {
    // A call without an input has nothing more to show.
    if input.as_object().is_some_and(serde_json::Map::is_empty) {
        return String::new();
    }
    serde_json::to_string_pretty(input).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn q2_a_call_without_an_input_has_nothing_more_to_show() {
        assert_eq!(detail(&json!({}), &ToolAccess::Other), "");
        assert!(detail(&json!({"a": 1}), &ToolAccess::Other).contains("\"a\": 1"));
    }
}
