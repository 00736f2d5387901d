//! The lines of a compaction: what its boundary, its summary and its attachments say (F10).

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::Engine;
use super::compaction_in_progress::CompactionInProgress;
use super::prefix_count::PrefixCount;
use super::view_draft::ViewDraft;
use crate::boundary::{
    self, KeptEntry, LineError, LineStamp, PreservedAnchor, SignedReply, SummaryAttachment,
};
use crate::plan::Recompaction;
use crate::summary::PivotDirection;

/// The uuids of the lines.
pub(super) struct CommitUuids {
    pub(super) boundary: String,
    pub(super) signed: String,
    pub(super) summary: String,
    pub(super) attachments: Vec<String>,
}

/// The contents of a boundary besides the summary's origin and the losses.
#[derive(Clone, Copy)]
pub(super) struct BoundaryDetails<'a> {
    pub(super) recompaction: &'a Recompaction,
    /// The entry up to which thinking is not sent again.
    pub(super) stripped: Option<&'a str>,
    /// The tokens in the window with the new view.
    pub(super) window: u64,
    /// The known size of the new request prefix.
    pub(super) head: Option<PrefixCount>,
    pub(super) now: Timestamp,
}

impl Engine {
    /// Boundary, summary and attachments.
    pub(super) fn lines(
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
            "waitedMs": compaction.was_awaited(now),
            "tookMs": compaction.took(now),
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
}
