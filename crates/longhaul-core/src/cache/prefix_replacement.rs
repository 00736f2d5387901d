//! A host between a client and the provider may replace part of the client's conversation. A cache break that this
//! causes is reported as the host's action, not as the client's edit or the provider's fault.

/// The replacement that a host sends for the beginning of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefixReplacement {
    /// Identifies the conversation within its source.
    pub conversation: u64,
    /// The conversation that it branched from.
    pub parent: Option<u64>,
    /// Identifies the replacement of the beginning. `None` if the beginning is sent unchanged.
    pub beginning: Option<u128>,
    /// What the host has done, worded to follow a colon.
    pub done: &'static str,
}

impl PrefixReplacement {
    /// Whether an earlier request belongs to the same conversation, or to the one that this branched from, with another
    /// beginning. A summary has nothing in common with the messages that it replaces, so nothing else can tell.
    pub(super) fn follows(self, earlier: Self) -> bool {
        let is_same = earlier.conversation == self.conversation;
        (is_same || self.parent == Some(earlier.conversation))
            && earlier.beginning != self.beginning
    }
}

/// What the host has done, if the beginning it sends now differs from the one in an earlier request.
pub(super) fn replaced_prefix(
    earlier: Option<PrefixReplacement>,
    now: Option<PrefixReplacement>,
) -> Option<&'static str> {
    let (earlier, now) = earlier.zip(now)?;
    (earlier.beginning != now.beginning).then_some(now.done)
}
