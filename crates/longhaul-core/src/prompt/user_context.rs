//! The text that goes before the first message: memory files, the date, what is selected in an editor (A4).
//!
//! It is part of the head and so of the cache's prefix: it is made once, and again after a clear or a compaction.
//! Where memory files are found is told by [`memory`](super::memory).

use std::borrow::Cow;
use std::path::PathBuf;

use jiff::civil::Date;

use super::fragment::{fill, shown_path};
use super::memory::MemoryFile;
use super::memory_part::memory_part;
use crate::tokens::cut;
use crate::tokens::{Estimate, RoughEstimator};
use crate::window::WindowScale;

/// What there is to say before a conversation.
#[derive(Debug, Clone, Copy, Default)]
pub struct ContextSources<'a> {
    /// Memory files, in the order in which they are to be read.
    pub memory: &'a [MemoryFile],
    /// The user's date.
    pub date: Option<Date>,
    /// What is selected in the user's editor, if the host has one.
    pub selection: Option<&'a EditorSelection>,
}

/// A selection in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorSelection {
    /// The file.
    pub path: PathBuf,
    /// Its first and last line, counted from one.
    pub lines: Option<(u32, u32)>,
    /// The selected text.
    pub text: String,
}

/// How many tokens the sources may take, by padded estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextBudget {
    /// For all memory files together, with their titles.
    pub memory: u64,
    /// For the selection.
    pub selection: u64,
}

impl ContextBudget {
    /// That of a large window.
    pub const FULL: Self = Self {
        memory: 40_000,
        selection: 5_000,
    };

    /// That of a window of this scale: below 100K tokens, memory files that took 40K would leave no room to work.
    pub fn at(scale: WindowScale) -> Self {
        Self {
            memory: scale.apply(Self::FULL.memory),
            selection: scale.apply(Self::FULL.selection),
        }
    }

    /// The most bytes of a file that can be of use: no text is longer in UTF-8 than three bytes a unit.
    pub const fn most_bytes_of_a_file(self) -> u64 {
        cut::units_within(self.memory).saturating_mul(3)
    }
}

/// A source that did not fit whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruncatedSource {
    /// The file.
    pub path: PathBuf,
    /// What of it is shown.
    pub kept: Estimate,
    /// What is missing.
    pub missing: Estimate,
}

/// The text before the first message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserContext {
    /// The whole text, reminder tags included.
    pub text: String,
    /// What it weighs.
    pub weight: Estimate,
    /// What its memory files weigh, with their titles.
    pub memory_weight: Estimate,
    /// What did not fit. A host tells its user.
    pub cuts: Vec<TruncatedSource>,
}

impl UserContext {
    /// The text for these sources; none if there is nothing to say.
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
        // A memory file that names the tags of this element must not end it.
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
    // Not trimmed in front: there, white space is indentation.
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
