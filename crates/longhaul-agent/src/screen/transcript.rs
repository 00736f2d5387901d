//! The whole conversation as lines: every call with its input, every result, every report.

use longhaul_core::figures::counted;
use ratatui::text::Span;

use super::event_lines;
use super::flow::WrappedLine;
use super::host::{TranscriptItem, TranscriptKind};
use super::markdown;
use super::style::{BAD, BOLD, DIM, GOOD, ITALIC, dim, of_diff, styled};
use super::text::{clean, clean_line};

/// The number of lines of the user's own commands that are shown; the last ones count.
const SHELL_LINES: usize = 40;
/// The width of tables in plain text.
const TEXT_WIDTH: usize = 100;

/// All items as lines.
pub(crate) fn lines(items: &[TranscriptItem], width: usize) -> Vec<WrappedLine> {
    items.iter().flat_map(|it| item(it, width)).collect()
}

/// All items as plain text.
pub(crate) fn text(items: &[TranscriptItem]) -> String {
    let lines = lines(items, TEXT_WIDTH);
    let lines = lines.iter().map(|line| line.text().trim_end().to_owned());
    let mut text = lines.collect::<Vec<_>>().join("\n");
    text.push('\n');
    text.trim_start_matches('\n').to_owned()
}

/// The last exchanges with their calls, each in a line, to show where a resumed session stopped.
pub(crate) fn recent(items: &[TranscriptItem], exchanges: usize, width: usize) -> Vec<WrappedLine> {
    let is_prompt = |item: &TranscriptItem| item.kind == TranscriptKind::User;
    let prompts = items.iter().enumerate().rev();
    let mut prompts = prompts.filter(|(_, item)| is_prompt(item));
    let from = prompts.nth(exchanges.saturating_sub(1));
    let from = from.map_or(0, |(at, _)| at);
    let mut lines = Vec::new();
    let mut after_call = false;
    for item in items.iter().skip(from) {
        let shown = match &item.kind {
            TranscriptKind::User => event_lines::sent_prompt(&item.text),
            TranscriptKind::Assistant | TranscriptKind::Notice | TranscriptKind::Shell => {
                self::item(item, width)
            }
            TranscriptKind::Output => recorded_output(&item.text),
            TranscriptKind::Call {
                name,
                line,
                outcome,
            } => {
                let call = event_lines::recorded_call(name, line, outcome);
                let gap = (!after_call).then(WrappedLine::blank);
                gap.into_iter().chain([call]).collect()
            }
            TranscriptKind::Boundary => vec![
                WrappedLine::blank(),
                WrappedLine::styled("● compacted here · /report shows the report", GOOD),
            ],
            // A result comes after its call, and its line says what matters.
            TranscriptKind::Result { .. } => continue,
            TranscriptKind::Thinking | TranscriptKind::Summary | TranscriptKind::Attachment(_) => {
                continue;
            }
        };
        after_call = matches!(item.kind, TranscriptKind::Call { .. });
        lines.extend(shown);
    }
    lines
}

/// The number of messages: what the user said, and the model's texts.
pub(crate) fn messages(items: &[TranscriptItem]) -> usize {
    let said = items
        .iter()
        .filter(|item| matches!(item.kind, TranscriptKind::User | TranscriptKind::Assistant));
    said.count()
}

/// The end of the output of a command that the user ran; the last lines count.
/// `written` is the number of lines that the command wrote, if that is known.
pub(crate) fn shell_output(text: &str, written: Option<u64>) -> Vec<WrappedLine> {
    let text = clean(text);
    let all: Vec<&str> = text.lines().collect();
    let hidden = all.len().saturating_sub(SHELL_LINES);
    let mut lines = Vec::new();
    if hidden > 0 {
        let shown = (all.len() - hidden) as u64;
        let written = written.map_or(hidden as u64, |all| all.saturating_sub(shown));
        let hidden = counted(written, "line");
        lines.push(WrappedLine::dim(format!("    … {hidden} before these")));
    }
    let shown = all[hidden..].iter();
    lines
        .extend(shown.map(|line| WrappedLine::dim((*line).to_owned()).indented(Span::raw("    "))));
    lines
}

