//! Decides which entries the model sees (Z1). This is the only place that decides it.
//!
//! Progress, notices, records of errors, entries that the host wrote in a model's name and attachments that carry
//! nothing for the model are never sent. All readers of a conversation ask here, whether they hold an entry or a row of
//! a table. `normalize/` decides how sent entries become messages.

use super::{EntryFacets, EntryFlags, EntryKind, EntryView};

/// How the model sees an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// As input: the user's words, or the results of calls.
    Input,
    /// As a line of its own reply.
    Reply,
    /// As something that the host adds to the user's words.
    Attachment,
}

impl Sent {
    /// Returns how the model sees an entry with these facets, or `None` if the model does not see it. `is_visible` is
    /// called only for attachments.
    pub(crate) fn of(
        kind: EntryKind,
        flags: EntryFlags,
        is_visible: impl FnOnce() -> bool,
    ) -> Option<Self> {
        match kind {
            EntryKind::User => Some(Self::Input),
            EntryKind::Assistant if flags.api_error || flags.synthetic => None,
            EntryKind::Assistant => Some(Self::Reply),
            EntryKind::Attachment => is_visible().then_some(Self::Attachment),
            EntryKind::System
            | EntryKind::Progress
            | EntryKind::Summary
            | EntryKind::Head
            | EntryKind::Other => None,
        }
    }

    /// Whether an entry with these facets is a line of a model's reply, rather than a record of an error or an entry
    /// written by the host.
    pub(crate) fn is_reply(kind: EntryKind, flags: EntryFlags) -> bool {
        Self::of(kind, flags, || false) == Some(Self::Reply)
    }
}

impl EntryFacets {
    /// Whether this is a reply of a model, rather than a record of an error or an entry written by the host.
    pub fn is_reply(&self) -> bool {
        Sent::is_reply(self.kind, self.flags)
    }
}

impl EntryView<'_> {
    /// Returns how the model sees the entry, or `None` if the model does not see it.
    pub fn sent(self) -> Option<Sent> {
        let is_visible = || self.visible_attachment().is_some();
        Sent::of(self.facets.kind, self.facets.flags, is_visible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Entry;

    fn sent(line: &str) -> Option<Sent> {
        Entry::read(line.to_owned().into()).unwrap().view().sent()
    }

    #[test]
    fn z1_each_kind_of_entry_is_sent_as_what_it_is_or_not_at_all() {
        let user = r#"{"type":"user","isMeta":true,"message":{"role":"user","content":"hi"}}"#;
        assert_eq!(sent(user), Some(Sent::Input));
        let reply =
            r#"{"type":"assistant","message":{"role":"assistant","model":"m","content":[]}}"#;
        assert_eq!(sent(reply), Some(Sent::Reply));
        let attachment = r#"{"type":"attachment","attachment":{"type":"todo","content":[]}}"#;
        assert_eq!(sent(attachment), Some(Sent::Attachment));
        for unsent in [
            r#"{"type":"assistant","isApiErrorMessage":true,"message":{"role":"assistant","content":[]}}"#,
            r#"{"type":"assistant","message":{"role":"assistant","model":"<synthetic>","content":[]}}"#,
            r#"{"type":"attachment","attachment":{"type":"hook_cancelled"}}"#,
            r#"{"type":"attachment"}"#,
            r#"{"type":"system","subtype":"informational","content":"note"}"#,
            r#"{"type":"progress"}"#,
            r#"{"type":"summary","summary":"s"}"#,
            r#"{"type":"queue-operation"}"#,
        ] {
            assert_eq!(sent(unsent), None, "{unsent}");
        }
    }
}
