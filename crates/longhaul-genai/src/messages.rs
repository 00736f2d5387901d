//! The messages of a request, block by block.

use std::collections::HashMap;

use genai::chat::{
    CacheControl, ChatMessage, ChatRole, ContentPart, MessageContent, ToolCall, ToolResponse,
};
use longhaul::ModelError;
use serde_json::{Value, json};

use crate::blocks::{kind, text_part, untranslatable, user_part};
use crate::breakpoints::BreakpointPolicy;
use crate::failure::invalid;

/// Translates the `messages` of a body.
pub(crate) fn translate(
    messages: &Value,
    breakpoints: BreakpointPolicy,
) -> Result<Vec<ChatMessage>, ModelError> {
    let messages = messages
        .as_array()
        .ok_or_else(|| invalid("the request has no messages"))?;
    let mut translation = MessageTranslation {
        breakpoints,
        names: HashMap::new(),
        messages: Vec::new(),
    };
    for message in messages {
        let text;
        let blocks = match &message["content"] {
            Value::String(said) => {
                text = [json!({"type": "text", "text": said})];
                &text[..]
            }
            Value::Array(blocks) => blocks.as_slice(),
            _ => return Err(invalid("a message has no content")),
        };
        match message["role"].as_str() {
            Some("user") => translation.user(blocks)?,
            Some("assistant") => translation.assistant(blocks)?,
            Some("system") => translation.system(blocks)?,
            other => {
                let role = other.unwrap_or("none");
                return Err(invalid(format!("the role of a message is `{role}`")));
            }
        }
    }
    Ok(translation.messages)
}

/// What has been translated so far.
struct MessageTranslation {
    breakpoints: BreakpointPolicy,
    /// The tools' names by the calls' ids: some providers want a result to name its tool.
    names: HashMap<String, String>,
    messages: Vec<ChatMessage>,
}

/// The parts of one message, and the last breakpoint among them.
#[derive(Default)]
struct MessageParts {
    parts: Vec<ContentPart>,
    breakpoint: Option<CacheControl>,
}

impl MessageParts {
    fn push(&mut self, part: ContentPart, breakpoint: Option<CacheControl>) {
        self.parts.push(part);
        self.breakpoint = breakpoint.or(self.breakpoint.take());
    }

    /// The message, unless there is nothing in it.
    fn into_message(self, role: ChatRole) -> Option<ChatMessage> {
        if self.parts.is_empty() {
            return None;
        }
        let message = ChatMessage::new(role, MessageContent::from_parts(self.parts));
        Some(match self.breakpoint {
            Some(breakpoint) => message.with_options(breakpoint),
            None => message,
        })
    }
}

impl MessageTranslation {
    /// Results come first and have a message of their own; all else that the user's message holds follows.
    fn user(&mut self, blocks: &[Value]) -> Result<(), ModelError> {
        let (mut results, mut rest) = (MessageParts::default(), MessageParts::default());
        for block in blocks {
            let breakpoint = self.breakpoints.on(block);
            if block["type"] == "tool_result" {
                let id = block["tool_use_id"].as_str().unwrap_or_default();
                let mut text = result_text(&block["content"], &mut rest)?;
                if block["is_error"] == true && !text.starts_with("Error:") {
                    text = format!("Error: {text}");
                }
                let mut result = ToolResponse::new(id, text);
                if let Some(name) = self.names.get(id) {
                    result = result.with_fn_name(name);
                }
                results.push(ContentPart::ToolResponse(result), breakpoint);
            } else {
                rest.push(user_part(block)?, breakpoint);
            }
        }
        self.messages.extend(results.into_message(ChatRole::Tool));
        self.messages.extend(rest.into_message(ChatRole::User));
        Ok(())
    }