/// The end of a recorded output; how the command ended is said after it, as when it ran.
fn recorded_output(text: &str) -> Vec<WrappedLine> {
    let first = text.lines().next().unwrap_or_default();
    let code = first.strip_prefix("Exit code ");
    let code = code.filter(|code| code.parse::<i32>().is_ok());
    let Some(code) = code else {
        return shell_output(text, None);
    };
    let mut lines = shell_output(text[first.len()..].trim_start_matches('\n'), None);
    lines.push(WrappedLine::styled(format!("  ✗ exit code {code}"), BAD));
    lines
}

/// How the last exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastExchange {
    /// The model has answered, or the user stopped it.
    Ended,
    /// The last prompt was never answered.
    Unanswered,
    /// The program ended while the model worked on the last prompt.
    CutOff,
}

/// How the last exchange ended.
pub(crate) fn last_exchange(items: &[TranscriptItem]) -> LastExchange {
    let mut stopped = false;
    for item in items.iter().rev() {
        match item.kind {
            TranscriptKind::User => return LastExchange::Unanswered,
            TranscriptKind::Call { .. } | TranscriptKind::Result { .. } if !stopped => {
                return LastExchange::CutOff;
            }
            TranscriptKind::Notice => stopped |= item.text == "stopped",
            TranscriptKind::Attachment(_)
            | TranscriptKind::Boundary
            | TranscriptKind::Shell
            | TranscriptKind::Output => {}
            _ => return LastExchange::Ended,
        }
    }
    LastExchange::Ended
}

fn item(item: &TranscriptItem, width: usize) -> Vec<WrappedLine> {
    let body = |indent: &'static str, style| {
        let text = clean(&item.text);
        let lines = text
            .lines()
            .map(move |line| WrappedLine::styled(line, style).indented(Span::raw(indent)));
        lines.collect::<Vec<_>>()
    };
    let headed = |head: WrappedLine, body: Vec<WrappedLine>| {
        let mut lines = vec![WrappedLine::blank(), head];
        lines.extend(body);
        lines
    };
    match &item.kind {
        TranscriptKind::User => event_lines::prompt(&item.text),
        TranscriptKind::Assistant => {
            let lines = markdown::render(&item.text, width.saturating_sub(2));
            let marked = lines.into_iter().enumerate().map(|(at, line)| {
                line.indented(if at == 0 {
                    styled("● ", BOLD)
                } else {
                    Span::raw("  ")
                })
            });
            std::iter::once(WrappedLine::blank())
                .chain(marked)
                .collect()
        }
        TranscriptKind::Thinking => headed(
            WrappedLine::styled("· thinking", DIM.patch(ITALIC)),
            body("    ", DIM.patch(ITALIC)),
        ),
        TranscriptKind::Shell => event_lines::prompt(&format!("!{}", item.text)),
        TranscriptKind::Output => body("    ", DIM),
        TranscriptKind::Call { name, line, .. } => {
            let head = vec![
                styled("▸ ", GOOD),
                styled(clean_line(name), BOLD),
                Span::raw(format!(" {}", clean_line(line))),
            ];
            headed(WrappedLine::new(head, 2), body("    ", DIM))
        }
        TranscriptKind::Result { is_error } => {
            let text = clean(&item.text);
            let mut lines = Vec::new();
            if *is_error {
                lines.push(WrappedLine::styled("  ✗ failed", BAD));
            }
            lines.extend(text.lines().map(|line| {
                WrappedLine::styled(line, of_diff(line).unwrap_or_default())
                    .indented(Span::raw("    "))
            }));
            lines
        }
        TranscriptKind::Boundary => headed(
            WrappedLine::styled("──── compacted ────", BOLD),
            body("  ", DIM),
        ),
        TranscriptKind::Summary => headed(
            WrappedLine::new(
                vec![
                    styled("· summary", BOLD),
                    dim(" (replaces what was compacted)"),
                ],
                2,
            ),
            (markdown::render(&item.text, width.saturating_sub(4)).into_iter())
                .map(|line| line.indented(Span::raw("    ")))
                .collect(),
        ),
        TranscriptKind::Attachment(line) => {
            vec![WrappedLine::dim(format!("+ {}", clean_line(line)))]
        }
        TranscriptKind::Notice => vec![WrappedLine::dim(format!("· {}", clean_line(&item.text)))],
    }
}
