//! Replies that a program composes itself: for models of its own, and for models that stand in for one in tests.

use bytes::Bytes;
use longhaul_core::json;
use longhaul_core::message::Usage;
use serde_json::{Value, json};

use crate::block::{BlockCompleteness, ReplyBlock, ReplyBlockKind};
use crate::event::StreamEvent;
use crate::raw::RawObject;
use crate::reply::{Reply, StopReason};

impl ReplyBlock {
    /// A block with text for the user.
    pub fn from_text(text: &str) -> Self {
        Self::composed(&json!({"type": "text", "text": text}))
    }

    /// A block with reasoning. The API accepts it back only with the signature that it gave; a model of another
    /// provider leaves the signature empty.
    pub fn from_thinking(thinking: &str, signature: &str) -> Self {
        Self::composed(&json!({
            "type": "thinking",
            "thinking": thinking,
            "signature": signature,
        }))
    }

    /// A block that calls a tool of the host. The id must differ from those of all other calls of the conversation.
    pub fn from_tool_call(id: &str, name: &str, input: &Value) -> Self {
        Self::composed(&json!({"type": "tool_use", "id": id, "name": name, "input": input}))
    }

    fn composed(block: &Value) -> Self {
        Self::new(Bytes::from(block.to_string()), BlockCompleteness::Whole)
    }
}

impl Reply {
    /// A reply that is one text and ends the model's turn.
    ///
    /// ```
    /// use longhaul_provider::{Reply, StopReason};
    ///
    /// let reply = Reply::from_text("Hello.");
    /// assert_eq!(reply.text(), "Hello.");
    /// assert_eq!(reply.stop, Some(StopReason::EndTurn));
    /// ```
    pub fn from_text(text: impl AsRef<str>) -> Self {
        Self::builder().text(text).build()
    }

    /// Returns a builder for a reply of several blocks.
    pub fn builder() -> ReplyBuilder {
        ReplyBuilder::default()
    }

    /// The events that a stream would bring for this reply, the last one with the reply itself. A model that receives
    /// its replies whole reports these.
    pub fn to_stream_events(&self) -> Vec<StreamEvent> {
        let mut events = vec![StreamEvent::Started {
            id: self.id().into_owned(),
            model: self.model().into_owned(),
        }];
        for (index, block) in (0..).zip(&self.blocks) {
            let call = block.tool_call();
            events.push(StreamEvent::BlockStarted {
                index,
                kind: block.kind(),
                tool: call.as_ref().map(|call| call.name.to_string()),
            });
            let piece = match (block.kind(), call) {
                (ReplyBlockKind::Text, _) => block.text().map(|text| StreamEvent::Text {
                    index,
                    text: text.into_owned(),
                }),
                (ReplyBlockKind::Thinking, _) => {
                    block.thinking().map(|text| StreamEvent::Thinking {
                        index,
                        text: text.into_owned(),
                    })
                }
                (_, Some(call)) => Some(StreamEvent::ToolInput {
                    index,
                    json: String::from_utf8_lossy(call.input_json).into_owned(),
                }),
                _ => None,
            };
            events.extend(piece);
            events.push(StreamEvent::BlockEnded { index });
        }
        events.push(StreamEvent::Usage(self.usage.clone()));
        events.push(StreamEvent::Finished(Box::new(self.clone())));
        events
    }
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::from_text(text)
    }
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self::from_text(text)
    }
}

/// Composes a reply, block by block.
///
/// ```
/// use longhaul_provider::{Reply, StopReason};
/// use serde_json::json;
///
/// let reply = Reply::builder()
///     .text("I look at the file first.")
///     .tool_call("call-1", "Read", json!({"path": "src/main.rs"}))
///     .build();
/// let call = reply.tool_calls().next().ok_or("no call")?;
/// assert_eq!(call.input()["path"], "src/main.rs");
/// assert_eq!(reply.stop, Some(StopReason::ToolUse));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct ReplyBuilder {
    blocks: Vec<ReplyBlock>,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    id: Option<String>,
    model: Option<String>,
}

impl ReplyBuilder {
    /// Adds a text for the user.
    pub fn text(self, text: impl AsRef<str>) -> Self {
        self.block(ReplyBlock::from_text(text.as_ref()))
    }

