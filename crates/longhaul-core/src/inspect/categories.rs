//! The parts of the live view (T4).

use super::report::Categories;
use crate::hash::{Map, Set};
use crate::json::JsonCursor;
use crate::message::{BlockKind, EntryKind, EntryView, Id, Subtype};
use crate::tokens::{ContentClass, Estimate, RoughEstimator};
use crate::transcript::{BoundaryNote, ResolvedConversation, TranscriptRow, TranscriptTable};

/// The weight of the request prefix, where the file records it (M7).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RecordedPrefixWeight {
    system: Estimate,
    tools: Estimate,
    memory: Estimate,
}

impl RecordedPrefixWeight {
    /// All of it.
    pub(super) fn total(self) -> Estimate {
        self.system + self.tools + self.memory
    }

    pub(super) fn of(entry: EntryView<'_>) -> Self {
        let weight = |part: &str| {
            let mut value = JsonCursor::new(entry.prefix_part(part).unwrap_or_default());
            // An absent part weighs nothing; every other part was validated with its line.
            let _ = value.skip();
            RoughEstimator.tokens(ContentClass::Serialized, value.canonical() as u64)
        };
        let context = entry.prefix_part("userContext").and_then(crate::json::text);
        Self {
            system: weight("system"),
            tools: weight("tools"),
            memory: RoughEstimator::text(&context.unwrap_or_default()),
        }
    }
}

/// The rows of the live view.
fn view_rows<'a>(
    table: &'a TranscriptTable,
    conversation: &'a ResolvedConversation,
) -> impl Iterator<Item = &'a TranscriptRow> {
    conversation
        .view()
        .rows
        .iter()
        .map(|at| &table.rows()[*at as usize])
}

/// The calls and attachments of the view that no longer take up room: those that a clearing in it names, and those that
/// the provider is asked to leave out of its cache now (U4).
pub(super) fn cleared(table: &TranscriptTable, conversation: &ResolvedConversation) -> Set<Id> {
    let rows = &conversation.view().rows;
    let notes: Vec<_> = rows.iter().filter_map(|at| table.boundary(*at)).collect();
    let is_compaction =
        |note: &&&BoundaryNote| table.rows()[note.row as usize].subtype == Subtype::CompactBoundary;
    let began = notes
        .iter()
        .filter(is_compaction)
        .map(|note| note.row)
        .max();
    let mut cleared: Set<Id> = Set::default();
    let mut left_out: &[Id] = &[];
    for note in notes {
        cleared.extend(note.cleared.iter().copied());
        // Cache edits that were requested before a compaction ended with the cache of its conversation.
        if Some(note.row) > began {
            left_out = note.cache_edits.as_deref().unwrap_or_default();
        }
    }
    cleared.extend(left_out.iter().copied());
    cleared
}

/// The calls whose results are in the view and not cleared.
pub(super) fn results_in_view(
    table: &TranscriptTable,
    conversation: &ResolvedConversation,
    cleared: &Set<Id>,
) -> Set<Id> {
    view_rows(table, conversation)
        .flat_map(|row| table.blocks(row))
        .filter(|block| block.kind == BlockKind::ToolResult)
        .filter_map(|block| block.call)
        .filter(|call| !cleared.contains(call))
        .collect()
}

pub(super) fn categories(
    table: &TranscriptTable,
    conversation: &ResolvedConversation,
    in_view: &Set<Id>,
    cleared: &Set<Id>,
    head: RecordedPrefixWeight,
    used: u64,
) -> Categories {
    let mut categories = Categories {
        system_prompt: head.system.unpadded(),
        tools: head.tools.unpadded(),
        memory_files: head.memory.unpadded(),
        ..Categories::default()
    };
    let mut tools: Map<Id, u32> = Map::default();
    let add = |sum: &mut u64, weight: Estimate| *sum += weight.unpadded();
    for row in view_rows(table, conversation) {
        match row.kind {
            EntryKind::Attachment if row.uuid.is_none_or(|uuid| !cleared.contains(&uuid)) => add(
                &mut categories.attachments,
                row.attachment.unwrap_or_default(),
            ),
            EntryKind::Assistant if row.is_reply() => {
                for block in table.blocks(row) {
                    if block.kind == BlockKind::ToolUse {
                        add(&mut categories.tool_requests, block.weight);
                        tools.extend(block.call.zip(block.tool));
                    } else {
                        add(&mut categories.assistant_messages, block.weight);
                    }
                }
            }
            EntryKind::User => {
                for block in table.blocks(row) {
                    match block.call.filter(|_| block.kind == BlockKind::ToolResult) {
                        Some(call) if in_view.contains(&call) => {
                            add(&mut categories.tool_results, block.weight);
                            let tool = tools.get(&call).map_or("unknown", |tool| table.text(*tool));
                            let of_tool = categories.tool_results_by_tool.entry(tool.to_owned());
                            add(of_tool.or_default(), block.weight);
                        }
                        Some(_) => categories.cleared_results += 1,
                        None => {
                            add(&mut categories.human_messages, block.weight);
                            if row.flags.compact_summary {
                                add(&mut categories.summaries, block.weight);
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }
    let attributed = categories.human_messages
        + categories.assistant_messages
        + categories.tool_requests
        + categories.tool_results
        + categories.attachments
        + categories.system_prompt
        + categories.tools
        + categories.memory_files;
    categories.unattributed = used.saturating_sub(attributed);
    categories
}
