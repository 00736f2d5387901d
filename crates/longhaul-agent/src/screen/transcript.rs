//! The whole conversation as lines: every call with its input, every result, every report.

use ratatui::text::Span;

use super::event_lines;
use super::flow::WrappedLine;
use super::host::{TranscriptItem, TranscriptKind};
use super::markdown;
use super::style::{BAD, BOLD, DIM, GOOD, ITALIC, dim, of_diff, styled};
use super::text::{clean, clean_line};

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
    for (at, item) in items.iter().enumerate().skip(from) {
        let shown = match &item.kind {
            TranscriptKind::User | TranscriptKind::Assistant | TranscriptKind::Notice => {
                self::item(item, width)
            }
            TranscriptKind::Call { name, line } => {
                let next = items.get(at + 1).map(|next| &next.kind);
                let failed = matches!(next, Some(TranscriptKind::Result { is_error: true }));
                let call = event_lines::call_line(name, line, failed);
                let gap = (!after_call).then(WrappedLine::blank);
                gap.into_iter().chain([call]).collect()
            }
            _ => continue,
        };
        after_call = matches!(item.kind, TranscriptKind::Call { .. });
        lines.extend(shown);
    }
    lines
}

/// Whether the last thing that was said is a prompt that the model never answered.
pub(crate) fn is_unanswered(items: &[TranscriptItem]) -> bool {
    let said = items.iter().rev().find(|item| {
        !matches!(
            item.kind,
            TranscriptKind::Attachment(_) | TranscriptKind::Notice | TranscriptKind::Boundary
        )
    });
    said.is_some_and(|item| item.kind == TranscriptKind::User)
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
        TranscriptKind::Call { name, line } => {
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
        TranscriptKind::Attachment(name) => headed(
            WrappedLine::dim(format!("+ {}", clean_line(name))),
            body("    ", DIM),
        ),
        TranscriptKind::Notice => vec![WrappedLine::dim(format!("· {}", clean_line(&item.text)))],
    }
}
