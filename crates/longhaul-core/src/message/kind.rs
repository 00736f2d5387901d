//! The kinds of entry (M1).

/// What an entry is, by its `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum EntryKind {
    /// A user message: typed text, tool results, meta messages, summaries.
    User,
    /// A part or the whole of one model response.
    Assistant,
    /// Notices and boundaries; see [`Subtype`].
    System,
    /// Something the host adds for the model beside a user message.
    Attachment,
    /// Progress of a running tool or hook; in the parent chain, never sent.
    Progress,
    /// A title for a session; outside the chain.
    Summary,
    /// What stands before the messages of a request: system prompt, tools, user context, latched settings (M7). Ours;
    /// without uuid, outside the chain, and the newest one counts.
    Head,
    /// Any other type. Kept, never interpreted.
    #[default]
    Other,
}

impl EntryKind {
    pub(crate) fn from_type(name: &[u8]) -> Self {
        match name {
            b"user" => Self::User,
            b"assistant" => Self::Assistant,
            b"system" => Self::System,
            b"attachment" => Self::Attachment,
            b"progress" => Self::Progress,
            b"summary" => Self::Summary,
            b"request-head" => Self::Head,
            _ => Self::Other,
        }
    }
}

/// The subtypes of system entries that shape the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Subtype {
    /// Everything before it was replaced by a summary.
    CompactBoundary,
    /// Some tool results before it were cleared.
    MicrocompactBoundary,
    /// A compaction was taken back: the conversation goes on from what it had replaced. Ours.
    CompactUndo,
    /// None, or one that is only shown to people.
    #[default]
    Other,
}

impl Subtype {
    pub(crate) fn from_name(name: &[u8]) -> Self {
        match name {
            b"compact_boundary" => Self::CompactBoundary,
            b"microcompact_boundary" => Self::MicrocompactBoundary,
            b"compact_undo" => Self::CompactUndo,
            _ => Self::Other,
        }
    }
}
