//! An archived item without its text, and its text in pages.

use jiff::Timestamp;
use longhaul_core::tokens::Estimate;
use rusqlite::{Row, types::FromSqlError};

use super::item::{ArchiveItemKind, ViewPresence};
use super::{Archive, ArchiveError};

/// An item in the archive, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveRecord {
    pub(super) row: i64,
    /// The uuid of the entry.
    pub uuid: String,
    /// What kind of text it is.
    pub kind: ArchiveItemKind,
    /// The id of the call, for a call and its result.
    pub tool_use_id: Option<String>,
    /// The name of the tool, for a call and its result.
    pub tool: Option<String>,
    /// The file or folder that the item is about.
    pub path: Option<String>,
    /// The id of the session.
    pub session: Option<String>,
    /// When the entry was written.
    pub timestamp: Option<Timestamp>,
    /// The estimated size in the context window.
    pub tokens: Estimate,
    /// Whether the model still sees the item.
    pub presence: ViewPresence,
}

impl ArchiveRecord {
    /// The columns of `item` that [`ArchiveRecord::read`] needs, in order.
    pub(super) const COLUMNS: &'static str =
        "item.id, uuid, kind, tool_use_id, tool, path, session, at, tokens, presence";

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let kind: String = row.get(2)?;
        let presence: String = row.get(9)?;
        let unknown = |column| {
            rusqlite::Error::FromSqlConversionFailure(
                column,
                rusqlite::types::Type::Text,
                Box::new(FromSqlError::InvalidType),
            )
        };
        let at: Option<i64> = row.get(7)?;
        Ok(Self {
            row: row.get(0)?,
            uuid: row.get(1)?,
            kind: ArchiveItemKind::from_name(&kind).ok_or_else(|| unknown(2))?,
            tool_use_id: row.get(3)?,
            tool: row.get(4)?,
            path: row.get(5)?,
            session: row.get(6)?,
            timestamp: at.and_then(|at| Timestamp::from_millisecond(at).ok()),
            tokens: Estimate::new(row.get::<_, i64>(8)?.unsigned_abs()),
            presence: ViewPresence::from_name(&presence).ok_or_else(|| unknown(9))?,
        })
    }

    /// The id to look the item up by: that of the call, or else of the entry.
    pub fn id(&self) -> &str {
        self.tool_use_id.as_deref().unwrap_or(&self.uuid)
    }
}

/// A part of a text, counted in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextPage {
    /// The text of this page.
    pub text: String,
    /// The offset where the page begins.
    pub offset: u64,
    /// The length of the whole text.
    pub total: u64,
    /// The offset of the next page, if there is more text.
    pub next: Option<u64>,
}

impl TextPage {
    /// Cuts a page out of a text; a page beyond the end of the text is empty.
    pub fn of(text: &str, offset: u64, limit: u64) -> Self {
        let at = |characters: u64| {
            let characters = usize::try_from(characters).unwrap_or(usize::MAX);
            let mut starts = text.char_indices().map(|(at, _)| at);
            starts.nth(characters).unwrap_or(text.len())
        };
        let end = offset.saturating_add(limit.max(1));
        let part = &text[at(offset)..at(end)];
        let total = text.chars().count() as u64;
        Self {
            text: part.to_owned(),
            offset,
            total,
            next: (end < total).then_some(end),
        }
    }
}

impl Archive {
    /// The whole text of an item.
    ///
    /// # Errors
    /// Fails if the database cannot be read: it is damaged ([`Archive::mend`] begins a new one) or in use for too long.
    pub fn text(&self, record: &ArchiveRecord) -> Result<String, ArchiveError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT text FROM item WHERE id = ?1")
            .map_err(|error| self.failed(error))?;
        statement
            .query_row([record.row], |row| row.get(0))
            .map_err(|error| self.failed(error))
    }

    /// A page of an item's text: `limit` characters from `offset` on. A result of megabytes comes back in pages.
    ///
    /// # Errors
    /// Fails if the database cannot be read: it is damaged ([`Archive::mend`] begins a new one) or in use for too long.
    pub fn page(
        &self,
        record: &ArchiveRecord,
        offset: u64,
        limit: u64,
    ) -> Result<TextPage, ArchiveError> {
        Ok(TextPage::of(&self.text(record)?, offset, limit))
    }
}

/// A timestamp as it is stored.
pub(super) fn milliseconds(time: Timestamp) -> i64 {
    time.as_millisecond()
}

/// A path in the form used for comparisons that ignore case and the kind of slash.
pub(super) fn folded(path: &str) -> String {
    path.replace('\\', "/").trim_end_matches('/').to_lowercase()
}

/// The last part of a path, folded.
pub(super) fn file_name(path: &str) -> String {
    let folded = folded(path);
    folded.rsplit('/').next().unwrap_or_default().to_owned()
}
