//! New results are made smaller before they are first sent (V8): their originals are archived, then their lines are
//! written with both forms.

use bytes::Bytes;
use jiff::Timestamp;

use super::effect::Effect;
use super::event::Event;
use super::line::NewEntry;
use super::result_index::IndexedResult;
use super::{AfterPersist, Engine, EngineState};
use crate::config::ResultReduction;
use crate::hash::Set;
use crate::message::{BlockKind, Entry, Id, ReductionRecord};
use crate::micro::{ClearableTools, PressureOwner};
use crate::prompt::ToolOutput;
use crate::reduce::{ResultText, reduce_among, text_of_content};
use crate::tokens::RoughEstimator;

/// Lines of the host that are about to be written.
#[derive(Debug, Default)]
pub(super) struct AddedLines {
    /// The lines.
    pub(super) lines: Vec<Bytes>,
    /// The same lines with all results as they came.
    pub(super) originals: Vec<Bytes>,
    /// The calls whose results are made smaller, and how many tokens that saves.
    pub(super) reduced: Vec<String>,
    pub(super) saved: u64,
    /// The error of the last entry that cannot be written.
    pub(super) lost: Option<String>,
}

/// What follows when added lines are on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterAddition {
    /// The host's call ends.
    Report,
    /// Nothing follows.
    Rest,
}

/// Lines whose originals are being archived.
#[derive(Debug)]
pub(super) struct PendingAddition {
    added: AddedLines,
    then: AfterAddition,
}

impl Engine {
    /// The results of a new entry that are sent in a smaller form, and how many tokens that saves.
    pub(super) fn reductions_of(&self, new: &NewEntry) -> (Vec<ReductionRecord>, u64) {
        let NewEntry::ToolResults(outputs) = new else {
            return Default::default();
        };
        let mut saved = 0;
        let mut records = Vec::new();
        for output in outputs {
            let Some((record, less)) = self.reduced_output(output) else {
                continue;
            };
            saved += less;
            records.push(record);
        }
        (records, saved)
    }

    fn reduced_output(&self, output: &ToolOutput) -> Option<(ReductionRecord, u64)> {
        let index = self.live.result_index();
        let call = index.call(&output.tool_use_id)?;
        let is_recall = self.config.recall_tool.as_deref() == Some(&call.tool);
        let is_kept = is_recall || ClearableTools::never_contains(&call.tool);
        if self.config.reduce == ResultReduction::Off || output.is_error || is_kept {
            return None;
        }
        let raw = serde_json::to_vec(&output.content).ok()?;
        let text = text_of_content(&raw)?;
        // The provider may clear any result, and does not say which.
        let refers = self.config.pressure != PressureOwner::Providers;
        let is_usable = |result: &&IndexedResult| {
            let mut edits = self.live.cache_edits().iter();
            refers && result.call != output.tool_use_id && edits.all(|edit| *edit != result.call)
        };
        let mut same = index.with_content(&raw).filter(is_usable);
        let same = same.find(|result| self.live.content_of(result) == Some(&raw));
        let reads = call.reads.as_deref();
        let earlier = reads.into_iter().flat_map(|path| index.of_file(path));
        let earlier = earlier
            .filter(is_usable)
            .filter_map(|result| Some((&*result.call, self.live.content_of(result)?)));
        let result = ResultText {
            call: &output.tool_use_id,
            text: &text,
        };
        let same = same.map(|result| &*result.call);
        let reduced = reduce_among(result, same, earlier, self.config.reduce)?;
        let weight = |text: &str| RoughEstimator::text(text).unpadded();
        let saved = weight(&text).saturating_sub(weight(&reduced.text));
        let record = ReductionRecord {
            tool_use_id: output.tool_use_id.clone(),
            kind: reduced.kind.name(),
            refers_to: reduced.base,
            content: reduced.text,
        };
        Some((record, saved))
    }

    /// Writes lines of the host, after the originals of what they make smaller are archived.
    pub(super) fn write_added(&mut self, added: AddedLines, then: AfterAddition) {
        if added.reduced.is_empty() {
            return self.persist_added(added.lines, added.lost, then);
        }
        let calls: Set<Id> = added.reduced.iter().map(|call| Id::of(call)).collect();
        let holds = |entry: &Entry| {
            let view = entry.view();
            let mut blocks = view.facets.blocks.iter();
            blocks.any(|block| {
                matches!(block.kind, BlockKind::ToolUse | BlockKind::ToolResult)
                    && view.block_id(block).is_some_and(|id| calls.contains(&id))
            })
        };
        let known = self.live.entries().iter().map(|kept| &kept.entry);
        let known = known.filter(|entry| holds(entry)).cloned();
        // A line that was made here is readable.
        let new = added
            .lines
            .iter()
            .filter_map(|line| Entry::read(line.clone()).ok());
        let entries = known.chain(new.filter(holds)).collect();
        let id = self.effect_id();
        self.outbox.push_back(Effect::Archive {
            id,
            entries,
            results: Some(added.reduced.clone()),
        });
        self.state = EngineState::ArchivingOriginals(id, Box::new(PendingAddition { added, then }));
    }

    /// Writes lines whose originals are archived, or cannot be: then the results are sent as they came.
    pub(super) fn originals_archived(
        &mut self,
        pending: PendingAddition,
        are_safe: OriginalSafety,
    ) {
        let PendingAddition { added, then } = pending;
        let lines = match are_safe {
            OriginalSafety::Safe => {
                self.notify(Event::ResultsReduced {
                    calls: added.reduced,
                    saved: added.saved,
                });
                added.lines
            }
            OriginalSafety::NotArchived => added.originals,
        };
        self.persist_added(lines, added.lost, then);
    }

    fn persist_added(&mut self, lines: Vec<Bytes>, lost: Option<String>, then: AfterAddition) {
        self.persist(lines, |lines| match then {
            AfterAddition::Report => AfterPersist::Added(lines, lost),
            AfterAddition::Rest => AfterPersist::Rest(lines),
        });
    }

    /// The lines of the host's entries.
    pub(super) fn added_lines(&mut self, entries: &[NewEntry], now: Timestamp) -> AddedLines {
        let mut added = AddedLines::default();
        let mut parent = self.newest_uuid();
        for new in entries {
            let uuid = self.ids.next_uuid();
            let (records, saved) = self.reductions_of(new);
            let line = self.added_line(&uuid, parent.as_deref(), new, &records, now);
            let original = match records.is_empty() {
                true => line.clone(),
                false => self.added_line(&uuid, parent.as_deref(), new, &[], now),
            };
            match (line, original) {
                (Ok(line), Ok(original)) => {
                    added.lines.push(line);
                    added.originals.push(original);
                    let calls = records.into_iter().map(|record| record.tool_use_id);
                    added.reduced.extend(calls);
                    added.saved += saved;
                }
                (Err(message), _) | (_, Err(message)) => {
                    added.lost = Some(message.clone());
                    self.notify(Event::NotPersisted { message });
                    continue;
                }
            }
            parent = Some(uuid);
        }
        added
    }
}

/// Whether the originals of results can be found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OriginalSafety {
    /// They are in the archive, or the transcript alone keeps them.
    Safe,
    /// The archive could not be written.
    NotArchived,
}
