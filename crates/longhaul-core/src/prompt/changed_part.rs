//! Where a clearing begins to change what was sent, so that everything before it is read from the cache once more.
//!
//! The first request after a clearing ends far from the last part that it shares with earlier ones: a provider looks
//! back only some positions from a cache breakpoint. So that request has one where the unchanged part ends. The place
//! follows from the entries alone, and a process that resumes the conversation chooses the same.

use crate::hash::Set;
use crate::json::ObjectReader;
use crate::message::{BlockKind, EntryView, Id, Sent, Subtype};
use crate::normalize::{BlockOrigin, RenderedBlock, Rendering};

/// What clearings without a reply after them have changed.
#[derive(Debug, Default)]
pub(super) struct ChangedPart {
    /// The entries that hold cleared results.
    holding: Set<Id>,
    /// The calls of other results of these entries: some may have been cleared earlier.
    beside: Set<Id>,
    /// The entries whose thinking is no longer sent. A reply can be stored as several entries, of which one is nothing
    /// but thinking, so these are all entries of such a reply.
    stripped: Set<Id>,
}

impl ChangedPart {
    /// Reads a history. Thinking up to `stripped` is not sent.
    pub(super) fn of<'a>(
        history: impl Iterator<Item = EntryView<'a>> + Clone,
        stripped: Option<Id>,
    ) -> Self {
        let mut cleared: Set<Id> = Set::default();
        // Earlier clearings stripped the thinking before them already.
        let (mut stripped_before, mut newest) = (0, 0);
        for (at, entry) in history.clone().enumerate() {
            let is_clearing = entry.facets.subtype == Subtype::MicrocompactBoundary
                && entry.cache_edits().is_none();
            if is_clearing {
                if cleared.is_empty() {
                    (stripped_before, newest) = (newest, at);
                }
                cleared.extend(entry.cleared());
            } else if entry.sent() == Some(Sent::Reply) {
                cleared.clear();
            }
        }
        if cleared.is_empty() {
            return Self::default();
        }
        let through = stripped.and_then(|last| {
            let mut entries = history.clone();
            entries.position(|entry| entry.uuid() == Some(last))
        });
        let (mut holding, mut beside) = (Set::default(), Set::default());
        for entry in history.clone() {
            let results = entry.facets.blocks.iter();
            let results = results.filter(|block| block.kind == BlockKind::ToolResult);
            let (gone, others): (Vec<Id>, Vec<Id>) = results
                .filter_map(|block| entry.block_id(block))
                .partition(|call| cleared.contains(call));
            if let Some(uuid) = entry.uuid().filter(|_| !gone.is_empty()) {
                holding.insert(uuid);
                beside.extend(others);
            }
        }
        let thinks = |entry: EntryView<'_>| {
            let mut blocks = entry.facets.blocks.iter();
            blocks.any(|block| block.kind.is_thinking())
        };
        let lost = history.clone().enumerate().filter(|(at, entry)| {
            let mut through = through.into_iter();
            through.any(|through| (stripped_before..=through).contains(at)) && thinks(*entry)
        });
        let replies: Set<Id> = lost.filter_map(|(_, entry)| reply(entry)).collect();
        let parts = history.filter(|entry| reply(*entry).is_some_and(|id| replies.contains(&id)));
        Self {
            holding,
            beside,
            stripped: parts.filter_map(EntryView::uuid).collect(),
        }
    }

    /// Notes that the changed part was sent.
    pub(super) fn was_sent(&mut self) {
        *self = Self::default();
    }

    /// The end of the blocks before the first changed one; `None` if nothing has changed. Results are sent in the order
    /// of their calls, which need not be that of the entries.
    pub(super) fn begins_at(
        &self,
        rendering: &Rendering,
        blocks: &[RenderedBlock],
    ) -> Option<usize> {
        if self.holding.is_empty() && self.stripped.is_empty() {
            return None;
        }
        blocks.iter().position(|block| {
            let Some(entry) = block.entry else {
                return false;
            };
            if self.stripped.contains(&entry) {
                return true;
            }
            self.holding.contains(&entry)
                && match block.origin {
                    BlockOrigin::Cleared => self.was_cleared_now(rendering, block),
                    // A result that arrived late is sent as a reminder.
                    BlockOrigin::Reminder => true,
                    _ => false,
                }
        })
    }

    fn was_cleared_now(&self, rendering: &Rendering, block: &RenderedBlock) -> bool {
        let json = rendering.buffer().copy(block.start, block.end);
        let call = ObjectReader::new(&json).string("tool_use_id");
        // Ids that the API would refuse are sent as others, and then any cleared result of the entry is taken.
        call.is_none_or(|call| !self.beside.contains(&Id::of(&call)))
    }
}

