//! The lines that a compaction writes, and the state after it (F10, P1, P5). `after_compaction.rs` has what it resets.
//!
//! Boundary, summary, attachments and the new request prefix go to disk as one unit. Before that nothing has changed;
//! after it nothing of the old view counts.

use std::path::PathBuf;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::after_compaction::NewConversation;
use super::compaction_in_progress::{CompactionCause, CompactionInProgress, CompactionStage};
use super::effect::{CompactionHook, Effect};
use super::event::{
    CompactFailure, CompactionPhase, CompactionSuccess, Event, PreparationEvent, PreviewedSummary,
    Summarizer,
};
use super::input::EffectOutcome;
use super::live::{LiveConversation, LiveEntry};
use super::not_compacted::sentence;
use super::prefix_count::PrefixCount;
use super::result::CallResult;
use super::user_words_state::UserWordsState;
use super::view_draft::ViewDraft;
use super::{AfterPersist, Engine, EngineState, PrefixRecording};
use crate::boundary::{
    self, KeptEntry, LineError, LineStamp, PreservedAnchor, SignedReply, SummaryAttachment,
};
use crate::hash::Set;
use crate::message::{Entry, Id};
use crate::micro::native::KeepThinking;
use crate::plan::{CompactionWorth, Recompaction, worth};
use crate::prompt::{
    NewEntryStamp, PrefixReason, PriorRendering, RenderingStart, RequestAssembly, RequestPrefix,
};
use crate::rehydrate::{FileText, RestoreSourceResult};
use crate::report::ArchiveOutcome;
use crate::summary::PivotDirection;
use crate::window::WindowLevel;

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

/// The uuids of the lines.
struct CommitUuids {
    boundary: String,
    signed: String,
    summary: String,
    attachments: Vec<String>,
}

/// The contents of a boundary besides the summary's origin and the losses.
#[derive(Clone, Copy)]
struct BoundaryDetails<'a> {
    recompaction: &'a Recompaction,
    /// The entry up to which thinking is not sent again.
    stripped: Option<&'a str>,
    /// The tokens in the window with the new view.
    window: u64,
    /// The known size of the new request prefix.
    head: Option<PrefixCount>,
    now: Timestamp,
}

impl Engine {
    /// Chooses the new view, and has the summarized part archived.
    pub(super) fn prepare_commit(&mut self, mut compaction: CompactionInProgress, now: Timestamp) {
        // The part before the pivot stays as it was sent, so the request prefix must stay, too (P2).
        let fresh = compaction.gathered.prefix.take();
        let fresh = fresh.or_else(|| self.next_prefix.clone());
        let keeps_head = compaction.direction == Some(PivotDirection::From);
        let head = fresh
            .filter(|_| !keeps_head)
            .unwrap_or_else(|| self.prefix.clone());
        let head = self.with_engine_additions(head, KeepThinking::All);
        let draft = self.best_draft(&compaction, &head);
        if self.is_provisional(&compaction) && !self.holds(draft.as_ref()) {
            return match compaction.cause {
                // A second summary would not pay.
                CompactionCause::Price => self.refuse_to_cut(compaction, now),
                _ => self.start_over(compaction, now),
            };
        }
        let Some(draft) = draft else {
            return self.refuse_to_cut(compaction, now);
        };
        if !self.is_worth_it(&compaction, &head, &draft) {
            if draft.by == Summarizer::Notes {
                return self.start_over(compaction, now);
            }
            let message = sentence(CompactFailure::WouldNotShrink).to_owned();
            return self.give_up(compaction, CompactFailure::WouldNotShrink, message, now);
        }
        if compaction.request.preview {
            self.notify(Event::Phase(None));
            let cost = self.summary_cost(compaction.usage.as_ref());
            if let Some(usage) = &compaction.usage {
                self.previewed.get_or_insert_default().add(usage);
            }
            let preview = Box::new(PreviewedSummary {
                by: draft.by,
                usage: compaction.usage.take(),
                cost,
                summary: draft.summary.body().to_owned(),
                message: draft.message,
                before: compaction.before,
                after: draft.after,
                window: self.window_after(&compaction, &head, draft.weight),
                report: draft.report,
            });
            self.notify(Event::Preview(preview.clone()));
            return self.finish_call(CallResult::Previewed(preview));
        }
        let id = self.effect_id();
        let gone = &self.live.entries()[compaction.scope.summarized.clone()];
        self.outbox.push_back(Effect::Archive {
            id,
            entries: gone.iter().map(|kept| kept.entry.clone()).collect(),
            results: None,
        });
        compaction.gathered.prefix = Some(head);
        compaction.draft = Some(Box::new(draft));
        compaction.stage = CompactionStage::Archiving;
        compaction.awaits = Some(id);
        self.state = EngineState::Compacting(Box::new(compaction));
    }

