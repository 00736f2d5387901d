//! Full and partial compaction by a model: what is asked of it, what is taken of its answer, what stands in the
//! conversation afterwards (F, P).
//!
//! Pure pieces only. `cut` decides what is summed up and what is kept, `kept_files` what of it need
//! not be restored, `prompt` what the model is asked, `strip` what a
//! plain request leaves out, `read` whether an answer is a summary, `message` what the next turns will see. Sending lives
//! in the shell; the lines that go into the transcript are made in `boundary/`.

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

/// Fragments as one text, a blank line between them; blank ones add nothing.
pub(crate) fn joined(parts: &[&str]) -> String {
    let parts = parts.iter().map(|part| part.trim());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}
