//! Signed thinking that comes back: every item of the documented lists of what keeps it valid and what does not.

mod invalidated;
mod latest_turn;
mod readers;
mod still_valid;
mod summaries;

use longhaul_sim::call::{ApiCall, ApiError};
use longhaul_sim::request::{ApiBlock, MessagesRequest};
use longhaul_sim::thinking::{
    AccountAge, CheckedThinking, SigningSecret, ThinkingPrefix, check, without,
};
use serde_json::{Value, json};

use crate::support::{NEW, call, read, spec, taken};

const BOUND: &str = "claude-fable-5-1";
const CONTROLS: &str = "thinking-binding-controls-2026-08-01";
const MISMATCH: &str = "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".";
const MODIFIED: &str = "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.";

/// A conversation with a world that thinks before it calls.
struct Talk {
    secret: SigningSecret,
    call: ApiCall,
    body: Value,
}

impl Talk {
    fn new(model: &str) -> Talk {
        let body = json!({
            "model": model,
            "max_tokens": 1000,
            "system": "Be brief.",
            "tools": [
                {"name": "read", "description": "Reads", "input_schema": {"type": "object", "properties": {}}},
                {"name": "later", "defer_loading": true, "input_schema": {"type": "object"}},
            ],
            "messages": [],
        });
        Talk {
            secret: SigningSecret::from_seed(7),
            call: call(NEW, &[]),
            body,
        }
    }

    /// A conversation of three rounds: thinking, a call, its result; three thinking blocks in total, then a question.
    fn three_rounds(model: &str) -> Talk {
        let mut talk = Talk::new(model);
        talk.user(json!("Look at a, b and c."));
        for (index, name) in ["a", "b", "c"].into_iter().enumerate() {
            let id = format!("toolu_{index}");
            talk.reply(&[
                json!({"type": "thinking", "thinking": format!("Now {name}.")}),
                json!({"type": "tool_use", "id": id, "name": "read", "input": {"file": name, "lines": 5}}),
            ]);
            talk.user(json!([{"type": "tool_result", "tool_use_id": id, "content": format!("contents of {name}")}]));
        }
        talk
    }

    fn messages(&mut self) -> &mut Vec<Value> {
        self.body["messages"].as_array_mut().unwrap()
    }

    fn user(&mut self, content: Value) {
        self.messages()
            .push(json!({"role": "user", "content": content}));
    }

    /// The conversation with a greeting, as a request.
    fn talked(mut self) -> MessagesRequest {
        self.user(json!("Hello"));
        self.request()
    }

    fn request(&self) -> MessagesRequest {
        taken(&self.body, &self.call)
    }

    fn check(&self) -> Result<CheckedThinking, ApiError> {
        self.check_as(AccountAge::New)
    }

    fn check_as(&self, account: AccountAge) -> Result<CheckedThinking, ApiError> {
        let request = self.request();
        check(
            &request,
            &spec(&request.model),
            &self.call,
            &self.secret,
            account,
        )
    }

    /// Adds a reply of the world, with signatures.
    fn reply(&mut self, blocks: &[Value]) {
        let request = self.request();
        let mut prefix = self.check().unwrap().prefix;
        let mut content = Vec::new();
        for block in blocks {
            let mut block = block.clone();
            if block["type"] == "thinking" {
                let text = block["thinking"].as_str().unwrap().to_owned();
                block["signature"] = self
                    .secret
                    .sign(&prefix, &request.model, &self.call.key, &text)
                    .into();
            }
            prefix.push(&ApiBlock::made(block.clone()).unwrap());
            content.push(block);
        }
        self.messages()
            .push(json!({"role": "assistant", "content": content}));
    }

    /// Removes the thinking of these messages.
    fn strip(&mut self, messages: &[usize]) {
        for message in messages {
            let content = self.messages()[*message]["content"].as_array_mut().unwrap();
            content.retain(|block| block["type"] != "thinking");
        }
    }

    #[track_caller]
    fn valid(&self) {
        let admitted = self
            .check()
            .unwrap_or_else(|error| panic!("{}", error.message));
        assert_eq!(admitted.transformations, []);
    }

    #[track_caller]
    fn invalid(&self, place: &str) {
        let error = self.check().expect_err("admitted");
        let hint = format!(
            "{place}: {MISMATCH} That setting requires the `{CONTROLS}` value in the `anthropic-beta` header."
        );
        assert_eq!((error.status, error.message), (400, hint));
    }
}
