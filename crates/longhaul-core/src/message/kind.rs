//! The kinds of entry (M1).

/// The kind of an entry, by its `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// A user message: typed text, tool results, meta messages, summaries.
    User,
    /// One model response or a part of it.
    Assistant,
    /// Notices and boundaries; see [`Subtype`].
    System,
    /// Something the host adds for the model beside a user message.
    Attachment,
    /// Progress of a running tool or hook. It is in the parent chain but never sent.
    Progress,
    /// A title for a session. It is outside the chain.
    Summary,
    /// The request prefix: system prompt, tools, user context, latched settings (M7). Only Longhaul writes this type.
    /// It has no uuid and is outside the chain; the newest one counts.
    Head,
    /// Any other type. It is kept but never interpreted.
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
#[non_exhaustive]
pub enum Subtype {
    /// A boundary: a summary replaced everything before it.
    CompactBoundary,
    /// A boundary: some tool results before it were cleared.
    MicrocompactBoundary,
    /// A compaction was undone: the conversation continues from what the compaction had replaced. Only Longhaul writes
    /// this subtype.
    CompactUndo,
    /// No subtype, or one that is only displayed to people.
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
