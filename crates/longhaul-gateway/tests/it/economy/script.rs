//! A conversation that is the same whatever the model answers: in each round one file is read.

use std::sync::{Arc, Mutex};

use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use serde_json::{Value, json};
use url::Url;

use crate::support::{REPLY, answering, exchange, header, post};

/// A word that only the results have.
pub(super) const NEEDLE: &str = "haystackneedle";

/// The conversation of a client, which it sends from the beginning each time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Script {
    pub(crate) model: &'static str,
    pub(crate) api: ScriptApi,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScriptApi {
    /// The Messages API; replies have thinking.
    Messages,
    /// Chat completions.
    Chat,
}

impl Script {
    pub(crate) const SONNET: Self = Self::messages("claude-sonnet-4-6");
    /// Its thinking is bound to what comes before it.
    pub(super) const OPUS: Self = Self::messages("claude-opus-5-5");
    pub(super) const CHAT: Self = Self {
        model: "claude-haiku-4-5",
        api: ScriptApi::Chat,
    };

    pub(super) const fn messages(model: &'static str) -> Self {
        Self {
            model,
            api: ScriptApi::Messages,
        }
    }

    /// The request of a turn, with a breakpoint on its newest message.
    pub(crate) fn body(self, turn: usize) -> Value {
        match self.api {
            ScriptApi::Messages => self.messages_body(turn),
            ScriptApi::Chat => self.chat_body(turn),
        }
    }

    fn messages_body(self, turn: usize) -> Value {
        let mut messages = vec![json!({"role": "user", "content": [text("Read all files.")]})];
        for at in 0..turn {
            let call = json!({"type": "tool_use", "id": id(at), "name": "Read", "input": {"file_path": path(at)}});
            let thinking = json!({"type": "thinking", "thinking": "The next one.", "signature": format!("c2lnbmF0dXJl{at}")});
            messages.push(json!({"role": "assistant", "content": [thinking, call]}));
            messages.push(json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id(at), "content": result(at)}]}));
        }
        let newest = messages.last_mut().unwrap()["content"]
            .as_array_mut()
            .unwrap();
        newest[0]["cache_control"] = json!({"type": "ephemeral"});
        json!({
            "model": self.model, "max_tokens": 8_000, "messages": messages,
            "thinking": {"type": "adaptive"},
            "system": [{"type": "text", "text": "You read files. ".repeat(500), "cache_control": {"type": "ephemeral"}}],
            "tools": [{"name": "Read", "description": "Reads a file.", "input_schema": {"type": "object"}}],
        })
    }

    fn chat_body(self, turn: usize) -> Value {
        let mut messages = vec![
            json!({"role": "system", "content": "You read files. ".repeat(500)}),
            json!({"role": "user", "content": "Read all files."}),
        ];
        for at in 0..turn {
            let arguments = json!({"file_path": path(at)}).to_string();
            let call = json!({"id": id(at), "type": "function", "function": {"name": "Read", "arguments": arguments}});
            messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
            messages.push(json!({"role": "tool", "tool_call_id": id(at), "content": result(at)}));
        }
        let read = json!({"name": "Read", "description": "Reads a file.", "parameters": {"type": "object"}});
        json!({
            "model": self.model, "messages": messages,
            "tools": [{"type": "function", "function": read}],
        })
    }

    /// Sends the request of a turn; returns the whole answer.
    pub(super) async fn send(self, gateway: &Gateway, turn: usize) -> String {
        self.send_body(gateway, &self.body(turn)).await
    }

    pub(crate) async fn send_body(self, gateway: &Gateway, body: &Value) -> String {
        let (path, headers) = match self.api {
            ScriptApi::Messages => (
                "/v1/messages",
                "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n",
            ),
            ScriptApi::Chat => (
                "/v1/chat/completions",
                "authorization: Bearer k\r\ncontent-type: application/json\r\n",
            ),
        };
        let answer = exchange(gateway.addr(), &post(path, headers, &body.to_string())).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer
    }

    /// The decisions by price in the first turns of the conversation.
    pub(super) async fn decisions(self, gateway: &Gateway, turns: usize) -> Vec<String> {
        let mut decisions = Vec::new();
        for turn in 0..turns {
            let answer = self.send(gateway, turn).await;
            decisions.extend(header(&answer, "x-longhaul-economy"));
        }
        decisions
    }

    /// An upstream that answers in the API of the script, and the bodies that it gets.
    pub(crate) async fn upstream(self) -> ScriptUpstream {
        let (url, got) = answering(match self.api {
            ScriptApi::Messages => REPLY,
            ScriptApi::Chat => CHAT_REPLY,
        })
        .await;
        ScriptUpstream { url, got }
    }
}

const CHAT_REPLY: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 195\r\n\r\n{\"id\":\"c1\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}";

/// What the gateways send goes here.
pub(crate) struct ScriptUpstream {
    pub(crate) url: Url,
    got: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl ScriptUpstream {
    /// Takes the bodies that arrived so far.
    pub(super) fn take(&self) -> Vec<String> {
        let got = std::mem::take(&mut *self.got.lock().unwrap());
        got.into_iter()
            .map(|request| {
                let request = String::from_utf8(request).unwrap();
                request.split_once("\r\n\r\n").unwrap().1.to_owned()
            })
            .collect()
    }

    /// Sends what a gateway with these options sends to this upstream.
    pub(crate) async fn gateway(&self, mut options: GatewayOptions) -> Gateway {
        options.upstream = UpstreamChoice::Url(self.url.clone());
        Gateway::start(options).await.unwrap()
    }
}

/// The messages of a body without cache breakpoints, which move on with each request.
pub(super) fn messages(body: &str) -> Vec<Value> {
    let body: Value = serde_json::from_str(body).unwrap();
    let mut messages = body["messages"].as_array().unwrap().clone();
    for message in &mut messages {
        for block in message["content"].as_array_mut().into_iter().flatten() {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
    messages
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn id(at: usize) -> String {
    format!("toolu_{at:04}")
}

fn path(at: usize) -> String {
    format!("/src/part{at}.rs")
}

fn result(at: usize) -> String {
    format!(
        "    {NEEDLE} fn part{at}(first: usize) -> Option<usize> {{ first.checked_add({at}) }}\n"
    )
    .repeat(120)
}
