//! Results that are made smaller before they are first sent (V8), behind the gateway: what the upstream gets for a client
//! that sends its whole history each time.

mod chat;
mod shortened;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use longhaul::Clock;
use longhaul_core::config::ResultReduction;
use longhaul_core::economy::EconomyPolicy;
use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::{GatewayStorage, SqliteStore};
use serde_json::{Value, json};
use url::Url;

use super::support::{answering, body_of, caught_up, exchange, header, post};

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 230\r\n\r\n{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-opus-5-5\",\"content\":[{\"type\":\"text\",\"text\":\"ok\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,\"usage\":{\"input_tokens\":9000,\"output_tokens\":5},\"padding\":\"0123456789\"}";

fn answer() -> &'static str {
    let (_, body) = ANSWER.split_once("\r\n\r\n").unwrap();
    let answer = ANSWER.replace("230", &body.len().to_string());
    Box::leak(answer.into_boxed_str())
}

/// A folder for a store, an upstream that records, and gateways between it and a client.
struct House {
    url: Url,
    got: Arc<Mutex<Vec<Vec<u8>>>>,
    folder: tempfile::TempDir,
}

impl House {
    async fn new() -> Self {
        let (url, got) = answering(answer()).await;
        Self {
            url,
            got,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A gateway on the store of this name.
    async fn gateway(&self, store: &str, set: impl FnOnce(&mut GatewayOptions)) -> Gateway {
        let path = self.folder.path().join(store);
        let secret = Tenants::of_file(&path.with_extension("secret")).unwrap();
        let store: Arc<dyn GatewayStorage> = Arc::new(SqliteStore::open(&path).unwrap());
        let upstream = UpstreamChoice::Url(self.url.clone());
        let mut options = GatewayOptions::new(upstream, store, secret);
        set(&mut options);
        Gateway::start(options).await.unwrap()
    }

    /// Sends a request; returns the answer and the messages that the upstream got.
    async fn send(&self, gateway: &Gateway, messages: &[Value]) -> (String, Vec<Value>) {
        self.send_to(gateway, "/v1/messages", messages).await
    }

    async fn send_to(
        &self,
        gateway: &Gateway,
        path: &str,
        messages: &[Value],
    ) -> (String, Vec<Value>) {
        let body = json!({"model": "claude-opus-5-5", "max_tokens": 99, "messages": messages});
        let headers =
            "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";
        let answer = exchange(gateway.addr(), &post(path, headers, &body.to_string())).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let sent = self.got.lock().unwrap().last().unwrap().clone();
        let sent = String::from_utf8(sent).unwrap();
        // The gateway's own breakpoints move on.
        let marker = r#","cache_control":{"type":"ephemeral"}"#;
        let sent = body_of(&sent).replace(marker, "");
        let sent: Value = serde_json::from_str(&sent).unwrap();
        (answer, sent["messages"].as_array().unwrap().clone())
    }
}

/// A history: a question, and rounds of a call and its result.
fn history(results: &[(&str, &str)]) -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": "Look at it."})];
    for (number, (path, result)) in results.iter().enumerate() {
        let id = format!("toolu_{number}");
        let (name, input) = match path.strip_prefix('$') {
            Some(command) => ("Bash", json!({"command": command})),
            None => ("Read", json!({"file_path": path})),
        };
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": name, "input": input}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": result}]}));
    }
    messages
}

/// The content that the upstream got for a result.
fn content(messages: &[Value], number: usize) -> String {
    let id = format!("toolu_{number}");
    let blocks = messages
        .iter()
        .filter_map(|message| message["content"].as_array());
    let mut blocks = blocks.flatten();
    let block = blocks.find(|block| block["tool_use_id"] == id).unwrap();
    block["content"].as_str().unwrap().to_owned()
}

fn output() -> String {
    "one line of the output of a command\n".repeat(60)
}

fn shown(changed: usize) -> String {
    (1..=100)
        .map(|line| match line == changed {
            true => format!("{line:>6}\ta changed line\n"),
            false => format!("{line:>6}\tline {line} of a file with several words in it\n"),
        })
        .collect()
}

