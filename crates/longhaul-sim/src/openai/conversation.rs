//! Translates the messages of a chat completion to `system` and `messages`.
//!
//! System and developer messages at the beginning become the system prompt. Later ones stay where they are, as text of
//! the user: moving them to the front would change the prefix. Tool messages become results in one user message.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::error::{ChatError, wrong_type};

/// The replacement for an empty text, which the dialect allows and the Messages API does not.
const EMPTY: &str = "(empty)";

/// A conversation in the Messages shape.
#[derive(Debug, Default)]
pub(super) struct TranslatedConversation {
    pub(super) system: Vec<Value>,
    pub(super) messages: Vec<Value>,
}

pub(super) fn translate(messages: Option<&Value>) -> Result<TranslatedConversation, ChatError> {
    let messages = match messages {
        None | Some(Value::Null) => {
            return Err(
                ChatError::invalid("Missing required parameter: 'messages'.")
                    .about("messages")
                    .with_code("missing_required_parameter"),
            );
        }
        Some(Value::Array(messages)) => messages,
        Some(other) => return Err(wrong_type("messages", "an array of objects", other)),
    };
    if messages.is_empty() {
        return Err(ChatError::invalid(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        )
        .about("messages")
        .with_code("empty_array"));
    }
    let mut reader = ChatMessageReader::default();
    for (index, message) in messages.iter().enumerate() {
        reader.read(index, message)?;
    }
    reader.finish()
}

#[derive(Default)]
struct ChatMessageReader {
    made: TranslatedConversation,
    /// The calls of the last assistant message that no tool message has answered yet.
    open: BTreeSet<String>,
}

impl ChatMessageReader {
    fn read(&mut self, index: usize, message: &Value) -> Result<(), ChatError> {
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" {
            self.all_answered()?;
        }
        let content = &message["content"];
        match role {
            "system" | "developer" if self.made.messages.is_empty() => {
                self.made.system.extend(parts(index, content)?);
            }
            "system" | "developer" | "user" => {
                let blocks = or_empty(parts(index, content)?);
                self.push("user", blocks);
            }
            "assistant" => {
                let blocks = self.assistant(index, message)?;
                if !blocks.is_empty() {
                    self.push("assistant", blocks);
                }
            }
            "tool" => {
                let result = self.result(index, message)?;
                self.push("user", vec![result]);
            }
            other => {
                return Err(ChatError::invalid(format!(
                    "Invalid value: '{other}'. Supported values are: 'system', 'assistant', 'user', 'tool', and \
                     'developer'."
                ))
                .about(format!("messages[{index}].role"))
                .with_code("invalid_value"));
            }
        }
        Ok(())
    }

    /// Adds a message, or adds to the last one if it has the same role: results and the user's words after them are one
    /// message.
    fn push(&mut self, role: &str, blocks: Vec<Value>) {
        let last = self.made.messages.last_mut();
        let same = last.filter(|last| last["role"] == role);
        match same.and_then(|last| last["content"].as_array_mut()) {
            Some(content) => content.extend(blocks),
            None => self
                .made
                .messages
                .push(json!({ "role": role, "content": blocks })),
        }
    }

    fn assistant(&mut self, index: usize, message: &Value) -> Result<Vec<Value>, ChatError> {
        let mut blocks = match &message["content"] {
            Value::Null => Vec::new(),
            content => parts(index, content)?,
        };
        let calls = message["tool_calls"].as_array();
        for call in calls.into_iter().flatten() {
            let (Some(id), Some(name)) = (call["id"].as_str(), call["function"]["name"].as_str())
            else {
                let param = format!("messages[{index}].tool_calls");
                return Err(ChatError::invalid(format!(
                    "Missing required parameter: '{param}[].id' or '{param}[].function.name'."
                ))
                .about(param)
                .with_code("missing_required_parameter"));
            };
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            // The dialect accepts any text as arguments, the Messages API only objects.
            let input = match serde_json::from_str(arguments) {
                Ok(Value::Object(input)) => Value::Object(input),
                _ if arguments.is_empty() => json!({}),
                _ => json!({ "arguments": arguments }),
            };
            self.open.insert(id.to_owned());
            blocks.push(json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
        }
        Ok(blocks)
    }

    fn result(&mut self, index: usize, message: &Value) -> Result<Value, ChatError> {
        let id = message["tool_call_id"].as_str().unwrap_or_default();
        if !self.open.remove(id) {
            return Err(ChatError::invalid(
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
                 'tool_calls'.",
            )
            .about(format!("messages.[{index}].role")));
        }
        let blocks = parts(index, &message["content"])?;
        let mut result = json!({ "type": "tool_result", "tool_use_id": id });
        if !blocks.is_empty() {
            result["content"] = blocks.into();
        }
        Ok(result)
    }

    fn all_answered(&mut self) -> Result<(), ChatError> {
        if self.open.is_empty() {
            return Ok(());
        }
        let open: Vec<_> = self.open.iter().map(String::as_str).collect();
        Err(ChatError::invalid(format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            open.join(", ")
        ))
        .about("messages"))
    }

    fn finish(mut self) -> Result<TranslatedConversation, ChatError> {
        self.all_answered()?;
        if self.made.messages.is_empty() {
            // There is only a system prompt, which the dialect allows.
            self.push("user", or_empty(Vec::new()));
        }
        Ok(self.made)
    }
}

fn or_empty(blocks: Vec<Value>) -> Vec<Value> {
    if blocks.is_empty() {
        return vec![json!({ "type": "text", "text": EMPTY })];
    }
    blocks
}

/// Content, a string or parts, as blocks. Blank texts are dropped, because the Messages API refuses them.
fn parts(index: usize, content: &Value) -> Result<Vec<Value>, ChatError> {
    let parts = match content {
        Value::String(text) => return Ok(text_block(text).into_iter().collect()),
        Value::Array(parts) => parts,
        other => {
            return Err(wrong_type(
                &format!("messages[{index}].content"),
                "one of a string or array of objects",
                other,
            ));
        }
    };
    let mut blocks = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let kind = part["type"].as_str().unwrap_or_default();
        match kind {
            "text" => blocks.extend(text_block(part["text"].as_str().unwrap_or_default())),
            "refusal" => blocks.extend(text_block(part["refusal"].as_str().unwrap_or_default())),
            "image_url" => blocks.push(source(
                "image",
                part["image_url"]["url"].as_str().unwrap_or_default(),
            )),
            "file" => blocks.push(source(
                "document",
                part["file"]["file_data"].as_str().unwrap_or_default(),
            )),
            other => {
                return Err(ChatError::invalid(format!(
                    "Invalid value: '{other}'. Supported values are: 'text', 'image_url', 'file', and 'refusal'."
                ))
                .about(format!("messages[{index}].content[{at}].type"))
                .with_code("invalid_value"));
            }
        }
    }
    Ok(blocks)
}

fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }))
}

/// An image or a document, from a data URL or by address.
fn source(kind: &str, url: &str) -> Value {
    let inline = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    let source = match inline {
        Some((media, data)) => json!({ "type": "base64", "media_type": media, "data": data }),
        None => json!({ "type": "url", "url": url }),
    };
    json!({ "type": kind, "source": source })
}
