//! A drawing of the window (T4): a grid of cells, one for each share of it, with a legend and marks for the limits.
//!
//! With colors, a cell is a block, without them a letter; the legend names both.

use ratatui::style::{Color, Style};
use ratatui::text::Span;

use super::ColorSupport;
use super::figures::{grouped, share};
use super::flow::WrappedLine;
use super::host::ContextView;
use super::style::{BOLD, DIM, dim, styled};
use super::text::{clean_line, columns, keep_start};

/// The number of rows of the grid.
const ROWS: usize = 10;
/// The maximum number of cells in a row.
const CELLS: usize = 20;
/// The number of tools that are listed below the results.
const TOOLS: usize = 5;
/// From this width on, the legend is next to the grid.
const WIDE: usize = 78;

struct ContextSegment {
    name: &'static str,
    letter: char,
    color: Color,
    tokens: u64,
}

fn parts(view: &ContextView) -> Vec<ContextSegment> {
    let all = view.categories.shares(view.status.used);
    // Without a measurement, what no category explains is the padding of the estimate.
    let rest = match view.measured {
        0 => "margin of the estimate",
        _ => "unaccounted",
    };
    let part = |name, letter, color, tokens| ContextSegment {
        name,
        letter,
        color,
        tokens,
    };
    vec![
        part("system prompt", 'S', Color::DarkGray, all.system_prompt),
        part("tools", 'T', Color::Gray, all.tools),
        part("memory files", 'M', Color::LightMagenta, all.memory_files),
        part("summaries", 'Z', Color::Magenta, all.summaries),
        part("your messages", 'H', Color::Green, all.human_messages),
        part("replies", 'A', Color::Cyan, all.assistant_messages),
        part("tool requests", 'Q', Color::Blue, all.tool_requests),
        part("tool results", 'R', Color::Yellow, all.tool_results),
        part("attachments", 'F', Color::Red, all.attachments),
        part(rest, 'U', Color::LightBlue, all.unattributed),
    ]
}

/// The drawing at a width.
pub(crate) fn picture(view: &ContextView, width: usize, color: ColorSupport) -> Vec<WrappedLine> {
    let status = &view.status;
    let head = format!(
        "{}: {} of {} tokens, {}% left until {}",
        clean_line(&view.model),
        grouped(status.used),
        grouped(status.size),
        status.percent_left,
        if status.auto_compact_enabled {
            "compaction"
        } else {
            "input is refused"
        }
    );
    let mut lines = vec![
        WrappedLine::blank(),
        WrappedLine::styled(head, BOLD),
        WrappedLine::dim(origin(view)),
    ];
    let cells = CELLS.min(width.saturating_sub(2) / 2).max(4);
    let field = field(view, cells, color);
    if width < WIDE {
        lines.extend(field);
        lines.extend(legend(view, width, color));
    } else {
        let legend = legend(view, width - cells * 2 - 4, color);
        let blank = WrappedLine::plain(" ".repeat(cells * 2 + 2));
        let rows = field.len().max(legend.len());
        for row in 0..rows {
            let mut line = field.get(row).unwrap_or(&blank).clone();
            line.line.spans.push(Span::raw("  "));
            line.line.spans.extend(
                legend
                    .get(row)
                    .into_iter()
                    .flat_map(|flow| flow.line.spans.clone()),
            );
            lines.push(line);
        }
    }
    lines.extend(limits(view));
    lines
}

/// Where the figure comes from: what the provider measured, and what is estimated.
fn origin(view: &ContextView) -> String {
    let used = view.status.used;
    if view.measured == 0 {
        return "  all of it estimated; the next reply measures it".to_owned();
    }
    let measured = grouped(view.measured);
    let mut facts = vec![format!("  {measured} measured by the provider")];
    facts.push(if used >= view.measured {
        format!("{} estimated since", grouped(used - view.measured))
    } else {
        format!("{} fewer since, estimated", grouped(view.measured - used))
    });
    if view.cleared > 0 {
        facts.push(format!("{} cleared since", grouped(view.cleared)));
    }
    facts.join(" · ")
}

/// The grid of cells.
fn field(view: &ContextView, across: usize, color: ColorSupport) -> Vec<WrappedLine> {
    let status = &view.status;
    let size = status.size.max(1) as u128;
    let total = across * ROWS;
    let cell_at = |tokens: u64| (u128::from(tokens) * total as u128 / size) as usize;
    let used = (u128::from(status.used) * total as u128).div_ceil(size) as usize;
    let used = used.min(total);
    let mut cells: Vec<(char, Style)> = vec![('·', DIM); total];
    for cell in cells.iter_mut().skip(cell_at(status.effective)) {
        *cell = ('-', DIM);
    }
    for (tokens, letter) in marks(view) {
        let at = cell_at(tokens).min(total - 1);
        // Limits that fall into the same cell are placed next to each other.
        let free = (at..total).find(|at| matches!(cells[*at].0, '·' | '-'));
        if let Some(cell) = free.and_then(|at| cells.get_mut(at)) {
            *cell = (letter, BOLD);
        }
    }
    let parts = parts(view);
    let sum = parts.iter().map(|part| part.tokens).sum::<u64>().max(1);
    let (mut seen, mut drawn) = (0, 0);
    for part in &parts {
        seen += part.tokens;
        let until = (u128::from(seen) * used as u128 / u128::from(sum)) as usize;
        let symbol = symbol(part, color);
        for cell in cells.iter_mut().take(until).skip(drawn) {
            *cell = (symbol, Style::new().fg(part.color));
        }
        drawn = until;
    }
    let rows = cells.chunks(across).map(|row| {
        let spans = row
            .iter()
            .map(|(symbol, style)| styled(format!("{symbol} "), *style));
        WrappedLine::new(std::iter::once(Span::raw("  ")).chain(spans).collect(), 2)
    });
    rows.collect()
}

