//! Tests requests that are answered, and the connections that they use.

use std::time::Duration;

use bytes::Bytes;
use longhaul_provider::anthropic::ApiVersion;
use longhaul_provider::error::ErrorClass;
use longhaul_provider::{
    Client, ClientConfig, Dialect, Proxy, Request, Secret, StopReason, StreamEvent,
};

use super::{KEY, client, config, exchange, failure, request};
use crate::server::{Act, Script, Server, answer, events};
use crate::support::{HELLO, stream_of};

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
