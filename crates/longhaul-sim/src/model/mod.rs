//! What answers: scripted turns, or an agent that behaves like one. A model drafts a reply; dressing it as a message
//! with ids, signatures and usage is the world's work.
//!
//! [`SimModel`] is the built-in one and routes a turn: [`script`] first, then what is asked for: a summary
//! ([`summarise`]), session notes ([`notes`]), a title (`helper`), or work ([`agent`]). [`misbehave`] spoils what comes
//! out. Below these: `ask` and `conversation` read a request, `toolbox` tells its tools apart, `schema` makes inputs that
//! conform, `digest` is what happened in a conversation, `chance` the one source of chance. What reads a request is public
//! for models of tests: whoever writes one need not read requests anew.

pub mod agent;
mod built_in;
pub mod chance;
pub mod constraints;
pub mod conversation;
mod digest;
pub mod helper;
pub mod misbehave;
pub mod notes;
mod schema;
pub mod script;
pub mod summarize;
mod toolbox;

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
    /// Tokens of its prompt.
    pub prompt_tokens: u64,
    /// How its tokens are counted, those of the reply too.
    pub tokenizer: TokenizerFamily,
    /// How many calls this session made before.
    pub index: u64,
    /// Chance for this turn, from the world's seed and the conversation: the same call gives the same reply.
    pub seed: u64,
}

/// A block of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum DraftBlock {
    /// Reasoning; it is signed by the world.
    Thinking(String),
    /// Text.
    Text(String),
    /// A call of a tool of the request.
    ToolUse {
        /// The tool.
        name: String,
        /// Its input.
        input: Value,
    },
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

/// A reply before it is dressed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplyDraft {
    /// Its blocks.
    pub content: Vec<DraftBlock>,
    /// Why it ended. The world cuts it at `max_tokens` in any case.
    pub stop: DraftStop,
}

/// A model.
pub trait ReplyModel: Send {
    /// Drafts the reply to a turn. Must be a function of the turn and of what the model was made with.
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft;

    /// The fault that goes with this turn, by a name the world's faults know. Asked before the reply; most models bring
    /// none.
    fn fault(&mut self, _turn: &ModelTurn<'_>) -> Option<String> {
        None
    }

    /// Takes in what it shall do wrong from now on. A model that cannot misbehave lets it pass.
    fn misbehave(&mut self, _more: Misbehavior) {}
}
