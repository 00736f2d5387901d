//! Conversations for tests of the model: requests made of struct literals, and a loop that sends them and appends the
//! replies.

use std::sync::Arc;

use longhaul_core::xxh3::xxh3_64_with_seed;
use longhaul_sim::model::{DraftBlock, DraftStop, ModelTurn, ReplyDraft, ReplyModel};
use longhaul_sim::request::{ApiBlock, ApiMessage, ApiRole, ApiTool, MessagesRequest};
use serde_json::{Map, Value, json};

pub(crate) fn block(value: Value) -> ApiBlock {
    let raw: Arc<str> = value.to_string().into();
    let Value::Object(fields) = value else {
        panic!("a block is an object");
    };
    ApiBlock {
        kind: fields["type"].as_str().unwrap().to_owned(),
        fields,
        raw,
        marker: None,
    }
}

pub(crate) fn text(text: &str) -> ApiBlock {
    block(json!({ "type": "text", "text": text }))
}

pub(crate) fn message(role: ApiRole, content: Vec<ApiBlock>) -> ApiMessage {
    ApiMessage { role, content }
}

pub(crate) fn tool(name: &str, schema: Value) -> ApiTool {
    described(name, "", schema)
}

pub(crate) fn described(name: &str, description: &str, schema: Value) -> ApiTool {
    let value = json!({ "name": name, "description": description, "input_schema": schema });
    typed(name, None, value)
}

pub(crate) fn typed(name: &str, kind: Option<&str>, value: Value) -> ApiTool {
    let raw: Arc<str> = value.to_string().into();
    let Value::Object(fields) = value else {
        panic!("a tool is an object");
    };
    ApiTool {
        name: name.to_owned(),
        kind: kind.map(str::to_owned),
        raw,
        fields,
        deferred: false,
        marker: None,
    }
}

pub(crate) fn request(messages: Vec<ApiMessage>, tools: Vec<ApiTool>) -> MessagesRequest {
    MessagesRequest {
        model: "sim".to_owned(),
        max_tokens: Some(8192),
        stream: false,
        system: Vec::new(),
        tools,
        messages,
        automatic_cache: None,
        fields: Map::new(),
    }
}

/// A request with one prompt and no history.
pub(crate) fn asking(words: &str, tools: Vec<ApiTool>) -> MessagesRequest {
    request(vec![message(ApiRole::User, vec![text(words)])], tools)
}

pub(crate) fn reply(
    model: &mut dyn ReplyModel,
    request: &MessagesRequest,
    seed: u64,
) -> ReplyDraft {
    model.reply(&ModelTurn {
        request,
        prompt_tokens: 0,
        tokenizer: longhaul_sim::tokens::TokenizerFamily::Old,
        index: 0,
        seed,
    })
}

pub(crate) fn words(draft: &ReplyDraft) -> String {
    let texts = draft.content.iter().filter_map(|block| match block {
        DraftBlock::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

pub(crate) fn calls(draft: &ReplyDraft) -> Vec<(&str, &Value)> {
    let calls = draft.content.iter().filter_map(|block| match block {
        DraftBlock::ToolUse { name, input } => Some((name.as_str(), input)),
        _ => None,
    });
    calls.collect()
}

pub(crate) fn thinks(draft: &ReplyDraft) -> bool {
    draft
        .content
        .iter()
        .any(|block| matches!(block, DraftBlock::Thinking(_)))
}

/// The answer of a tool.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) failed: bool,
}

/// A conversation that grows.
pub(crate) struct Talk {
    pub(crate) request: MessagesRequest,
    pub(crate) seed: u64,
    pub(crate) made: u64,
    ids: u64,
}

impl Talk {
    pub(crate) fn new(seed: u64, tools: Vec<ApiTool>) -> Self {
        let mut request = request(Vec::new(), tools);
        request.system = vec![text(
            "You work on code.\nWorking directory: /proj\nBe brief.",
        )];
        request
            .fields
            .insert("thinking".to_owned(), json!({ "type": "adaptive" }));
        Self {
            request,
            seed,
            made: 0,
            ids: 0,
        }
    }

    pub(crate) fn user(&mut self, words: &str) {
        self.request
            .messages
            .push(message(ApiRole::User, vec![text(words)]));
    }

    /// Sends the conversation and appends the reply.
    pub(crate) fn send(&mut self, model: &mut dyn ReplyModel) -> ReplyDraft {
        let last = self.request.messages.last().unwrap();
        let mut seed = self.seed ^ self.request.messages.len() as u64;
        for block in &last.content {
            seed = xxh3_64_with_seed(block.raw.as_bytes(), seed);
        }
        let draft = model.reply(&ModelTurn {
            request: &self.request,
            prompt_tokens: 0,
            tokenizer: longhaul_sim::tokens::TokenizerFamily::Old,
            index: self.made,
            seed,
        });
        self.made += 1;
        assert_eq!(draft.stop, DraftStop::Natural);
        let mut content = Vec::new();
        for part in &draft.content {
            content.push(block(match part {
                DraftBlock::Thinking(text) => json!({ "type": "thinking", "thinking": text, "signature": "s" }),
                DraftBlock::Text(text) => json!({ "type": "text", "text": text }),
                DraftBlock::Cited { .. } | DraftBlock::Server(_) => {
                    unreachable!("there is no server in this conversation")
                }
                DraftBlock::ToolUse { name, input } => {
                    self.ids += 1;
                    json!({ "type": "tool_use", "id": format!("t{}", self.ids), "name": name, "input": input })
                }
            }));
        }
        self.request
            .messages
            .push(message(ApiRole::Assistant, content));
        draft
    }

    /// Answers the calls of the last reply.
    pub(crate) fn answer(&mut self, mut run: impl FnMut(&str, &Value) -> Answer) {
        let last = self.request.messages.last().unwrap();
        let results = last
            .content
            .iter()
            .filter(|block| block.kind == "tool_use")
            .map(|call| {
                let answer = run(call.text("name").unwrap(), &call.fields["input"]);
                block(json!({
                    "type": "tool_result", "tool_use_id": call.text("id").unwrap(),
                    "content": answer.text, "is_error": answer.failed,
                }))
            });
        let results: Vec<ApiBlock> = results.collect();
        assert!(!results.is_empty());
        self.request.messages.push(message(ApiRole::User, results));
    }

    /// A call and its result, as history.
    pub(crate) fn history(&mut self, said: &str, name: &str, input: Value, answer: Answer) {
        self.ids += 1;
        let id = format!("t{}", self.ids);
        let call = block(json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
        self.request
            .messages
            .push(message(ApiRole::Assistant, vec![text(said), call]));
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": answer.text, "is_error": answer.failed });
        self.request
            .messages
            .push(message(ApiRole::User, vec![block(result)]));
    }
}

pub(crate) fn fine(text: &str) -> Answer {
    Answer {
        text: text.to_owned(),
        failed: false,
    }
}

pub(crate) fn failed(text: &str) -> Answer {
    Answer {
        text: text.to_owned(),
        failed: true,
    }
}
