//! What a rendering depends on beside the entries.

use crate::hash::Set;
use crate::message::{EntryView, Id};

/// What a rendering depends on beside the entries. All of it is on disk (M7): in the head, or in boundaries.
#[derive(Debug, Clone, Default)]
pub struct RenderOptions {
    /// The text that goes before the first message, whole, reminder tags included (A4).
    pub user_context: Option<String>,
    /// Results whose content is replaced by the marker (U2), and attachments that are not sent any more (U6).
    pub cleared: Vec<Id>,
    /// Thinking of entries up to and including this one is not sent (N2). If it is not in the history, it lies before it
    /// and nothing of the history is meant.
    pub thinking_stripped_through: Option<Id>,
    /// Results carry a `cache_reference` (B3).
    pub cache_references: bool,
    /// Beta features that the request asks for: some block types need one.
    pub betas: Vec<String>,
    /// The most images a request may hold; 0: no limit is known.
    pub most_images: usize,
    /// Names of the tools that the request defines: a `tool_reference` to any other would be refused, and becomes text.
    pub tools: Vec<String>,
}

/// The options in the form in which they are asked for once a block.
#[derive(Debug, Default)]
pub(super) struct RenderRules {
    pub(super) cleared: Set<Id>,
    pub(super) tools: Set<String>,
    pub(super) betas: Vec<String>,
    pub(super) references: CacheReferences,
}

/// Whether results can be referred to by cache edits (B3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CacheReferences {
    /// They carry nothing for it.
    #[default]
    Left,
    /// They carry their call's id.
    Written,
}

impl RenderRules {
    pub(super) fn of(options: &RenderOptions) -> Self {
        Self {
            cleared: options.cleared.iter().copied().collect(),
            tools: options.tools.iter().cloned().collect(),
            betas: options.betas.clone(),
            references: if options.cache_references {
                CacheReferences::Written
            } else {
                CacheReferences::Left
            },
        }
    }

    /// Whether an attachment is not sent any more.
    pub(super) fn clears(&self, attachment: EntryView<'_>) -> bool {
        attachment
            .uuid()
            .is_some_and(|uuid| self.cleared.contains(&uuid))
    }

    /// Whether one of these betas is asked for, or none is needed.
    pub(super) fn takes(&self, betas: &[&str]) -> bool {
        betas.is_empty() || self.betas.iter().any(|beta| betas.contains(&beta.as_str()))
    }
}
