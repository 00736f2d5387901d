//! The client against a server that answers, fails and misbehaves.

use std::time::Duration;

use bytes::Bytes;
use longhaul_provider::anthropic::ApiVersion;
use longhaul_provider::error::ErrorClass;
use longhaul_provider::retry::RetryPolicy;
use longhaul_provider::{
    Auth, CancellationToken, Client, ClientConfig, Dialect, Error, Proxy, Reply, Request, Secret,
    StopReason, StreamEvent,
};

use crate::server::{Act, Script, Server, answer, events};
use crate::support::{HELLO, stream_of};

pub(crate) const KEY: &str = "sk-ant-test-0123456789";

pub(crate) fn config(server: &Server, dialect: Dialect) -> ClientConfig {
    let mut config = ClientConfig::new(dialect);
    config.base_url = Secret::new(server.url());
    config.auth = Auth::ApiKey(Secret::new(KEY));
    config.seed = Some(1);
    config.retry.base = Duration::from_millis(1);
    config
}

fn client(server: &Server) -> Client {
    Client::new(config(server, Dialect::Anthropic)).unwrap()
}

fn request() -> Request {
    Request::new(br#"{"model":"m"}"#.to_vec())
}

async fn exchange(scripts: Vec<Script>) -> (Result<Reply, Error>, Server) {
    let server = Server::start(scripts);
    let result = match client(&server).send(request()).await {
        Ok(stream) => stream.into_reply().await,
        Err(error) => Err(error),
    };
    (result, server)
}

/// Waits until the client has hung up. The connection's own task has to run for that.
async fn left(server: Server) {
    let waiting = tokio::task::spawn_blocking(move || server.wait_until_left());
    waiting.await.unwrap();
}

async fn failure(scripts: Vec<Script>) -> Error {
    exchange(scripts).await.0.unwrap_err()
}

#[tokio::test]
async fn n5_a_stream_is_read_to_its_reply() {
    let server = Server::start(vec![events(&stream_of(HELLO))]);
    let mut stream = client(&server).send(request()).await.unwrap();
    assert_eq!(stream.header("request-id"), Some("req_1"));
    let mut text = String::new();
    let mut finished = None;
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            StreamEvent::Text { text: piece, .. } => text += &piece,
            StreamEvent::Finished(reply) => finished = Some(reply),
            _ => {}
        }
    }
    let reply = finished.unwrap();
    assert_eq!((&*text, &*reply.text()), ("Hello, you", "Hello, you"));
    assert_eq!(reply.request_id.as_deref(), Some("req_1"));
    assert_eq!(reply.stop, Some(StopReason::EndTurn));
    assert!(stream.next().await.is_none(), "nothing follows the end");
}

#[tokio::test]
async fn n5_the_body_goes_out_as_it_is_and_gzip_is_not_asked_for() {
    let server = Server::start(vec![events(&stream_of(HELLO))]);
    let mut config = config(&server, Dialect::Anthropic);
    config.version = ApiVersion::V2026_10_21;
    config.betas = vec!["first-2026-01-01".to_owned()];
    config.headers = vec![("x-extra".to_owned(), Secret::new("1"))];
    let client = Client::new(config).unwrap();
    let slices =
        [&b"{\"model\": "[..], b"", b"\"m\" ,", b"\"x\":\"\\u00e9\"}"].map(Bytes::from_static);
    let request = Request::new(slices.to_vec())
        .beta("second-2026-01-01")
        .header("x-session-id", "s")
        .query("beta=true");
    client
        .send(request)
        .await
        .unwrap()
        .into_reply()
        .await
        .unwrap();
    let sent = server.requests().remove(0);
    let (head, body) = sent.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "{\"model\": \"m\" ,\"x\":\"\\u00e9\"}");
    assert!(
        head.starts_with("POST /v1/messages?beta=true HTTP/1.1"),
        "{head}"
    );
    let head = head.to_lowercase();
    for line in [
        "x-api-key: sk-ant-test-0123456789",
        "anthropic-version: 2026-10-21",
        "anthropic-beta: first-2026-01-01,second-2026-01-01",
        "content-type: application/json",
        "content-length: 28",
        "x-extra: 1",
        "x-session-id: s",
    ] {
        assert!(head.contains(line), "{line} in {head}");
    }
    for absent in ["accept-encoding", "transfer-encoding", "authorization"] {
        assert!(!head.contains(absent), "{absent} in {head}");
    }
}

