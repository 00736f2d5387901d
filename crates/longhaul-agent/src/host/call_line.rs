//! A call of a session in one line for people, with its path as they know it.

use serde_json::Value;

use crate::event::EXIT_PLAN_MODE;

/// Fields of a call's input that say what it is about, the best ones first.
const TELLING: [&str; 11] = [
    "file_path",
    "command",
    "pattern",
    "path",
    "url",
    "query",
    "skill",
    "description",
    "task_id",
    "prompt",
    "name",
];

/// The maximum number of characters of a call's line.
const LINE: usize = 100;

/// A call in one line.
pub(super) fn call_line(name: &str, input: &Value, cwd: &str) -> String {
    let telling = TELLING.iter().find_map(|name| input[*name].as_str());
    let line = telling
        .and_then(|text| text.lines().next())
        .unwrap_or_default();
    let line = if name == EXIT_PLAN_MODE {
        let plan = input["plan"].as_str().unwrap_or_default();
        let first = plan.lines().next().unwrap_or_default();
        first.trim_start_matches(['#', ' '])
    } else {
        within(line, cwd)
    };
    line.chars().take(LINE).collect()
}

/// A path as people know it: relative to the folder where it is below it.
pub(super) fn within<'a>(path: &'a str, cwd: &str) -> &'a str {
    let below = path.strip_prefix(cwd).filter(|_| !cwd.is_empty());
    let below = below.and_then(|path| path.strip_prefix('/'));
    below.filter(|path| !path.is_empty()).unwrap_or(path)
}
