//! The API's own web search: what a reply holds, what it costs, what is refused.

use longhaul_sim::call::ApiCall;
use longhaul_sim::model::{SimModel, SimModelOptions};
use longhaul_sim::server_tools::SearchError;
use longhaul_sim::world::{World, WorldOptions};
use serde_json::{Value, json};

use crate::client::{call, refused, send};

fn world() -> World {
    let model = SimModel::new(SimModelOptions::default());
    World::new(WorldOptions::new(7, Box::new(model)))
}

fn body(words: &str, tool: Value) -> Value {
    let mut search = json!({"type": "web_search_20250305", "name": "web_search"});
    for (name, value) in tool.as_object().unwrap() {
        search[name] = value.clone();
    }
    json!({
        "model": "claude-sonnet-4-6", "max_tokens": 2_000, "tools": [search],
        "messages": [{"role": "user", "content": words}],
    })
}

fn kinds(message: &Value) -> Vec<&str> {
    let blocks = message["content"].as_array().unwrap().iter();
    blocks
        .map(|block| block["type"].as_str().unwrap())
        .collect()
}

/// The contents of the search results in a message.
fn found(message: &Value) -> Vec<&Value> {
    let blocks = message["content"].as_array().unwrap().iter();
    let results = blocks.filter(|block| block["type"] == "web_search_tool_result");
    results.map(|block| &block["content"]).collect()
}

#[test]
fn a_reply_holds_the_search_its_results_and_text_that_cites_them() {
    let reply = send(
        &mut world(),
        &body("Search the web for tide tables.", json!({})),
    );
    let message = &reply.message;
    assert_eq!(
        kinds(message)[..3],
        ["server_tool_use", "web_search_tool_result", "text"]
    );
    let call = &message["content"][0];
    assert_eq!(call["input"], json!({"query": "tide tables"}));
    assert!(call["id"].as_str().unwrap().starts_with("srvtoolu_"));
    assert_eq!(message["content"][1]["tool_use_id"], call["id"]);
    let result = &found(message)[0][0];
    assert_eq!(result["type"], "web_search_result");
    assert!(
        result["title"]
            .as_str()
            .unwrap()
            .starts_with("Simulated result")
    );
    let blocks = message["content"].as_array().unwrap();
    let cited = blocks
        .iter()
        .find(|block| block["citations"][0].is_object())
        .unwrap();
    assert_eq!(cited["citations"][0]["type"], "web_search_result_location");
    assert_eq!(cited["citations"][0]["url"], result["url"]);
    assert_eq!(message["stop_reason"], "end_turn");
    assert_eq!(
        message["usage"]["server_tool_use"],
        json!({"web_search_requests": 1, "web_fetch_requests": 0})
    );
}

#[test]
fn n1_a_search_is_billed_besides_the_tokens_of_all_sampling_steps() {
    let asked = "Search the web for tide tables.";
    let mut world = world();
    let reply = send(&mut world, &body(asked, json!({})));
    let plain = send(&mut world, &body("Hello.", json!({})));
    assert_eq!((reply.usage.web_searches, plain.usage.web_searches), (1, 0));
    assert!(
        reply.usage.input > 2 * plain.usage.input,
        "two prompts, the second with results"
    );
    let tokens = longhaul_core::message::Usage {
        web_searches: 0,
        ..reply.usage.clone()
    };
    let model = longhaul_core::models::ModelTable::builtin().resolve("claude-sonnet-4-6");
    let of_tokens = model.spec.cost_of_reply(&tokens).unwrap();
    assert_eq!((reply.cost.unwrap() - of_tokens).to_f64(), 0.01);
}

#[test]
fn a_stream_begins_with_the_usage_of_the_first_step_and_ends_with_all_of_it() {
    let mut asked = body("Search the web for tide tables.", json!({}));
    asked["stream"] = json!(true);
    let reply = send(&mut world(), &asked);
    let events: Vec<Value> = reply.events().into_iter().map(|event| event.data).collect();
    let usage = |at: &Value| at["input_tokens"].as_u64().unwrap();
    let begun = usage(&events[0]["message"]["usage"]);
    let ended = events
        .iter()
        .find(|event| event["type"] == "message_delta")
        .unwrap();
    assert!(usage(&ended["usage"]) > 2 * begun);
    assert_eq!(ended["usage"]["server_tool_use"]["web_search_requests"], 1);
    let starts: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "content_block_start")
        .map(|event| &event["content_block"])
        .collect();
    assert_eq!(starts[0]["input"], json!({}));
    assert_eq!(
        starts[1]["content"], reply.message["content"][1]["content"],
        "results come whole"
    );
    let deltas = |kind: &str| {
        events
            .iter()
            .filter(|event| event["delta"]["type"] == kind)
            .count()
    };
    assert!(deltas("input_json_delta") > 1 && deltas("citations_delta") == 3);
}

