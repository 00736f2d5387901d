//! A draft of the new view (F9, F10, Y1): it is put together and weighed before anything is written. `best_draft.rs`
//! decides which draft is used.

use std::path::Path;

use serde_json::Value;

use super::Engine;
use super::calibration::CountCalibration;
use super::compaction_in_progress::CompactionInProgress;
use super::draft_level::{DraftLevel, LeftOutReason, RestoreChoice, SummaryLength};
use super::event::Summarizer;
use super::signed_summary::SignedSummary;
use super::user_words_state::UserWordsState;
use super::view_draft::ViewDraft;
use crate::boundary::CompactionTrigger;
use crate::facts::{
    AuditInput, AuditedSummary, FactsBudget, audit_naming_files, audit_words_first,
};
use crate::message::{BlockKind, EntryKind};
use crate::rehydrate::{RestoreInput, RestoreSourceResult, restore};
use crate::report::ViewTokens;
use crate::summary::message::{CompactionMode, DetailLookup, KeptPlacement, SummaryMessage};
use crate::summary::{PivotDirection, Summary};
use crate::tokens::{ContentClass, EntryStanding, Estimate, RoughEstimator, TokenLedger};

/// Tokens that joining the parts of a message may add to their sum.
pub(super) const JOINTS: u64 = 4;

/// How many of the user's words go into the new view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserWordsLimit {
    /// As many words as the budget allows. Before it leaves any out, the budget grows to at most this many tokens.
    Budget(FactsBudget, u64),
    /// As many words as fit into this many tokens: rules first, then the newest.
    Within(u64),
}

/// A summary and its author.
#[derive(Debug, Clone)]
pub(super) struct WrittenSummary {
    pub(super) summary: Summary,
    pub(super) by: Summarizer,
    /// The provider's own block, if that is the summary.
    pub(super) signed: Option<SignedSummary>,
}

impl Engine {
    /// Drafts a view with this much in it.
    pub(super) fn draft(
        &self,
        compaction: &CompactionInProgress,
        given: &WrittenSummary,
        expected: CountCalibration,
        thrift: DraftLevel,
        words: UserWordsLimit,
    ) -> ViewDraft {
        let window = &self.target_window(compaction);
        let nothing = RestoreInput::default();
        let gathered = match thrift.back {
            RestoreChoice::Put => &compaction.gathered.gathered,
            RestoreChoice::Left => &nothing,
        };
        let restored = restore(gathered, window.scale());
        let WrittenSummary {
            summary,
            by,
            signed,
        } = match thrift.length {
            SummaryLength::Given => given.clone(),
            SummaryLength::AtMost(tokens) => {
                self.shortened(compaction, given, window.scale().apply(tokens))
            }
            SummaryLength::Exactly(tokens) => self.shortened(compaction, given, tokens),
        };
        let beside = self.texts_beside(compaction, &restored.attachments);
        let beside: Vec<&str> = beside.iter().map(String::as_str).collect();
        let seen = AuditInput {
            summary: summary.text(),
            beside: &beside,
        };
        let facts = self.live.facts();
        let told = signed.is_none().then_some(&summary);
        let mut attachments: Vec<Value> = restored
            .attachments
            .iter()
            .map(|attachment| attachment.value.clone())
            .collect();
        if !compaction.hook_context.is_empty() {
            let said: Vec<&str> = compaction.hook_context.iter().map(String::as_str).collect();
            let value =
                crate::boundary::hook_context("SessionStart", "SessionStart:compact", &said);
            attachments.push(value);
        }
        let kept = &self.live.entries()[compaction.scope.kept.clone()];
        let rest = kept_weight(kept)
            + signed
                .as_ref()
                .map_or(Estimate::ZERO, |signed| signed.weight)
            + attachments.iter().map(attachment_weight).sum();
        let ((audited, unnamed), words) = match words {
            UserWordsLimit::Within(tokens) => {
                let audited = audit_words_first(facts, seen, tokens);
                (audited, UserWordsState::Cut)
            }
            UserWordsLimit::Budget(budget, share) => {
                let frame = RoughEstimator::text(&self.summary_message(compaction, told, ""));
                let most = expected
                    .most_below(window.auto_compact)
                    .min(compaction.before.saturating_sub(1));
                let room = most.saturating_sub((rest + frame).padded() + JOINTS);
                self.audited(seen, budget, share, room)
            }
        };
        let message = self.summary_message(compaction, told, &audited.text);
        let size = rest + RoughEstimator::text(&message);
        let mut report = audited.report;
        report.tokens = ViewTokens {
            before: compaction.before,
            after: size.padded(),
        };
        report.files.restored = restored.files.len() as u64;
        let not_restored = not_restored(&compaction.gathered.gathered, &restored.files);
        report.files.left_out += not_restored
            .filter(|path| !unnamed.iter().any(|known| Path::new(known) == *path))
            .count() as u64;
        report.results.cleared = self.results_in(compaction);
        report.notes.extend(restored.notes);
        let made = compaction.summary.as_ref().map(|(made, _)| made);
        let shortened = made.is_some_and(|made| *made != summary).then_some(by);
        self.config.originals.tell_of_messages(&mut report);
        ViewDraft {
            level: thrift,
            shortened,
            left_out: LeftOutReason::NoRoom,
            summary,
            by,
            signed,
            message,
            attachments,
            restored: restored.files,
            report,
            words,
            weight: size,
            after: size.padded(),
            with_head: expected.count(size.padded()),
        }
    }

