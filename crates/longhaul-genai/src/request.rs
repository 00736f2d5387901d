//! A request of the session as genai's request and options.

use genai::chat::{ChatMessage, ChatOptions, ChatRequest, Tool, ToolChoice};
use longhaul::ModelError;
use serde_json::Value;

use crate::breakpoints::BreakpointPolicy;
use crate::failure::invalid;
use crate::messages;

/// The model that a body asks for.
pub(crate) fn model(body: &Value) -> Result<&str, ModelError> {
    let model = body["model"].as_str().filter(|model| !model.is_empty());
    model.ok_or_else(|| invalid("the request names no model"))
}

/// Translates a body of the Messages API.
pub(crate) fn chat_request(
    body: &Value,
    breakpoints: BreakpointPolicy,
) -> Result<ChatRequest, ModelError> {
    let mut messages = system(&body["system"], breakpoints)?;
    messages.extend(messages::translate(&body["messages"], breakpoints)?);
    let request = ChatRequest::new(messages);
    let tools = body["tools"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    if tools.is_empty() {
        return Ok(request);
    }
    let tools: Result<Vec<Tool>, ModelError> = tools
        .iter()
        .map(|definition| tool(definition, breakpoints))
        .collect();
    Ok(request.with_tools(tools?))
}

/// The options of a request: those that the host gave, and those that the body has.
pub(crate) fn chat_options(body: &Value, given: &ChatOptions) -> Result<ChatOptions, ModelError> {
    let mut options = (given.clone())
        .with_capture_content(true)
        .with_capture_tool_calls(true)
        .with_capture_usage(true);
    if let Some(most) = body["max_tokens"].as_u64() {
        options = options.with_max_tokens(u32::try_from(most).unwrap_or(u32::MAX));
    }
    if let Some(temperature) = body["temperature"].as_f64() {
        options = options.with_temperature(temperature);
    }
    if let Some(top_p) = body["top_p"].as_f64() {
        options = options.with_top_p(top_p);
    }
    if let Some(sequences) = body["stop_sequences"].as_array() {
        let sequences = sequences.iter().filter_map(Value::as_str);
        options = options.with_stop_sequences(sequences.map(str::to_owned).collect());
    }
    if let Some(kind) = body["tool_choice"]["type"].as_str() {
        options = options.with_tool_choice(match kind {
            "auto" => ToolChoice::Auto,
            "any" => ToolChoice::Required,
            "none" => ToolChoice::None,
            "tool" => ToolChoice::tool(body["tool_choice"]["name"].as_str().unwrap_or_default()),
            other => return Err(invalid(format!("the tool choice `{other}` is not known"))),
        });
    }
    Ok(options)
}

/// The system prompt as messages, one per block, because a message is where genai has breakpoints.
fn system(system: &Value, breakpoints: BreakpointPolicy) -> Result<Vec<ChatMessage>, ModelError> {
    match system {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![ChatMessage::system(text.as_str())]),
        Value::Array(blocks) => blocks
            .iter()
            .map(|block| {
                let text = (block["text"].as_str())
                    .ok_or_else(|| invalid("a block of the system prompt is not a text"))?;
                let message = ChatMessage::system(text);
                Ok(match breakpoints.on(block) {
                    Some(breakpoint) => message.with_options(breakpoint),
                    None => message,
                })
            })
            .collect(),
        _ => Err(invalid(
            "the system prompt is neither a text nor a list of texts",
        )),
    }
}

fn tool(definition: &Value, breakpoints: BreakpointPolicy) -> Result<Tool, ModelError> {
    let name = definition["name"].as_str().unwrap_or_default();
    if !matches!(definition["type"].as_str(), None | Some("custom")) {
        return Err(invalid(format!(
            "the tool `{name}` is run by Anthropic's servers, which genai cannot ask for: leave it out of the prompt"
        )));
    }
    let mut tool = Tool::new(name).with_schema(definition["input_schema"].clone());
    if let Some(description) = definition["description"].as_str() {
        tool = tool.with_description(description);
    }
    if let Some(strict) = definition["strict"].as_bool() {
        tool = tool.with_strict(strict);
    }
    if let Some(breakpoint) = breakpoints.on(definition) {
        tool = tool.with_cache_control(breakpoint);
    }
    Ok(tool)
}

#[cfg(test)]
mod tests {
    use genai::chat::CacheControl;
    use longhaul::ModelErrorClass;
    use serde_json::json;

    use super::*;

    #[test]
    fn system_tools_and_limits_are_translated() {
        let body = json!({
            "model": "m", "max_tokens": 77, "tool_choice": {"type": "tool", "name": "Read"},
            "system": [{"type": "text", "text": "One."},
                {"type": "text", "text": "Two.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
            "tools": [{"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}],
            "messages": [{"role": "user", "content": "Hello."}]
        });
        let request = chat_request(&body, BreakpointPolicy::PassedOn).unwrap();
        assert_eq!(request.join_systems().as_deref(), Some("One.\n\nTwo."));
        let options = request.messages[1].options.as_ref().unwrap();
        assert_eq!(options.cache_control, Some(CacheControl::Ephemeral1h));
        let tools = request.tools.unwrap();
        assert_eq!(tools[0].schema, Some(json!({"type": "object"})));
        let options = chat_options(&body, &ChatOptions::default().with_seed(3)).unwrap();
        assert_eq!((options.max_tokens, options.seed), (Some(77), Some(3)));
        assert_eq!(options.tool_choice, Some(ToolChoice::tool("Read")));

        let request = chat_request(&body, BreakpointPolicy::LeftOut).unwrap();
        assert!(
            request
                .messages
                .iter()
                .all(|message| message.options.is_none())
        );
    }

    #[test]
    fn a_tool_of_the_server_is_refused_by_name() {
        let body = json!({"messages": [], "tools": [{"type": "web_search_20250305", "name": "web_search"}]});
        let error = chat_request(&body, BreakpointPolicy::LeftOut).unwrap_err();
        assert_eq!(error.class, ModelErrorClass::Invalid);
        assert!(error.message.contains("`web_search`"), "{error}");
    }
}
