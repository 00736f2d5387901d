//! The promises of managing, each in the case in which it is hardest to keep.

use std::sync::Arc;

use longhaul_core::config::{Config, ConfigLayers};
use longhaul_core::models::ModelTable;
use longhaul_gateway::front::{Gateway, UpstreamChoice};
use longhaul_gateway::store::{GatewayStorage, InMemoryStore, PrefixStore, UsageLogStore};
use serde_json::{Value, json};

use super::long::{Workload, gateway, with_window};
use super::managed::{body, talk};
use super::support::{body_of, exchange, get, header, post, sessions_when};

const HEADERS: &str =
    "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";

async fn ask(gateway: &Gateway, body: &Value) -> (String, Value) {
    let request = post("/v1/messages", HEADERS, &body.to_string());
    let answer = exchange(gateway.addr(), &request).await;
    let said = serde_json::from_str(body_of(&answer)).unwrap();
    (answer, said)
}

fn said(role: &str, text: &str) -> Value {
    json!({"role": role, "content": [{"type": "text", "text": text}]})
}

fn prompt(reply: &Value) -> u64 {
    let usage = &reply["usage"];
    let names = [
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    ];
    names
        .iter()
        .map(|name| usage[name].as_u64().unwrap_or(0))
        .sum()
}

/// The largest prompt that was sent to the simulator, and how many requests it rejected.
fn largest(gateway: &Gateway) -> (u64, u64) {
    gateway.simulated().unwrap().with_world(|world| {
        let recent = world.usage_log().recent.iter();
        let largest = recent.map(|one| one.tokens.prompt_tokens()).max();
        (largest.unwrap_or(0), world.usage_log().total.errors)
    })
}

