//! What a client did not see of a reply: the model's calls of the tool and the answers to them, as they were sent.

use longhaul_core::xxh3::xxh3_64;
use longhaul_provider::{Dialect, Reply, ReplyBlock, ReplyBlockKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::latched_tool::LatchedTool;

/// The rounds before and within one reply to the client.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct HiddenRounds {
    /// The name of the tool.
    pub(super) name: String,
    /// Rounds of which the client saw at most text and thinking.
    pub(super) rounds: Vec<HiddenRound>,
    /// The end of the reply, if it holds calls of the tool besides what the client acts on: its own calls, or an end that
    /// was due because the tool was called too often.
    pub(super) open: Option<HiddenRound>,
}

/// A reply of the model with calls of the tool, and the answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HiddenRound {
    /// The reply, as an element of the list of messages.
    pub(super) reply: String,
    /// The answers: blocks for a message of the user in the Messages API, elements of the list in chat completions.
    pub(super) results: Vec<String>,
}

/// A stored record, by what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredRecall {
    /// The tool that a conversation is offered.
    Tool(StoredApi, LatchedTool),
    /// What the client did not see.
    Rounds(StoredApi, HiddenRounds),
}

/// The API of a conversation: histories of both may have the same hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredApi {
    Messages,
    Chat,
}

impl From<Dialect> for StoredApi {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Anthropic => Self::Messages,
            Dialect::OpenAi => Self::Chat,
        }
    }
}

impl StoredRecall {
    /// Tells records for the same history apart.
    pub(super) fn variant(&self) -> u64 {
        match self {
            Self::Tool(api, _) => *api as u64,
            Self::Rounds(_, rounds) => {
                let first = rounds.rounds.first().or(rounds.open.as_ref());
                xxh3_64(first.map_or("", |round| &round.reply).as_bytes())
            }
        }
    }
}

impl HiddenRound {
    pub(super) fn new(dialect: Dialect, reply: &Reply, answers: &[(String, String)]) -> Self {
        let results = answers.iter().map(|(id, text)| match dialect {
            Dialect::Anthropic => {
                json!({"type": "tool_result", "tool_use_id": id, "content": text})
            }
            Dialect::OpenAi => json!({"role": "tool", "tool_call_id": id, "content": text}),
        });
        Self {
            reply: match dialect {
                Dialect::Anthropic => messages_element(reply),
                Dialect::OpenAi => chat_element(reply),
            },
            results: results.map(|result| result.to_string()).collect(),
        }
    }

    /// The elements of the list that the round is: the reply and its answers.
    pub(super) fn elements(&self, dialect: Dialect) -> Vec<Vec<u8>> {
        let mut elements = vec![self.reply.clone().into_bytes()];
        match dialect {
            Dialect::Anthropic => {
                let blocks = self.results.join(",");
                elements.push(format!(r#"{{"role":"user","content":[{blocks}]}}"#).into_bytes());
            }
            Dialect::OpenAi => {
                elements.extend(
                    self.results
                        .iter()
                        .map(|result| result.clone().into_bytes()),
                );
            }
        }
        elements
    }
}

/// The reply with the blocks as the model wrote them. Text of white space alone would be refused.
fn messages_element(reply: &Reply) -> String {
    let is_sent = |block: &&ReplyBlock| {
        block.kind() != ReplyBlockKind::Text
            || block.text().is_some_and(|text| !text.trim().is_empty())
    };
    let blocks = reply.blocks.iter().filter(is_sent);
    let blocks: Vec<_> = blocks
        .map(|block| String::from_utf8_lossy(block.json()))
        .collect();
    format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(","))
}

fn chat_element(reply: &Reply) -> String {
    let text = reply.text();
    let calls = reply.tool_calls().map(|call| {
        let arguments = String::from_utf8_lossy(call.input_json);
        json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
    });
    let content = if text.is_empty() {
        Value::Null
    } else {
        Value::from(text)
    };
    let calls: Vec<Value> = calls.collect();
    json!({"role": "assistant", "content": content, "tool_calls": calls}).to_string()
}
