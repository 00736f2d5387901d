//! The tool `context`: what fills a session's window, how near its limits are and what it cost, with the figures of
//! `longhaul inspect`.

use longhaul_core::inspect::InspectionReport;
use serde::Deserialize;

use super::foreign::one_line;
use super::mcp_tool_error::McpToolError;
use super::session_scope::{FoundSession, SessionScope};
use crate::inspect::{ReportBasis, level};
use crate::reading;
use crate::terminal::{dollars, grouped, share};
use crate::text::count;

pub(super) const NAME: &str = "context";
pub(super) const DESCRIPTION: &str = include_str!("fragments/context.md");
pub(super) const SCHEMA: &str = include_str!("fragments/context.json");
pub(super) const USAGE: &str =
    "Give {\"session\": \"the beginning of an id\"}, or nothing for the session that changed last.";

/// The most tools that are listed.
const TOOLS: usize = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContextInput {
    session: Option<String>,
}

pub(super) fn answer(
    scope: &SessionScope,
    basis: &ReportBasis,
    input: &ContextInput,
) -> Result<String, McpToolError> {
    let id = input.session.as_deref().map(str::trim);
    let session = scope.session(id.filter(|id| !id.is_empty()))?;
    let report = reading::file(&session.overview.path)
        .and_then(|inspection| basis.report(inspection))
        .map_err(|error| McpToolError::unreadable(session.id(), &error))?;
    let mut lines = vec![head(&session)];
    lines.extend(window(&report));
    lines.push(String::new());
    lines.push("What fills it, in estimated tokens:".to_owned());
    lines.extend(parts(&report));
    lines.push(String::new());
    lines.extend(costs(&report));
    Ok(lines.join("\n"))
}

fn head(session: &FoundSession) -> String {
    format!(
        "Session {} of {}, changed {}.",
        session.id(),
        session.agent(),
        session.changed()
    )
}

fn window(report: &InspectionReport) -> Vec<String> {
    let model = report.window.model.as_deref();
    let model = model.map_or_else(|| "no model named".to_owned(), one_line);
    let thresholds = &report.thresholds;
    let compaction = if thresholds.auto_compact_enabled {
        format!(
            "automatic compaction at {}",
            grouped(thresholds.auto_compact)
        )
    } else {
        "no automatic compaction".to_owned()
    };
    vec![
        format!(
            "Window: {model}, {} tokens; {} in use, {}% left: {}.",
            grouped(report.window.size),
            grouped(report.context_tokens),
            thresholds.percent_left,
            level::word(report.level)
        ),
        match report.measured {
            0 => "All of it is estimated: no reply in view was measured.".to_owned(),
            measured => format!("{} were measured by the provider.", grouped(measured)),
        },
        format!(
            "Limits: warning at {}, {compaction}, blocking at {}.",
            grouped(thresholds.warning),
            grouped(thresholds.blocking)
        ),
    ]
}

fn parts(report: &InspectionReport) -> Vec<String> {
    let categories = &report.categories;
    let human = categories
        .human_messages
        .saturating_sub(categories.summaries);
    let line = |name: &str, tokens: u64| {
        (tokens > 0).then(|| {
            let share = share(tokens, report.context_tokens);
            format!("- {name}: {} ({share})", grouped(tokens))
        })
    };
    let mut lines: Vec<String> = [
        line("system prompt", categories.system_prompt),
        line("tool definitions", categories.tools),
        line("memory files", categories.memory_files),
        line(
            "prompt, tools and overhead that the session does not record",
            categories.unattributed,
        ),
        line("summaries", categories.summaries),
        line("the user's messages", human),
        line("the model's messages", categories.assistant_messages),
        line("tool calls", categories.tool_requests),
        line("attachments", categories.attachments),
        line("tool results", categories.tool_results),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut tools: Vec<(&String, &u64)> = categories.tool_results_by_tool.iter().collect();
    tools.sort_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
    let shown = tools.iter().take(TOOLS);
    lines.extend(
        shown.map(|(tool, tokens)| format!("  - {}: {}", one_line(tool), grouped(**tokens))),
    );
    if tools.len() > TOOLS {
        lines.push(format!("  - {} more tools", tools.len() - TOOLS));
    }
    if categories.duplicate_reads > 0 {
        let again = grouped(categories.duplicate_reads);
        lines.push(format!("  - of which files read again: {again}"));
    }
    if categories.cleared_results > 0 {
        let cleared = count(categories.cleared_results, "tool result", "tool results");
        lines.push(format!("- {cleared} cleared: recall finds them."));
    }
    lines
}

fn costs(report: &InspectionReport) -> Vec<String> {
    let at_least = if report.partial_outputs > 0 {
        "at least "
    } else {
        ""
    };
    let responses = count(report.rounds, "response", "responses");
    let hits = (report.cache_hit_rate * 100.0).round();
    let mut lines = vec![format!(
        "Cost so far: {at_least}{} for {responses}; {hits}% of the input was read from the cache.",
        dollars(report.cost_usd)
    )];
    if let Some(beside) = report.cost_beside() {
        lines.push(format!("Summaries and notes besides: {}.", dollars(beside)));
    }
    if report.sidechains.cost_usd > 0.0 {
        let cost = dollars(report.sidechains.cost_usd);
        lines.push(format!("Sub-agents in the same file besides: {cost}."));
    }
    if !report.boundaries.is_empty() {
        let compactions = count(report.boundaries.len() as u64, "compaction", "compactions");
        lines.push(format!(
            "{compactions} so far: recall finds what they replaced."
        ));
    }
    lines.extend(report.assumptions.iter().take(5).map(|text| one_line(text)));
    if !report.problems.is_empty() {
        let problems = count(report.problems.len() as u64, "problem", "problems");
        lines.push(format!(
            "The transcript has {problems}; `longhaul inspect` lists them."
        ));
    }
    lines
}
