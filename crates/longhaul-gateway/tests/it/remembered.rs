//! What is remembered of calls and conversations so that the page can say it: why a call failed, why nothing was cached,
//! the user's first words. And what is not.

use longhaul_gateway::front::{Gateway, GatewayOptions, SessionNames};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::endless::{Endless, world};
use super::support::{
    self, REPLY, Upstream, answering, body, body_of, exchange, get, post, read_message,
    sessions_when,
};

const KEY: &str = "a-key-of-no-known-kind";

fn error(status: &str, body: &str) -> &'static str {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    Box::leak(text.into_boxed_str())
}

fn request(headers: &str, text: &str) -> Vec<u8> {
    let headers = format!("x-api-key: {KEY}\r\nuser-agent: my-agent/2.0\r\n{headers}");
    let body = body(&json!([{"role": "user", "content": text}]));
    post("/v1/messages", &headers, &body)
}

/// All sessions, once they have this many calls.
async fn sessions(gateway: &Gateway, calls: u64) -> Vec<Value> {
    let counted = |all: &Value| {
        let sessions = all["sessions"].as_array().unwrap().iter();
        sessions
            .map(|one| one["calls"].as_u64().unwrap())
            .sum::<u64>()
            >= calls
    };
    let all = sessions_when(gateway.addr(), counted).await;
    all["sessions"].as_array().unwrap().clone()
}

async fn one(gateway: &Gateway, session: &Value) -> Value {
    let id = session["session"].as_str().unwrap();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    serde_json::from_str(body_of(&answer)).unwrap()
}

