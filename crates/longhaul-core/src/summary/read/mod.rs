//! Reads the summarizer's reply: the result is a summary or the reason why it is not one (F6).

mod tags;

pub(crate) use tags::collapsed;

use crate::quoting::without_claims;

/// Why a reply ended, as far as it matters for a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SummaryStop {
    /// The model finished its reply.
    Finished,
    /// The reply reached the limit on its output or the end of the window.
    CutOff,
    /// The window was full before the reply was complete: the request left too little room.
    WindowFull,
    /// The model wants to run a tool.
    ToolUse,
    /// The provider or the model declined.
    Refusal,
}

/// A reply to a request for a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryReplyText<'a> {
    /// The text blocks of the reply, joined.
    pub text: &'a str,
    /// The number of tool calls in the reply.
    pub calls: usize,
    /// Why the reply ended.
    pub stop: SummaryStop,
}

impl SummaryReplyText<'_> {
    /// Whether the reply is a text at all, rather than a call or a refusal.
    pub(crate) fn is_text(&self) -> Result<(), SummaryFailure> {
        match self.stop {
            SummaryStop::Refusal => Err(SummaryFailure::Refusal),
            _ if self.calls > 0 => Err(SummaryFailure::ToolCall),
            SummaryStop::ToolUse => Err(SummaryFailure::ToolCall),
            SummaryStop::Finished | SummaryStop::CutOff | SummaryStop::WindowFull => Ok(()),
        }
    }
}

/// A summary: not blank, under a heading, without the draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary(String);

impl Summary {
    /// Creates the summary of a conversation in which nothing was said.
    pub fn of_nothing() -> Self {
        Self(format!(
            "{HEADING}\n\nNothing was said that could be summed up."
        ))
    }

    /// Creates a summary from extracts, unchanged: the user's words in it stay to the letter. Returns `None` if it is
    /// blank.
    pub fn of_extracts(text: &str) -> Option<Self> {
        let text = text.trim_matches('\n');
        says_something(text).then(|| Self(format!("{HEADING}\n\n{text}")))
    }

    /// Creates a summary that a model wrote or the user edited. Lines that look like the engine's own are quoted.
    /// Returns `None` if it is blank.
    pub fn new(text: &str) -> Option<Self> {
        Self::of_notes(&without_claims(text))
    }

    /// Creates a summary from notes, whose parts were guarded when they were combined. Returns `None` if they are
    /// blank.
    pub(crate) fn of_notes(text: &str) -> Option<Self> {
        let text = tags::collapsed(text);
        says_something(&text).then(|| Self(format!("{HEADING}\n\n{text}")))
    }

    /// Returns the summary with another text under its heading.
    #[must_use]
    pub(crate) fn reworded(&self, reword: impl FnOnce(&str) -> String) -> Self {
        Self(format!("{HEADING}\n\n{}", reword(self.body())))
    }

    /// Returns the summary in at most `tokens` tokens by the padded estimate. Every section is shortened before any is
    /// left out.
    pub(crate) fn condensed(&self, tokens: u64) -> Self {
        let text = super::condense::condense(&self.0, tokens);
        if says_something(&text) {
            Self(text)
        } else {
            Self(format!("{HEADING}\n\nThere was no room for it."))
        }
    }

    /// The text, heading included.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The text without its heading, which a user is given to edit.
    pub fn body(&self) -> &str {
        self.0.strip_prefix(HEADING).unwrap_or(&self.0).trim_start()
    }
}

/// The heading that replaces the summary's tags.
const HEADING: &str = "## Summary";

/// Why a reply is not a summary. Nothing is replaced in this case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryFailure {
    /// The reply says something else, or nothing.
    #[error("the model answered without a summary")]
    NoSummary,
    /// The reply has a summary, but it is empty.
    #[error("the model's summary was empty")]
    Empty,
    /// The reply calls a tool.
    #[error("the model called a tool instead of summarizing")]
    ToolCall,
    /// The model or the provider declined.
    #[error("the model declined to summarize the conversation")]
    Refusal,
    /// The text of the reply is an error of the API.
    #[error("the summary request was answered with an error: {text}")]
    ApiErrorText {
        /// The beginning of the text.
        text: String,
    },
    /// The reply folds some of the requested spans but not this one.
    #[error("the model left out part {number} of the conversation that it was asked to summarize")]
    MissingFold {
        /// The number of the first missing span; 0 is the one for all earlier folds.
        number: usize,
    },
    /// The reply was cut off before its end. The missing sections, the newest work and the next step, are those that
    /// the next turn needs most: the rest is used only with extracts in their place.
    #[error("the summary was cut off after {sections} of its sections; allow more output tokens")]
    Truncated {
        /// The number of sections that had begun.
        sections: usize,
    },
}

