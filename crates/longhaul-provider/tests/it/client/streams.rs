//! Tests streams that break off, stay quiet, are damaged or are no longer wanted.

use std::time::Duration;

use longhaul_provider::error::ErrorClass;
use longhaul_provider::{CancellationToken, Client, Dialect, StreamEvent};

use super::{client, config, exchange, failure, left, request};
use crate::server::{Act, Script, Server, answer, events};
use crate::support::{HELLO, stream_of};

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
