//! The conversation on disk, read for people: its entries, its reports, what fills its window.

use std::fs::File;
use std::io;
use std::path::Path;

use longhaul_core::inspect::{Inspection, InspectionReport, LineEnd};
use longhaul_core::message::{BlockKind, EntryBlock, EntryKind, EntryView, LineScanner, Subtype};
use longhaul_core::models::ModelTable;
use longhaul_core::report::{LossReport, ViewTokens};
use longhaul_core::window::WindowSettings;
use longhaul_store::{LineEnding, LineReader};
use serde_json::Value;

use crate::agent::{SessionSnapshot, is_interrupt_marker};
use crate::screen::{TranscriptItem, TranscriptKind};

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

/// All entries of a transcript, including those that are only in the transcript, but without meta entries.
pub(super) fn items(path: &Path, prefix: u64) -> io::Result<Vec<TranscriptItem>> {
    let mut items = Vec::new();
    each(path, |view| {
        let flags = view.facets.flags;
        if !flags.meta && !flags.sidechain {
            take(view, prefix, &mut items);
        }
    })?;
    Ok(items)
}

/// The report of a compaction in words: of the newest one, or of the one with this boundary.
/// `prefix` is the size of the request prefix in tokens.
pub(super) fn report(
    path: &Path,
    boundary: Option<&str>,
    prefix: u64,
) -> io::Result<Option<String>> {
    let mut found = None;
    each(path, |view| {
        let is_boundary = view.facets.subtype == Subtype::CompactBoundary;
        let wanted = boundary.is_none_or(|uuid| view.text(view.facets.uuid) == uuid);
        if is_boundary && wanted && !view.facets.flags.sidechain {
            let none = "This compaction left no report: another program made it.";
            found = Some(boundary_report(view, prefix).unwrap_or_else(|| none.to_owned()));
        }
    })?;
    Ok(found)
}

/// The report of a boundary in words, with the sizes of whole requests: before as the boundary recorded it, after with the
/// request prefix.
fn boundary_report(view: EntryView<'_>, prefix: u64) -> Option<String> {
    let report = LossReport::of_boundary(view)?;
    let metadata = view.object(view.facets.metadata);
    let before = metadata.count("preTokens");
    Some(report.tell_of(ViewTokens {
        before: before.unwrap_or(report.tokens.before + prefix),
        after: report.tokens.after + prefix,
    }))
}

/// The report on the session's transcript: what fills the window, by category (T4), and its likely size (X4).
pub(super) fn inspect(look: &SessionSnapshot, models: &ModelTable) -> io::Result<InspectionReport> {
    let mut inspection = Inspection::new();
    if look.transcript.exists() {
        let mut lines = LineReader::new(File::open(&look.transcript)?);
        while let Some(line) = lines.next()? {
            let end = match line.ending {
                LineEnding::Lf => LineEnd::Lf,
                LineEnding::CrLf => LineEnd::CrLf,
                LineEnding::None => LineEnd::EndOfFile,
            };
            inspection.line(line.number, line.offset, line.bytes, end);
        }
    }
    inspection
        .report(models, &WindowSettings::default(), Some(&look.model))
        .map_err(io::Error::other)
}

pub(super) fn each(path: &Path, mut take: impl FnMut(EntryView<'_>)) -> io::Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        // The conversation has no messages yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut lines = LineReader::new(file);
    let mut scanner = LineScanner::default();
    while let Some(line) = lines.next()? {
        if let Ok(facets) = scanner.scan(line.bytes) {
            take(facets.view(line.bytes));
        }
    }
    Ok(())
}

fn take(view: EntryView<'_>, prefix: u64, items: &mut Vec<TranscriptItem>) {
    let at = view.timestamp();
    let mut add = |kind: TranscriptKind, text: String| {
        if !text.trim().is_empty() || matches!(kind, TranscriptKind::Call { .. }) {
            items.push(TranscriptItem { kind, text, at });
        }
    };
    match view.facets.kind {
        EntryKind::User | EntryKind::Assistant => {
            for block in view.facets.blocks.iter().filter(|block| !block.inner) {
                if let Some((kind, text)) = said(view, block) {
                    add(kind, text);
                }
            }
        }
        EntryKind::Attachment => {
            if let Some(attachment) = view.visible_attachment() {
                let name = attachment.string("type").unwrap_or_default().into_owned();
                let value = value(view.facets.attachment.of(view.line));
                add(TranscriptKind::Attachment(name), pretty(&value));
            }
        }
        EntryKind::System => {
            let content = value(view.line);
            let content = content["content"].as_str().unwrap_or_default().to_owned();
            match view.facets.subtype {
                Subtype::CompactBoundary => {
                    let text = boundary_report(view, prefix).unwrap_or(content);
                    add(TranscriptKind::Boundary, text);
                }
                _ => add(TranscriptKind::Notice, content),
            }
        }
        // Progress, titles, request prefixes, and kinds that say nothing to people.
        _ => {}
    }
}

fn said(view: EntryView<'_>, block: &EntryBlock) -> Option<(TranscriptKind, String)> {
    let is_user = view.facets.kind == EntryKind::User;
    let body = || value(block.body.of(view.line));
    Some(match block.kind {
        BlockKind::Text => {
            let text = body().as_str()?.to_owned();
            let flags = view.facets.flags;
            let kind = match (is_user, flags.compact_summary) {
                (true, true) => TranscriptKind::Summary,
                (true, false) if is_interrupt_marker(&text) => {
                    return Some((TranscriptKind::Notice, "stopped".to_owned()));
                }
                (true, false) if flags.meta => {
                    TranscriptKind::Attachment("a note to the model".to_owned())
                }
                (true, false) => TranscriptKind::User,
                (false, _) => TranscriptKind::Assistant,
            };
            (kind, text)
        }
        BlockKind::Thinking => {
            let whole = value(block.span.of(view.line));
            (
                TranscriptKind::Thinking,
                whole["thinking"].as_str()?.to_owned(),
            )
        }
        BlockKind::ToolUse => {
            let input = body();
            let telling = TELLING.iter().find_map(|name| input[*name].as_str());
            let line = telling
                .and_then(|text| text.lines().next())
                .unwrap_or_default();
            let kind = TranscriptKind::Call {
                name: view.text(block.name).into_owned(),
                line: line.chars().take(LINE).collect(),
            };
            (kind, pretty(&input))
        }
        BlockKind::ToolResult => {
            let kind = TranscriptKind::Result {
                is_error: block.is_error,
            };
            (kind, result(&body()))
        }
        BlockKind::Image | BlockKind::Document => {
            let kind = if is_user {
                // The user's words are in a block of their own.
                TranscriptKind::Attachment("a picture or a document".to_owned())
            } else {
                TranscriptKind::Assistant
            };
            (kind, "[a picture or a document]".to_owned())
        }
        _ => return None,
    })
}

/// The result of a call, as text.
fn result(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().map(|block| match block["text"].as_str() {
                Some(text) => text.to_owned(),
                None => format!("[{}]", block["type"].as_str().unwrap_or("something")),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        other => pretty(other),
    }
}

fn value(json: &[u8]) -> Value {
    serde_json::from_slice(json).unwrap_or_default()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