impl SummaryFailure {
    /// A short fixed name, for events.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSummary => "no_summary",
            Self::Empty => "empty_summary",
            Self::ToolCall => "tool_call",
            Self::Refusal => "refusal",
            Self::ApiErrorText { .. } => "api_error",
            Self::MissingFold { .. } => "missing_fold",
            Self::Truncated { .. } => "truncated",
        }
    }
}

/// The minimum number of sections in a text without tags for it to count as a summary whose tags were forgotten.
const ENOUGH_SECTIONS: usize = 5;

/// Reads a reply.
///
/// # Errors
/// Fails if the reply has no summary or an empty one, calls a tool, is an error or a refusal, or was cut off.
///
/// ```
/// use longhaul_core::summary::{SummaryReplyText, SummaryStop, read};
///
/// let reply = |text, stop| SummaryReplyText { text, calls: 0, stop };
/// let text = "<analysis>Thinking aloud.</analysis><summary>1. The user wants a fix.</summary>";
/// let summary = read(reply(text, SummaryStop::Finished))?;
/// assert!(summary.body().contains("The user wants a fix."));
/// assert!(!summary.body().contains("Thinking aloud"));
///
/// assert!(read(reply("", SummaryStop::Refusal)).is_err(), "a refusal is no summary");
/// # Ok::<(), longhaul_core::summary::SummaryFailure>(())
/// ```
pub fn read(reply: SummaryReplyText<'_>) -> Result<Summary, SummaryFailure> {
    reply.is_text()?;
    let parts = tags::take_apart(reply.text);
    if matches!(reply.stop, SummaryStop::CutOff | SummaryStop::WindowFull) && !parts.closed {
        let begun = parts.body.as_deref().unwrap_or(&parts.outside);
        return Err(SummaryFailure::Truncated {
            sections: sections(begun),
        });
    }
    let Some(body) = parts.body else {
        return untagged(&parts.outside, reply.text);
    };
    Summary::new(&body).ok_or(SummaryFailure::Empty)
}

/// Returns the beginning of a summary that was cut off. Returns `None` if the reply is complete or had not reached the
/// summary.
pub(crate) fn begun(reply: SummaryReplyText<'_>) -> Option<Summary> {
    let is_cut = matches!(reply.stop, SummaryStop::CutOff | SummaryStop::WindowFull);
    if !is_cut || reply.is_text().is_err() {
        return None;
    }
    let parts = tags::take_apart(reply.text);
    Summary::new(&parts.body?)
}

/// Reads a reply without a summary's tags.
fn untagged(outside: &str, whole: &str) -> Result<Summary, SummaryFailure> {
    if sections(outside) >= ENOUGH_SECTIONS
        && let Some(summary) = Summary::new(outside)
    {
        return Ok(summary);
    }
    Err(without_summary(whole))
}

/// Returns why a text without a summary is not one.
pub(crate) fn without_summary(text: &str) -> SummaryFailure {
    if is_api_error(text) {
        SummaryFailure::ApiErrorText {
            text: text.trim().chars().take(300).collect(),
        }
    } else {
        SummaryFailure::NoSummary
    }
}

pub(crate) fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Returns how many numbered headings follow each other, starting with 1.
fn sections(text: &str) -> usize {
    let mut found = 0;
    for line in text.lines() {
        let line = line.trim_start_matches(['#', '*', ' ', '\t']);
        let number = format!("{}", found + 1);
        let rest = line.strip_prefix(&number);
        if rest.is_some_and(|rest| rest.starts_with(['.', ')'])) {
            found += 1;
        }
    }
    found
}

/// How hosts begin an API error that they pass on as a reply.
const ERROR_OPENINGS: [&str; 12] = [
    "api error",
    "error: 4",
    "error: 5",
    "error code: ",
    "prompt is too long",
    "input is too long",
    "request timed out",
    "connection error",
    "credit balance is too low",
    "invalid api key",
    "overloaded",
    "{\"type\":\"error\"",
];

fn is_api_error(text: &str) -> bool {
    let opening: String = text.trim_start().chars().take(40).collect();
    let opening = opening.to_lowercase();
    ERROR_OPENINGS
        .iter()
        .any(|error| opening.starts_with(error))
}
