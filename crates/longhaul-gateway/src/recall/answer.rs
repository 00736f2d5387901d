//! Answers the model's calls from the client's own history. The history is indexed in memory for that, as a transcript
//! is on disk; it is only done when the model asks, and takes no longer than the model takes to write a sentence.

use std::collections::HashSet;

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::message::Entry;
use longhaul_provider::Dialect;
use longhaul_store::archive::tool::{self, NAME};
use longhaul_store::archive::{Archive, ArchiveError, ArchiveItemKind, ItemReader, ViewPresence};

use super::ReplacedBeginning;
use super::expand::HistoryElement;
use crate::manage::CompactableConversation;
use crate::manage::entries::{ConversationEntries, UnreadableConversation};

/// The most calls of one reply that are answered.
const MOST_CALLS: usize = 4;

/// The history that calls are answered from.
#[derive(Debug, Clone)]
pub(super) struct RecallSource {
    pub(super) dialect: Dialect,
    pub(super) model: String,
    pub(super) elements: Vec<HistoryElement>,
    pub(super) replaced: ReplacedBeginning,
}

/// Why calls cannot be answered.
#[derive(Debug, thiserror::Error)]
enum UnansweredCall {
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    History(#[from] UnreadableConversation),
}

/// Answers calls, given the input of each. It never fails: an answer says what the model can do instead.
pub(super) fn answers(source: &RecallSource, name: &str, inputs: &[String]) -> Vec<String> {
    let archive = source.archive();
    let answers = inputs.iter().enumerate().map(|(at, input)| match &archive {
        _ if at >= MOST_CALLS => include_str!("fragments/many.md").trim_end().to_owned(),
        Ok(archive) => tool::answer(archive, input),
        Err(error) => {
            tracing::warn!(%error, "recall behind the gateway");
            include_str!("fragments/unavailable.md")
                .trim_end()
                .to_owned()
        }
    });
    // The texts name the tool by its usual name.
    let note = (name != NAME).then(|| format!("\n(`{NAME}` in this answer is the tool `{name}`.)"));
    let note = note.unwrap_or_default();
    answers.map(|answer| format!("{answer}{note}")).collect()
}

impl RecallSource {
    fn archive(&self) -> Result<Archive, UnansweredCall> {
        let summarized = self.elements.iter();
        let summarized =
            summarized.take_while(|element| element.sent_at < self.replaced.summarized);
        let summarized = self.entries(summarized.count())?.len();
        let entries = self.entries(self.elements.len())?;
        let cleared: HashSet<&str> = self.replaced.cleared.iter().map(String::as_str).collect();
        let mut reader = ItemReader::default();
        let mut items = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let presence = if at < summarized {
                ViewPresence::Summarized
            } else {
                ViewPresence::Live
            };
            for mut item in reader.items(entry.view(), presence) {
                // Messages of a request have no times; these entries were made just now.
                item.timestamp = None;
                let id = item.tool_use_id.as_deref();
                if presence == ViewPresence::Live
                    && item.kind == ArchiveItemKind::ToolResult
                    && id.is_some_and(|id| cleared.contains(id))
                {
                    item.presence = ViewPresence::Cleared;
                }
                items.push(item);
            }
        }
        let mut archive = Archive::in_memory()?;
        archive.put(&items)?;
        Ok(archive)
    }

    /// The entries of the first messages. Those of a message do not depend on what follows it.
    fn entries(&self, until: usize) -> Result<Vec<Entry>, UnreadableConversation> {
        let elements = self.elements.iter().take(until);
        let conversation = CompactableConversation {
            dialect: self.dialect,
            model: self.model.clone(),
            lines: Bytes::new(),
            summary: Vec::new(),
            elements: elements.map(|one| one.element.clone()).collect(),
            cleared: Vec::new(),
            measured: None,
        };
        let read = ConversationEntries::of(&conversation, None, Timestamp::UNIX_EPOCH)?;
        Ok(read.entries)
    }
}
