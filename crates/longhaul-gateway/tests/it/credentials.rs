//! Clients are told apart by all credentials that are passed on, and by nothing else.

use std::net::SocketAddr;

use longhaul_gateway::front::{Gateway, KeylessClients};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::endless::world;
use super::managed::{body, talk};
use super::support::{
    self, REPLY, Upstream, answering, body_of, exchange, header, options, post, read_message,
};

fn turns(count: usize) -> Value {
    let turn = |at: usize| match at % 2 {
        0 => json!({"role": "user", "content": format!("said {at}")}),
        _ => json!({"role": "assistant", "content": format!("said {at}")}),
    };
    (0..count).map(turn).collect()
}

async fn note(addr: SocketAddr, path: &str, headers: &str, count: usize) -> String {
    let request = post(path, headers, &support::body(&turns(count)));
    let answer = exchange(addr, &request).await;
    header(&answer, "x-longhaul-note").unwrap()
}

#[tokio::test]
async fn clients_whose_credentials_differ_share_nothing() {
    let (url, _) = answering(REPLY).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    let plain = "/v1/messages";
    for (name, one, other) in [
        ("Azure", "api-key: a\r\n", "api-key: b\r\n"),
        (
            "a dummy key beside the real one",
            "x-api-key: dummy\r\nauthorization: Bearer a\r\n",
            "x-api-key: dummy\r\nauthorization: Bearer b\r\n",
        ),
        (
            "a key that is not passed on",
            "x-api-key: c\r\nauthorization: Bearer a\r\n",
            "x-api-key: c\r\nauthorization: Bearer a\r\nconnection: x-api-key\r\n",
        ),
        ("cookies", "cookie: session=a\r\n", "cookie: session=b\r\n"),
        ("Google", "x-goog-api-key: a\r\n", "x-goog-api-key: b\r\n"),
        (
            "a proxy's",
            "proxy-authorization: Basic a\r\n",
            "proxy-authorization: Basic b\r\n",
        ),
    ] {
        let one = format!("x-test: {name}\r\n{one}");
        assert_eq!(
            note(gateway.addr(), plain, &one, 1).await,
            "a new conversation",
            "{name}"
        );
        assert_eq!(
            note(gateway.addr(), plain, other, 3).await,
            "a new conversation",
            "{name}"
        );
        let mine = note(gateway.addr(), plain, &one, 3).await;
        assert_eq!(mine, "2 messages more", "{name}");
    }
    // Credentials in the query count, too.
    let first = note(gateway.addr(), "/v1/messages?key=a", "", 1).await;
    assert_eq!(first, "a new conversation");
    let other = note(gateway.addr(), "/v1/messages?key=b", "", 3).await;
    assert_eq!(other, "a new conversation");
    let mine = note(gateway.addr(), "/v1/messages?beta=true&key=a", "", 3).await;
    assert_eq!(mine, "2 messages more");
    gateway.stop().await;
}

