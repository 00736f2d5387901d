//! Makes items from entries. A result names only the id of its call, so the reader remembers calls as it passes them.
//!
//! Pictures and documents are named but not kept: they contain no searchable words, and the transcript has them.

use std::collections::HashMap;

use longhaul_core::json::{self, ObjectReader};
use longhaul_core::message::{BlockKind, EntryBlock, EntryKind, EntryView, Id};
use longhaul_core::tokens::{Estimate, RoughEstimator};

use super::item::{ArchiveItem, ArchiveItemKind, ViewPresence};

/// The fields of tool inputs and attachments that name a file or folder.
const PATH_KEYS: [&str; 5] = [
    "file_path",
    "notebook_path",
    "path",
    "filename",
    "planFilePath",
];

/// The remembered parts of a call.
#[derive(Debug, Clone)]
struct RememberedCall {
    tool: String,
    path: Option<String>,
}

/// Turns entries, in file order, into items.
#[derive(Debug, Default)]
pub struct ItemReader {
    calls: HashMap<Id, RememberedCall>,
}

impl ItemReader {
    /// Remembers the calls that an entry makes, so that their results can be identified later.
    pub fn remember(&mut self, entry: EntryView<'_>) {
        let blocks = entry.facets.blocks.iter();
        for block in blocks.filter(|block| block.kind == BlockKind::ToolUse) {
            if let Some(id) = entry.block_id(block) {
                self.calls.entry(id).or_insert_with(|| RememberedCall {
                    tool: entry.text(block.name).into_owned(),
                    path: path_in(entry.object(block.body)),
                });
            }
        }
    }

    /// The items of an entry; none for an entry that is not part of a conversation.
    pub fn items(&mut self, entry: EntryView<'_>, presence: ViewPresence) -> Vec<ArchiveItem> {
        self.remember(entry);
        let facets = entry.facets;
        if !facets.uuid.is_present() {
            return Vec::new();
        }
        let whole = ArchiveItem {
            uuid: entry.text(facets.uuid).into_owned(),
            part: 0,
            kind: ArchiveItemKind::Attachment,
            tool_use_id: None,
            tool: None,
            path: None,
            session: (facets.session.is_present()).then(|| entry.text(facets.session).into_owned()),
            timestamp: entry.timestamp(),
            tokens: Estimate::ZERO,
            presence,
            text: String::new(),
        };
        let mut items = match facets.kind {
            EntryKind::Attachment if facets.attachment.is_present() => {
                let attachment = facets.attachment.of(entry.line);
                vec![ArchiveItem {
                    path: path_in(ObjectReader::new(attachment)),
                    tokens: RoughEstimator.attachment(facets.attachment_units),
                    text: flattened(attachment),
                    ..whole
                }]
            }
            EntryKind::User if facets.flags.compact_summary => {
                self.blocks(entry, &whole, ArchiveItemKind::Summary)
            }
            EntryKind::User => self.blocks(entry, &whole, ArchiveItemKind::UserMessage),
            EntryKind::Assistant => self.blocks(entry, &whole, ArchiveItemKind::AssistantMessage),
            _ => Vec::new(),
        };
        items.retain(|item| !item.text.trim().is_empty());
        items
    }

