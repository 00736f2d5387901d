//! The status line: model, percent left, cost, cache, mode. The narrower it is, the fewer parts it has; percent left
//! always stays, and the mode longer than the rest.

use longhaul_core::window::WindowLevel;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::figures::{dollars, percent};
use super::flow::WrappedLine;
use super::style::{BAD, DIM, GOOD, WARNING, dim, styled};
use super::text::{clean_line, columns};
use crate::effort::EffortSetting;
use crate::event::{AgentStatus, ApprovalMode};

/// The name of a mode for users.
pub(crate) fn mode_name(mode: ApprovalMode) -> &'static str {
    match mode {
        ApprovalMode::Default => "ask before changes",
        ApprovalMode::AcceptEdits => "accept edits",
        ApprovalMode::Plan => "plan",
        ApprovalMode::BypassPermissions => "no approvals needed",
        ApprovalMode::DontAsk => "refuse what needs approval",
    }
}

/// What is said of a model that is none.
const SIMULATED: &str = "simulated";

/// The name of a mode where there is hardly any room.
fn short_mode(mode: ApprovalMode) -> &'static str {
    match mode {
        ApprovalMode::Default => "ask",
        ApprovalMode::AcceptEdits => "edits",
        ApprovalMode::Plan => "plan",
        ApprovalMode::BypassPermissions => "no asking",
        ApprovalMode::DontAsk => "refuse",
    }
}

/// The color for how near the limit is.
pub(crate) fn level_style(level: WindowLevel) -> Style {
    match level {
        WindowLevel::Ok => GOOD,
        WindowLevel::Warning => WARNING,
        WindowLevel::AutoCompact | WindowLevel::Blocking => BAD,
    }
}

/// The line at a width.
pub(crate) fn line(
    glance: Option<&AgentStatus>,
    mode: ApprovalMode,
    width: usize,
) -> Line<'static> {
    let mode_style = match mode {
        ApprovalMode::Default => DIM,
        ApprovalMode::AcceptEdits | ApprovalMode::Plan => WARNING,
        ApprovalMode::BypassPermissions | ApprovalMode::DontAsk => BAD,
    };
    // Each piece has a rank: the highest rank is dropped first when there is no space.
    let mut pieces: Vec<(u8, Span<'static>)> = Vec::new();
    if let Some(glance) = glance {
        pieces.push((3, dim(clean_line(&glance.model))));
        let effort = match glance.effort {
            EffortSetting::Model => None,
            set => Some(format!("effort {}", set.name())),
        };
        pieces.extend(effort.map(|effort| (4, dim(effort))));
        let left = format!("{}% left", glance.percent_left);
        pieces.push((0, styled(left, level_style(glance.level))));
        let cost = glance.cost.map(dollars);
        pieces.extend(cost.map(|cost| (2, dim(cost))));
        if glance.backend.is_simulated() {
            pieces.push((1, dim(SIMULATED)));
        }
        let cache = glance.cache_hit_rate;
        pieces.extend(cache.map(|rate| (4, dim(format!("cache {}", percent(rate))))));
    }
    // Which calls run without asking matters more than everything but the room that is left.
    pieces.push((1, styled(mode_name(mode), mode_style)));
    pieces.push((5, dim("/help")));
    let wide = |pieces: &[(u8, Span<'static>)]| {
        let widths = pieces.iter().map(|piece| columns(&piece.1.content) + 3);
        widths.sum::<usize>().saturating_sub(3) + 2
    };
    while wide(&pieces) > width && pieces.iter().any(|piece| piece.0 > 1) {
        let least = pieces.iter().map(|piece| piece.0).max();
        pieces.retain(|piece| Some(piece.0) != least);
    }
    // The rest is said in fewer letters before it is left out.
    if wide(&pieces) > width {
        for (_, piece) in &mut pieces {
            piece.content = match &*piece.content {
                SIMULATED => "sim".into(),
                name if name == mode_name(mode) => short_mode(mode).into(),
                other => other.replace("% left", "%").into(),
            };
        }
    }
    while wide(&pieces) > width && pieces.len() > 1 {
        pieces.pop();
    }
    let indent = if wide(&pieces) > width { "" } else { "  " };
    let mut spans = vec![Span::raw(indent)];
    let mut after_cost = false;
    for (at, (_, piece)) in pieces.into_iter().enumerate() {
        if at > 0 {
            // Nobody is billed the cost that stands before it.
            let is_about_cost = after_cost && piece.content == SIMULATED;
            spans.push(dim(if is_about_cost { " " } else { " · " }));
        }
        after_cost = piece.content.starts_with('$');
        spans.push(piece);
    }
    let cut = WrappedLine::new(spans, 0).rows(width);
    cut.into_iter().next().unwrap_or_default()
}
