//! Whether the model still sees what was indexed, according to the current transcript.

use std::collections::{HashMap, HashSet};

use longhaul_core::message::{Id, Subtype};
use longhaul_core::transcript::{ResolvedConversation, TranscriptTable};
use rusqlite::{Transaction, params};

use super::item::{ArchiveItemKind, ViewPresence};

/// The presence of everything in a transcript.
#[derive(Debug)]
pub(super) struct ViewPresences {
    entries: HashMap<Id, ViewPresence>,
    /// Calls whose results were cleared.
    cleared: HashSet<Id>,
}

impl ViewPresences {
    pub(super) fn of(table: &TranscriptTable) -> Self {
        let conversation = ResolvedConversation::resolve(table, &mut Vec::new());
        let live: HashSet<u32> = conversation.view().rows.iter().copied().collect();
        let mut replaced: HashSet<u32> = HashSet::new();
        let mut cleared: HashSet<Id> = HashSet::new();
        for note in table.boundaries() {
            cleared.extend(&note.cleared);
            let full = table.rows()[note.row as usize].subtype == Subtype::CompactBoundary;
            if full && conversation.is_main(note.row) {
                replaced.extend(conversation.view_before(table, note).rows);
            }
        }
        let mut entries = HashMap::new();
        for (at, row) in (0..).zip(table.rows()) {
            let presence = if live.contains(&at) {
                ViewPresence::Live
            } else if conversation.is_sidechain(at) {
                ViewPresence::Sidechain
            } else if replaced.contains(&at) {
                ViewPresence::Summarized
            } else {
                ViewPresence::Abandoned
            };
            if let Some(uuid) = row.uuid {
                // If several lines have the same uuid, the first counts.
                entries.entry(uuid).or_insert(presence);
            }
        }
        Self { entries, cleared }
    }

    /// The presence of an item; `None` if its entry is not in the transcript.
    fn find(&self, uuid: &str, kind: ArchiveItemKind, call: Option<&str>) -> Option<ViewPresence> {
        let presence = *self.entries.get(&Id::of(uuid))?;
        let is_cleared = presence == ViewPresence::Live
            && kind == ArchiveItemKind::ToolResult
            && call.is_some_and(|call| self.cleared.contains(&Id::of(call)));
        Some(if is_cleared {
            ViewPresence::Cleared
        } else {
            presence
        })
    }

    /// Brings the presence of all items up to date; only changed rows are written.
    pub(super) fn update(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut changed: Vec<(i64, ViewPresence)> = Vec::new();
        let mut items =
            transaction.prepare("SELECT id, uuid, kind, tool_use_id, presence FROM item")?;
        let mut rows = items.query([])?;
        while let Some(row) = rows.next()? {
            let (uuid, kind) = (row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?);
            let call = row.get_ref(3)?.as_str_or_null()?;
            let Some(kind) = ArchiveItemKind::from_name(kind) else {
                continue;
            };
            if let Some(now) = self.find(uuid, kind, call)
                && row.get_ref(4)?.as_str()? != now.name()
            {
                changed.push((row.get(0)?, now));
            }
        }
        let mut update =
            transaction.prepare_cached("UPDATE item SET presence = ?2 WHERE id = ?1")?;
        for (id, presence) in changed {
            update.execute(params![id, presence.name()])?;
        }
        Ok(())
    }
}
