//! What an entry says of itself by yes or no.

/// The boolean facets of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryFlags {
    /// The entry belongs to a sub-agent's conversation.
    pub sidechain: bool,
    /// The entry is not displayed. It is still sent to the model.
    pub meta: bool,
    /// The entry carries a compaction's summary.
    pub compact_summary: bool,
    /// The entry is displayed only when the full transcript is expanded.
    pub transcript_only: bool,
    /// The entry records a failed API call and is not a reply.
    pub api_error: bool,
    /// `message.model` is `<synthetic>`: the host wrote the entry, not a model.
    pub synthetic: bool,
    /// The entry has a `message` object.
    pub has_message: bool,
    /// The message's content is a plain string, not a list of blocks.
    pub string_content: bool,
    /// The reply ended because the window was full.
    pub window_exceeded: bool,
}