/// The response that an entry is a part of.
fn reply(entry: EntryView<'_>) -> Option<Id> {
    entry.message_id().or_else(|| entry.uuid())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::{Value, json};

    use super::*;
    use crate::message::Entry;
    use crate::normalize::RenderOptions;

    fn entry(kind: &str, uuid: &str, content: &Value) -> Entry {
        let message = json!({"id": format!("m{}", &uuid[..1]), "role": kind, "content": content});
        let line = json!({"type": kind, "uuid": uuid, "message": message});
        Entry::read(Bytes::from(line.to_string())).unwrap()
    }

    fn clearing(uuid: &str, calls: &[&str]) -> Entry {
        let line = json!({"type": "system", "subtype": "microcompact_boundary", "uuid": uuid,
            "microcompactMetadata": {"compactedToolIds": calls}});
        Entry::read(Bytes::from(line.to_string())).unwrap()
    }

    fn call(id: &str) -> Value {
        json!({"type": "tool_use", "id": id, "name": "Read", "input": {}})
    }

    fn result(id: &str) -> Value {
        json!({"type": "tool_result", "tool_use_id": id, "content": "a line of text"})
    }

    /// Where the changed part of this history begins, as the block there.
    fn changed(history: &[Entry], cleared: &[&str], stripped: Option<&str>) -> Option<String> {
        let views = || history.iter().map(Entry::view);
        let stripped = stripped.map(Id::of);
        let mut rendering = Rendering::begin(
            RenderOptions {
                cleared: cleared.iter().map(|call| Id::of(call)).collect(),
                thinking_stripped_through: stripped,
                ..RenderOptions::default()
            },
            views(),
        );
        rendering.seal();
        let part = ChangedPart::of(views(), stripped);
        let at = part.begins_at(&rendering, rendering.blocks())?;
        let block = rendering.blocks()[at];
        let json = rendering.buffer().copy(block.start, block.end);
        Some(String::from_utf8(json).unwrap())
    }

    #[test]
    fn b2_v1_of_parallel_results_the_first_that_was_cleared_now_begins_the_changed_part() {
        let history = [
            entry("user", "a", &json!("Look.")),
            entry("assistant", "b", &json!([call("t1"), call("t2")])),
            entry("user", "c", &json!([result("t1"), result("t2")])),
            clearing("d", &["t1"]),
            entry("assistant", "e", &json!([call("t3")])),
            entry("user", "f", &json!([result("t3")])),
            clearing("g", &["t2", "t3"]),
        ];
        let before = changed(&history[..4], &["t1"], None).unwrap();
        assert!(before.contains("t1"), "{before}");
        let now = changed(&history, &["t1", "t2", "t3"], None).unwrap();
        assert!(now.contains("t2"), "{now}");
        assert_eq!(changed(&history[..6], &["t1"], None), None, "it was sent");
    }

    #[test]
    fn b2_n2_thinking_that_is_an_entry_of_its_own_begins_the_changed_part() {
        let thought = json!([{"type": "thinking", "thinking": "Hm.", "signature": "s"}]);
        let history = [
            entry("user", "a", &json!("Look.")),
            entry("assistant", "b1", &thought),
            entry("assistant", "b2", &json!([call("t1")])),
            entry("user", "c", &json!([result("t1")])),
            clearing("d", &["t1"]),
        ];
        let kept = changed(&history, &["t1"], None).unwrap();
        assert!(kept.contains("tool_result"), "{kept}");
        let stripped = changed(&history, &["t1"], Some("c")).unwrap();
        assert!(stripped.contains("tool_use\""), "{stripped}");
    }
}
