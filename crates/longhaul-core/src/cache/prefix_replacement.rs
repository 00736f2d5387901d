//! A host between a client and the provider may send something else than the client said. A cache that breaks because of
//! that is the host's doing: it is told as such, and not as an edit of the client's or as the provider's fault.

/// What a host sends in place of the beginning of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixReplacement {
    /// Tells the conversation from others of its source.
    pub conversation: u64,
    /// The conversation that it branched from.
    pub parent: Option<u64>,
    /// Tells what stands for its beginning from anything else that might; none if the beginning is sent as it was said.
    pub beginning: Option<u128>,
    /// What the host has done, in words that follow a colon.
    pub done: &'static str,
}

impl PrefixReplacement {
    /// Whether an earlier request was of the same conversation, or of the one that this branched from, with something else
    /// in place of its beginning. A summary has nothing in common with the messages that it stands for, so that nothing
    /// else can tell.
    pub(super) fn follows(self, earlier: Self) -> bool {
        let is_same = earlier.conversation == self.conversation;
        (is_same || self.parent == Some(earlier.conversation))
            && earlier.beginning != self.beginning
    }
}

/// What the host has done, where it sends something else for the beginning now than it did in an earlier request.
pub(super) fn replaced_prefix(
    earlier: Option<PrefixReplacement>,
    now: Option<PrefixReplacement>,
) -> Option<&'static str> {
    let (earlier, now) = earlier.zip(now)?;
    (earlier.beginning != now.beginning).then_some(now.done)
}
