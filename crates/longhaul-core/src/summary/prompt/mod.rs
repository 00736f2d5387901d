//! The request to the summarizer (F4, F5), composed of fragments with one idea per file.

mod instructions;
mod quote;

pub use instructions::SummaryInstructions;
pub use quote::opening_words;

use crate::quoting::quoted;

/// The beginning of every request for a summary: it asks for a summary instead of work, and forbids tool calls.
pub(crate) const NO_TOOLS: &str = include_str!("no_tools.md");

/// How a summary distinguishes the user's words from the assistant's actions (Y4).
pub(crate) const WHOSE_WORDS: &str = include_str!("whose_words.md");

/// The system prompt of the plain request, which does not share the conversation's own (F7).
pub const PLAIN_SYSTEM: &str = include_str!("system.md");

/// Which part of the conversation is summarized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryPromptVariant<'a> {
    /// The whole conversation is summarized.
    Whole,
    /// The recent part is summarized; the earlier part is kept before the summary.
    From {
        /// How the first message of the recent part begins; see [`opening_words`].
        quote: &'a str,
    },
    /// Everything that the summarizer sees is summarized; newer messages are kept after the summary.
    UpTo,
}

/// Returns the text of the message that asks for a summary.
pub fn prompt(variant: SummaryPromptVariant<'_>, instructions: &SummaryInstructions<'_>) -> String {
    let (task, what) = match variant {
        SummaryPromptVariant::Whole => {
            (include_str!("task_whole.md").to_owned(), "the conversation")
        }
        SummaryPromptVariant::From { quote } => (
            include_str!("task_from.md").replace("{quote}", &quoted(quote.trim())),
            "the recent part",
        ),
        SummaryPromptVariant::UpTo => {
            (include_str!("task_up_to.md").to_owned(), "the conversation")
        }
    };
    let draft = include_str!("draft.md").replace("{what}", what);
    let sections = sections(variant).map(str::trim).join("\n");
    let added = instructions.text();
    super::joined(&[
        NO_TOOLS,
        &task,
        &draft,
        include_str!("answer.md"),
        &sections,
        WHOSE_WORDS,
        &added,
        include_str!("closing.md"),
    ])
}

/// The maximum number of characters of instructions that the provider's own compaction accepts.
const PROVIDER_MOST: usize = 16_384;

/// Returns the instructions for the provider's own summary (N3). They replace the provider's prompt, so they are sent
/// whole or not at all: the outer option is `None` if they are too long, and the inner one if there are no
/// instructions.
pub(crate) fn provider_instructions(
    instructions: &SummaryInstructions<'_>,
) -> Option<Option<String>> {
    let added = instructions.text();
    if added.trim().is_empty() {
        return Some(None);
    }
    let text = super::joined(&[include_str!("provider.md"), &added]);
    (text.chars().count() <= PROVIDER_MOST).then_some(Some(text))
}

/// Returns the nine sections. A summary that is followed by newer messages has nothing to say about current work or a
/// next step.
fn sections(variant: SummaryPromptVariant<'_>) -> [&'static str; 9] {
    let (eighth, ninth) = match variant {
        SummaryPromptVariant::Whole | SummaryPromptVariant::From { .. } => (
            include_str!("sections/8_current.md"),
            include_str!("sections/9_next.md"),
        ),
        SummaryPromptVariant::UpTo => (
            include_str!("sections/8_completed.md"),
            include_str!("sections/9_continuing.md"),
        ),
    };
    [
        include_str!("sections/1_request.md"),
        include_str!("sections/2_concepts.md"),
        include_str!("sections/3_files.md"),
        include_str!("sections/4_errors.md"),
        include_str!("sections/5_solving.md"),
        include_str!("sections/6_messages.md"),
        include_str!("sections/7_pending.md"),
        eighth,
        ninth,
    ]
}