    /// The items of a message: all of its text is one item, and every other block is an item of its own.
    fn blocks(
        &self,
        entry: EntryView<'_>,
        whole: &ArchiveItem,
        kind: ArchiveItemKind,
    ) -> Vec<ArchiveItem> {
        let blocks = &entry.facets.blocks;
        let mut items: Vec<ArchiveItem> = Vec::new();
        let mut message: Option<usize> = None;
        for (at, block) in blocks.iter().enumerate().filter(|(_, block)| !block.inner) {
            let rest = &blocks[at + 1..];
            let item = ArchiveItem {
                part: u32::try_from(at).unwrap_or(u32::MAX),
                tokens: RoughEstimator.block(block, rest),
                ..whole.clone()
            };
            let text = || literal(block.body.of(entry.line)).unwrap_or_default();
            match block.kind {
                BlockKind::Text => match message.and_then(|at| items.get_mut(at)) {
                    Some(message) => {
                        message.text.push_str("\n\n");
                        message.text.push_str(&text());
                        message.tokens += item.tokens;
                    }
                    None => {
                        message = Some(items.len());
                        let text = text();
                        items.push(ArchiveItem { kind, text, ..item });
                    }
                },
                BlockKind::Thinking => items.push(ArchiveItem {
                    kind: ArchiveItemKind::Thinking,
                    text: (entry.object(block.span).string("thinking"))
                        .unwrap_or_default()
                        .into_owned(),
                    ..item
                }),
                BlockKind::ToolUse => items.push(ArchiveItem {
                    kind: ArchiveItemKind::ToolCall,
                    text: flattened(block.body.of(entry.line)),
                    ..self.of_call(entry, block, item)
                }),
                BlockKind::ToolResult => items.push(ArchiveItem {
                    kind: ArchiveItemKind::ToolResult,
                    text: result_text(entry, block, rest),
                    ..self.of_call(entry, block, item)
                }),
                // Pictures, documents, encrypted reasoning, and kinds without words that we know.
                _ => {}
            }
        }
        items
    }

    fn of_call(&self, entry: EntryView<'_>, block: &EntryBlock, item: ArchiveItem) -> ArchiveItem {
        let call = entry.block_id(block).and_then(|id| self.calls.get(&id));
        ArchiveItem {
            tool_use_id: (block.id.is_present()).then(|| entry.text(block.id).into_owned()),
            tool: call.map(|call| call.tool.clone()),
            path: call.and_then(|call| call.path.clone()),
            ..item
        }
    }
}

fn path_in(input: ObjectReader<'_>) -> Option<String> {
    let mut paths = PATH_KEYS.iter().filter_map(|key| input.string(key));
    paths.find(|path| !path.is_empty()).map(Into::into)
}

/// The text of a raw JSON value, if it is a string.
fn literal(raw: &[u8]) -> Option<String> {
    Some(json::text(raw)?.into_owned())
}

/// The text of a result: its string, or the texts inside it, with other blocks by name.
fn result_text(entry: EntryView<'_>, block: &EntryBlock, rest: &[EntryBlock]) -> String {
    let raw = block.body.of(entry.line);
    // A result that is sent in a smaller form still has the blocks that it came with.
    let has_inner = block.has_inner || rest.first().is_some_and(|first| first.inner);
    if !has_inner {
        return literal(raw).unwrap_or_else(|| flattened(raw));
    }
    let inner = rest.iter().take_while(|block| block.inner);
    let texts = inner.filter(|block| !block.has_inner).map(|block| {
        let text = || literal(block.body.of(entry.line));
        match block.kind {
            BlockKind::Text | BlockKind::ToolResult => text().unwrap_or_default(),
            BlockKind::Image => "[image]".to_owned(),
            BlockKind::Document => "[document]".to_owned(),
            _ => flattened(block.span.of(entry.line)),
        }
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A JSON value as a text to read and to search: strings unescaped, under the names of their fields.
fn flattened(raw: &[u8]) -> String {
    let mut text = String::new();
    match serde_json::from_slice::<serde_json::Value>(raw) {
        Ok(value) => flatten(&value, "", &mut text),
        // The value is nested too deeply to take apart.
        Err(_) => text.push_str(&String::from_utf8_lossy(raw)),
    }
    text.truncate(text.trim_end().len());
    text
}

fn flatten(value: &serde_json::Value, name: &str, text: &mut String) {
    use serde_json::Value;
    let mut line = |value: &str| {
        if !name.is_empty() {
            text.push_str(name);
            text.push_str(if value.contains('\n') { ":\n" } else { ": " });
        }
        text.push_str(value);
        text.push('\n');
    };
    match value {
        Value::Null => {}
        Value::String(value) => line(value),
        Value::Bool(_) | Value::Number(_) => line(&value.to_string()),
        Value::Array(items) => items.iter().for_each(|item| flatten(item, name, text)),
        Value::Object(fields) => {
            for (field, value) in fields {
                let inner = match name {
                    "" => field.clone(),
                    _ => format!("{name}.{field}"),
                };
                flatten(value, &inner, text);
            }
        }
    }
}
