//! The conversation on disk, read for people: its entries, its reports, what fills its window.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::Path;

use longhaul_core::inspect::{Inspection, InspectionReport, LineEnd};
use longhaul_core::json::ObjectReader;
use longhaul_core::message::{
    BlockKind, EntryBlock, EntryKind, EntryView, Id, LineScanner, Subtype,
};
use longhaul_core::models::ModelTable;
use longhaul_core::report::{LossReport, ViewTokens};
use longhaul_core::window::WindowSettings;
use longhaul_store::{LineEnding, LineReader};
use serde_json::Value;

use super::call_line::call_line;
use super::{attachment_line, recorded_outcome};
use crate::agent::{SessionSnapshot, is_interrupt_marker};
use crate::screen::{CallOutcome, ItemStanding, TranscriptItem, TranscriptKind};
use crate::typed_text::TypedText;

/// All entries of a transcript, including those that are only in the transcript, but without meta entries.
pub(super) fn items(path: &Path, prefix: u64) -> io::Result<Vec<TranscriptItem>> {
    let mut reader = TranscriptItemReader {
        prefix,
        items: Vec::new(),
        entries: Vec::new(),
        before: HashMap::new(),
        calls: HashMap::new(),
    };
    each(path, |view| {
        let flags = view.facets.flags;
        if !flags.sidechain {
            reader.follow(view);
        }
        if !flags.meta && !flags.sidechain {
            reader.take(view);
        }
    })?;
    Ok(reader.items)
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
    let made = metadata.object("made");
    let after = made.and_then(|made| made.count("windowAfter"));
    Some(report.tell_of(ViewTokens {
        before: before.unwrap_or(report.tokens.before + prefix),
        after: after.unwrap_or(report.tokens.after + prefix),
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

/// Reads entries for people.
struct TranscriptItemReader {
    /// The size of the request prefix in tokens.
    prefix: u64,
    items: Vec<TranscriptItem>,
    /// The entry that each item belongs to.
    entries: Vec<Option<Id>>,
    /// The entry before each entry, also across a compaction.
    before: HashMap<Id, Option<Id>>,
    /// Where the calls without a result are among the items.
    calls: HashMap<Id, usize>,
}

impl TranscriptItemReader {
    fn add(&mut self, view: EntryView<'_>, kind: TranscriptKind, text: String) {
        let is_shown = matches!(
            kind,
            TranscriptKind::Call { .. } | TranscriptKind::Attachment(_) | TranscriptKind::Output
        );
        if is_shown || !text.trim().is_empty() {
            let at = view.timestamp();
            let standing = ItemStanding::Kept;
            self.entries.push(view.uuid());
            self.items.push(TranscriptItem {
                kind,
                text,
                at,
                standing,
            });
        }
    }

    /// Remembers what an entry follows. If the user went back there, what was said since is taken back.
    fn follow(&mut self, view: EntryView<'_>) {
        let Some(uuid) = view.uuid() else { return };
        let before = view.parent().or_else(|| view.logical_parent());
        self.before.insert(uuid, before);
        let is_rewind = view.facets.kind == EntryKind::System
            && ObjectReader::new(view.line)
                .object("rewindMetadata")
                .is_some();
        if !is_rewind {
            return;
        }
        let mut kept = HashSet::new();
        let mut next = before;
        while let Some(entry) = next.filter(|entry| kept.insert(*entry)) {
            next = self.before.get(&entry).copied().flatten();
        }
        let mut entries = self.entries.iter();
        let last = entries.rposition(|entry| entry.is_some_and(|entry| kept.contains(&entry)));
        for item in self.items.iter_mut().skip(last.map_or(0, |last| last + 1)) {
            item.standing = ItemStanding::TakenBack;
        }
    }

    fn take(&mut self, view: EntryView<'_>) {
        match view.facets.kind {
            EntryKind::User | EntryKind::Assistant => {
                for block in view.facets.blocks.iter().filter(|block| !block.inner) {
                    self.block(view, block);
                }
            }
            EntryKind::Attachment if view.visible_attachment().is_some() => {
                let cwd = ObjectReader::new(view.line).string("cwd");
                let value = value(view.facets.attachment.of(view.line));
                let line = attachment_line::of(&value, &cwd.unwrap_or_default());
                self.add(view, TranscriptKind::Attachment(line), String::new());
            }
            EntryKind::System => {
                let content = value(view.line);
                let content = content["content"].as_str().unwrap_or_default().to_owned();
                match view.facets.subtype {
                    Subtype::CompactBoundary => {
                        let text = boundary_report(view, self.prefix).unwrap_or(content);
                        self.add(view, TranscriptKind::Boundary, text);
                    }
                    _ => self.add(view, TranscriptKind::Notice, content),
                }
            }
            // Progress, titles, request prefixes, and kinds that say nothing to people.
            _ => {}
        }
    }

    fn block(&mut self, view: EntryView<'_>, block: &EntryBlock) {
        let is_user = view.facets.kind == EntryKind::User;
        let body = || value(block.body.of(view.line));
        match block.kind {
            BlockKind::Text => {
                if let Some(text) = body().as_str() {
                    let (kind, text) = said(view, text, is_user);
                    self.add(view, kind, text);
                }
            }
            BlockKind::Thinking => {
                let whole = value(block.span.of(view.line));
                let text = whole["thinking"].as_str().unwrap_or_default();
                self.add(view, TranscriptKind::Thinking, text.to_owned());
            }
            BlockKind::ToolUse => {
                let input = body();
                let cwd = ObjectReader::new(view.line).string("cwd");
                let name = view.text(block.name).into_owned();
                let kind = TranscriptKind::Call {
                    line: call_line(&name, &input, &cwd.unwrap_or_default()),
                    name,
                    outcome: CallOutcome::None,
                };
                if let Some(id) = view.block_id(block) {
                    self.calls.insert(id, self.items.len());
                }
                self.add(view, kind, pretty(&input));
            }
            BlockKind::ToolResult => {
                let text = result(&body());
                let call = view.block_id(block).and_then(|id| self.calls.remove(&id));
                let call = call.and_then(|at| self.items.get_mut(at));
                if let Some(TranscriptItem {
                    kind: TranscriptKind::Call { name, outcome, .. },
                    text: input,
                    ..
                }) = call
                {
                    *outcome = match block.is_error {
                        true => recorded_outcome::of_failure(&text),
                        false => recorded_outcome::of_result(name, &value(input.as_bytes()), &text),
                    };
                }
                let is_error = block.is_error;
                self.add(view, TranscriptKind::Result { is_error }, text);
            }
            BlockKind::Image | BlockKind::Document => {
                let what = "a picture or a document";
                // The user's words are in a block of their own.
                match is_user {
                    true => self.add(
                        view,
                        TranscriptKind::Attachment(what.to_owned()),
                        String::new(),
                    ),
                    false => self.add(view, TranscriptKind::Assistant, format!("[{what}]")),
                }
            }
            _ => {}
        }
    }
}

/// A text of the user's or the model's.
fn said(view: EntryView<'_>, text: &str, is_user: bool) -> (TranscriptKind, String) {
    if !is_user {
        return (TranscriptKind::Assistant, text.to_owned());
    }
    if view.facets.flags.compact_summary {
        return (TranscriptKind::Summary, text.to_owned());
    }
    if is_interrupt_marker(text) {
        return (TranscriptKind::Notice, "stopped".to_owned());
    }
    match TypedText::read(text) {
        TypedText::Prompt(words) => (TranscriptKind::User, words),
        TypedText::Shell(command) => (TranscriptKind::Shell, command),
        TypedText::Output(output) => (TranscriptKind::Output, output),
        TypedText::Hosts => {
            let line = "a note to the model".to_owned();
            (TranscriptKind::Attachment(line), String::new())
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rewind_took_back_is_known() {
        let line = |uuid: &str, parent: Option<&str>, role: &str, text: &str| {
            serde_json::json!({"type": role, "uuid": uuid, "parentUuid": parent, "message":
                {"role": role, "content": [{"type": "text", "text": text}]}})
        };
        let rewind = |uuid: &str, parent: Option<&str>| {
            serde_json::json!({"type": "system", "subtype": "informational", "uuid": uuid,
                "parentUuid": parent, "content": "Conversation rewound",
                "rewindMetadata": {"leftUuid": "a2"}})
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let kept = |last: Value| {
            let lines = [
                line("u1", None, "user", "one"),
                line("a1", Some("u1"), "assistant", "first"),
                line("u2", Some("a1"), "user", "two"),
                line("a2", Some("u2"), "assistant", "second"),
                last,
            ];
            std::fs::write(&path, lines.map(|line| line.to_string() + "\n").concat()).unwrap();
            let items = items(&path, 0).unwrap().into_iter();
            let kept = items.filter(|item| item.standing == ItemStanding::Kept);
            kept.map(|item| item.text).collect::<Vec<_>>()
        };
        let rewound = "Conversation rewound";
        assert_eq!(kept(rewind("r", Some("a1"))), ["one", "first", rewound]);
        assert_eq!(kept(rewind("r", None)), [rewound]);
        let next = line("u3", Some("a2"), "user", "three");
        assert_eq!(kept(next), ["one", "first", "two", "second", "three"]);
    }
}