    /// Whether a compaction frees enough. Only a compaction that a threshold requested can wait, and not if the window
    /// is full.
    fn is_worth_it(
        &self,
        compaction: &CompactionInProgress,
        head: &RequestPrefix,
        draft: &ViewDraft,
    ) -> bool {
        let can_wait = compaction.cause == CompactionCause::Threshold
            && compaction.folding.is_none()
            && self.status().level < WindowLevel::Blocking;
        let counted = self.as_counted(compaction, head, draft.after);
        let after = counted.map_or(draft.with_head, |after| after.min(draft.with_head));
        let worth = worth(&self.config.window, compaction.used, after);
        !can_wait || worth == CompactionWorth::Enough
    }

    /// Whether a model's summary of everything could still replace this one: it is made of notes, or was made ahead.
    fn is_provisional(&self, compaction: &CompactionInProgress) -> bool {
        let by_notes = matches!(compaction.summary, Some((_, Summarizer::Notes)));
        by_notes || compaction.prepared
    }

    /// Whether a draft has all of the user's words that it may have, and is small enough.
    fn holds(&self, draft: Option<&ViewDraft>) -> bool {
        let threshold = self.config.window.auto_compact;
        draft.is_some_and(|draft| draft.words != UserWordsState::Cut && draft.with_head < threshold)
    }

    /// Summarizes everything, because notes or a summary made ahead leave too much in view (S6). Instead of notes, that
    /// may be made while the conversation goes on, if there is room.
    pub(super) fn start_over(&mut self, mut compaction: CompactionInProgress, now: Timestamp) {
        let summary = compaction.summary.take();
        let is_of_notes = matches!(summary, Some((_, Summarizer::Notes)));
        match summary {
            Some((_, Summarizer::Notes)) => {
                let window = &self.config.window;
                let reason = crate::notes::NotesSkipReason::OverThreshold {
                    after: self.used(),
                    threshold: window.auto_compact,
                };
                self.notify(Event::NotesNotUsed { reason });
            }
            _ => self.notify(Event::Ahead(PreparationEvent::Dropped)),
        }
        compaction.direction = None;
        compaction.folding = None;
        compaction.signed = None;
        compaction.asking = Default::default();
        // From here on it is like any other compaction.
        compaction.prepared = false;
        compaction.scope = crate::summary::CompactionScope::whole(&self.live.pieces());
        self.notify(Event::Phase(Some(CompactionPhase::Compacting)));
        match is_of_notes {
            true => self.ask_model(compaction, now),
            false => self.begin_summary(compaction, now),
        }
    }

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

