//! A clearing that pays only if the conversation goes on for long is not made shortly before a threshold makes a summary,
//! which removes the same (V3).

use longhaul_gateway::front::Gateway;
use serde_json::{Value, json};

use super::script::Script;
use crate::support::{header, options};

/// A conversation in which a few files are read, much is said, and then a tool is called whose results stay: what could be
/// cleared is small, and a lot would have to be written again for it.
fn body(turn: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Read these files."})];
    for at in 0..7 + turn {
        let id = format!("toolu_{at:04}");
        let (name, result) = match at {
            0..7 => (
                "Read",
                "    let next = first.checked_add(1)?;\n".repeat(200),
            ),
            _ => ("Ask", "They said that it should be done soon. ".repeat(60)),
        };
        let said = if at == 7 {
            "All of this is to be kept in mind. ".repeat(3_000)
        } else {
            "Next.".to_owned()
        };
        messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": said},
            {"type": "tool_use", "id": id, "name": name, "input": {"file_path": format!("/src/part{at}.rs")}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": result}]}));
    }
    let newest = &mut messages.last_mut().unwrap()["content"][0];
    newest["cache_control"] = json!({"type": "ephemeral"});
    let tool = |name: &str| json!({"name": name, "description": "Asks.", "input_schema": {"type": "object"}});
    json!({
        "model": Script::SONNET.model, "max_tokens": 8_000, "messages": messages,
        "system": [{"type": "text", "text": "You read files. ".repeat(500), "cache_control": {"type": "ephemeral"}}],
        "tools": [tool("Read"), tool("Ask")],
    })
}

/// The turn before which results are cleared, in a window of this size; `None` if in so many turns none are.
async fn cleared_before(window: u64, turns: usize) -> Option<usize> {
    let upstream = Script::SONNET.upstream().await;
    let mut options = options(upstream.url.clone());
    let table = format!("[models.{}]\nwindow = {window}\n", Script::SONNET.model);
    options.models = options.models.extended_with(&table).unwrap();
    let gateway: Gateway = upstream.gateway(options).await;
    let mut cleared = None;
    for turn in 0..turns {
        let answer = Script::SONNET.send_body(&gateway, &body(turn)).await;
        if header(&answer, "x-longhaul-economy").is_some() {
            cleared = Some(turn);
            break;
        }
    }
    gateway.stop().await;
    cleared
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v3_v9_a_clearing_must_be_earned_before_a_threshold_makes_a_summary() {
    let far = cleared_before(1_000_000, 60).await;
    let turn = far.expect("in a large window it pays in the end");
    assert_eq!(cleared_before(120_000, turn + 10).await, None);
}
