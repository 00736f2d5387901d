//! Generated conversations with tools, in both dialects.

use proptest::prelude::*;
use serde_json::{Value, json};

/// The tools that they call.
pub(crate) const TOOLS: [&str; 5] = ["Read", "Bash", "Grep", "TodoWrite", "mcp__db__query"];

/// One wish of the user, and what follows from it.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) wish: String,
    pub(crate) picture: bool,
    pub(crate) reminded: bool,
    pub(crate) system: bool,
    pub(crate) thinks: bool,
    /// Rounds of calls: the tools that are called in parallel, and the lengths of their results.
    pub(crate) rounds: Vec<Vec<(usize, usize)>>,
    pub(crate) said: String,
}

/// Generates conversations.
pub(crate) fn turns(most: usize) -> impl Strategy<Value = Vec<Turn>> {
    let calls = prop::collection::vec((0..TOOLS.len(), 0..4_000usize), 1..4);
    let turn = (
        "[a-z]{2,8}( [a-zäé<>&\"]{1,9}){2,12}",
        any::<[bool; 4]>(),
        prop::collection::vec(calls, 0..4),
        "[A-Z][a-z]{3,12}( [a-z]{2,9}){1,20}",
    );
    let turn = turn.prop_map(|(wish, is, rounds, said)| Turn {
        wish,
        picture: is[0] && is[1],
        reminded: is[1],
        system: is[2] && is[3],
        thinks: is[3],
        rounds,
        said,
    });
    prop::collection::vec(turn, 1..most).prop_map(|mut turns| {
        for (number, turn) in turns.iter_mut().enumerate() {
            turn.wish = format!("Wish {number}: {}", turn.wish);
        }
        turns
    })
}

/// A tiny image.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn input(tool: usize, id: &str) -> Value {
    match TOOLS[tool] {
        "Read" => json!({"file_path": format!("/src/{id}.rs")}),
        "Bash" => json!({"command": format!("cargo test {id}")}),
        "TodoWrite" => {
            json!({"todos": [{"content": format!("do {id}"), "status": "pending", "activeForm": "x"}]})
        }
        _ => json!({"pattern": id}),
    }
}

fn result(length: usize) -> String {
    "the quick brown fox jumps over it\n".repeat(length / 34 + 1)
}

/// The turns as elements of the Messages API; `first` numbers the calls.
pub(crate) fn messages(turns: &[Turn], first: usize) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut number = first;
    for turn in turns {
        let mut content = Vec::new();
        if turn.reminded {
            let text = "<system-reminder>\nNever mind the weather.\n</system-reminder>";
            content.push(json!({"type": "text", "text": text}));
        }
        if turn.picture {
            let source = json!({"type": "base64", "media_type": "image/png", "data": PICTURE});
            content.push(json!({"type": "image", "source": source}));
        }
        content.push(json!({"type": "text", "text": turn.wish}));
        messages.push(json!({"role": "user", "content": content}));
        if turn.system {
            messages.push(json!({"role": "system", "content": "The host says: be brief."}));
        }
        for round in &turn.rounds {
            let (mut said, mut results) = (Vec::new(), Vec::new());
            if turn.thinks {
                said.push(
                    json!({"type": "thinking", "thinking": "let me see", "signature": "c2ln"}),
                );
            }
            for (tool, length) in round {
                let id = format!("toolu_{number}");
                number += 1;
                said.push(json!({"type": "tool_use", "id": id, "name": TOOLS[*tool], "input": input(*tool, &id)}));
                let content = match length % 2 {
                    0 => json!(result(*length)),
                    _ => json!([{"type": "text", "text": result(*length)}]),
                };
                results.push(json!({"type": "tool_result", "tool_use_id": id, "content": content}));
            }
            messages.push(json!({"role": "assistant", "content": said}));
            messages.push(json!({"role": "user", "content": results}));
        }
        messages.push(json!({"role": "assistant", "content": turn.said}));
    }
    // Clients set their breakpoint here.
    let asked = messages
        .iter_mut()
        .rfind(|message| message["role"] == "user");
    if let Some(last) = asked.and_then(|message| message["content"].as_array_mut()?.last_mut()) {
        last["cache_control"] = json!({"type": "ephemeral"});
    }
    messages
}

/// The turns as elements of chat completions.
pub(crate) fn completions(turns: &[Turn], first: usize) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut number = first;
    for turn in turns {
        let mut content = vec![json!({"type": "text", "text": turn.wish})];
        if turn.picture {
            let url = format!("data:image/png;base64,{PICTURE}");
            content.push(json!({"type": "image_url", "image_url": {"url": url}}));
        }
        if turn.thinks {
            messages.push(json!({"role": "user", "content": turn.wish}))
        } else {
            messages.push(json!({"role": "user", "content": content}))
        }
        for round in &turn.rounds {
            let (mut calls, mut results) = (Vec::new(), Vec::new());
            for (tool, length) in round {
                let id = format!("call_{number}");
                number += 1;
                let function =
                    json!({"name": TOOLS[*tool], "arguments": input(*tool, &id).to_string()});
                calls.push(json!({"id": id, "type": "function", "function": function}));
                results
                    .push(json!({"role": "tool", "tool_call_id": id, "content": result(*length)}));
            }
            messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
            messages.extend(results);
        }
        messages.push(json!({"role": "assistant", "content": turn.said}));
    }
    messages
}
