//! Checks that tool calls and their results match, in both directions.

use std::collections::BTreeSet;

use super::roles::is_server_result;
use super::turns::{ConversationProblem, PlacedBlock, RoleTurn};
use crate::request::ApiRole;

/// The first problem, if any.
pub(super) fn check(turns: &[RoleTurn<'_>]) -> Option<ConversationProblem> {
    let mut seen = BTreeSet::new();
    for (index, turn) in turns.iter().enumerate() {
        let next = turns
            .get(index + 1)
            .filter(|next| next.role == ApiRole::User);
        let before = index.checked_sub(1).and_then(|at| turns.get(at));
        let before = before.filter(|before| before.role == ApiRole::Assistant);
        let problem = match turn.role {
            ApiRole::Assistant => unique(turn, &mut seen)
                .or_else(|| server_pairs(turn, turns.get(index + 1)))
                .or_else(|| unanswered(turn, next, IndexShift::of(turns))),
            ApiRole::User => unasked(turn, before),
            ApiRole::System => None,
        };
        if problem.is_some() {
            return problem;
        }
    }
    None
}

/// A conversation that the model opens is numbered as if it began with an empty user message.
struct IndexShift(usize);

impl IndexShift {
    fn of(turns: &[RoleTurn<'_>]) -> IndexShift {
        let first = turns.first();
        let model =
            first.is_some_and(|turn| turn.role == ApiRole::Assistant && !turn.has("compaction"));
        IndexShift(usize::from(model))
    }
}

fn id<'a>(placed: &PlacedBlock<'a>, field: &str) -> Option<&'a str> {
    placed.block.text(field)
}

fn unique<'a>(turn: &RoleTurn<'a>, seen: &mut BTreeSet<&'a str>) -> Option<ConversationProblem> {
    let calls = |placed: &&PlacedBlock<'_>| {
        matches!(
            placed.block.kind.as_str(),
            "tool_use" | "server_tool_use" | "mcp_tool_use"
        )
    };
    turn.blocks.iter().filter(calls).find_map(|placed| {
        let again = !seen.insert(id(placed, "id")?);
        again.then(|| {
            ConversationProblem::at(
                placed.message,
                format!(
                    "{}: `{}` ids must be unique",
                    placed.path(),
                    placed.block.kind
                ),
            )
        })
    })
}

/// Calls without a result. Results count only at the beginning of the next turn, and a call only if no text follows it.
fn unanswered(
    turn: &RoleTurn<'_>,
    next: Option<&RoleTurn<'_>>,
    shift: IndexShift,
) -> Option<ConversationProblem> {
    let results: BTreeSet<&str> = next.map(leading_results).unwrap_or_default();
    let is_text = |placed: &PlacedBlock<'_>| placed.block.kind == "text";
    let last_text = turn.blocks.iter().rposition(is_text).unwrap_or(0);
    let open = turn
        .blocks
        .iter()
        .enumerate()
        .filter(|(_, placed)| placed.block.kind == "tool_use");
    let open: Vec<(usize, &str)> = open
        .filter_map(|(at, placed)| Some((at, placed.message, id(placed, "id")?)))
        .filter(|(at, _, id)| *at < last_text || !results.contains(id))
        .map(|(_, message, id)| (message, id))
        .collect();
    let message = open.first()?.0;
    let ids: Vec<&str> = open.iter().map(|(_, id)| *id).collect();
    Some(ConversationProblem::at(
        message,
        format!(
            "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
            message + shift.0,
            ids.join(", ")
        ),
    ))
}

fn leading_results<'a>(turn: &RoleTurn<'a>) -> BTreeSet<&'a str> {
    let results = turn
        .blocks
        .iter()
        .take_while(|placed| placed.block.kind == "tool_result");
    results
        .filter_map(|placed| id(placed, "tool_use_id"))
        .collect()
}

/// Results without a call, or a second one for the same call.
fn unasked(turn: &RoleTurn<'_>, before: Option<&RoleTurn<'_>>) -> Option<ConversationProblem> {
    let calls = before.into_iter().flat_map(|before| &before.blocks);
    let calls: BTreeSet<&str> = calls
        .filter(|placed| placed.block.kind == "tool_use")
        .filter_map(|placed| id(placed, "id"))
        .collect();
    let mut seen = BTreeSet::new();
    let results = turn
        .blocks
        .iter()
        .filter(|placed| placed.block.kind == "tool_result");
    results.into_iter().find_map(|placed| {
        let id = id(placed, "tool_use_id")?;
        let what = match (calls.contains(id), seen.insert(id)) {
            (true, true) => return None,
            (true, false) => format!(
                "{}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}",
                placed.path()
            ),
            (false, _) => format!(
                "{}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
                placed.path()
            ),
        };
        Some(ConversationProblem::at(placed.message, what))
    })
}

/// Server-side tools: the result comes after the call in the same turn.
fn server_pairs(turn: &RoleTurn<'_>, next: Option<&RoleTurn<'_>>) -> Option<ConversationProblem> {
    let mut open: Vec<(&str, &PlacedBlock<'_>)> = Vec::new();
    for placed in &turn.blocks {
        let kind = placed.block.kind.as_str();
        if matches!(kind, "server_tool_use" | "mcp_tool_use") {
            open.push((id(placed, "id")?, placed));
        } else if is_server_result(kind) {
            let asked = id(placed, "tool_use_id")?;
            let call = if kind == "mcp_tool_result" {
                "mcp_tool_use"
            } else {
                "server_tool_use"
            };
            let Some(at) = open
                .iter()
                .position(|(id, p)| *id == asked && p.block.kind == call)
            else {
                return Some(ConversationProblem::at(
                    placed.message,
                    format!(
                        "{}: unexpected `tool_use_id` found in `{kind}` blocks: {asked}. Each `{kind}` block must have a corresponding `{call}` block before it.",
                        placed.path()
                    ),
                ));
            };
            open.remove(at);
        }
    }
    // The last turn may be one that the API paused; a turn answered only with results continues on the server.
    let next = next?;
    let only_results =
        next.role == ApiRole::User && next.blocks.iter().all(|p| p.block.kind == "tool_result");
    let (asked, placed) = open.into_iter().next().filter(|_| !only_results)?;
    let name = placed.block.text("name").unwrap_or_default();
    let result = match name {
        "tool_search_tool_regex" | "tool_search_tool_bm25" => "tool_search",
        _ if placed.block.kind == "mcp_tool_use" => "mcp",
        other => other,
    };
    Some(ConversationProblem::at(
        placed.message,
        format!(
            "messages.{}: `{name}` tool use with id `{asked}` was found without a corresponding `{result}_tool_result` block",
            placed.message
        ),
    ))
}
