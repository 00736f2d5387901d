//! Turns a client's messages into entries as Longhaul's own transcript would hold them.
//!
//! `messages` reads elements of the Messages API, `chat` those of chat completions; `writer` writes the entries. Ids
//! depend on a message and on everything before it, so that the same history always gives the same entries, and two
//! messages with the same words are distinct. The entries that the engine wrote for an earlier summary come first,
//! unchanged.

mod chat;
mod messages;
mod writer;

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::boundary::{ClearingRecord, CompactionTrigger, LineError};
use longhaul_core::message::Entry;
use longhaul_core::tokens::{EntryStanding, TokenLedger};
use longhaul_provider::Dialect;

use super::CompactableConversation;
use super::thinking::without_breakpoints;
use writer::HistoryEntryWriter;

/// A conversation as entries.
#[derive(Debug)]
pub struct ConversationEntries {
    /// The entries in order.
    pub entries: Vec<Entry>,
    /// How many of them the engine wrote for an earlier summary.
    pub earlier: usize,
    /// The session id of the conversation, which its lines carry.
    pub session_id: String,
    /// A number that identifies the conversation.
    pub seed: u128,
    /// The time of the new entries.
    pub at: Timestamp,
}

/// A part of a conversation that cannot be read, although it was valid JSON in the request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableConversation {
    /// A message cannot be read.
    #[error("message {0} of the conversation cannot be read")]
    Element(usize),
    /// A line of an earlier summary cannot be read.
    #[error("line {0} of the earlier summary cannot be read")]
    Line(usize),
}

impl ConversationEntries {
    /// Reads a conversation. Its messages have no timestamps: they get `now`, or the time of the summary before them if
    /// that is later. `counted` is what the messages take in the window as they are sent: results that were cleared
    /// before are not in it, and are not subtracted again.
    pub fn of(
        conversation: &CompactableConversation,
        counted: Option<u64>,
        now: Timestamp,
    ) -> Result<Self, UnreadableConversation> {
        let read = Self::with_usage(conversation, None, now)?;
        let Some(counted) = counted else {
            return Ok(read);
        };
        // The newest reply carries the measurement; what follows the reply is estimated on top of that.
        let replied = read.entries.iter().rposition(|one| one.facets().is_reply());
        let behind = read.entries.get(replied.map_or(0, |at| at + 1)..);
        let mut ledger = TokenLedger::new();
        for entry in behind.unwrap_or_default() {
            ledger.entry(entry.view(), EntryStanding::Live);
        }
        match counted.checked_sub(ledger.whole().padded()) {
            Some(usage) if usage > 0 => Self::with_usage(conversation, Some(usage), now),
            _ => Ok(read),
        }
    }

    fn with_usage(
        conversation: &CompactableConversation,
        usage: Option<u64>,
        now: Timestamp,
    ) -> Result<Self, UnreadableConversation> {
        let mut entries = earlier(&conversation.lines)?;
        let earlier = entries.len();
        let stamped = entries.iter().filter_map(|entry| entry.view().timestamp());
        let at = stamped.max().map_or(now, |last| last.max(now));
        let mut writer = HistoryEntryWriter::following(&entries, &conversation.model, at);
        let newest = newest_reply(conversation);
        let mut cleared = UnwrittenClearings::of(conversation);
        for (index, element) in conversation.elements.iter().enumerate() {
            let element = without_breakpoints(element);
            if newest == Some(index) {
                // The reply was measured without the results that had been cleared: the clearing comes first.
                let line = cleared.up_to(conversation, index, &mut writer);
                let line = line.map_err(|_| UnreadableConversation::Element(index))?;
                entries.extend(line.and_then(|line| Entry::read(line).ok()));
            }
            writer.begin(&element, usage.filter(|_| newest == Some(index)));
            let read = match conversation.dialect {
                Dialect::Anthropic => messages::read(&element, &mut writer),
                Dialect::OpenAi => chat::read(&element, &mut writer),
            };
            let read = read.ok_or(UnreadableConversation::Element(index))?;
            for line in read {
                entries
                    .push(Entry::read(line).map_err(|_| UnreadableConversation::Element(index))?);
            }
        }
        let all = conversation.elements.len();
        let line = cleared.up_to(conversation, all, &mut writer);
        let line = line.map_err(|_| UnreadableConversation::Element(all))?;
        entries.extend(line.and_then(|line| Entry::read(line).ok()));
        Ok(Self {
            entries,
            earlier,
            session_id: writer.session_id().to_owned(),
            seed: writer.seed(),
            at,
        })
    }
}

fn earlier(lines: &Bytes) -> Result<Vec<Entry>, UnreadableConversation> {
    let mut entries = Vec::new();
    for (number, line) in (1..).zip(lines.split(|byte| *byte == b'\n')) {
        if !line.is_empty() {
            let entry = Entry::read(lines.slice_ref(line));
            entries.push(entry.map_err(|_| UnreadableConversation::Line(number))?);
        }
    }
    Ok(entries)
}

/// The element that was counted last.
fn newest_reply(conversation: &CompactableConversation) -> Option<usize> {
    conversation.elements.iter().rposition(|element| {
        let read = super::element::ElementParts::read(element);
        read.is_some_and(|read| read.role == crate::body::BodyRole::Assistant)
    })
}

/// Results that were cleared before are not sent, so the summarizing model does not see them either.
struct UnwrittenClearings<'t> {
    /// Calls whose clearing is not written yet.
    left: Vec<&'t str>,
}

impl<'t> UnwrittenClearings<'t> {
    fn of(conversation: &'t CompactableConversation) -> Self {
        Self {
            left: conversation.cleared.iter().map(String::as_str).collect(),
        }
    }

    /// The line that clears the results in the elements before this one; `None` if none of them were cleared.
    fn up_to(
        &mut self,
        conversation: &CompactableConversation,
        until: usize,
        writer: &mut HistoryEntryWriter,
    ) -> Result<Option<Bytes>, LineError> {
        let before = conversation.elements.get(..until).unwrap_or_default();
        let is_before = |id: &&str| {
            let id = memchr::memmem::Finder::new(id.as_bytes());
            until == conversation.elements.len() || before.iter().any(|one| id.find(one).is_some())
        };
        let (ids, left): (Vec<&str>, Vec<&str>) = std::mem::take(&mut self.left)
            .into_iter()
            .partition(is_before);
        self.left = left;
        if ids.is_empty() {
            return Ok(None);
        }
        let (uuid, parent) = writer.next();
        let clearing = ClearingRecord {
            envelope: writer.envelope(),
            stamp: writer.stamp(&uuid),
            parent: parent.as_deref(),
            trigger: CompactionTrigger::Auto,
            pre_tokens: 0,
            tokens_saved: 0,
            tool_ids: &ids,
            attachments: &[],
            cache_edits: None,
            report: None,
        };
        clearing.line().map(Some)
    }
}
