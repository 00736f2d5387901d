//! What Grep and Glob have in common: where a search begins, and how it is shown.

use serde_json::Value;

use super::input;
use super::judged_paths::JudgedPaths;

/// Where a search begins, from the raw input.
pub(super) fn root(input: &Value) -> &str {
    from(Some(input::text(input, "path")))
}

/// Where a search begins, from the parsed path.
pub(super) fn from(path: Option<&str>) -> &str {
    path.filter(|path| !path.is_empty()).unwrap_or(".")
}

/// A search in one short line, for people.
pub(super) fn line(judged: &JudgedPaths, input: &Value) -> String {
    let pattern = input::text(input, "pattern");
    match root(input) {
        "." => pattern.to_owned(),
        path => format!("{pattern} in {}", judged.line(path)),
    }
}