#[tokio::test]
async fn v8_x8_results_are_made_smaller_from_their_first_use_and_in_every_later_request() {
    let house = House::new().await;
    let gateway = house.gateway("a.sqlite", |_| {}).await;
    let (output, before, now) = (output(), shown(0), shown(40));
    let rounds = [
        ("$ls", &*output),
        ("a.rs", &before),
        ("$ls", &output),
        ("a.rs", &now),
        ("$pwd", "/"),
    ];
    let mut sent: Vec<Vec<Value>> = Vec::new();
    let mut lines = std::collections::BTreeSet::new();
    for until in 1..=rounds.len() {
        let (answer, messages) = house.send(&gateway, &history(&rounds[..until])).await;
        if let Some(earlier) = sent.last() {
            assert_eq!(
                &messages[..earlier.len()],
                &earlier[..],
                "bytes that were sent stay"
            );
        }
        lines.insert(header(&answer, "x-longhaul-line").unwrap());
        sent.push(messages);
    }
    assert_eq!(
        lines.len(),
        1,
        "the conversation is recognized by what the client sends"
    );
    let last = sent.last().unwrap();
    assert_eq!(
        (content(last, 0), content(last, 1)),
        (output.clone(), before)
    );
    let pointer = content(last, 2);
    assert!(
        pointer.contains("toolu_0") && pointer.len() < 200,
        "{pointer}"
    );
    let changed = content(last, 3);
    assert!(
        changed.contains("toolu_1")
            && changed.contains("\n= 1-39\n+    40\ta changed line\n= 41-100"),
        "{changed}"
    );
    gateway.stop().await;
}

#[tokio::test]
async fn v8_x8_a_restarted_gateway_and_another_on_the_store_send_the_same_whatever_is_set_now() {
    let house = House::new().await;
    let output = output();
    let rounds = [("$ls", &*output), ("$ls", &output), ("$ls", &output)];
    let gateway = house.gateway("a.sqlite", |_| {}).await;
    house.send(&gateway, &history(&rounds[..1])).await;
    let (_, first) = house.send(&gateway, &history(&rounds[..2])).await;
    gateway.stop().await;
    let gateway = house
        .gateway("a.sqlite", |options| {
            options.config.reduce = ResultReduction::Off
        })
        .await;
    let other = house.gateway("a.sqlite", |_| {}).await;
    let (answer, again) = house.send(&gateway, &history(&rounds[..2])).await;
    assert_eq!(first, again);
    assert_eq!(
        header(&answer, "x-longhaul-reduced-results").as_deref(),
        Some("1")
    );
    let (_, longer) = house.send(&gateway, &history(&rounds)).await;
    assert_eq!(&longer[..first.len()], &first[..]);
    assert_eq!(
        content(&longer, 2),
        output,
        "new results stay as they are now"
    );
    let (_, elsewhere) = house.send(&other, &history(&rounds[..2])).await;
    assert_eq!(first, elsewhere);
    gateway.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn v8_x8_a_history_that_was_sent_elsewhere_before_stays_as_it_is() {
    let house = House::new().await;
    let gateway = house.gateway("a.sqlite", |_| {}).await;
    let output = output();
    let rounds = [("$ls", &*output), ("$ls", &output), ("$ls", &output)];
    let (_, sent) = house.send(&gateway, &history(&rounds)).await;
    assert_eq!(
        (content(&sent, 0), content(&sent, 1)),
        (output.clone(), output.clone())
    );
    assert!(
        content(&sent, 2).contains("toolu_1"),
        "the newest result is new: {}",
        content(&sent, 2)
    );
    gateway.stop().await;
}

#[tokio::test]
async fn v8_x8_errors_and_rules_that_say_so_leave_results_as_they_are() {
    let house = House::new().await;
    let output = output().repeat(10);
    let mut failed = history(&[("$ls", &output), ("$ls", &output)]);
    failed.last_mut().unwrap()["content"][0]["is_error"] = json!(true);
    let gateway = house
        .gateway("a.sqlite", |options| {
            options.config.reduce = ResultReduction::Recallable;
            options.policies.rules = vec!["path=/v1/other:observe".parse().unwrap()];
        })
        .await;
    let (_, sent) = house.send(&gateway, &failed).await;
    assert_eq!(content(&sent, 1), output);
    let (_, sent) = house.send(&gateway, &history(&[("$cat", &output)])).await;
    let excerpt = content(&sent, 0);
    assert!(
        excerpt.len() < 12_000 && excerpt.contains("toolu_0"),
        "{excerpt}"
    );
    gateway.stop().await;
    let rule = "model=claude-opus-*:manage,reduce=off";
    let gateway = house
        .gateway("b.sqlite", |options| {
            options.policies.rules = vec![rule.parse().unwrap()]
        })
        .await;
    let rounds = [("$ls", &*output), ("$ls", &output)];
    house.send(&gateway, &history(&rounds[..1])).await;
    let (answer, sent) = house.send(&gateway, &history(&rounds)).await;
    assert_eq!(content(&sent, 1), output);
    assert_eq!(header(&answer, "x-longhaul-reduced-results"), None);
    gateway.stop().await;
}

/// A clock that a test sets.
#[derive(Default)]
struct Hands(AtomicI64);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        let seconds = self.0.load(Ordering::Relaxed);
        Timestamp::constant(1_800_000_000, 0) + SignedDuration::from_secs(seconds)
    }
}

