//! From the summariser's reply to a summary, or to the reason why it is none (F6).

mod tags;

pub(crate) use tags::collapsed;

use crate::quoting::without_claims;

/// Why a reply ended, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryStop {
    /// The model had said what it wanted to say.
    Finished,
    /// It reached the limit on its output, or the end of the window.
    CutOff,
    /// The window was full before it was done: the request left too little room.
    WindowFull,
    /// It wants a tool to run.
    ToolUse,
    /// The provider or the model declined.
    Refusal,
}

/// A reply to a request for a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryReplyText<'a> {
    /// Its text blocks, joined.
    pub text: &'a str,
    /// How many tools it calls.
    pub calls: usize,
    /// Why it ended.
    pub stop: SummaryStop,
}

impl SummaryReplyText<'_> {
    /// Whether it is a text at all, rather than a call or a refusal.
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
    /// The summary of a conversation in which nothing is said.
    pub fn of_nothing() -> Self {
        Self(format!(
            "{HEADING}\n\nNothing was said that could be summed up."
        ))
    }

    /// A summary made of extracts, as they stand: what the user wrote in it stays to the letter. None if it is blank.
    pub fn of_extracts(text: &str) -> Option<Self> {
        let text = text.trim_matches('\n');
        says_something(text).then(|| Self(format!("{HEADING}\n\n{text}")))
    }

    /// A summary that a model wrote or the user edited. Lines of it that look like the engine's own are quoted. None if it
    /// is blank.
    pub fn new(text: &str) -> Option<Self> {
        Self::of_notes(&without_claims(text))
    }

    /// Notes, whose parts were guarded when they were put together. None if they are blank.
    pub(crate) fn of_notes(text: &str) -> Option<Self> {
        let text = tags::collapsed(text);
        says_something(&text).then(|| Self(format!("{HEADING}\n\n{text}")))
    }

    /// The same summary with other words under its heading.
    #[must_use]
    pub(crate) fn reworded(&self, reword: impl FnOnce(&str) -> String) -> Self {
        Self(format!("{HEADING}\n\n{}", reword(self.body())))
    }

    /// It in at most so many tokens by the padded estimate, every section of it shortened before any is left out.
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

    /// The text without its heading: what a user is given to edit.
    pub fn body(&self) -> &str {
        self.0.strip_prefix(HEADING).unwrap_or(&self.0).trim_start()
    }
}

/// What the summary's tags become.
const HEADING: &str = "## Summary";

/// Why a reply is no summary. Nothing is replaced then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SummaryFailure {
    /// It says something else, or nothing.
    #[error("the model answered without a summary")]
    NoSummary,
    /// There is a summary, with nothing in it.
    #[error("the model's summary was empty")]
    Empty,
    /// It called a tool.
    #[error("the model called a tool instead of summarising")]
    ToolCall,
    /// It was declined.
    #[error("the model declined to summarise the conversation")]
    Refusal,
    /// Its text is an error of the API.
    #[error("the summary request was answered with an error: {text}")]
    ApiErrorText {
        /// The beginning of that text.
        text: String,
    },
    /// It folds some of the spans it was asked for, and not this one.
    #[error("the model left out part {number} of what it was to sum up")]
    MissingFold {
        /// The number of the first that is missing; 0 is the one for all earlier folds.
        number: usize,
    },
    /// It was cut off before its end. The sections that are missing, the newest work and the next step, are those the next
    /// turn needs most: what is there is used only with extracts in their place.
    #[error("the summary was cut off after {sections} of its sections; allow more output tokens")]
    Truncated {
        /// How many sections had begun.
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

/// How many sections a text without tags must have to be taken for a summary whose tags were forgotten.
const ENOUGH_SECTIONS: usize = 5;

/// Reads a reply.
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

/// What there is of a summary that was cut off. None where the reply is whole, or had not come to the summary.
pub(crate) fn begun(reply: SummaryReplyText<'_>) -> Option<Summary> {
    let is_cut = matches!(reply.stop, SummaryStop::CutOff | SummaryStop::WindowFull);
    if !is_cut || reply.is_text().is_err() {
        return None;
    }
    let parts = tags::take_apart(reply.text);
    Summary::new(&parts.body?)
}

/// A reply without a summary's tags.
fn untagged(outside: &str, whole: &str) -> Result<Summary, SummaryFailure> {
    if sections(outside) >= ENOUGH_SECTIONS
        && let Some(summary) = Summary::new(outside)
    {
        return Ok(summary);
    }
    Err(without_summary(whole))
}

/// What a text is that holds no summary.
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

/// How many numbered headings follow each other from 1 on.
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

/// How hosts word an error of the API when they hand it on as a reply.
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