    fn assistant(&mut self, blocks: &[Value]) -> Result<(), ModelError> {
        let mut parts = MessageParts::default();
        for block in blocks {
            let breakpoint = self.breakpoints.on(block);
            match kind(block) {
                "text" => parts.push(text_part(block), breakpoint),
                "tool_use" => {
                    let id = block["id"].as_str().unwrap_or_default();
                    let name = block["name"].as_str().unwrap_or_default();
                    self.names.insert(id.to_owned(), name.to_owned());
                    let call = ToolCall {
                        call_id: id.to_owned(),
                        fn_name: name.to_owned(),
                        fn_arguments: block["input"].clone(),
                        thought_signatures: None,
                    };
                    parts.push(ContentPart::ToolCall(call), breakpoint);
                }
                // Only the provider that wrote it takes it back, and genai has no place for its signature.
                "thinking" | "redacted_thinking" => {}
                other => return Err(untranslatable(other)),
            }
        }
        self.messages
            .extend(parts.into_message(ChatRole::Assistant));
        Ok(())
    }

    fn system(&mut self, blocks: &[Value]) -> Result<(), ModelError> {
        let mut parts = MessageParts::default();
        for block in blocks {
            match kind(block) {
                "text" => parts.push(text_part(block), self.breakpoints.on(block)),
                other => return Err(untranslatable(other)),
            }
        }
        self.messages.extend(parts.into_message(ChatRole::System));
        Ok(())
    }
}

/// The text of a tool's result. Images and files in it are put beside it, because a result is only a text in genai.
fn result_text(content: &Value, beside: &mut MessageParts) -> Result<String, ModelError> {
    let blocks = match content {
        Value::Null => return Ok(String::new()),
        Value::String(text) => return Ok(text.clone()),
        Value::Array(blocks) => blocks,
        _ => {
            return Err(invalid(
                "a tool's result is neither a text nor a list of blocks",
            ));
        }
    };
    let mut texts = Vec::new();
    for block in blocks {
        match user_part(block)? {
            ContentPart::Text(text) => texts.push(text),
            part => {
                texts.push(format!("(The {} follows after this result.)", kind(block)));
                beside.push(part, None);
            }
        }
    }
    Ok(texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(messages: Value) -> Vec<ChatMessage> {
        translate(&messages, BreakpointPolicy::PassedOn).unwrap()
    }

    #[test]
    fn a_result_names_its_tool_and_comes_before_what_the_user_says() {
        let messages = translated(json!([
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": "a"}}]},
            {"role": "user", "content": [
                {"type": "text", "text": "Go on."},
                {"type": "tool_result", "tool_use_id": "c1", "is_error": true, "content": "no such file",
                    "cache_control": {"type": "ephemeral"}}]}
        ]));
        let roles: Vec<&ChatRole> = messages.iter().map(|message| &message.role).collect();
        assert_eq!(
            roles,
            [&ChatRole::Assistant, &ChatRole::Tool, &ChatRole::User]
        );
        assert_eq!(messages[0].content.len(), 2, "without the thinking");
        let result = messages[1].content.tool_responses()[0];
        assert_eq!(result.fn_name.as_deref(), Some("Read"));
        assert_eq!(result.content, "Error: no such file");
        let options = messages[1].options.as_ref().unwrap();
        assert_eq!(options.cache_control, Some(CacheControl::Ephemeral));
        assert!(messages[2].options.is_none());
    }

    #[test]
    fn an_image_in_a_result_follows_after_it() {
        let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
        let messages = translated(json!([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "Here."}, image]}]}]));
        let result = messages[0].content.tool_responses()[0];
        assert_eq!(
            result.content,
            "Here.\n(The image follows after this result.)"
        );
        assert!(messages[1].content.binaries()[0].is_image());
    }

    #[test]
    fn what_cannot_be_translated_is_refused_and_not_left_out() {
        for block in [
            json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
            json!({"type": "compaction", "content": "…"}),
        ] {
            let messages = json!([{"role": "assistant", "content": [block]}]);
            let error = translate(&messages, BreakpointPolicy::LeftOut).unwrap_err();
            assert_eq!(error.class, longhaul::ModelErrorClass::Invalid);
        }
        let image =
            json!({"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}});
        let messages = json!([{"role": "user", "content": [image]}]);
        let error = translate(&messages, BreakpointPolicy::LeftOut).unwrap_err();
        assert!(error.message.contains("put its bytes"), "{error}");
    }
}