    /// Adds reasoning, with the signature that its provider gave, or an empty one.
    pub fn thinking(self, thinking: impl AsRef<str>, signature: impl AsRef<str>) -> Self {
        let block = ReplyBlock::from_thinking(thinking.as_ref(), signature.as_ref());
        self.block(block)
    }

    /// Adds a call of a tool of the host. The id must differ from those of all other calls of the conversation.
    pub fn tool_call(self, id: impl AsRef<str>, name: impl AsRef<str>, input: Value) -> Self {
        let block = ReplyBlock::from_tool_call(id.as_ref(), name.as_ref(), &input);
        self.block(block)
    }

    /// Adds any block.
    pub fn block(mut self, block: ReplyBlock) -> Self {
        self.blocks.push(block);
        self
    }

    /// Says why the model stopped. The default is [`StopReason::ToolUse`] if the reply calls a tool, and otherwise
    /// [`StopReason::EndTurn`].
    pub fn stop(mut self, reason: StopReason) -> Self {
        self.stop = Some(reason);
        self
    }

    /// The tokens that the provider counted. Without them the conversation's size is estimated.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// The message's id. Two replies with the same id count as two parts of one reply.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The model that answered.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Makes the reply.
    pub fn build(self) -> Reply {
        let calls = (self.blocks.iter()).any(|block| block.kind() == ReplyBlockKind::ToolUse);
        let stop = self.stop.unwrap_or(if calls {
            StopReason::ToolUse
        } else {
            StopReason::EndTurn
        });
        let mut message = RawObject::default();
        message.set("type", *br#""message""#);
        message.set("role", *br#""assistant""#);
        for (key, value) in [("id", self.id), ("model", self.model)] {
            if let Some(value) = value {
                message.set(key, json::quote(&value));
            }
        }
        message.set("content", *b"[]");
        message.set("stop_reason", json::quote(stop.name()));
        message.set("stop_sequence", *b"null");
        if let Some(usage) = &self.usage {
            message.set("usage", usage_json(usage).to_string());
        }
        let mut reply = Reply {
            message,
            blocks: self.blocks,
            ..Reply::default()
        };
        reply.settle();
        reply
    }
}

/// Token counts as the Messages API writes them.
fn usage_json(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write(),
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "output_tokens": usage.output,
        "server_tool_use": (usage.web_searches > 0)
            .then(|| json!({ "web_search_requests": usage.web_searches })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_composed_reply_reads_like_a_received_one() {
        let usage = Usage {
            input: 5,
            cache_read: 70,
            cache_write_5m: 8,
            cache_write_1h: 1,
            output: 9,
            ..Usage::default()
        };
        let reply = Reply::builder()
            .id("msg_1")
            .model("my-model")
            .thinking("Hm.", "c2ln")
            .text("A \"quoted\" word.")
            .tool_call("call-1", "Read", json!({"path": "a\nb"}))
            .usage(usage.clone())
            .build();
        let received = crate::anthropic::decode_json(&Bytes::from(reply.message_json()));
        let received = received.expect("a message");
        assert_eq!(received.text(), "A \"quoted\" word.");
        assert_eq!(received.usage, usage);
        assert_eq!(received.stop, Some(StopReason::ToolUse));
        assert_eq!(received.blocks, reply.blocks);
        assert_eq!((&*received.id(), &*received.model()), ("msg_1", "my-model"));
        assert_eq!(received.blocks[0].thinking().as_deref(), Some("Hm."));
    }

    #[test]
    fn a_composed_reply_without_usage_claims_to_have_measured_nothing() {
        let reply = Reply::from("Hello.");
        assert!(reply.field("usage").is_none());
        assert!(reply.id().is_empty());
    }

    #[test]
    fn the_events_of_a_composed_reply_end_with_the_reply_itself() {
        let reply = Reply::builder()
            .text("One.")
            .tool_call("c", "Look", json!({}))
            .build();
        let events = reply.to_stream_events();
        assert!(events.contains(&StreamEvent::Text {
            index: 0,
            text: "One.".to_owned()
        }));
        assert!(events.contains(&StreamEvent::BlockStarted {
            index: 1,
            kind: ReplyBlockKind::ToolUse,
            tool: Some("Look".to_owned())
        }));
        let last = events.last();
        assert_eq!(last, Some(&StreamEvent::Finished(Box::new(reply))));
    }
}
