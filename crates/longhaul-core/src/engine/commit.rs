//! A compaction goes to disk, and the state after it (F10, P1, P5). `accept_draft.rs` decides which draft gets here,
//! `commit_lines.rs` has the lines of its boundary, `after_compaction.rs` what it resets.
//!
//! Boundary, summary, attachments and the new request prefix go to disk as one unit. Before that nothing has changed;
//! after it nothing of the old view counts.

use std::path::PathBuf;

use bytes::Bytes;
use jiff::Timestamp;

use super::after_compaction::NewConversation;
use super::commit_lines::{BoundaryDetails, CommitUuids};
use super::compaction_in_progress::{CompactionCause, CompactionInProgress, CompactionStage};
use super::effect::{CompactionHook, Effect};
use super::event::{CompactFailure, CompactionSuccess, Event};
use super::input::EffectOutcome;
use super::live::{LiveConversation, LiveEntry};
use super::result::CallResult;
use super::view_draft::ViewDraft;
use super::{AfterPersist, Engine, EngineState, PrefixRecording};
use crate::boundary::LineError;
use crate::hash::Set;
use crate::message::{Entry, Id};
use crate::plan::Recompaction;
use crate::prompt::{
    NewEntryStamp, PrefixReason, PriorRendering, RenderingStart, RequestAssembly, RequestPrefix,
};
use crate::rehydrate::{FileText, RestoreSourceResult};
use crate::report::ArchiveOutcome;
use crate::summary::PivotDirection;

/// A compaction on its way to disk.
#[derive(Debug)]
pub(super) struct PendingCommit {
    compaction: CompactionInProgress,
    draft: ViewDraft,
    prefix: RequestPrefix,
    assembly: RequestAssembly,
    /// The new lines, and those of the request prefix.
    lines: Vec<Bytes>,
    heads: Vec<Bytes>,
    preserved: Set<Id>,
    boundary: String,
    recompaction: Recompaction,
}

impl PendingCommit {
    /// Why the compaction is made.
    pub(super) fn cause(&self) -> CompactionCause {
        self.compaction.cause
    }
}

impl Engine {
    /// Writes the new view once the archive has answered.
    pub(super) fn commit(
        &mut self,
        mut compaction: CompactionInProgress,
        outcome: &EffectOutcome,
        now: Timestamp,
    ) {
        let (Some(mut draft), Some(head)) =
            (compaction.draft.take(), compaction.gathered.prefix.take())
        else {
            return;
        };
        let archive = match outcome {
            EffectOutcome::Archived => ArchiveOutcome::Yes,
            EffectOutcome::NoArchive => ArchiveOutcome::NoArchive,
            _ => ArchiveOutcome::Failed,
        };
        (self.config.originals).tell_of_archive(archive, &mut draft.report);
        let turn = self.ids.next_uuid();
        let window = &self.config.window;
        let source = self.config.source.as_str();
        let recompaction = self.tracking.next(&turn, window.auto_compact, source);
        match self.written(&compaction, &draft, &head, &recompaction, now) {
            Ok((lines, heads, assembly, boundary)) => {
                let all: Vec<Bytes> = lines.iter().chain(&heads).cloned().collect();
                let commit = PendingCommit {
                    preserved: self.kept_ids(&compaction),
                    compaction,
                    draft: *draft,
                    prefix: head,
                    assembly,
                    lines,
                    heads,
                    boundary,
                    recompaction,
                };
                let id = self.effect_id();
                self.outbox.push_back(Effect::Persist { id, lines: all });
                self.state = EngineState::Persisting(
                    id,
                    Box::new(AfterPersist::Committed(Box::new(commit))),
                );
            }
            Err(error) => {
                let message = error.to_string();
                self.give_up(compaction, CompactFailure::NotPersisted, message, now);
            }
        }
    }

