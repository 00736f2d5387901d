//! The tool `sessions`: the sessions that the other tools can read, as a list.

use serde::Deserialize;

use super::foreign::{NOTICE, one_line};
use super::mcp_tool_error::McpToolError;
use super::session_scope::SessionScope;
use crate::terminal::bytes;
use crate::text::count;

pub(super) const NAME: &str = "sessions";
pub(super) const DESCRIPTION: &str = include_str!("fragments/sessions.md");
pub(super) const SCHEMA: &str = include_str!("fragments/sessions.json");
pub(super) const USAGE: &str =
    "Give limit (1 to 50) and offset as whole numbers, or nothing at all.";

/// The number of sessions that are listed if the call does not say.
const LISTED: usize = 20;
/// The most sessions that one answer lists.
const MOST: usize = 50;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionsInput {
    limit: Option<usize>,
    offset: Option<usize>,
}

pub(super) fn answer(scope: &SessionScope, input: &SessionsInput) -> Result<String, McpToolError> {
    let sessions = scope.sessions();
    if sessions.is_empty() {
        return Err(McpToolError::NoSessions {
            scope: scope.name(),
        });
    }
    let offset = input.offset.unwrap_or(0);
    let limit = input.limit.unwrap_or(LISTED).clamp(1, MOST);
    let total = count(sessions.len() as u64, "session", "sessions");
    let mut lines = vec![
        format!(
            "{total} of {}, the newest first. {}",
            scope.name(),
            NOTICE.trim_end()
        ),
        String::new(),
    ];
    for session in sessions.iter().skip(offset).take(limit) {
        let overview = &session.overview;
        let mut facts = vec![
            session.id().to_owned(),
            session.agent().to_owned(),
            format!("changed {}", session.changed()),
            bytes(overview.size),
        ];
        if overview.subagents > 0 {
            facts.push(count(overview.subagents as u64, "sub-agent", "sub-agents"));
        }
        lines.push(format!("[{}]", facts.join(" · ")));
        let title = overview.title.as_deref().map(one_line);
        lines.push(title.map_or_else(|| ">".to_owned(), |title| format!("> {title}")));
    }
    let next = offset.saturating_add(limit);
    if next < sessions.len() {
        lines.push(String::new());
        lines.push(format!(
            "There are older ones: {{\"offset\": {next}}} lists them."
        ));
    }
    Ok(lines.join("\n"))
}
