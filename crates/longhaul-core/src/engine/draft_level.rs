//! How much is put into a new view: from everything to hardly anything, but for the user's words, which leave last.

use super::draft::UserWordsState;
use super::event::Summarizer;

/// How much of what is not the user's is put into the new view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DraftLevel {
    pub(super) back: RestoreChoice,
    pub(super) length: SummaryLength,
}

/// What was gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestoreChoice {
    /// It goes back into view: files, skills and the like.
    Put,
    /// It does not.
    Left,
}

/// How long the summary is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SummaryLength {
    /// As it was given.
    Given,
    /// At most so many tokens, scaled with the window.
    AtMost(u64),
    /// At most so many tokens.
    Exactly(u64),
}

/// Tokens for a shorter summary, for a short one, and for hardly any.
const SHORTER: u64 = 4_000;
pub(super) const SHORT: u64 = 2_000;
pub(super) const LEAST: u64 = 300;

/// From everything to hardly anything.
pub(super) const LADDER: [DraftLevel; 6] = [
    DraftLevel::new(RestoreChoice::Put, SummaryLength::Given),
    DraftLevel::new(RestoreChoice::Put, SummaryLength::AtMost(SHORTER)),
    DraftLevel::new(RestoreChoice::Left, SummaryLength::Given),
    DraftLevel::new(RestoreChoice::Left, SummaryLength::AtMost(SHORTER)),
    DraftLevel::new(RestoreChoice::Left, SummaryLength::AtMost(SHORT)),
    DraftLevel::LEAST,
];

impl DraftLevel {
    pub(super) const LEAST: Self = Self::of_length(SummaryLength::AtMost(LEAST));

    const fn new(back: RestoreChoice, length: SummaryLength) -> Self {
        Self { back, length }
    }

    /// Nothing is put back, and the summary has a length.
    pub(super) const fn of_length(length: SummaryLength) -> Self {
        Self::new(RestoreChoice::Left, length)
    }

    /// Whether a summary of this origin may be treated so. What a model was paid for is condensed only when nothing is put
    /// back any more; notes (S6) and what a person approved never.
    pub(super) fn suits(self, by: Summarizer) -> bool {
        match (self.length, by) {
            (SummaryLength::Given, _) | (_, Summarizer::Local) => true,
            (_, Summarizer::Notes | Summarizer::Approved) => false,
            (_, _) => self.back == RestoreChoice::Left,
        }
    }

    /// For the loss report; `shortened` is who wrote the summary, if it is shorter than they made it.
    pub(super) fn note(
        self,
        shortened: Option<Summarizer>,
        words: UserWordsState,
    ) -> Option<String> {
        let mut left = Vec::new();
        if self.back == RestoreChoice::Left {
            left.push("files, todos and the rest were not put back");
        }
        match shortened {
            None => {}
            Some(Summarizer::Local) => left.push("the summary was made shorter"),
            Some(_) => left.push("the model's summary was condensed"),
        }
        if words == UserWordsState::Cut {
            left.push("rules and the user's newest messages were kept first, and older ones as far as there was room");
        }
        let left = left.join("; ");
        (!left.is_empty()).then(|| format!("To make the conversation fit: {left}."))
    }
}
