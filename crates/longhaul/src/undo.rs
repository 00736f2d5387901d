//! Takes back the last compaction of a transcript (X6, ruling 13). Nothing is deleted: lines are appended.

use std::path::Path;

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::boundary::{CopiedEntry, LineError, LineStamp, UndoPlan, UndoRecord};
use longhaul_core::config::Config;
use longhaul_core::engine::UuidSequence;
use longhaul_core::figures::{counted_as, grouped};
use longhaul_core::message::Entry;
use longhaul_core::models::ModelTable;
use longhaul_core::report::{LossReport, ViewTokens};
use longhaul_core::transcript::{ResolvedConversation, TranscriptTable};
use longhaul_core::window::WindowError;
use longhaul_store::{
    AppendError, Durability, LoadedTranscript, ReadError, TranscriptWriter, load,
};

use crate::session::open::{random_seed, window};
use crate::session::recorded::{NO_MODEL, identity};

/// Whether an undo is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UndoMode {
    /// The undo is written.
    Write,
    /// Nothing is written; the result says what would be.
    Look,
}

/// The result of an undo.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoResult {
    /// The uuid of the boundary that was taken back.
    pub boundary: String,
    /// The padded estimate of the view before.
    pub before: u64,
    /// The padded estimate of the view afterwards.
    pub after: u64,
    /// Entries of turns since the compaction; they were written again after the old conversation.
    pub later: usize,
    /// The most that the window holds before input is refused.
    pub limit: u64,
}

/// Why nothing was taken back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// The conversation in view does not begin with a compaction.
    #[error("there is nothing to take back: the conversation in view was not compacted")]
    NotCompacted,
    /// The old conversation and the turns since do not fit into the window together.
    #[error(
        "the old conversation and the {} since the compaction would take {} tokens, and the window holds {}: nothing was changed",
        counted_as(*.later as u64, "entry", "entries"), grouped(*.tokens), grouped(*.limit)
    )]
    TooLarge {
        /// The tokens that they would take.
        tokens: u64,
        /// The tokens that there is room for.
        limit: u64,
        /// The number of entries since the compaction.
        later: usize,
    },
    /// The transcript cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The lines cannot be created.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The transcript cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The window is too small.
    #[error(transparent)]
    Window(#[from] WindowError),
}

/// A transcript that was read whole.
pub(crate) struct WholeTranscript {
    pub(crate) loaded: LoadedTranscript,
    pub(crate) entries: Vec<Entry>,
    pub(crate) table: TranscriptTable,
    pub(crate) conversation: ResolvedConversation,
}

impl WholeTranscript {
    pub(crate) fn of(path: &Path) -> Result<Self, ReadError> {
        let loaded = load(path)?;
        let mut table = TranscriptTable::default();
        let mut entries = Vec::new();
        for line in loaded.lines() {
            if let Some(entry) = line.entry() {
                table.push(line.number, line.offset, entry.view());
                entries.push(entry.clone());
            }
        }
        Ok(Self {
            conversation: ResolvedConversation::resolve(&table, &mut Vec::new()),
            loaded,
            entries,
            table,
        })
    }

    /// The padded estimate of the view that the file has with these lines appended.
    fn size(&self, more: &[Bytes]) -> u64 {
        let more: Vec<Entry> = more
            .iter()
            .filter_map(|line| Entry::read(line.clone()).ok())
            .collect();
        let mut table = TranscriptTable::default();
        for (entry, number) in self.entries.iter().chain(&more).zip(1..) {
            table.push(number, number, entry.view());
        }
        let conversation = ResolvedConversation::resolve(&table, &mut Vec::new());
        conversation.ledger(&table).whole().padded()
    }

    pub(crate) fn uuid(&self, row: u32) -> String {
        let view = self.entries[row as usize].view();
        view.text(view.facets.uuid).into_owned()
    }

    pub(crate) fn view(&self) -> Vec<Entry> {
        let rows = self.conversation.view().rows.iter();
        rows.map(|row| self.entries[*row as usize].clone())
            .collect()
    }
}

/// Takes back the compaction that the conversation in view begins with. A second undo takes back the one before.
///
/// # Errors
/// Fails if the view does not begin with a compaction that can be taken back, and if the transcript cannot be read or
/// written. Nothing is changed then.
pub fn undo(
    path: &Path,
    config: &Config,
    models: &ModelTable,
    act: UndoMode,
    now: Timestamp,
) -> Result<UndoResult, UndoError> {
    let read = WholeTranscript::of(path)?;
    let plan = UndoPlan::of(&read.table, &read.conversation).ok_or(UndoError::NotCompacted)?;
    let is_turn = |row: &u32| read.table.rows()[*row as usize].is_sent();
    let turns = plan.later.iter().filter(|row| is_turn(row)).count();
    let spec = models.resolve(&model(&read, config)).spec;
    let limit = window(config, &spec)?.blocking;
    let mut ids = UuidSequence::new(random_seed());
    let identity = identity(&read.view(), path, &mut ids);
    let uuid = ids.next_uuid();
    let copies: Vec<String> = plan.later.iter().map(|_| ids.next_uuid()).collect();
    let later = plan
        .later
        .iter()
        .zip(&copies)
        .map(|(row, uuid)| CopiedEntry {
            entry: read.entries[*row as usize].view(),
            uuid,
        });
    let later: Vec<CopiedEntry<'_>> = later.collect();
    // Reasoning of later turns followed a summary that is gone.
    let last = plan.later.iter().rposition(is_turn);
    let stripped = last.filter(|_| spec.thinking.binding.may_bind());
    let (boundary, parent) = (read.uuid(plan.boundary), read.uuid(plan.parent));
    let mut undo = UndoRecord {
        envelope: identity.envelope(),
        stamp: LineStamp {
            uuid: &uuid,
            timestamp: now,
        },
        boundary: &boundary,
        parent: &parent,
        later: &later,
        thinking_stripped_through: stripped.map(|at| copies[at].as_str()),
        report: None,
    };
    let (before, after) = (read.size(&[]), read.size(&undo.lines()?));
    if turns > 0 && after >= limit {
        return Err(UndoError::TooLarge {
            tokens: after,
            limit,
            later: turns,
        });
    }
    let report = LossReport {
        tokens: ViewTokens { before, after },
        ..LossReport::default()
    };
    let report = serde_json::to_value(&report).map_err(LineError::from)?;
    undo.report = Some(&report);
    if act == UndoMode::Write {
        let writer = TranscriptWriter::open(path, Durability::EveryAppend)?;
        let mut writer = writer.knowing(&read.loaded);
        let _ = writer.append_all(&undo.lines()?)?;
        writer.close()?;
    }
    Ok(UndoResult {
        boundary,
        before,
        after,
        later: turns,
        limit,
    })
}

/// The model of the newest reply.
fn model(read: &WholeTranscript, config: &Config) -> String {
    let rows = read.table.rows().iter().rev();
    let mut models = rows
        .filter(|row| row.is_reply())
        .filter_map(|row| row.model);
    let named = models.next().map(|model| read.table.text(model).to_owned());
    named
        .or_else(|| config.model.clone())
        .unwrap_or_else(|| NO_MODEL.to_owned())
}
