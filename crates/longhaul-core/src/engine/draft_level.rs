//! How much goes into a new view: from everything to hardly anything, except for the user's words, which are cut last.

use super::event::Summarizer;
use super::user_words_state::UserWordsState;

/// How much goes into the new view besides the user's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DraftLevel {
    pub(super) back: RestoreChoice,
    pub(super) length: SummaryLength,
}

/// Whether the gathered context is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestoreChoice {
    /// Files, skills and the like are restored.
    Put,
    /// Nothing is restored.
    Left,
}

/// The length of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SummaryLength {
    /// The summary stays as it is.
    Given,
    /// The summary has at most this many tokens, scaled with the window.
    AtMost(u64),
    /// The summary has at most this many tokens, not scaled.
    Exactly(u64),
}

/// Why a view has less in it than there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeftOutReason {
    /// A fuller view would have been too large for the window.
    NoRoom,
    /// A fuller view had room, but would not have been smaller than the one it replaces.
    NotSmaller,
}

/// Tokens for a shorter summary, a short one, and a minimal one.
const SHORTER: u64 = 4_000;
pub(super) const SHORT: u64 = 2_000;
pub(super) const LEAST: u64 = 300;

/// The levels, from everything to hardly anything.
pub(super) const LADDER: [DraftLevel; 6] = [
    DraftLevel::new(RestoreChoice::Put, SummaryLength::Given),
    DraftLevel::new(RestoreChoice::Put, SummaryLength::AtMost(SHORTER)),
    DraftLevel::GIVEN_ALONE,
    DraftLevel::new(RestoreChoice::Left, SummaryLength::AtMost(SHORTER)),
    DraftLevel::new(RestoreChoice::Left, SummaryLength::AtMost(SHORT)),
    DraftLevel::LEAST,
];

impl DraftLevel {
    pub(super) const LEAST: Self = Self::of_length(SummaryLength::AtMost(LEAST));

    /// The whole summary, and nothing restored.
    pub(super) const GIVEN_ALONE: Self = Self::of_length(SummaryLength::Given);

    const fn new(back: RestoreChoice, length: SummaryLength) -> Self {
        Self { back, length }
    }

    /// The level that restores nothing and limits the summary.
    pub(super) const fn of_length(length: SummaryLength) -> Self {
        Self::new(RestoreChoice::Left, length)
    }

    /// Whether this level may be used for a summary of this author. A model's summary was paid for, so it is condensed
    /// only when nothing is restored any more; notes (S6) and approved summaries are never condensed.
    pub(super) fn suits(self, by: Summarizer) -> bool {
        match (self.length, by) {
            (SummaryLength::Given, _) | (_, Summarizer::Local) => true,
            (_, Summarizer::Notes | Summarizer::Approved) => false,
            (_, _) => self.back == RestoreChoice::Left,
        }
    }

    /// The note for the loss report; `shortened` is the summary's author, if the summary was shortened.
    pub(super) fn note(
        self,
        shortened: Option<Summarizer>,
        words: UserWordsState,
        reason: LeftOutReason,
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
        let why = match reason {
            LeftOutReason::NoRoom => "To make the conversation fit",
            LeftOutReason::NotSmaller => "The conversation would not have become smaller otherwise",
        };
        (!left.is_empty()).then(|| format!("{why}: {left}."))
    }
}