#[tokio::test]
async fn what_changes_without_a_meaning_is_no_credential() {
    let (url, _) = answering(REPLY).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    let plain = "/v1/messages";
    assert_eq!(
        note(gateway.addr(), plain, "x-api-key: k\r\n", 1).await,
        "a new conversation"
    );
    // Cookies of load balancers, keys of single requests, the other way to send a key.
    let headers =
        "authorization: bearer k\r\ncookie: __cf_bm=1; _cfuvid=2\r\nidempotency-key: 3\r\n";
    assert_eq!(
        note(gateway.addr(), plain, headers, 3).await,
        "2 messages more"
    );
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_made_for_one_client_is_not_sent_for_another() {
    let gateway = world(|_| {}).await;
    let headers = |key: &str| {
        format!(
            "x-api-key: dummy\r\nauthorization: Bearer {key}\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n"
        )
    };
    let asked = body(&talk(120)).to_string();
    let answer = exchange(gateway.addr(), &post("/v1/messages", &headers("a"), &asked)).await;
    // It does not fit, so it is compacted before it is sent.
    let action = header(&answer, "x-longhaul-action");
    assert_eq!(action.as_deref(), Some("extracted"));
    let mut counted = body(&talk(120));
    counted.as_object_mut().unwrap().remove("max_tokens");
    let count = async |key: &str| {
        let raw = post(
            "/v1/messages/count_tokens",
            &headers(key),
            &counted.to_string(),
        );
        let answer = exchange(gateway.addr(), &raw).await;
        let count: Value = serde_json::from_str(body_of(&answer)).unwrap();
        count["input_tokens"].as_u64().unwrap()
    };
    assert!(count("a").await < 30_000);
    assert!(count("b").await > 40_000);
    gateway.stop().await;
}

#[tokio::test]
async fn without_a_credential_nothing_is_shared_beyond_this_machine_unless_wanted() {
    let (url, _) = answering(REPLY).await;
    for (keyless, expected) in [
        (
            KeylessClients::Apart,
            "sent without a key, and so not recognized",
        ),
        (KeylessClients::Shared, "2 messages more"),
    ] {
        let mut options = options(url.clone());
        options.listen = "0.0.0.0:0".parse().unwrap();
        options.keyless = keyless;
        let gateway = Gateway::start(options).await.unwrap();
        let addr = SocketAddr::from(([127, 0, 0, 1], gateway.addr().port()));
        note(addr, "/v1/messages", "", 1).await;
        assert_eq!(note(addr, "/v1/messages", "", 3).await, expected);
        // With a key, everything is as usual.
        note(addr, "/v1/messages", "x-api-key: k\r\n", 1).await;
        let with_key = note(addr, "/v1/messages", "x-api-key: k\r\n", 3).await;
        assert_eq!(with_key, "2 messages more");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn an_organization_counts_only_where_the_upstream_let_the_client_in() {
    // It names the same organization for every key, and accepts keys that begin with "good".
    let mut upstream = Upstream::start().await;
    let url = upstream.url();
    tokio::spawn(async move {
        while let Some(mut stream) = upstream.accepted.recv().await {
            tokio::spawn(async move {
                while let Some(request) = read_message(&mut stream).await {
                    let request = String::from_utf8(request).unwrap();
                    let key = header(&request, "x-api-key").unwrap();
                    let status = if key.starts_with("good") {
                        "200 OK"
                    } else {
                        "401 Unauthorized"
                    };
                    let answer = format!(
                        "HTTP/1.1 {status}\r\nanthropic-organization-id: org\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"
                    );
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            });
        }
    });
    let gateway = Gateway::start(options(url)).await.unwrap();
    let plain = "/v1/messages";
    let good = "x-api-key: good 1\r\n";
    note(gateway.addr(), plain, good, 1).await;
    assert_eq!(
        note(gateway.addr(), plain, good, 3).await,
        "2 messages more"
    );
    // A rejected request belongs to no one.
    let bad = "x-api-key: bad\r\n";
    for _ in 0..2 {
        let refused = note(gateway.addr(), plain, bad, 5).await;
        assert_eq!(refused, "a new conversation");
    }
    // If the client itself sends the header, its value in the response is not trusted.
    let tells = "x-api-key: good 2\r\nanthropic-organization-id: org\r\n";
    note(gateway.addr(), plain, tells, 9).await;
    let told = note(gateway.addr(), plain, tells, 5).await;
    assert_eq!(told, "a new conversation");
    // A colleague's key belongs to the organization as soon as the upstream says so.
    note(gateway.addr(), plain, "x-api-key: good 3\r\n", 9).await;
    let colleague = note(gateway.addr(), plain, "x-api-key: good 3\r\n", 5).await;
    assert!(colleague.ends_with("after 3 messages"), "{colleague}");
    gateway.stop().await;
}