    fn lines(
        &self,
        compaction: &CompactionInProgress,
        draft: &ViewDraft,
        uuids: &CommitUuids,
        on_boundary: BoundaryDetails<'_>,
    ) -> Result<Vec<Bytes>, LineError> {
        let now = on_boundary.now;
        fn stamp(uuid: &str, timestamp: Timestamp) -> LineStamp<'_> {
            LineStamp { uuid, timestamp }
        }
        let kept = compaction.direction.and_then(|direction| {
            let anchor = match direction {
                PivotDirection::UpTo => PreservedAnchor::Summary,
                PivotDirection::From => PreservedAnchor::Boundary,
            };
            let entries = &self.live.entries()[compaction.scope.kept.clone()];
            boundary::PreservedPart::of(
                anchor,
                entries.iter().map(|kept| KeptEntry {
                    entry: kept.entry.view(),
                    offset: kept.offset.unwrap_or(0),
                }),
            )
        });
        let attached: Vec<SummaryAttachment<'_>> = draft
            .attachments
            .iter()
            .zip(&uuids.attachments)
            .map(|(value, uuid)| SummaryAttachment {
                stamp: stamp(uuid, now),
                value,
            })
            .collect();
        let discovered: Vec<&str> = self
            .live
            .discovered_tools()
            .iter()
            .map(String::as_str)
            .collect();
        let ledger = self.live.facts().to_ledger()?;
        let ledger = serde_json::from_str(ledger.get())?;
        let report = serde_json::to_value(&draft.report)?;
        let made = self.made(compaction, draft, on_boundary.window, now);
        let recompaction = on_boundary.recompaction.to_boundary();
        let head = on_boundary.head;
        let head = head.map(|known| known.to_boundary(&self.config.model.id));
        let folds = self.folds_of(compaction, draft).transpose()?;
        let economy = compaction.economy.as_ref();
        let economy = economy.map(crate::economy::EconomyRecord::to_boundary);
        boundary::CompactionRecord {
            envelope: self.config.identity.envelope(),
            boundary: stamp(&uuids.boundary, now),
            summary: stamp(&uuids.summary, now),
            logical_parent: self.live.newest(),
            trigger: compaction.trigger(),
            pre_tokens: compaction.used,
            messages_summarized: compaction.scope.messages(&self.live.pieces()) as u64,
            user_context: compaction.request.instructions.as_deref(),
            discovered_tools: &discovered,
            kept: kept.as_ref(),
            thinking_stripped_through: on_boundary.stripped,
            ledger: Some(&ledger),
            report: Some(&report),
            folds: folds.as_ref(),
            made: Some(&made),
            recompaction: Some(&recompaction),
            head_tokens: head.as_ref(),
            signed: draft.signed.as_ref().map(|signed| SignedReply {
                stamp: stamp(&uuids.signed, now),
                message: &signed.message,
            }),
            text: &draft.message,
            attached: &attached,
        }
        .lines_with(economy.as_ref())
    }

    /// Who wrote the summary, what it cost and how long the conversation waited, for later reports (`inspect`).
    fn made(
        &self,
        compaction: &CompactionInProgress,
        draft: &ViewDraft,
        window: u64,
        now: Timestamp,
    ) -> Value {
        let mut usage = compaction.usage.clone();
        if let Some(previewed) = &self.previewed {
            usage.get_or_insert_default().add(previewed);
        }
        let usage = usage.as_ref();
        json!({
            "by": draft.by,
            "ahead": compaction.prepared,
            "waitedMs": milliseconds(compaction.awaited_since, now),
            "tookMs": milliseconds(compaction.started, now),
            "windowAfter": window,
            "costUsd": self.summary_cost(usage).map(|cost| cost.to_f64()),
            "usage": usage.map(boundary::usage_value),
            "sessionSummaries": self.summary_outputs(compaction).to_boundary(),
        })
    }

    /// The folds that the summary consists of, if there are any.
    fn folds_of(
        &self,
        compaction: &CompactionInProgress,
        draft: &ViewDraft,
    ) -> Option<Result<Value, serde_json::Error>> {
        let folds = compaction.folding.as_ref()?.made.as_ref()?;
        let (given, _) = compaction.summary.as_ref()?;
        (given == &draft.summary).then(|| folds.to_boundary())
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
            milliseconds: milliseconds(compaction.started, now),
            waited: milliseconds(compaction.awaited_since, now),
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

/// The milliseconds from one time to another.
fn milliseconds(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or(0)
}
