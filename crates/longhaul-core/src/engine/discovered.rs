//! The tools that a model discovered during a conversation (R5): those that were announced without their definition and
//! those that a search found. A compaction loses the messages that said so, so its boundary records the names.

use crate::hash::Set;
use crate::json::{JsonCursor, ObjectReader};
use crate::message::{BlockKind, EntryKind, EntryView, Subtype};

/// Follows a conversation and collects the names.
#[derive(Debug, Clone, Default)]
pub(super) struct DiscoveredTools {
    names: Vec<String>,
    known: Set<String>,
}

impl DiscoveredTools {
    /// The names, in the order in which they were found.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn push(&mut self, entry: EntryView<'_>) {
        let facets = entry.facets;
        match facets.kind {
            EntryKind::System if facets.subtype == Subtype::CompactBoundary => {
                let metadata = entry.object(facets.metadata);
                let before = metadata.strings("preCompactDiscoveredTools");
                before
                    .unwrap_or_default()
                    .iter()
                    .for_each(|name| self.found(name));
            }
            EntryKind::Attachment => self.announced(entry.object(facets.attachment)),
            EntryKind::User | EntryKind::Assistant => {
                for block in facets.blocks.iter().filter(|block| !block.inner) {
                    let holds = matches!(block.kind, BlockKind::ToolResult | BlockKind::Other);
                    let raw = block.span.of(entry.line);
                    if holds && memchr::memmem::find(raw, b"tool_reference").is_some() {
                        self.referred(raw);
                    }
                }
            }
            _ => {}
        }
    }

    fn announced(&mut self, attachment: ObjectReader<'_>) {
        if attachment.string("type").as_deref() != Some("deferred_tools_delta") {
            return;
        }
        for name in attachment.strings("addedNames").unwrap_or_default() {
            self.found(&name);
        }
        for name in attachment.strings("removedNames").unwrap_or_default() {
            if self.known.remove(&*name) {
                self.names.retain(|known| *known != *name);
            }
        }
    }

    /// Collects the references in a result, at any depth.
    fn referred(&mut self, raw: &[u8]) {
        match raw.first() {
            Some(b'{') => {
                let object = ObjectReader::new(raw);
                if object.string("type").as_deref() == Some("tool_reference") {
                    if let Some(name) = object.string("tool_name") {
                        self.found(&name);
                    }
                    return;
                }
                for inner in ["content", "tool_references"] {
                    if let Some(value) = object.get(inner) {
                        self.referred(value);
                    }
                }
            }
            Some(b'[') => {
                // The line was scanned, so it is valid.
                let _ = JsonCursor::new(raw).array(|cursor| {
                    self.referred(cursor.raw()?);
                    Ok(())
                });
            }
            _ => {}
        }
    }

    fn found(&mut self, name: &str) {
        if !name.is_empty() && self.known.insert(name.to_owned()) {
            self.names.push(name.to_owned());
        }
    }
}
