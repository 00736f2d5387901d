//! Goes back to before one of the user's messages (M5), across compactions too. Nothing is deleted: a line is appended.

use std::path::Path;

use jiff::Timestamp;
use longhaul_core::boundary::{LineError, LineStamp, RewindRecord};
use longhaul_core::engine::UuidSequence;
use longhaul_core::facts::HostTexts;
use longhaul_core::json;
use longhaul_core::message::{BlockKind, EntryKind, EntryView};
use longhaul_store::{AppendError, Durability, ReadError, TranscriptWriter};

use crate::session::open::random_seed;
use crate::session::recorded::identity;
use crate::undo::WholeTranscript;

/// A message of the user that a rewind can go back to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewindPoint {
    /// The entry's uuid.
    pub uuid: String,
    /// The text of the message.
    pub text: String,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// Whether the model still sees the message itself, not a summary of it.
    pub in_view: bool,
}

/// The result of a rewind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewindResult {
    /// The uuid of the line that was appended.
    pub uuid: String,
    /// The text of the message that was undone, so that the user can rephrase it.
    pub text: String,
}

/// Why nothing was rewound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewindError {
    /// There is no such message of the user.
    #[error("no message of yours in this conversation has the id {0}; nothing was changed")]
    NoSuchMessage(String),
    /// The transcript cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The line cannot be created.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The transcript cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// All messages of the user in a session, including those before compactions and on abandoned branches, in the order of
/// the file.
///
/// # Errors
/// Fails if the transcript cannot be read.
pub fn rewind_points(path: &Path) -> Result<Vec<RewindPoint>, ReadError> {
    let read = WholeTranscript::of(path)?;
    let texts = HostTexts::builtin();
    let mut all = Vec::new();
    for (row, entry) in (0..).zip(&read.entries) {
        let view = entry.view();
        if !read.conversation.is_main(row) || view.uuid().is_none() {
            continue;
        }
        if let Some(text) = user_text(view, &texts) {
            all.push(RewindPoint {
                uuid: view.text(view.facets.uuid).into_owned(),
                text,
                at: view.timestamp(),
                in_view: read.conversation.view().rows.contains(&row),
            });
        }
    }
    Ok(all)
}

/// Goes back to before the message with this uuid.
///
/// # Errors
/// Fails if there is no such message, and if the transcript cannot be read or written. Nothing is changed then.
pub fn rewind(path: &Path, uuid: &str, now: Timestamp) -> Result<RewindResult, RewindError> {
    let read = WholeTranscript::of(path)?;
    let texts = HostTexts::builtin();
    let found = (0..).zip(&read.entries).find_map(|(row, entry)| {
        let view = entry.view();
        let is_it = read.conversation.is_main(row) && view.text(view.facets.uuid) == uuid;
        is_it.then(|| user_text(view, &texts).map(|text| (row, text)))?
    });
    let Some((row, text)) = found else {
        return Err(RewindError::NoSuchMessage(uuid.to_owned()));
    };
    let parent = read.conversation.parent(row).map(|row| read.uuid(row));
    let mut ids = UuidSequence::new(random_seed());
    let identity = identity(&read.view(), path, &mut ids);
    let own = ids.next_uuid();
    let line = RewindRecord {
        envelope: identity.envelope(),
        stamp: LineStamp {
            uuid: &own,
            timestamp: now,
        },
        parent: parent.as_deref(),
        left: uuid,
    }
    .line()?;
    let writer = TranscriptWriter::open(path, Durability::EveryAppend)?;
    let mut writer = writer.knowing(&read.loaded);
    let _ = writer.append_all(&[line])?;
    writer.close()?;
    Ok(RewindResult { uuid: own, text })
}

/// The text of an entry, if it is the user's own.
pub(crate) fn user_text(view: EntryView<'_>, texts: &HostTexts) -> Option<String> {
    let facets = view.facets;
    if facets.kind != EntryKind::User || facets.flags.meta || facets.flags.compact_summary {
        return None;
    }
    let own = || facets.blocks.iter().filter(|block| !block.inner);
    if own().any(|block| block.kind == BlockKind::ToolResult) {
        return None;
    }
    let parts = own().filter(|block| block.kind == BlockKind::Text);
    let parts: Vec<String> = parts
        .map(|block| json::text_of(block.body.of(view.line)).into_owned())
        .collect();
    let text = parts.join("\n\n");
    (!text.trim().is_empty() && !texts.is_hosts(&text)).then_some(text)
}
