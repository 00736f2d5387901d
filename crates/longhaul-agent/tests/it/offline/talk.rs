//! A conversation with the offline model in the strict simulator, without a network.

use std::collections::BTreeSet;

use longhaul_agent::offline::{MODEL, model};
use longhaul_sim::call::ApiCall;
use longhaul_sim::world::{World, WorldOptions};
use serde_json::{Value, json};

use super::folder::Folder;
use super::schema::misfit;

/// The maximum number of replies to one prompt.
const BOUND: usize = 20;

/// A conversation.
pub(crate) struct Talk {
    world: World,
    folder: Folder,
    tools: Vec<Value>,
    messages: Vec<Value>,
    pub(crate) more: Value,
}

/// The results of a prompt.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) replies: usize,
    /// The maximum number of calls in one reply.
    pub(crate) at_once: usize,
}

impl Answer {
    pub(crate) fn called(&self, name: &str) -> usize {
        self.calls
            .iter()
            .filter(|(called, _)| called == name)
            .count()
    }
}

impl Talk {
    pub(crate) fn new(seed: u64, folder: Folder, tools: Vec<Value>) -> Self {
        let world = World::new(WorldOptions::new(seed, Box::new(model(seed))));
        Self {
            world,
            folder,
            tools,
            messages: Vec::new(),
            more: json!({}),
        }
    }

    /// Adds a prompt of the user, or a summary, and runs it.
    pub(crate) fn ask(&mut self, prompt: &str) -> Answer {
        let prompt = json!([{ "type": "text", "text": prompt }]);
        self.messages
            .push(json!({ "role": "user", "content": prompt }));
        let mut answer = Answer::default();
        loop {
            answer.replies += 1;
            assert!(answer.replies <= BOUND, "it never ends: {:?}", answer.calls);
            let content = self.send();
            let calls: Vec<&Value> = content
                .iter()
                .filter(|block| block["type"] == "tool_use")
                .collect();
            let results: Vec<Value> = calls
                .iter()
                .map(|call| self.run(call, &mut answer))
                .collect();
            answer.at_once = answer.at_once.max(results.len());
            let said = content.iter().filter_map(|block| block["text"].as_str());
            answer.text = said.collect::<Vec<_>>().join("\n");
            self.messages
                .push(json!({ "role": "assistant", "content": content }));
            if results.is_empty() {
                assert!(!answer.text.trim().is_empty(), "an answer says something");
                return answer;
            }
            self.messages
                .push(json!({ "role": "user", "content": results }));
        }
    }

    fn run(&self, call: &Value, answer: &mut Answer) -> Value {
        let name = call["name"].as_str().unwrap();
        let tool = self
            .tools
            .iter()
            .find(|tool| tool["name"] == name)
            .expect("a tool that was offered");
        let wrong = misfit(&tool["input_schema"], &call["input"]);
        assert_eq!(wrong, None, "{name} {}", call["input"]);
        let (said, failed) = self.folder.run(name, &call["input"]);
        answer.calls.push((name.to_owned(), call["input"].clone()));
        json!({ "type": "tool_result", "tool_use_id": call["id"], "content": said, "is_error": failed })
    }

    fn send(&mut self) -> Vec<Value> {
        let mut body = json!({ "model": MODEL, "max_tokens": 6_000, "messages": self.messages,
            "system": [{ "type": "text", "text": self.folder.system() }] });
        if !self.tools.is_empty() {
            body["tools"] = json!(self.tools);
        }
        for (name, value) in self.more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let call = ApiCall {
            key: "key".into(),
            version: "2023-06-01".into(),
            betas: BTreeSet::new(),
            body: body.to_string().into(),
            ..ApiCall::default()
        };
        let reply = self.world.exchange(&call);
        let reply =
            reply.unwrap_or_else(|error| panic!("refused: {} {}", error.status, error.message));
        reply.message["content"].as_array().unwrap().clone()
    }
}
