//! The inputs of a rendering besides the entries.

use crate::hash::Set;
use crate::message::{EntryView, Id, ReductionStanding};

/// The inputs of a rendering besides the entries. All of them are on disk (M7): in the request prefix or in boundaries.
#[derive(Debug, Clone, Default)]
pub struct RenderOptions {
    /// The whole text before the first message, reminder tags included (A4).
    pub user_context: Option<String>,
    /// The calls whose results are replaced by the marker (U2), and the attachments that are no longer sent (U6).
    pub cleared: Vec<Id>,
    /// Thinking of entries up to and including this one is not sent (N2). If the entry is not in the history, it lies
    /// before the history, and all thinking of the history is sent.
    pub thinking_stripped_through: Option<Id>,
    /// Whether results carry a `cache_reference` (B3).
    pub cache_references: bool,
    /// Beta features that the request asks for. Some block types need one.
    pub betas: Vec<String>,
    /// The maximum number of images in a request; 0 if no limit is known.
    pub most_images: usize,
    /// Names of the tools that the request defines. The API would refuse a `tool_reference` to any other tool, so it
    /// becomes text.
    pub tools: Vec<String>,
}

/// The options in the form that is used for each block.
#[derive(Debug, Default)]
pub(super) struct RenderRules {
    pub(super) cleared: Set<Id>,
    /// Which results are sent in a smaller form (V8).
    pub(super) reductions: ReductionStanding,
    pub(super) tools: Set<String>,
    pub(super) betas: Vec<String>,
    pub(super) references: CacheReferences,
}

/// Whether results can be referred to by cache edits (B3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CacheReferences {
    /// Results carry no reference.
    #[default]
    Left,
    /// Results carry their call's id as a reference.
    Written,
}

impl RenderRules {
    pub(super) fn of(options: &RenderOptions) -> Self {
        Self {
            cleared: options.cleared.iter().copied().collect(),
            reductions: ReductionStanding::default(),
            tools: options.tools.iter().cloned().collect(),
            betas: options.betas.clone(),
            references: if options.cache_references {
                CacheReferences::Written
            } else {
                CacheReferences::Left
            },
        }
    }

    /// Whether an attachment is no longer sent.
    pub(super) fn clears(&self, attachment: EntryView<'_>) -> bool {
        attachment
            .uuid()
            .is_some_and(|uuid| self.cleared.contains(&uuid))
    }

    /// Whether one of these betas is requested, or none is needed.
    pub(super) fn takes(&self, betas: &[&str]) -> bool {
        betas.is_empty() || self.betas.iter().any(|beta| betas.contains(&beta.as_str()))
    }
}
