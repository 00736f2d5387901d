//! Tests requests that a server refuses or does not answer: what is tried again, and what is told.

use longhaul_provider::error::ErrorClass;
use longhaul_provider::retry::RetryPolicy;
use longhaul_provider::{Client, ClientConfig, Dialect, Secret};

use super::{exchange, failure, request};
use crate::server::{Script, answer, events};
use crate::support::{HELLO, stream_of};

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