fn symbol(part: &ContextSegment, color: ColorSupport) -> char {
    match color {
        ColorSupport::On => '■',
        ColorSupport::Off => part.letter,
    }
}

/// The limits and their letters.
fn marks(view: &ContextView) -> Vec<(u64, char)> {
    let status = &view.status;
    let mut marks = vec![(status.warning, 'w')];
    if status.auto_compact_enabled {
        marks.push((status.auto_compact, 'c'));
    }
    marks.push((status.blocking, 'b'));
    marks
}

fn legend(view: &ContextView, width: usize, color: ColorSupport) -> Vec<WrappedLine> {
    let size = view.status.size;
    let entry = |mark: Span<'static>, name: &str, tokens: u64, style: Style| {
        let figures = format!("{:>9} {:>6}", grouped(tokens), share(tokens, size));
        let room = width.saturating_sub(columns(&figures) + 5).clamp(8, 24);
        let name = keep_start(name, room);
        let pad = " ".repeat(room - columns(&name));
        let line = vec![
            Span::raw("  "),
            mark,
            styled(format!(" {name}{pad} {figures}"), style),
        ];
        WrappedLine::new(line, 4)
    };
    let mut lines = Vec::new();
    for part in parts(view).iter().filter(|part| part.tokens > 0) {
        let mark = styled(symbol(part, color).to_string(), Style::new().fg(part.color));
        lines.push(entry(mark, part.name, part.tokens, Style::new()));
        if part.letter == 'R' {
            let shares = view.categories.shares(view.status.used);
            let mut tools: Vec<_> = shares.tool_results_by_tool.iter().collect();
            tools.sort_by_key(|(name, tokens)| (std::cmp::Reverse(**tokens), name.as_str()));
            // One tool more takes no more room than the line that says so.
            let shown = match tools.len() {
                all if all <= TOOLS + 1 => all,
                _ => TOOLS,
            };
            for (name, tokens) in tools.iter().take(shown) {
                let name = format!("  {}", clean_line(name));
                lines.push(entry(Span::raw(" "), &name, **tokens, DIM));
            }
            if shown < tools.len() {
                let name = format!("  {} other tools", tools.len() - shown);
                let tokens = tools.iter().skip(shown).map(|(_, tokens)| **tokens).sum();
                lines.push(entry(Span::raw(" "), &name, tokens, DIM));
            }
            if shares.duplicate_reads > 0 {
                let tokens = shares.duplicate_reads;
                lines.push(entry(Span::raw(" "), "  of which read again", tokens, DIM));
            }
        }
    }
    let free = view.status.effective.saturating_sub(view.status.used);
    lines.push(entry(dim("·"), "free", free, Style::new()));
    let reserved = view.status.size.saturating_sub(view.status.effective);
    lines.push(entry(dim("-"), "for the reply", reserved, Style::new()));
    lines
}

fn limits(view: &ContextView) -> Vec<WrappedLine> {
    let status = &view.status;
    let at = |tokens: u64| format!("{} ({})", grouped(tokens), share(tokens, status.size));
    let compacts = if status.auto_compact_enabled {
        format!("c compacts at {}", at(status.auto_compact))
    } else {
        "automatic compaction is off".to_owned()
    };
    let limits = [
        format!("w warns at {}", at(status.warning)),
        compacts,
        format!("b refuses input at {}", at(status.blocking)),
    ];
    let mut lines = vec![WrappedLine::dim(format!("  {}", limits.join(" · ")))];
    if view.likely.bound > 0 {
        let likely = view.likely;
        lines.push(WrappedLine::dim(format!(
            "  likely {} ± {}, by what replies have shown; the limits are compared with the {} above",
            grouped(likely.tokens),
            grouped(likely.bound),
            grouped(status.used)
        )));
    }
    lines.extend(
        match view.categories.cleared_results {
            0 => None,
            1 => Some("  1 old tool result is cleared and takes no room".to_owned()),
            many => Some(format!(
                "  {} old tool results are cleared and take no room",
                grouped(many)
            )),
        }
        .map(WrappedLine::dim),
    );
    lines
}
