//! Writes items in one transaction, which is on disk when the call returns.

use rusqlite::{Transaction, TransactionBehavior, params};

use super::item::ArchiveItem;
use super::record::{file_name, milliseconds};
use super::{Archive, ArchiveError, words};

/// Longer texts are truncated: SQLite takes no value of a gigabyte, and the transcript has them whole.
const LONGEST: usize = 256 << 20;

/// Why items are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemOrigin {
    /// The items leave the model's view; they stay whatever happens to the transcript.
    Archived,
    /// The items were found in the transcript, and are removed if it turns out to be another one.
    Indexed,
}

impl Archive {
    /// Keeps items. When this returns, all of them are on disk; when it fails, none is.
    ///
    /// An item that the archive already has is not written again; only its presence is updated.
    ///
    /// # Errors
    /// Fails if the database is damaged, in use for too long, moved or deleted meanwhile, or cannot be written.
    pub fn put(&mut self, items: &[ArchiveItem]) -> Result<(), ArchiveError> {
        let _span = tracing::debug_span!("put", items = items.len()).entered();
        if items.is_empty() {
            return Ok(());
        }
        self.still_there()?;
        self.write(|transaction| insert(transaction, items, ItemOrigin::Archived))?;
        // If the file was deleted in between, the committed items are gone with it.
        self.still_there()
    }

    /// Runs a transaction completely or not at all, holding the write lock from the beginning.
    pub(super) fn write<T>(
        &mut self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, ArchiveError> {
        let run = || {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = change(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        run().map_err(|error| ArchiveError::from_sqlite(&self.path, error))
    }
}

/// Inserts items and returns how many were new.
pub(super) fn insert(
    transaction: &Transaction<'_>,
    items: &[ArchiveItem],
    origin: ItemOrigin,
) -> rusqlite::Result<u64> {
    let mut row = transaction.prepare_cached(
        "INSERT INTO item (uuid, part, kind, tool_use_id, tool, path, name, session, at, tokens, presence, archived, text)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
         ON CONFLICT (uuid, part) DO NOTHING",
    )?;
    let mut word =
        transaction.prepare_cached("INSERT INTO words (rowid, about, body) VALUES (?1, ?2, ?3)")?;
    let mut known = transaction.prepare_cached(
        "UPDATE item SET presence = ?3, archived = 1 WHERE uuid = ?1 AND part = ?2",
    )?;
    let mut new = 0;
    for item in items {
        let text = within(&item.text);
        let inserted = row.execute(params![
            item.uuid,
            item.part,
            item.kind.name(),
            item.tool_use_id,
            item.tool,
            item.path,
            item.path.as_deref().map(file_name),
            item.session,
            item.timestamp.map(milliseconds),
            item.tokens.unpadded() as i64,
            item.presence.name(),
            origin == ItemOrigin::Archived,
            text,
        ])?;
        if inserted > 0 {
            new += 1;
            let about = [item.tool.as_deref(), item.path.as_deref()];
            let about = about.map(Option::unwrap_or_default).join(" ");
            word.execute(params![
                transaction.last_insert_rowid(),
                words::spaced(&about),
                words::spaced(text),
            ])?;
        } else if origin == ItemOrigin::Archived {
            known.execute(params![item.uuid, item.part, item.presence.name()])?;
        }
    }
    Ok(new)
}

fn within(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