pub(crate) fn set(pairs: &[(&str, &str)]) -> Config {
    let flags = pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let layers = ConfigLayers {
        flags: flags.collect(),
        ..ConfigLayers::default()
    };
    Config::load(&layers).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_x8_a_cap_holds_for_a_history_that_is_seen_for_the_first_time() {
    let gateway = gateway(ModelTable::builtin(), |options| {
        options.config = set(&[("window.cap", "30000")]);
    })
    .await;
    let (answer, reply) = ask(&gateway, &body(&talk(150))).await;
    assert_eq!(reply["type"], "message", "{answer}");
    assert!(
        prompt(&reply) < 20_000,
        "below the threshold: {}",
        prompt(&reply)
    );
    assert!(
        largest(&gateway).0 <= 30_000,
        "nothing else was sent either"
    );
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o3_x8_a_window_that_is_smaller_than_it_is_known_to_be_is_recovered_from() {
    let (small, _) = with_window("claude-sonnet-4-6", 20_000);
    let behind = gateway(small, |options| {
        options.policies.rules = vec!["off".parse().unwrap()];
    })
    .await;
    let url = behind.url();
    let gateway = gateway(ModelTable::builtin(), |options| {
        options.upstream = UpstreamChoice::Url(url.parse().unwrap());
    })
    .await;
    let (answer, reply) = ask(&gateway, &body(&talk(120))).await;
    assert_eq!(reply["type"], "message", "{answer}");
    assert_eq!(
        header(&answer, "x-longhaul-action").as_deref(),
        Some("recovered")
    );
    assert!(prompt(&reply) < 20_000);
    // What the upstream said of its window is known from then on, for other conversations, too.
    let mut other = talk(120);
    other[0] = said("user", "Something else.");
    for messages in [talk(122), other] {
        let (answer, reply) = ask(&gateway, &body(&messages)).await;
        let action = header(&answer, "x-longhaul-action").unwrap();
        assert!(
            ["summarised", "extracted"].contains(&&*action),
            "it was made to fit before it was sent: {action}"
        );
        assert!(prompt(&reply) < 20_000);
    }
    gateway.stop().await;
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o3_x8_what_cannot_be_made_to_fit_is_no_recovery() {
    let (small, _) = with_window("claude-sonnet-4-6", 20_000);
    let gateway = gateway(small, |_| {}).await;
    let mut messages = talk(3);
    messages.push(said("assistant", "Yes."));
    messages.push(said(
        "user",
        &"Explain every one of these words. ".repeat(20_000),
    ));
    let (answer, reply) = ask(&gateway, &body(&messages)).await;
    assert_eq!(reply["type"], "error", "{answer}");
    assert_ne!(
        header(&answer, "x-longhaul-action").as_deref(),
        Some("recovered")
    );
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h5_x8_what_is_switched_off_is_off_in_the_gateway_too() {
    for (key, refused) in [
        ("compaction.enabled", true),
        ("compaction.automatic", true),
        ("compaction.auto_compact_enabled", true),
        ("compaction.micro", false),
    ] {
        let (small, _) = with_window("claude-sonnet-4-6", 40_000);
        let gateway = gateway(small, |options| options.config = set(&[(key, "false")])).await;
        let (answer, reply) = ask(&gateway, &body(&talk(120))).await;
        assert_eq!(reply["type"] == "error", refused, "{key}: {answer}");
        let replaced = header(&answer, "x-longhaul-replaced-messages");
        assert_eq!(replaced.is_none(), refused, "{key}: {answer}");
        gateway.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u5_x8_no_result_is_cleared_where_clearing_is_switched_off() {
    let (models, window) = with_window("claude-haiku-4-5", 40_000);
    let gateway = gateway(models, |options| {
        options.config = set(&[("compaction.micro", "false")]);
    })
    .await;
    let workload = Workload {
        result: 40,
        ..Workload::PLAIN
    };
    let mut client = super::long::Client::new(&gateway, "claude-haiku-4-5", workload, window).await;
    for turn in 0..60 {
        client.turn(turn).await;
    }
    assert!(
        !client.actions.contains_key("cleared"),
        "{:?}",
        client.actions
    );
    assert!(
        client.actions.contains_key("summarised"),
        "{:?}",
        client.actions
    );
    assert_eq!(largest(&gateway).1, 0);
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b2_x8_a_request_that_is_replaced_to_its_end_keeps_the_clients_last_marker() {
    let (small, _) = with_window("claude-sonnet-4-6", 40_000);
    let gateway = gateway(small, |_| {}).await;
    let mut messages = talk(120);
    // The newest message alone is larger than what may stay as it is, so everything is replaced.
    let results: Vec<Value> = (0..3)
        .map(|at| json!({"type": "tool_result", "tool_use_id": format!("t{at}"), "content": "a line of it\n".repeat(3_000)}))
        .collect();
    let calls: Vec<Value> = (0..3)
        .map(|at| json!({"type": "tool_use", "id": format!("t{at}"), "name": "Bash", "input": {"command": "x"}}))
        .collect();
    messages.push(json!({"role": "assistant", "content": calls}));
    messages.push(json!({"role": "user", "content": results}));
    messages.last_mut().unwrap()["content"][2]["cache_control"] = json!({"type": "ephemeral"});
    let mut request = body(&messages);
    request["tools"] = json!([{"name": "Bash", "input_schema": {"type": "object"}}]);
    let (answer, reply) = ask(&gateway, &request).await;
    assert_eq!(reply["type"], "message", "{answer}");
    let written = reply["usage"]["cache_creation_input_tokens"]
        .as_u64()
        .unwrap();
    assert!(
        written > 1_000,
        "what is sent is written to the cache: {}",
        reply["usage"]
    );
    let (_, again) = ask(&gateway, &request).await;
    let read = again["usage"]["cache_read_input_tokens"].as_u64().unwrap();
    assert!(read >= written, "and read from it: {}", again["usage"]);
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b2_x8_a_client_without_markers_is_told_and_gets_them_from_its_second_request_on() {
    let gateway = gateway(ModelTable::builtin(), |_| {}).await;
    let mut messages = talk(20);
    let mut marks = Vec::new();
    let mut read = Vec::new();
    for turn in 0..4 {
        let (answer, reply) = ask(&gateway, &body(&messages)).await;
        marks.push(header(&answer, "x-longhaul-marks").unwrap());
        read.push(reply["usage"]["cache_read_input_tokens"].as_u64().unwrap());
        messages.push(json!({"role": "assistant", "content": reply["content"]}));
        messages.push(said("user", &format!("Go on with {turn}.")));
        sessions_when(gateway.addr(), |all| {
            all["sessions"][0]["calls"] == turn + 1
        })
        .await;
    }
    assert_eq!(marks, ["none", "managed", "managed", "managed"]);
    assert_eq!(read[..2], [0, 0]);
    assert!(read[2] > 1_000 && read[3] > read[2], "{read:?}");
    let sessions = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 4).await;
    let id = sessions["sessions"][0]["session"]
        .as_str()
        .unwrap()
        .to_owned();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    let session: Value = serde_json::from_str(body_of(&answer)).unwrap();
    let finding = session["calls"][1]["finding"].as_str().unwrap();
    assert!(finding.contains("sets no cache breakpoints"), "{finding}");
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_a_conversation_that_is_replayed_begins_no_line_with_each_request() {
    let gateway = gateway(ModelTable::builtin(), |_| {}).await;
    let all = talk(12);
    for _ in 0..3 {
        for until in (1..=all.len()).step_by(2) {
            let (answer, _) = ask(&gateway, &body(&all[..until])).await;
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
    }
    let calls = 3 * all.len().div_ceil(2);
    let sessions = sessions_when(gateway.addr(), |all| {
        let rows = all["sessions"].as_array().unwrap().iter();
        rows.map(|row| row["calls"].as_u64().unwrap()).sum::<u64>() == calls as u64
    })
    .await;
    let rows = sessions["sessions"].as_array().unwrap().iter();
    let lines: u64 = rows.map(|row| row["lines"].as_u64().unwrap()).sum();
    assert!(lines <= 3, "{lines} lines");
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_what_is_not_managed_does_not_claim_to_be() {
    let gateway = gateway(ModelTable::builtin(), |_| {}).await;
    let answer = get(gateway.addr(), "/v1/models").await;
    assert_eq!(
        header(&answer, "x-longhaul-policy").as_deref(),
        Some("off"),
        "{answer}"
    );
    let request = post("/v1/messages", HEADERS, r#"{"model":"m","messages":7}"#);
    let answer = exchange(gateway.addr(), &request).await;
    assert_eq!(
        header(&answer, "x-longhaul-policy").as_deref(),
        Some("observe"),
        "{answer}"
    );
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f7_x8_a_limit_that_is_too_small_for_a_summary_is_raised_in_the_gateways_own_request() {
    let (models, window) = with_window("claude-haiku-4-5", 40_000);
    let store = Arc::new(InMemoryStore::new().unwrap());
    let kept = Arc::clone(&store) as Arc<dyn GatewayStorage>;
    let gateway = gateway(models, |options| {
        options.store = Arc::clone(&kept) as Arc<dyn UsageLogStore>;
        options.prefix_store = Arc::clone(&kept) as Arc<dyn PrefixStore>;
    })
    .await;
    let workload = Workload {
        words: 30,
        result: 1,
        max_tokens: 500,
        ..Workload::PLAIN
    };
    let mut client = super::long::Client::new(&gateway, "claude-haiku-4-5", workload, window).await;
    for turn in 0..60 {
        client.turn(turn).await;
    }
    assert!(
        client.actions.contains_key("summarised"),
        "{:?}",
        client.actions
    );
    // A plain request is not in any cache; after the client's own messages there is its breakpoint.
    let plain = gateway.simulated().unwrap().with_world(|world| {
        let recent = world.usage_log().recent.iter();
        let large = recent.filter(|one| one.tokens.prompt_tokens() > 15_000);
        let uncached = |one: &&_| {
            let one: &longhaul_sim::usage_log::LoggedCall = one;
            one.tokens.prompt_tokens() == one.tokens.input_tokens
        };
        large.filter(uncached).count()
    });
    assert_eq!(plain, 0, "summaries were asked for in the cache");
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o3_x8_new_results_that_the_upstream_has_no_room_for_are_shortened() {
    let (small, _) = with_window("claude-sonnet-4-6", 20_000);
    let behind = gateway(small, |options| {
        options.policies.rules = vec!["off".parse().unwrap()];
    })
    .await;
    let url = behind.url();
    let gateway = gateway(ModelTable::builtin(), |options| {
        options.upstream = UpstreamChoice::Url(url.parse().unwrap());
    })
    .await;
    let report = "one of many rows of a long report\n".repeat(6_000);
    let messages = vec![
        said("user", "Run the report."),
        json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_0", "name": "Bash", "input": {"command": "report"}}]}),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_0", "content": report}]}),
    ];
    let (answer, reply) = ask(&gateway, &body(&messages)).await;
    assert_eq!(reply["type"], "message", "{answer}");
    assert!(
        prompt(&reply) > 8_000 && prompt(&reply) < 20_000,
        "most of the window holds the report: {}",
        prompt(&reply)
    );
    gateway.stop().await;
    behind.stop().await;
}
