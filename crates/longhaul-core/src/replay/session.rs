//! A recorded session by sizes: what each request sent, and what it was billed.

use jiff::Timestamp;

use crate::economy::ResultSubject;
use crate::message::{Id, Usage};
use crate::prompt::Ttl;

/// A session as far as its bill depends on it. No text is kept.
#[derive(Debug, Clone, Default)]
pub struct SessionRecording {
    /// The conversations of the file, in order. There is more than one if the user cleared the conversation.
    pub conversations: Vec<RecordedConversation>,
    /// The names of the models, which requests refer to by their position.
    pub models: Vec<String>,
    /// The cache lifetime that most of the session's cache writes asked for.
    pub ttl: Ttl,
    /// What else is known about the recording.
    pub facts: SessionFacts,
}

impl SessionRecording {
    /// All requests, in order.
    pub fn requests(&self) -> impl Iterator<Item = &RecordedRequest> {
        self.conversations
            .iter()
            .flat_map(|conversation| &conversation.requests)
    }
}

/// One conversation: requests that each send everything that the one before sent, and more.
#[derive(Debug, Clone, Default)]
pub struct RecordedConversation {
    /// The tokens before the first entry: system prompt, tools, user context.
    pub prefix: u64,
    /// The part of them that stays in the cache whatever happens to the messages.
    pub hot_prefix: u64,
    /// What was sent, in order, as if nothing had ever been removed.
    pub items: Vec<RecordedItem>,
    /// The requests, in order.
    pub requests: Vec<RecordedRequest>,
}

/// Something that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedItem {
    /// What it is.
    pub kind: ItemKind,
    /// Its size in tokens, as the provider counted it or as estimated.
    pub tokens: u64,
    /// What a result is about.
    pub subject: Option<ResultSubject>,
}

/// The kinds of things that are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Something that the user wrote.
    Prompt,
    /// A result that may be cleared.
    Result,
    /// Thinking.
    Thinking,
    /// Anything else.
    Text,
}

/// A request and its answer.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The line at which the answer begins.
    pub line: u64,
    /// The id of the answer.
    pub message: Option<Id>,
    /// The position of the model's name in the session's list.
    pub model: usize,
    /// When the request was made.
    pub start: Option<Timestamp>,
    /// What was billed.
    pub usage: Usage,
    /// What the model wrote, estimated where the record is plainly incomplete.
    pub output: u64,
    /// How many of the conversation's items the request sent.
    pub items_end: usize,
    /// What happened to the view since the request before.
    pub change: ViewChange,
}

/// What happened to a recorded view between two requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ViewChange {
    /// Something was added.
    #[default]
    Grew,
    /// Results were cleared.
    Cleared,
    /// The conversation was summarized.
    Compacted,
}

/// What else is known about a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionFacts {
    /// Intact lines.
    pub entries: u64,
    /// Lines that could not be read.
    pub damaged_lines: u64,
    /// Answers without usage, which are not billed.
    pub without_usage: u64,
    /// Answers of sub-agents in the same file, which are not replayed.
    pub sidechain_answers: u64,
    /// Answers whose recorded output is plainly incomplete.
    pub partial_outputs: u64,
    /// Recorded compactions. What their own requests cost is not in the file.
    pub compactions: u64,
    /// Recorded clearings.
    pub clearings: u64,
    /// How often a request continued an earlier point. It is replayed as if nothing had been taken back.
    pub rewinds: u64,
    /// How often a request seems older than the one before.
    pub clock_steps_back: u64,
    /// How often the model changed.
    pub model_switches: u64,
}