    /// Finds what a summary left out, within a budget. The budget first shortens messages; before it leaves any out, it
    /// grows to the share of the window that the user's words may have, as far as there is room.
    fn audited(
        &self,
        seen: AuditInput<'_>,
        budget: FactsBudget,
        share: u64,
        room: u64,
    ) -> ((AuditedSummary, Vec<String>), UserWordsState) {
        let facts = self.live.facts();
        let most = share.min(room);
        let mut budget = budget;
        loop {
            let audited = audit_naming_files(facts, seen, budget);
            if !self.leaves_out(&audited.0.report) {
                return (audited, UserWordsState::Kept);
            }
            if budget.tokens >= most {
                let state = if share <= room {
                    UserWordsState::FillTheirShare
                } else {
                    UserWordsState::Crowded
                };
                return (audited, state);
            }
            budget.tokens = (budget.tokens + budget.tokens / 4 + 1).min(most);
        }
    }

    fn summary_message(
        &self,
        compaction: &CompactionInProgress,
        summary: Option<&Summary>,
        appendix: &str,
    ) -> String {
        SummaryMessage {
            summary,
            appendix,
            look_up: DetailLookup {
                transcript: self.config.transcript.as_deref(),
                recall_tool: self.config.recall_tool.as_deref(),
            },
            kept: match compaction.direction {
                None => KeptPlacement::Nothing,
                Some(PivotDirection::UpTo) => KeptPlacement::Behind,
                Some(PivotDirection::From) => KeptPlacement::Before,
            },
            mode: match compaction.trigger() {
                CompactionTrigger::Manual => CompactionMode::Manual,
                CompactionTrigger::Auto => self.config.mode,
            },
        }
        .text()
    }

    /// Texts that stay in view besides the summary: the user's words in the kept part, and the restored context.
    fn texts_beside(
        &self,
        compaction: &CompactionInProgress,
        attachments: &[crate::rehydrate::RestoredAttachment],
    ) -> Vec<String> {
        let kept = self.live.entries()[compaction.scope.kept.clone()].iter();
        let mut texts: Vec<String> = Vec::new();
        for kept in kept.filter(|kept| kept.entry.facets().kind == EntryKind::User) {
            let entry = kept.entry.view();
            let spoken = entry.facets.blocks.iter();
            let spoken = spoken.filter(|block| block.kind == BlockKind::Text && !block.inner);
            texts.extend(spoken.map(|block| text_of(entry, block)));
        }
        texts.extend(
            attachments
                .iter()
                .map(|attachment| attachment.value.to_string()),
        );
        texts
    }

    /// The number of tool results that leave the view.
    fn results_in(&self, compaction: &CompactionInProgress) -> u64 {
        let gone = self.live.entries()[compaction.scope.summarized.clone()].iter();
        let blocks = gone.flat_map(|kept| &kept.entry.facets().blocks);
        blocks
            .filter(|block| block.kind == BlockKind::ToolResult && !block.inner)
            .count() as u64
    }
}

/// The estimate of the kept part as it will count: without entries that are not sent, and without cleared results.
pub(super) fn kept_weight(kept: &[super::live::LiveEntry]) -> Estimate {
    let mut ledger = TokenLedger::new();
    for kept in kept {
        ledger.entry(kept.entry.view(), EntryStanding::Preserved);
    }
    ledger.whole()
}

fn attachment_weight(value: &Value) -> Estimate {
    let units = value.to_string().encode_utf16().count() as u64;
    RoughEstimator.tokens(ContentClass::Serialized, units)
}

fn text_of(entry: crate::message::EntryView<'_>, block: &crate::message::EntryBlock) -> String {
    crate::json::text_of(block.body.of(entry.line)).into_owned()
}

/// The files that were there to be restored, and are not among those that were.
fn not_restored<'a>(
    gathered: &'a RestoreInput,
    restored: &'a [std::path::PathBuf],
) -> impl Iterator<Item = &'a Path> {
    let found = gathered.files.iter().filter_map(|file| match file {
        RestoreSourceResult::Found(file) => Some(file.path.as_path()),
        RestoreSourceResult::Failed { .. } => None,
    });
    found.filter(|path| !restored.iter().any(|known| known == path))
}