    /// The lines of the new view and of its request prefix, and its rendering.
    fn written(
        &mut self,
        compaction: &CompactionInProgress,
        draft: &ViewDraft,
        head: &RequestPrefix,
        recompaction: &Recompaction,
        now: Timestamp,
    ) -> Result<(Vec<Bytes>, Vec<Bytes>, RequestAssembly, String), LineError> {
        let uuids = CommitUuids {
            boundary: self.ids.next_uuid(),
            signed: self.ids.next_uuid(),
            summary: self.ids.next_uuid(),
            attachments: draft
                .attachments
                .iter()
                .map(|_| self.ids.next_uuid())
                .collect(),
        };
        let mut on_boundary = BoundaryDetails {
            recompaction,
            stripped: None,
            head: self.prefix_count_after(compaction, head),
            window: self.window_after(compaction, head, draft.weight),
            now,
        };
        let lines = self.lines(compaction, draft, &uuids, on_boundary)?;
        let entries = self.view_with(compaction, draft, &lines, None);
        let before = match &self.assembly {
            Some(assembly) => assembly.as_predecessor(),
            None => PriorRendering::None,
        };
        let beginning = RenderingStart {
            before,
            head: head.clone(),
            reason: PrefixReason::Compacted,
            binding: self.config.model.thinking.binding,
        };
        let assembly =
            RequestAssembly::begin(beginning, entries.iter().map(|kept| kept.entry.view()));
        let kept = self.kept_ids(compaction);
        let stripped = assembly
            .prefix()
            .latched
            .thinking_stripped_through
            .as_deref();
        on_boundary.stripped = stripped.filter(|uuid| kept.contains(&Id::of(uuid)));
        let lines = match on_boundary.stripped {
            Some(_) => self.lines(compaction, draft, &uuids, on_boundary)?,
            None => lines,
        };
        let heads = match self.config.prefixes {
            PrefixRecording::Unwritten | PrefixRecording::Unknown => Vec::new(),
            PrefixRecording::Written => assembly.entries_before_request(NewEntryStamp {
                session_id: &self.config.identity.session_id,
                uuid: &self.ids.next_uuid(),
                // Results for open calls come after everything that the compaction writes.
                parent: Some(uuids.attachments.last().unwrap_or(&uuids.summary)),
                timestamp: now,
            })?,
        };
        Ok((lines, heads, assembly, uuids.boundary))
    }

    fn kept_ids(&self, compaction: &CompactionInProgress) -> Set<Id> {
        let kept = self.live.entries()[compaction.scope.kept.clone()].iter();
        kept.filter_map(|kept| kept.entry.view().uuid()).collect()
    }

    /// The new view in its order (P1): the boundary, then the summary and the kept part, then the rest.
    fn view_with(
        &self,
        compaction: &CompactionInProgress,
        draft: &ViewDraft,
        lines: &[Bytes],
        offset: Option<u64>,
    ) -> Vec<LiveEntry> {
        let mut at = offset;
        let mut new = lines.iter().filter_map(|line| {
            let place = at;
            at = at.map(|at| at + line.len() as u64 + 1);
            let entry = Entry::read(line.clone()).ok()?;
            Some(LiveEntry {
                entry,
                offset: place,
            })
        });
        let kept = self.live.entries()[compaction.scope.kept.clone()]
            .iter()
            .cloned();
        let mut view: Vec<LiveEntry> = new.by_ref().take(1).collect();
        match compaction.direction {
            Some(PivotDirection::From) => {
                view.extend(kept);
                view.extend(new);
            }
            _ => {
                let summaries = 1 + usize::from(draft.signed.is_some());
                view.extend(new.by_ref().take(summaries));
                view.extend(kept);
                view.extend(new);
            }
        }
        view
    }

