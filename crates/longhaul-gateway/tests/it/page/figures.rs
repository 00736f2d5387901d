//! The JSON for the page, and its files.

use longhaul_gateway::front::Gateway;
use serde_json::{Value, json};

use super::super::support::{body_of, exchange, get, header};
use super::told::{SESSION, TITLE};
use super::{json_of, told};

#[tokio::test]
async fn x8_a_session_tells_its_window_compactions_and_what_was_saved() {
    let gateway = Gateway::start(told().await).await.unwrap();
    let one = json_of(&gateway, &format!("/longhaul/api/sessions/{SESSION}")).await;
    assert_eq!(one["window"]["size"], 200_000);
    let window = &one["windows"]["claude-opus-4-5"];
    assert_eq!(
        [
            &window["effective"],
            &window["warning"],
            &window["threshold"],
            &window["blocking"]
        ],
        [180_000, 147_000, 167_000, 177_000]
    );
    let kinds: Vec<&str> = one["compactions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|made| made["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["cleared", "summarised", "noted", "settled", "extracted"]
    );
    let extracted = &one["compactions"][4];
    assert_eq!(extracted["waited_milliseconds"], 2_350);
    assert_eq!(extracted["report"]["user_messages"]["verbatim"], 11);
    assert_eq!(one["compactions"][0]["cost_usd"], Value::Null);
    // A summary that was settled is one compaction, with the cost of both.
    let summarized = &one["compactions"][1];
    assert_eq!(summarized["cost_usd"], 0.181);
    assert_ne!(summarized["settled_at"], Value::Null);
    assert_eq!(one["title"], TITLE);
    assert_eq!(one["client"], "claude-cli");
    // At the price of reading from the cache, 50 cents per million, minus the cost of the summaries.
    let left_out: u64 = one["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["saved_tokens"].as_u64().unwrap())
        .sum();
    let saved = left_out as f64 * 0.5e-6 - 0.171 - 0.052 - 0.01;
    assert!((one["saved_usd"].as_f64().unwrap() - saved).abs() < 1e-9);
    assert!(
        one["calls"]
            .as_array()
            .unwrap()
            .iter()
            .any(|call| call["rewritten"] == true)
    );
    // What it would have cost is what was spent and what was saved; what making room cost is a part of that.
    assert!((one["summaries_cost_usd"].as_f64().unwrap() - 0.233).abs() < 1e-9);
    let cost: f64 = one["calls"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|call| call["cost_usd"].as_f64())
        .sum();
    let without = one["without_usd"].as_f64().unwrap();
    assert!((without - (cost + saved)).abs() < 1e-9, "{without}");
    assert!((one["saved_share"].as_f64().unwrap() - saved / without).abs() < 1e-9);
    let all = json_of(&gateway, "/longhaul/api/sessions").await;
    let row = &all["sessions"][0];
    assert_eq!(row["saved_tokens"], left_out);
    // A clearing that was replaced before it was ever sent is neither listed nor counted.
    assert_eq!(row["compactions"], 4);
    assert!((row["saved_usd"].as_f64().unwrap() - saved).abs() < 1e-9);
    let unknown = all["sessions"].as_array().unwrap().iter();
    let mut unknown = unknown.filter(|row| row["model"] == "gpt-of-unknown-price");
    assert_eq!(unknown.next().unwrap()["saved_usd"], Value::Null);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_files_of_the_page_are_kept_by_browsers_until_they_change() {
    let gateway = Gateway::start(told().await).await.unwrap();
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/longhaul/page/app.js", "text/javascript; charset=utf-8"),
        ("/longhaul/page/style.css", "text/css; charset=utf-8"),
        ("/longhaul/page/icon.svg", "image/svg+xml"),
    ] {
        let answer = get(gateway.addr(), path).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        assert_eq!(header(&answer, "content-type").as_deref(), Some(kind));
        assert_eq!(
            header(&answer, "x-content-type-options").as_deref(),
            Some("nosniff")
        );
        let policy = header(&answer, "content-security-policy").unwrap();
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
        let tag = header(&answer, "etag").unwrap();
        let ask = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nIf-None-Match: \"x\", {tag}\r\n\r\n"
        );
        let again = exchange(gateway.addr(), ask.as_bytes()).await;
        assert!(again.starts_with("HTTP/1.1 304"), "{again}");
        assert_eq!(body_of(&again), "");
    }
    let none = get(gateway.addr(), "/longhaul/page/../Cargo.toml").await;
    assert!(none.starts_with("HTTP/1.1 404"), "{none}");
    let error: Value = serde_json::from_str(body_of(&none)).unwrap();
    assert_ne!(error["error"], json!(null));
    gateway.stop().await;
}
