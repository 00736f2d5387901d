//! Full and partial compaction by a model: the request, the reading of its answer, and the message that replaces the
//! summarized part (F, P).
//!
//! This module has no side effects. `cut` decides what is summarized and what is kept, `kept_files` finds files that
//! need not be restored, `prompt` writes the request, `strip` removes parts of entries for a plain request, `read`
//! decides whether an answer is a summary, and `message` writes the text for the next turns. The shell sends requests;
//! `boundary/` writes the transcript lines.

mod condense;
mod cut;
mod kept_files;
pub mod message;
mod prompt;
mod read;
mod strip;

pub use cut::{CompactionScope, PivotDirection, safe_cut};
pub use kept_files::{ReadTools, kept_files};
pub(crate) use prompt::provider_instructions;
pub(crate) use prompt::{NO_TOOLS, WHOSE_WORDS};
pub use prompt::{PLAIN_SYSTEM, SummaryInstructions, SummaryPromptVariant, opening_words, prompt};
pub use read::{Summary, SummaryFailure, SummaryReplyText, SummaryStop, read};
pub(crate) use read::{begun, collapsed, says_something, without_summary};
pub use strip::{DOCUMENT, IMAGE, StrippedEntry, strip};

/// Joins fragments into one text with blank lines between them. Blank fragments are skipped.
pub(crate) fn joined(parts: &[&str]) -> String {
    let parts = parts.iter().map(|part| part.trim());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}