    /// Replaces the conversation by the new view, which is on disk now.
    pub(super) fn committed(&mut self, commit: PendingCommit, offset: u64, now: Timestamp) {
        let PendingCommit {
            mut compaction,
            draft,
            prefix: head,
            mut assembly,
            lines,
            heads,
            preserved,
            boundary,
            recompaction,
        } = commit;
        let entries = self.view_with(&compaction, &draft, &lines, Some(offset));
        let facts = self.live.facts().clone();
        let mut live =
            LiveConversation::begin(entries, preserved, self.live.clearable().clone(), facts);
        let mut at = offset + lines.iter().map(|line| line.len() as u64 + 1).sum::<u64>();
        for line in &heads {
            // A line that was made here is always readable.
            let entry = Entry::read(line.clone()).ok();
            let entry = entry.filter(|entry| entry.facets().uuid.is_present());
            if let Some(entry) = entry {
                live.push(LiveEntry {
                    entry,
                    offset: Some(at),
                });
            }
            at += line.len() as u64 + 1;
        }
        let _ = assembly.persisted(&heads);
        let threshold = self.config.window.auto_compact;
        if let Some(withheld) = self.turn.withheld.take() {
            // The turn is requested again; the withheld reply is gone, but not its cost.
            let cost = self.config.model.cost_of_reply(&withheld.usage);
            let source = self.config.source.clone();
            self.record_lost_reply(&source, &withheld.usage, cost, now);
            self.notify(Event::Withheld {
                usage: withheld.usage,
                cost,
            });
        }
        if draft.with_head >= threshold {
            self.notify(Event::ThresholdExceededAfter {
                tokens: draft.with_head,
                threshold,
            });
        }
        self.previewed = None;
        let usage = compaction.usage.take();
        let cost = self.summary_cost(usage.as_ref());
        let next_head = self.next_prefix.take();
        let new = NewConversation {
            live,
            assembly: match self.config.prefixes {
                PrefixRecording::Written => Some(assembly),
                PrefixRecording::Unwritten | PrefixRecording::Unknown => None,
            },
            prefix: head,
            // The part before the pivot keeps its request prefix (P2), so the other one still waits.
            next_prefix: next_head.filter(|_| compaction.direction == Some(PivotDirection::From)),
            restored: draft.restored.clone(),
            turn: recompaction.turn.clone(),
        };
        let reset = self.reset_after_compaction(new, now);
        self.tell_restored(&compaction.gathered.gathered.files, &draft.restored);
        let compacted = Box::new(CompactionSuccess {
            trigger: compaction.trigger(),
            by: draft.by,
            pre_tokens: compaction.used,
            before: compaction.before,
            after: draft.after,
            window: self.used(),
            usage,
            cost,
            milliseconds: compaction.took(now),
            waited: compaction.was_awaited(now),
            recompaction,
            report: draft.report,
            boundary,
            reset,
        });
        if compaction.cause == CompactionCause::Manual {
            self.compacted = Some(compacted.clone());
        }
        self.notify(Event::Compacted(compacted));
        if let Some(record) = compaction.economy.take() {
            self.notify(Event::Economized(Box::new(record)));
        }
        self.notify(Event::Phase(None));
        compaction.stage = CompactionStage::PostHooks;
        let call = CompactionHook::PostCompact {
            trigger: compaction.trigger(),
            summary: draft.message,
        };
        self.await_hooks(compaction, call);
    }

    /// Finishes a manual compaction after its hooks.
    pub(super) fn finish_compaction(&mut self) {
        if let Some(compacted) = self.compacted.take() {
            self.finish_call(CallResult::Compacted(compacted));
        }
    }

    fn tell_restored(&mut self, files: &[RestoreSourceResult<FileText>], restored: &[PathBuf]) {
        for file in files {
            let (path, failed) = match file {
                RestoreSourceResult::Found(file) => {
                    let fits = restored.contains(&file.path);
                    let failed = (!fits).then(|| "there was no room for it".to_owned());
                    (file.path.display().to_string(), failed)
                }
                RestoreSourceResult::Failed { what, why } => (what.clone(), Some(why.clone())),
            };
            self.notify(Event::FileRestore { path, failed });
        }
    }
}
