//! A new view that was put together and weighed, and is not written yet. `draft.rs` makes it.

use serde_json::Value;

use super::draft_level::{DraftLevel, LeftOutReason};
use super::event::Summarizer;
use super::signed_summary::SignedSummary;
use super::user_words_state::UserWordsState;
use crate::report::LossReport;
use crate::summary::Summary;
use crate::tokens::Estimate;

/// A new view that is not written yet.
#[derive(Debug)]
pub(super) struct ViewDraft {
    /// How much there is in it, and why not more.
    pub(super) level: DraftLevel,
    pub(super) left_out: LeftOutReason,
    /// The summary's author, if the summary was shortened.
    pub(super) shortened: Option<Summarizer>,
    pub(super) summary: Summary,
    pub(super) by: Summarizer,
    /// The provider's own summary, if that is used.
    pub(super) signed: Option<SignedSummary>,
    /// The text of the summary message.
    pub(super) message: String,
    /// The attachments that follow the summary message.
    pub(super) attachments: Vec<Value>,
    pub(super) restored: Vec<std::path::PathBuf>,
    pub(super) report: LossReport,
    pub(super) words: UserWordsState,
    /// The estimate of the new view.
    pub(super) weight: Estimate,
    /// The padded estimate of the new view.
    pub(super) after: u64,
    /// The expected count of the new view, including the request prefix.
    pub(super) with_head: u64,
}

impl ViewDraft {
    /// Says in the report what is not in the view, and why. This is known only once the draft was chosen.
    pub(super) fn with_note(mut self) -> Self {
        let note = (self.level).note(self.shortened, self.words, self.left_out);
        self.report.notes.extend(note);
        self
    }
}
