//! The models that answer: scripted turns, or an agent that behaves like a real one. A model drafts a reply; the world
//! turns it into a message with ids, signatures and usage.
//!
//! [`SimModel`] is the built-in model and routes a turn: [`script`] comes first, then what the request asks for: a
//! summary ([`summarize`]), session notes ([`notes`]), a title (`helper`), or work ([`agent`]). [`misbehave`] spoils
//! the result. Below these, `constraints` and `conversation` read a request, `toolbox` distinguishes its tools,
//! `schema` makes inputs that conform, `digest` is what happened in a conversation, `earlier_results` reads
//! results that hosts send in a smaller form, and `chance` is the only source of randomness. The modules that read a
//! request are public, so that models in tests need not read requests again.

pub mod agent;
mod built_in;
pub mod chance;
pub mod constraints;
pub mod conversation;
mod digest;
mod earlier_results;
pub mod helper;
pub mod misbehave;
pub mod notes;
mod schema;
pub mod script;
pub mod summarize;
mod toolbox;
mod web_search;

use serde_json::Value;

pub use built_in::{SimModel, SimModelOptions};
use misbehave::Misbehavior;

use crate::request::MessagesRequest;
use crate::tokens::TokenizerFamily;

/// What a model sees of a call.
#[derive(Debug, Clone, Copy)]
pub struct ModelTurn<'a> {
    /// The request, after server-side clearing and compaction.
    pub request: &'a MessagesRequest,
    /// The number of tokens in its prompt.
    pub prompt_tokens: u64,
    /// The tokenizer for the prompt and the reply.
    pub tokenizer: TokenizerFamily,
    /// The number of earlier calls in this session.
    pub index: u64,
    /// The seed of this turn, from the world's seed and the conversation: the same call gives the same reply.
    pub seed: u64,
}

/// A block of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum DraftBlock {
    /// Reasoning, which the world signs.
    Thinking(String),
    /// Text.
    Text(String),
    /// A call of one of the request's tools. The world runs it where the tool is the server's.
    ToolUse {
        /// The name of the tool.
        name: String,
        /// The input of the call.
        input: Value,
    },
    /// Text with citations of what the server's tools found.
    Cited {
        /// The text.
        text: String,
        /// The citations.
        citations: Vec<Value>,
    },
    /// A block of the server's own: the call of one of its tools, or its result. Only the world makes these.
    Server(Value),
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DraftStop {
    /// `end_turn`, or `tool_use` if the reply calls tools.
    #[default]
    Natural,
    /// `refusal`.
    Refusal,
    /// `max_tokens`, whatever the length.
    CutOff,
}

/// A reply before it becomes a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplyDraft {
    /// The blocks of the reply.
    pub content: Vec<DraftBlock>,
    /// Why the reply ended. The world truncates it at `max_tokens` in any case.
    pub stop: DraftStop,
}

/// A model that drafts replies.
pub trait ReplyModel: Send {
    /// Drafts the reply to a turn. It must be a function of the turn and of what the model was created with.
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft;

    /// The fault for this turn, by a name that the world's faults know. It is called before the reply; most models
    /// return none.
    fn fault(&mut self, _turn: &ModelTurn<'_>) -> Option<String> {
        None
    }

    /// Adds misbehavior for future turns. A model that cannot misbehave ignores it.
    fn misbehave(&mut self, _more: Misbehavior) {}
}