#[test]
fn searches_end_at_max_uses_and_the_turn_is_paused_after_ten() {
    let words = |count: usize| {
        let quoted: Vec<String> = (0..count).map(|nth| format!("\"thing {nth}\"")).collect();
        format!("Search the web for {}", quoted.join(" and "))
    };
    let reply = send(&mut world(), &body(&words(3), json!({"max_uses": 2})));
    let found = found(&reply.message);
    assert!(found[0].is_array() && found[1].is_array());
    let error = json!({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"});
    assert_eq!(*found[2], error);
    assert_eq!(reply.usage.web_searches, 2);
    let mut world = world();
    let asked = body(&words(11), json!({}));
    let paused = send(&mut world, &asked).message;
    assert_eq!(paused["stop_reason"], "pause_turn");
    assert_eq!(self::found(&paused).len(), 10);
    let mut again = asked;
    let said = json!({"role": "assistant", "content": paused["content"]});
    again["messages"].as_array_mut().unwrap().push(said);
    let ended = send(&mut world, &again).message;
    assert_eq!(ended["stop_reason"], "end_turn", "it goes on where it was");
    assert_eq!(self::found(&ended).len(), 1);
}

#[test]
fn a_search_keeps_to_its_domains_and_fails_as_it_is_told_to() {
    let urls = |tool: Value| {
        let reply = send(&mut world(), &body("Search the web for tides", tool));
        let list = found(&reply.message)[0].as_array().unwrap().clone();
        let urls = list
            .iter()
            .map(|one| one["url"].as_str().unwrap().to_owned());
        urls.collect::<Vec<_>>()
    };
    let inside = urls(json!({"allowed_domains": ["docs.rs"]}));
    assert!(inside.iter().all(|url| url.starts_with("https://docs.rs/")));
    let outside = urls(json!({"blocked_domains": ["example.com"]}));
    assert!(!outside.is_empty() && outside.iter().all(|url| !url.contains("example.com")));
    let mut world = world();
    world.fail_searches(1, SearchError::TooManyRequests);
    let reply = send(&mut world, &body("Search the web for tides", json!({})));
    assert_eq!(found(&reply.message)[0]["error_code"], "too_many_requests");
    assert_eq!(reply.usage.web_searches, 0);
    let long = format!("Search the web for {}", "x".repeat(2_000));
    let reply = send(&mut world, &body(&long, json!({})));
    assert_eq!(found(&reply.message)[0]["error_code"], "query_too_long");
}

#[test]
fn b1_the_server_caches_results_between_its_steps_where_the_request_has_a_breakpoint() {
    let mut asked = body("Search the web for tides", json!({}));
    asked["system"] = json!([{"type": "text", "text": crate::client::words(3_000), "cache_control": {"type": "ephemeral"}}]);
    let reply = send(&mut world(), &asked);
    assert!(
        reply.usage.cache_read > 3_000,
        "the second step reads: {:?}",
        reply.usage
    );
    let plain = send(&mut world(), &body("Search the web for tides", json!({})));
    assert_eq!((plain.usage.cache_read, plain.usage.cache_write()), (0, 0));
}

#[test]
fn the_tool_is_checked_field_by_field() {
    let words = |tool: Value| {
        let call: ApiCall = call(&body("Hello", tool));
        refused(&mut world(), &call).message
    };
    let empty = "tools.0.web_search_20250305.blocked_domains: Empty list of domains is ambiguous. Provide at least one domain or null.";
    assert_eq!(words(json!({"blocked_domains": []})), empty);
    let both = words(json!({"allowed_domains": ["a.com"], "blocked_domains": ["b.com"]}));
    assert!(
        both.starts_with("tools.0.web_search_20250305: Only one of"),
        "{both}"
    );
    for bad in ["https://a.com", "*.a.com", "a"] {
        let words = words(json!({"allowed_domains": [bad]}));
        assert!(
            words.ends_with(&format!("Invalid domain: {bad}")),
            "{words}"
        );
    }
    assert!(words(json!({"name": "search"})).contains("Input should be 'web_search'"));
    assert!(words(json!({"max_uses": 0})).contains("greater than or equal to 1"));
    assert!(words(json!({"user_location": {"type": "exact"}})).contains("'approximate'"));
    assert!(words(json!({"response_inclusion": "full"})).contains("Extra inputs"));
    let newer = json!({"type": "web_search_20260318", "response_inclusion": "full", "max_uses": 1,
        "user_location": {"type": "approximate", "country": "NZ"}, "allowed_callers": ["direct"]});
    send(&mut world(), &body("Hello", newer));
}
