//! How far the requests for a summary have come. `summarize.rs` makes them.

use super::event::Summarizer;
use crate::rounds::RequestLead;
use crate::summary::Summary;

/// How the model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SummaryRoute {
    Provider,
    #[default]
    Fork,
    Plain,
}

impl SummaryRoute {
    /// The route to take when this one fails.
    pub(super) fn next(self) -> Self {
        match self {
            Self::Provider => Self::Fork,
            Self::Fork | Self::Plain => Self::Plain,
        }
    }
}

/// The progress of a summary request.
#[derive(Debug, Default)]
pub(super) struct SummaryRequestState {
    pub(super) path: SummaryRoute,
    pub(super) stream_retries: u32,
    pub(super) too_long_retries: u32,
    /// The first entry that is still sent, and the text before it.
    pub(super) shortened: Option<(usize, RequestLead)>,
    /// The longest summary that was cut off, and its author.
    pub(super) begun: Option<(Summary, Summarizer)>,
}

impl SummaryRequestState {
    /// Remembers a summary that was cut off, unless a longer one is known.
    pub(super) fn keep_begun(&mut self, begun: Summary, by: Summarizer) {
        let known = self.begun.as_ref();
        if known.is_none_or(|(known, _)| known.text().len() < begun.text().len()) {
            self.begun = Some((begun, by));
        }
    }
}
