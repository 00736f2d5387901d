//! The text before the first message: memory files, the date, the selection in an editor (A4).
//!
//! It is part of the request prefix and so of the cached prefix: it is made once, and again after a clear or a
//! compaction. [`memory`](super::memory) finds the memory files.

use std::borrow::Cow;
use std::path::PathBuf;

use jiff::civil::Date;

use super::fragment::{fill, shown_path};
use super::memory::MemoryFile;
use super::memory_part::memory_part;
use super::truncated_source::TruncatedSource;
use crate::tokens::cut;
use crate::tokens::{Estimate, RoughEstimator};
use crate::window::WindowScale;

/// The sources of the text before a conversation.
#[derive(Debug, Clone, Copy, Default)]
pub struct ContextSources<'a> {
    /// The memory files, in the order in which they are to be read.
    pub memory: &'a [MemoryFile],
    /// The user's date.
    pub date: Option<Date>,
    /// The selection in the user's editor, if the host has one.
    pub selection: Option<&'a EditorSelection>,
}

/// A selection in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorSelection {
    /// The path of the file.
    pub path: PathBuf,
    /// The first and last line, counted from one.
    pub lines: Option<(u32, u32)>,
    /// The selected text.
    pub text: String,
}

/// The maximum number of tokens of the sources, by padded estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextBudget {
    /// The budget for all memory files together, with their titles.
    pub memory: u64,
    /// The budget for the selection.
    pub selection: u64,
}

impl ContextBudget {
    /// The budget in a large window.
    pub const FULL: Self = Self {
        memory: 40_000,
        selection: 5_000,
    };

    /// Returns the budget in a window of this scale: below 100K tokens, memory files of 40K would leave no room to
    /// work.
    pub fn at(scale: WindowScale) -> Self {
        Self {
            memory: scale.apply(Self::FULL.memory),
            selection: scale.apply(Self::FULL.selection),
        }
    }

    /// The maximum number of bytes of a file that can be of use: no text needs more than three bytes per unit in UTF-8.
    pub const fn most_bytes_of_a_file(self) -> u64 {
        cut::units_within(self.memory).saturating_mul(3)
    }
}

/// The text before the first message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserContext {
    /// The whole text, reminder tags included.
    pub text: String,
    /// The weight of the text.
    pub weight: Estimate,
    /// The weight of its memory files, with their titles.
    pub memory_weight: Estimate,
    /// The sources that did not fit. A host tells its user.
    pub cuts: Vec<TruncatedSource>,
}

impl UserContext {
    /// Returns the text for these sources, or `None` if there are none.
    pub fn new(sources: &ContextSources<'_>, budget: ContextBudget) -> Option<Self> {
        let mut cuts = Vec::new();
        let memory = memory_part(sources.memory, budget.memory, &mut cuts);
        let date = sources.date.map(|date| {
            let date = date.to_string();
            fill(include_str!("fragments/date.md"), |_| {
                Some(Cow::Borrowed(&*date))
            })
            .text
        });
        let selection = sources
            .selection
            .filter(|selection| !selection.text.trim().is_empty())
            .map(|selection| selection_part(selection, budget.selection, &mut cuts));
        let memory_weight = memory
            .as_deref()
            .map(RoughEstimator::text)
            .unwrap_or_default();
        let parts: Vec<_> = [memory, date, selection].into_iter().flatten().collect();
        if parts.is_empty() {
            return None;
        }
        // A memory file that contains the tags of this element must not end it.
        let parts = crate::quoting::hosts_words(&parts.join("\n\n"));
        let text = fill(include_str!("fragments/user_context.md"), |_| {
            Some(Cow::Borrowed(&*parts))
        })
        .text;
        Some(Self {
            weight: RoughEstimator::text(&text),
            text,
            memory_weight,
            cuts,
        })
    }
}

fn selection_part(
    selection: &EditorSelection,
    tokens: u64,
    cuts: &mut Vec<TruncatedSource>,
) -> String {
    let path = shown_path(&selection.path);
    let place = match selection.lines {
        Some((first, last)) if first == last => format!("{path}, line {first}"),
        Some((first, last)) => format!("{path}, lines {first} to {last}"),
        None => path.to_string(),
    };
    // The beginning is not trimmed: white space there is indentation.
    let text = selection.text.trim_end();
    let kept = cut::at_line(text, cut::units_within(tokens)).trim_end();
    let mut shown = kept.to_owned();
    if kept.len() < text.len() {
        let missing = RoughEstimator::text(&text[kept.len()..]);
        let note = fill(
            include_str!("fragments/selection_cut.md"),
            |name| match name {
                "path" => Some(path.clone()),
                _ => Some(missing.unpadded().to_string().into()),
            },
        );
        shown = format!("{kept}\n{}", note.text);
        cuts.push(TruncatedSource {
            path: selection.path.clone(),
            kept: RoughEstimator::text(kept),
            missing,
        });
    }
    fill(include_str!("fragments/selection.md"), |name| match name {
        "place" => Some(Cow::Borrowed(&*place)),
        _ => Some(Cow::Borrowed(&*shown)),
    })
    .text
}
