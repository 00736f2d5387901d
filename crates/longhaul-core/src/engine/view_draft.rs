//! A new view that was put together and weighed, and is not written yet. `draft.rs` makes it.

use serde_json::Value;

use super::event::Summarizer;
use super::signed_summary::SignedSummary;
use super::user_words_state::UserWordsState;
use crate::report::LossReport;
use crate::summary::Summary;
use crate::tokens::Estimate;

/// A new view that is not written yet.
#[derive(Debug)]
pub(super) struct ViewDraft {
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
