//! The cache watch over chat completions, whose cache has no breakpoints (D1, D2).

use serde_json::{Value, json};

use super::support::{
    Upstream, body_of, exchange, gateway, get, post, read_message, sessions_when,
};
use longhaul_gateway::front::Gateway;
use tokio::io::AsyncWriteExt;

/// An upstream that reports how much it read from its cache, call by call.
async fn caching(cached: Vec<u64>) -> Gateway {
    let mut upstream = Upstream::start().await;
    let gateway = gateway(upstream.url()).await;
    tokio::spawn(async move {
        let mut cached = cached.into_iter();
        while let Some(mut stream) = upstream.accepted.recv().await {
            while read_message(&mut stream).await.is_some() {
                let body = json!({
                    "choices": [{"message": {"role": "assistant", "content": "a"}}],
                    "usage": {"prompt_tokens": 20_000, "completion_tokens": 5, "total_tokens": 20_005,
                        "prompt_tokens_details": {"cached_tokens": cached.next().unwrap()}},
                })
                .to_string();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                stream.write_all((head + &body).as_bytes()).await.unwrap();
            }
        }
    });
    gateway
}

fn chat(turns: usize) -> Value {
    let mut messages = vec![json!({"role": "system", "content": "You are kind."})];
    for turn in 0..turns {
        messages.push(json!({"role": "user", "content": format!("question {turn}")}));
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": format!("c{turn}"), "type": "function", "function": {"name": "look", "arguments": "{}"}}]}));
        messages
            .push(json!({"role": "tool", "tool_call_id": format!("c{turn}"), "content": "seen"}));
    }
    let tool =
        |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {}}});
    json!({"model": "gpt-5", "messages": messages, "tools": [tool("look"), tool("write")]})
}

/// The finding of each call.
async fn findings(cached: &[u64], requests: &[Value]) -> Vec<Option<String>> {
    let gateway = caching(cached.to_vec()).await;
    for request in requests {
        let request = post("/v1/chat/completions", "", &request.to_string());
        assert!(
            exchange(gateway.addr(), &request)
                .await
                .starts_with("HTTP/1.1 200")
        );
    }
    let count = requests.len();
    let all = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == count).await;
    let id = all["sessions"][0]["session"].as_str().unwrap();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    let session: Value = serde_json::from_str(body_of(&answer)).unwrap();
    let counted = get(gateway.addr(), "/metrics").await;
    gateway.stop().await;
    let calls = session["calls"].as_array().unwrap().iter();
    let found: Vec<Option<String>> = calls
        .map(|call| call["finding"].as_str().map(str::to_owned))
        .collect();
    let sum = found.iter().flatten().count();
    assert_eq!(
        counted
            .matches("longhaul_cache_findings_total{cause")
            .count(),
        sum.min(1)
    );
    found
}

#[tokio::test]
async fn d2_a_steady_chat_has_no_findings() {
    // Many messages at once are fine, too: there is no lookback limit.
    let requests = [chat(1), chat(2), chat(30), chat(31)];
    let found = findings(&[0, 12_000, 13_000, 19_000], &requests).await;
    assert_eq!(found, [None, None, None, None]);
}

#[tokio::test]
async fn d2_a_break_in_a_chat_is_explained_by_what_changed() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut request = chat(3);
        change(&mut request);
        request
    };
    let cases: [(&str, Value); 5] = [
        (
            "system",
            with(&|request| request["messages"][0]["content"] = json!("You are kind and brief.")),
        ),
        (
            "write",
            with(&|request| {
                request["tools"].as_array_mut().unwrap().pop();
            }),
        ),
        (
            "model",
            with(&|request| request["model"] = json!("gpt-5-mini")),
        ),
        (
            "prompt_cache_key",
            with(&|request| request["prompt_cache_key"] = json!("a name that stays here")),
        ),
        ("provider dropped", with(&|_| {})),
    ];
    for (named, changed) in cases {
        let found = findings(&[0, 15_000, 0], &[chat(1), chat(2), changed]).await;
        assert_eq!(found[..2], [None, None]);
        let finding = found[2].clone().unwrap();
        assert!(
            finding.contains("cache broke") && finding.contains(named),
            "{named}: {finding}"
        );
        assert!(
            !finding.contains("a name") && !finding.contains("kind"),
            "{finding}"
        );
    }
}
