//! Drives the core's attempt for a conversation alone: what it decides about summaries is performed as the gateway performs it.

use std::fmt;
use std::sync::Arc;

use longhaul::Model;
use longhaul_core::engine::SummaryReply;
use longhaul_core::history::{
    AppendedRequestWay, AttemptContext, AttemptEffect, AttemptInput, AttemptOccasion,
    CompactionAttempt, DiscardReason, FailureTransience, HistoryState, KeptDraft, MeasuredReply,
    PlainRequestSupport, SummaryRequestFacts, SummarySource,
};
use longhaul_core::window::Switches;
use longhaul_gateway::manage::{
    CompactableConversation, CompactedDraft, CompactorSettings, DraftError, SummaryText,
    draft_summary, written_summary,
};

/// Why there is no summary.
#[derive(Debug)]
pub(super) struct NoSummary {
    pub(super) reason: DiscardReason,
    /// Why the last draft could not be made, if it could not.
    pub(super) error: Option<DraftError>,
}

impl fmt::Display for NoSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {:?}", self.reason, self.error)
    }
}

/// Summarizes a conversation: by `reply`, if that is a summary, by `model`, or with extracts. Whether the draft is worth its
/// price does not matter here.
pub(super) async fn summarize(
    talk: &CompactableConversation,
    reply: Option<SummaryReply>,
    model: Option<Arc<dyn Model>>,
    settings: &CompactorSettings,
) -> Result<CompactedDraft, NoSummary> {
    let window = settings.window(&talk.model).unwrap();
    let switches = Switches {
        micro: false,
        ..Switches::default()
    };
    let mut state = HistoryState::default();
    let used = window.auto_compact;
    let measured = MeasuredReply {
        used,
        ..MeasuredReply::default()
    };
    state.answered(measured, settings.now);
    let mut attempt = CompactionAttempt::new(AttemptContext {
        occasion: AttemptOccasion::Ahead,
        window,
        switches: &switches,
        state,
        counted: 0,
        asking: SummaryRequestFacts {
            used: 0,
            counted: 0,
            before_messages: settings.before_messages,
            question: 0,
            behind: match reply {
                Some(_) => AppendedRequestWay::AsItIs,
                None => AppendedRequestWay::No("nobody is asked"),
            },
            plain: match model {
                Some(_) => PlainRequestSupport::Possible,
                None => PlainRequestSupport::Impossible,
            },
        },
    });
    let written = reply.as_ref().and_then(written_summary);
    let mut last = None;
    while let Some(effect) = attempt.poll() {
        let input = match effect {
            AttemptEffect::EstimateSummary => AttemptInput::SummaryLeaves(0),
            AttemptEffect::UseNotes => AttemptInput::Noted(None),
            AttemptEffect::AskBehind(_) => match &written {
                Some(_) => AttemptInput::Answered,
                None => AttemptInput::NotAnswered {
                    passes: FailureTransience::Stays,
                },
            },
            AttemptEffect::Summarize { source, most_left } => {
                let text = match source {
                    SummarySource::Answer => SummaryText::Written(written.clone().unwrap()),
                    SummarySource::PlainRequest(_) => SummaryText::Model(model.clone().unwrap()),
                    SummarySource::Extracts => SummaryText::Extracts,
                };
                let draft = draft_summary(talk, text, Some(most_left), settings).await;
                let input = match &draft {
                    Ok(draft) => AttemptInput::Summarized(draft.sizes()),
                    Err(error) => AttemptInput::NotSummarized(error.reason()),
                };
                last = Some(draft);
                input
            }
            AttemptEffect::Discard(KeptDraft::Summary, DiscardReason::FreesTooLittle)
            | AttemptEffect::Keep(KeptDraft::Summary) => return Ok(last.unwrap().unwrap()),
            AttemptEffect::Discard(KeptDraft::Summary, reason) => {
                let error = last.and_then(Result::err);
                return Err(NoSummary { reason, error });
            }
            AttemptEffect::Change(_) => continue,
            other => unreachable!("{other:?}"),
        };
        attempt.handle(input);
    }
    unreachable!("an attempt says how it ends")
}