#[tokio::test]
async fn n5_openais_dialect_has_its_own_path_and_header() {
    let body = r#"{"id":"c","model":"g","choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;
    let server = Server::start(vec![answer(
        "200 OK",
        "content-type: application/json\r\nx-request-id: r\r\n",
        body,
    )]);
    let mut config = config(&server, Dialect::OpenAi);
    config.base_url = Secret::new(format!("{}/v1/", server.url()));
    let client = Client::new(config).unwrap();
    let reply = client
        .send(request())
        .await
        .unwrap()
        .into_reply()
        .await
        .unwrap();
    assert_eq!((&*reply.text(), reply.usage.prompt()), ("Hi", 3));
    assert_eq!(reply.request_id.as_deref(), Some("r"));
    let sent = server.requests().remove(0);
    assert!(
        sent.starts_with("POST /v1/chat/completions HTTP/1.1"),
        "{sent}"
    );
    assert!(
        sent.contains(&format!("authorization: Bearer {KEY}")),
        "{sent}"
    );
    assert!(!sent.contains("anthropic"), "{sent}");
}

#[tokio::test]
async fn a_reply_that_is_not_streamed_is_the_same_reply() {
    let (streamed, _) = exchange(vec![events(&stream_of(HELLO))]).await;
    let body = String::from_utf8(streamed.as_ref().unwrap().message_json()).unwrap();
    // With white space before it, which servers send to keep a connection open.
    let (whole, _) = exchange(vec![answer(
        "200 OK",
        "request-id: req_1\r\n",
        &format!("\n\n {body}"),
    )])
    .await;
    assert_eq!(whole.unwrap(), streamed.unwrap());
}