/// The newest call of a conversation that was answered well before, after another request whose answer is `answer`.
async fn failed_call(answer: &'static str, change: impl FnOnce(&mut GatewayOptions)) -> Value {
    let mut upstream = Upstream::start().await;
    let mut options = support::options(upstream.url());
    change(&mut options);
    let gateway = Gateway::start(options).await.unwrap();
    let asking = async {
        for _ in 0..2 {
            exchange(gateway.addr(), &request("", "the words of a user")).await;
        }
    };
    let answering = async {
        let mut stream = upstream.next().await;
        for answer in [REPLY, answer] {
            while read_message(&mut stream).await.is_none() {
                stream = upstream.next().await;
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        stream
    };
    let ((), _stream) = tokio::join!(asking, answering);
    let sessions = sessions(&gateway, 2).await;
    let shown = one(&gateway, &sessions[0]).await;
    gateway.stop().await;
    shown["calls"][1].clone()
}

#[tokio::test]
async fn x8_a_failed_call_says_why_without_the_key() {
    let message = format!("the key {KEY} and sk-ant-0123456789 are wrong for the words of a user");
    let answer =
        json!({"type": "error", "error": {"type": "authentication_error", "message": message}});
    let answer = error("401 Unauthorized", &answer.to_string());
    let call = failed_call(answer, |_| {}).await;
    assert_eq!(call["status"], 401);
    assert_eq!(
        call["error"],
        "authentication_error: the key … and … are wrong for the words of a user"
    );
    // Of a conversation that is only observed no text is kept, and an upstream may repeat some.
    for change in [
        |options: &mut GatewayOptions| options.policies.rules = vec!["observe".parse().unwrap()],
        |options: &mut GatewayOptions| options.session_names = SessionNames::Hashes,
    ] {
        let call = failed_call(answer, change).await;
        assert_eq!(call["error"], "authentication_error");
    }
}

#[tokio::test]
async fn x8_a_stream_that_reports_an_error_has_failed() {
    let events = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let length = events.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n{events}"
    );
    let call = failed_call(Box::leak(answer.into_boxed_str()), |_| {}).await;
    assert_eq!(
        (&call["status"], &call["ended"]),
        (&json!(200), &json!("upstream_failed"))
    );
    assert_eq!(call["error"], "overloaded_error: Overloaded");
}

#[tokio::test]
async fn x8_why_nothing_is_cached_is_said_of_each_such_call() {
    let (url, _) = answering(REPLY).await;
    let gateway = support::gateway(url).await;
    exchange(gateway.addr(), &request("", "hello")).await;
    let marked = json!({"model": "claude-opus-5-5", "max_tokens": 99, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}]});
    let marked = post(
        "/v1/messages",
        &format!("x-api-key: {KEY}\r\n"),
        &marked.to_string(),
    );
    exchange(gateway.addr(), &marked).await;
    let sessions = sessions(&gateway, 2).await;
    let mut said = Vec::new();
    for session in &sessions {
        let call = &one(&gateway, session).await["calls"][0];
        assert!(
            call["began_milliseconds"].as_u64() <= call["milliseconds"].as_u64(),
            "{call}"
        );
        said.push(call["uncached"].as_str().unwrap().to_owned());
    }
    for reason in ["has no cache breakpoints", "caches none with fewer than"] {
        assert!(
            said.iter().any(|one| one.contains(reason)),
            "{reason} in {said:?}"
        );
    }
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_managed_session_is_named_by_the_users_first_words_and_an_observed_one_by_its_hash() {
    let text = "<system-reminder>\\nnot the user's\\n</system-reminder> Why is the\\n build slow?";
    let named = |change: fn(&mut GatewayOptions), headers: &'static str| async move {
        let (url, _) = answering(REPLY).await;
        let mut options = support::options(url);
        change(&mut options);
        let gateway = Gateway::start(options).await.unwrap();
        exchange(
            gateway.addr(),
            &request(headers, &text.replace("\\n", "\n")),
        )
        .await;
        let sessions = sessions(&gateway, 1).await;
        gateway.stop().await;
        (sessions[0]["client"].clone(), sessions[0]["title"].clone())
    };
    let client = json!("my-agent");
    assert_eq!(
        named(|_| {}, "").await,
        (client.clone(), json!("Why is the build slow?"))
    );
    let observed = named(|_| {}, "x-longhaul-policy: observe\r\n").await;
    assert_eq!(observed, (client.clone(), Value::Null));
    let hashes = named(|options| options.session_names = SessionNames::Hashes, "").await;
    assert_eq!(hashes, (client, Value::Null));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y3_a_compaction_names_the_results_that_went_and_shows_its_summary_unless_hashes_are_wanted()
 {
    for names in [SessionNames::FirstWords, SessionNames::Hashes] {
        let gateway = world(|options| options.session_names = names).await;
        let mut client = Endless::new(&gateway, "claude-opus-5-5").await;
        client.go_on(&json!({"content": []}));
        for _ in 0..60 {
            let reply = client.turn().await;
            client.go_on(&reply);
        }
        let sessions = sessions(&gateway, 60).await;
        let shown = one(&gateway, &sessions[0]).await;
        let made = shown["compactions"].as_array().unwrap();
        assert!(!made.is_empty());
        // The model binds its thinking, so each compaction is settled, and is one row all the same.
        assert!(made.iter().all(|one| one["kind"] != "settled"), "{made:?}");
        let all: Vec<&Value> = made
            .iter()
            .flat_map(|one| one["went"]["results"].as_array())
            .flatten()
            .collect();
        assert!(!all.is_empty());
        assert!(
            all.iter()
                .all(|one| one["call"].is_string() && one["tokens"].is_u64())
        );
        let has_names = all.iter().any(|one| one["about"].is_string());
        assert_eq!(has_names, names == SessionNames::FirstWords);
        let summary = made.iter().find(|one| one["has_summary"] == true);
        let Some(summary) = summary else {
            panic!("a window of 40,000 needs a summary: {made:?}");
        };
        let path = format!(
            "/longhaul/api/sessions/{}/compactions/{}",
            shown["session"].as_str().unwrap(),
            summary["id"].as_str().unwrap()
        );
        let answer = get(gateway.addr(), &path).await;
        let texts: Value = serde_json::from_str(body_of(&answer)).unwrap();
        match names {
            SessionNames::FirstWords => {
                assert!(texts["summary"].as_str().unwrap().len() > 200, "{texts}");
            }
            SessionNames::Hashes => {
                assert_eq!(texts["summary"], Value::Null);
                assert!(
                    texts["missing"]
                        .as_str()
                        .unwrap()
                        .contains("gateway.hashes"),
                    "{texts}"
                );
            }
        }
        gateway.stop().await;
    }
}