#[tokio::test]
async fn v8_x8_if_the_referred_result_is_cleared_the_newest_that_refers_to_it_is_sent_as_it_came() {
    let house = House::new().await;
    let clock = Arc::new(Hands::default());
    let set = |options: &mut GatewayOptions| {
        options.config.economy = EconomyPolicy::Off;
        options.config.micro.keep_recent = 3;
        options.clock = Arc::clone(&clock) as Arc<dyn Clock>;
    };
    let gateway = house.gateway("a.sqlite", set).await;
    let output = output().repeat(20);
    let others: Vec<String> = (0..3)
        .map(|other| format!("output {other}\n").repeat(900))
        .collect();
    let rounds = [
        ("$ls", &*output),
        ("$a", &others[0]),
        ("$ls", &output),
        ("$b", &others[1]),
        ("$ls", &output),
        ("$c", &others[2]),
        ("$d", "ok"),
    ];
    for until in 1..=6 {
        house.send(&gateway, &history(&rounds[..until])).await;
    }
    caught_up(gateway.addr(), 6).await;
    let (_, before) = house.send(&gateway, &history(&rounds[..6])).await;
    for pointer in [content(&before, 2), content(&before, 4)] {
        assert!(pointer.contains("toolu_0"), "{pointer}");
        // After a clearing the same text can stand after a pointer, so it must not say where that is.
        assert!(!pointer.contains("further up"), "{pointer}");
    }
    caught_up(gateway.addr(), 7).await;
    clock.0.fetch_add(2 * 3_600, Ordering::Relaxed);
    let (answer, sent) = house.send(&gateway, &history(&rounds)).await;
    assert_eq!(
        header(&answer, "x-longhaul-action").as_deref(),
        Some("cleared")
    );
    assert!(
        content(&sent, 0).contains("cleared"),
        "{}",
        content(&sent, 0)
    );
    assert_eq!(content(&sent, 4), output, "the newest that refers to it");
    // The same from another process.
    gateway.stop().await;
    let gateway = house.gateway("a.sqlite", set).await;
    let mut longer = history(&rounds);
    longer.push(json!({"role": "assistant", "content": "Done."}));
    longer.push(json!({"role": "user", "content": "Thank you."}));
    let (_, later) = house.send(&gateway, &longer).await;
    assert_eq!(content(&later, 4), output);
    assert_eq!(&later[..sent.len() - 1], &sent[..sent.len() - 1]);
    gateway.stop().await;
}