#[tokio::test]
async fn bytes_may_come_one_by_one() {
    let stream = stream_of(HELLO);
    let chunks: String = stream
        .chars()
        .map(|byte| format!("1\r\n{byte}\r\n"))
        .collect();
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let (reply, _) = exchange(vec![Script::send(format!("{head}{chunks}0\r\n\r\n"))]).await;
    assert_eq!(reply.unwrap().text(), "Hello, you");
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let body = stream_of(HELLO);
    let answer = format!(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    let answer = Act::Send(answer.into_bytes());
    let server = Server::start(vec![Script::new(vec![
        answer.clone(),
        Act::NextRequest,
        answer,
    ])]);
    let client = client(&server);
    for _ in 0..2 {
        let sending = tokio::time::timeout(Duration::from_secs(20), client.send(request()));
        let stream = sending.await.unwrap().unwrap();
        assert_eq!(stream.into_reply().await.unwrap().text(), "Hello, you");
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn n5_what_passes_is_tried_again() {
    for failure in [
        answer("500 Internal Server Error", "", ""),
        answer(
            "529 Overloaded",
            "",
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ),
        answer("429 Too Many Requests", "retry-after: 0\r\n", ""),
        Script::new(Vec::new()),
        Script::send("").then_reset(),
        answer("200 OK", "", ""),
    ] {
        let (reply, server) = exchange(vec![
            failure.clone(),
            failure.clone(),
            events(&stream_of(HELLO)),
        ])
        .await;
        assert_eq!(reply.unwrap().text(), "Hello, you", "{failure:?}");
        assert_eq!(server.requests().len(), 3);
    }
}

#[tokio::test]
async fn attempts_end_with_the_last_error() {
    let script = answer(
        "529 Overloaded",
        "request-id: req_9\r\n",
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    );
    let error = failure(vec![script; 9]).await;
    assert_eq!((error.attempts, error.status), (5, Some(529)));
    assert_eq!(error.class, ErrorClass::Overloaded { after: None });
    assert_eq!(error.request_id.as_deref(), Some("req_9"));
}

#[tokio::test]
async fn what_does_not_pass_is_told_at_once() {
    let (result, server) = exchange(vec![
        answer("401 Unauthorized", "", ""),
        events(&stream_of(HELLO)),
    ])
    .await;
    let error = result.unwrap_err();
    assert_eq!((error.class, error.attempts), (ErrorClass::Auth, 1));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn l1_an_overflow_comes_with_its_numbers() {
    let body = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"},"request_id":"req_2"}"#;
    let error = failure(vec![answer("400 Bad Request", "", body)]).await;
    let ErrorClass::TooLong(overflow) = error.class else {
        panic!("{error:?}")
    };
    assert_eq!(overflow.gap(), Some(8_310));
}

#[tokio::test]
async fn nobody_at_the_address_is_a_passing_failure() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let mut config = ClientConfig::new(Dialect::Anthropic);
    config.base_url = Secret::new(format!("http://{address}"));
    config.retry = RetryPolicy::never();
    let error = Client::new(config)
        .unwrap()
        .send(request())
        .await
        .unwrap_err();
    assert_eq!(error.class, ErrorClass::Retry { after: None });
    assert!(error.message.to_lowercase().contains("refused"), "{error}");
}

#[tokio::test]
async fn a_truncated_stream_carries_what_had_come() {
    let partial = stream_of(&HELLO[..5]);
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nrequest-id: req_1\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{partial}\r\n",
        partial.len()
    );
    let half_an_event =
        format!("{partial}event: content_block_delta\ndata: {{\"type\":\"content_bl");
    for script in [
        events(&partial),
        events(&half_an_event),
        Script::send(chunked),
        events(&partial).then_reset(),
    ] {
        let (result, server) = exchange(vec![script.clone(), events(&stream_of(HELLO))]).await;
        let error = result.unwrap_err();
        assert_eq!(error.class, ErrorClass::Cut, "{script:?}");
        assert_eq!(error.request_id.as_deref(), Some("req_1"));
        let reply = error.partial.unwrap();
        assert_eq!((&*reply.text(), reply.usage.input), ("Hello, you", 10));
        assert_eq!(
            server.requests().len(),
            1,
            "nothing is sent twice behind the first byte"
        );
    }
}

#[tokio::test]
async fn a_stream_without_its_last_blank_line_is_whole() {
    let stream = stream_of(HELLO);
    let (reply, _) = exchange(vec![events(stream.trim_end())]).await;
    let reply = reply.unwrap();
    assert_eq!((&*reply.text(), reply.notices.len()), ("Hello, you", 0));
}

#[tokio::test]
async fn n5_an_event_that_cannot_be_read_is_damage_and_what_had_come_is_told() {
    const TORN: &str = "event: content_block_delta\ndata: {\"type\":\n\n";
    let stream = stream_of(&HELLO[..4]) + TORN;
    let error = failure(vec![events(&stream)]).await;
    assert_eq!(error.class, ErrorClass::Damaged);
    assert!(!error.to_string().contains('{'), "{error}");
    assert_eq!(error.partial.unwrap().text(), "Hello");
    // What never began as a reply is no reply.
    let error = failure(vec![events(TORN)]).await;
    assert_eq!(error.class, ErrorClass::Malformed);
}

#[tokio::test]
async fn a_page_instead_of_an_answer_is_malformed() {
    let error = failure(vec![answer(
        "200 OK",
        "content-type: text/html\r\n",
        "<html>Log in</html>",
    )])
    .await;
    assert_eq!(error.class, ErrorClass::Malformed);
    assert!(error.message.contains("Log in"), "{error}");
}

#[tokio::test]
async fn an_event_beyond_the_limit_is_malformed() {
    let server = Server::start(vec![events(&stream_of(HELLO))]);
    let mut config = config(&server, Dialect::Anthropic);
    config.largest_event = 100;
    let stream = Client::new(config).unwrap().send(request()).await.unwrap();
    assert_eq!(
        stream.into_reply().await.unwrap_err().class,
        ErrorClass::Malformed
    );
}

#[tokio::test]
async fn n5_an_error_inside_a_stream_follows_what_came_before_it() {
    let broken = [
        &HELLO[..4],
        &[r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#],
    ]
    .concat();
    let server = Server::start(vec![events(&stream_of(&broken))]);
    let mut stream = client(&server).send(request()).await.unwrap();
    let mut heard = Vec::new();
    let error = loop {
        match stream.next().await.unwrap() {
            Ok(event) => heard.push(event),
            Err(error) => break error,
        }
    };
    assert!(heard.contains(&StreamEvent::Text {
        index: 0,
        text: "Hello".to_owned()
    }));
    assert_eq!(error.class, ErrorClass::Overloaded { after: None });
    assert_eq!(error.partial.unwrap().text(), "Hello");
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn a_token_cancels_before_and_during_the_reply() {
    for script in [
        Script::new(vec![Act::Stall]),
        events(&stream_of(&HELLO[..5])).then_stall(),
    ] {
        let server = Server::start(vec![script]);
        let token = CancellationToken::new();
        let canceller = token.clone();
        let client = client(&server);
        let exchange = async {
            let stream = client.send(request().cancelled_by(token)).await?;
            stream.into_reply().await
        };
        let cancel = async {
            while !server.stalled() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            canceller.cancel();
        };
        let (result, ()) = tokio::join!(exchange, cancel);
        assert_eq!(result.unwrap_err().class, ErrorClass::Cancelled);
        left(server).await;
    }
}

#[tokio::test]
async fn dropping_the_stream_hangs_up() {
    let server = Server::start(vec![events(&stream_of(&HELLO[..5])).then_stall()]);
    let mut stream = client(&server).send(request()).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    left(server).await;
}

#[tokio::test]
async fn pings_keep_a_quiet_stream_alive() {
    let ping = |_| {
        [
            Act::Pause(Duration::from_millis(250)),
            Act::Send(b"event: ping\ndata: {\"type\": \"ping\"}\n\n".to_vec()),
        ]
    };
    let mut acts = vec![Act::Send(
        b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n: hello\n\n".to_vec(),
    )];
    acts.extend((0..6).flat_map(ping));
    acts.push(Act::Send(stream_of(HELLO).into_bytes()));
    let server = Server::start(vec![Script::new(acts)]);
    let mut config = config(&server, Dialect::Anthropic);
    config.timeouts.silence = Duration::from_millis(1_200);
    let stream = Client::new(config).unwrap().send(request()).await.unwrap();
    assert_eq!(stream.into_reply().await.unwrap().text(), "Hello, you");
}

#[tokio::test]
async fn keys_are_taken_out_of_what_servers_say() {
    for (status, said) in [
        ("401 Unauthorized", format!("invalid x-api-key {KEY}")),
        (
            "400 Bad Request",
            "Incorrect API key provided: sk-proj-********abcd.".to_owned(),
        ),
    ] {
        let body = serde_json::json!({ "error": { "message": said, "type": "x" } }).to_string();
        let error = failure(vec![answer(status, "", &body)]).await;
        let shown = format!("{error} {error:?}");
        assert!(shown.contains("[redacted]"), "{shown}");
        assert!(
            !shown.contains("0123456789") && !shown.contains("abcd"),
            "{shown}"
        );
    }
    // The same holds inside a stream.
    let event =
        format!(r#"{{"type":"error","error":{{"type":"api_error","message":"bad {KEY}"}}}}"#);
    let error = failure(vec![events(&stream_of(&[HELLO[0], &event]))]).await;
    assert!(!format!("{error} {error:?}").contains("0123456789"));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = Server::start(vec![events(&stream_of(HELLO))]);
    let head = format!("location: {}\r\n", elsewhere.url());
    let error = failure(vec![answer("307 Temporary Redirect", &head, "")]).await;
    assert_eq!(
        (error.class, error.status),
        (ErrorClass::Invalid, Some(307))
    );
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn a_proxy_is_used_where_one_is_given() {
    let proxy = Server::start(vec![events(&stream_of(HELLO))]);
    let mut config = config(&proxy, Dialect::Anthropic);
    config.base_url = Secret::new("http://model.invalid/base/v1");
    config.proxy = Some(Proxy {
        url: Secret::new(proxy.url()),
        except: None,
    });
    let stream = Client::new(config).unwrap().send(request()).await.unwrap();
    assert_eq!(stream.into_reply().await.unwrap().text(), "Hello, you");
    let sent = proxy.requests().remove(0);
    assert!(
        sent.starts_with("POST http://model.invalid/base/v1/messages HTTP/1.1"),
        "{sent}"
    );
}

#[tokio::test]
async fn a_client_for_https_can_be_made() {
    let client = Client::new(ClientConfig::new(Dialect::Anthropic));
    assert!(
        client.is_ok() || matches!(client, Err(longhaul_provider::ClientConfigError::Tls(_))),
        "{client:?}"
    );
}
