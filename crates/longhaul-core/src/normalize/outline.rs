//! Tells which messages a view becomes (Z1, Z2): their roles and order, before anything is rendered.
//!
//! It uses the table alone, so a [`Rendering`](super::Rendering) has different messages in three cases: attachments
//! with no user entry beside them get a message of their own there, thinking without a signature is not sent, and a
//! call without an id or a name is text.

use crate::hash::Map;
use crate::message::{BlockKind, Id, Sent};
use crate::transcript::{ResolvedConversation, TranscriptRow, TranscriptTable};

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    /// The user, tools and the host.
    User,
    /// The model.
    Assistant,
}

impl MessageRole {
    /// The role's name in a request.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// The messages that will be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageOutline {
    /// The roles, in order.
    pub roles: Vec<MessageRole>,
}

/// A message while entries are being sorted into it.
struct DraftMessage {
    role: MessageRole,
    /// Whether the message holds anything other than reasoning.
    speaks: bool,
    /// Whether the message calls tools, so that a message with their results follows, real or synthetic.
    calls: bool,
}

impl MessageOutline {
    /// Outlines the live view of a conversation.
    pub fn of(table: &TranscriptTable, conversation: &ResolvedConversation) -> Self {
        let rows = conversation
            .view()
            .rows
            .iter()
            .map(|at| &table.rows()[*at as usize]);
        let mut drafts: Vec<DraftMessage> = Vec::new();
        let mut responses: Map<Id, usize> = Map::default();
        let mut attachments = false;
        for row in rows {
            match row.sent() {
                Some(Sent::Reply) => respond(table, row, &mut drafts, &mut responses),
                Some(Sent::Input) if has_input(table, row) => drafts.push(DraftMessage {
                    role: MessageRole::User,
                    speaks: true,
                    calls: false,
                }),
                Some(Sent::Attachment) => attachments = true,
                Some(Sent::Input) | None => {}
            }
        }
        // A response that was cut off while it was still reasoning cannot end a conversation.
        while drafts
            .last()
            .is_some_and(|last| last.role == MessageRole::Assistant && !last.speaks)
        {
            drafts.pop();
        }
        let mut outline = Self::default();
        if drafts
            .first()
            .is_some_and(|first| first.role == MessageRole::Assistant)
            || drafts.is_empty() && attachments
        {
            outline.roles.push(MessageRole::User);
        }
        for draft in &drafts {
            outline.add(draft.role);
            if draft.calls {
                outline.add(MessageRole::User);
            }
        }
        outline
    }

    /// Adds a message. Consecutive user messages become one.
    fn add(&mut self, role: MessageRole) {
        if role == MessageRole::Assistant || self.roles.last() != Some(&MessageRole::User) {
            self.roles.push(role);
        }
    }
}

/// Sorts a line of a response into its message.
fn respond(
    table: &TranscriptTable,
    row: &TranscriptRow,
    drafts: &mut Vec<DraftMessage>,
    responses: &mut Map<Id, usize>,
) {
    let sent = || table.blocks(row).iter().filter(|block| !block.blank);
    if sent().next().is_none() {
        return;
    }
    let known = row
        .message
        .and_then(|message| responses.get(&message).copied());
    let at = known.unwrap_or_else(|| {
        drafts.push(DraftMessage {
            role: MessageRole::Assistant,
            speaks: false,
            calls: false,
        });
        drafts.len() - 1
    });
    if let Some(message) = row.message {
        responses.insert(message, at);
    }
    drafts[at].speaks |= sent().any(|block| !block.kind.is_thinking());
    drafts[at].calls |= sent().any(|block| block.kind == BlockKind::ToolUse);
}

/// Whether a user entry adds anything of its own. Results do not: they go into the message after their call, which
/// exists in any case, or are dropped if their call is not sent.
fn has_input(table: &TranscriptTable, row: &TranscriptRow) -> bool {
    table.blocks(row).iter().any(|block| match block.kind {
        BlockKind::ToolResult => false,
        _ => !block.blank,
    })
}
