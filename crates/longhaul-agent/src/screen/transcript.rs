//! The whole conversation as lines: every call with its input, every result, every report.

use ratatui::text::Span;

use super::event_lines::{self, diff_line};
use super::flow::WrappedLine;
use super::host::{TranscriptItem, TranscriptKind};
use super::markdown;
use super::style::{BAD, BOLD, DIM, GOOD, ITALIC, dim, styled};
use super::text::{clean, clean_line};

/// All items as lines.
pub(crate) fn lines(items: &[TranscriptItem]) -> Vec<WrappedLine> {
    items.iter().flat_map(item).collect()
}

/// The last exchanges, shortened, to show where a resumed session stopped.
pub(crate) fn recent(items: &[TranscriptItem], most: usize) -> Vec<WrappedLine> {
    let said = |item: &&TranscriptItem| {
        matches!(item.kind, TranscriptKind::User | TranscriptKind::Assistant)
    };
    let said: Vec<&TranscriptItem> = items.iter().filter(said).collect();
    let from = said.len().saturating_sub(most);
    said[from..].iter().copied().flat_map(item).collect()
}

fn item(item: &TranscriptItem) -> Vec<WrappedLine> {
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
            let lines = markdown::render(&item.text);
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
            lines.extend(text.lines().map(diff_line));
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
            (markdown::render(&item.text).into_iter())
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
