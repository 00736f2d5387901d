//! What a request says about its connection.

use longhaul::prelude::*;
use longhaul_genai::genai::adapter::AdapterKind;
use longhaul_genai::genai::resolver::{AuthData, Endpoint};
use longhaul_genai::{GenaiModel, RetryPolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::stage::MODEL;

/// Receives one request, refuses it, and returns its head.
async fn receive_one(listener: TcpListener) -> String {
    let (mut connection, _) = listener.accept().await.unwrap();
    let mut received = Vec::new();
    while !received.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        assert_ne!(connection.read_buf(&mut received).await.unwrap(), 0);
    }
    let refusal = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    connection.write_all(refusal).await.unwrap();
    String::from_utf8_lossy(&received).to_lowercase()
}

#[tokio::test]
async fn a_request_asks_for_no_compression_although_genai_switches_on_gzip() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let endpoint = Endpoint::from_owned(format!("http://{address}/v1/"));
    let client = longhaul_genai::client_builder()
        .unwrap()
        .with_adapter_kind(AdapterKind::OpenAI)
        .append_provider_config(
            AdapterKind::OpenAI,
            (endpoint, AuthData::from_single("a key")),
        )
        .build()
        .unwrap();
    let mut session = Session::builder()
        .model(GenaiModel::new(client).with_retry(RetryPolicy::never()))
        .prompt(Prompt::new(MODEL, "You are friendly."))
        .open()
        .unwrap();
    session.say("Hello.").await.unwrap();
    let (turn, head) = tokio::join!(session.turn(), receive_one(listener));
    assert!(matches!(turn, Err(TurnError::Failed(_))), "{turn:?}");
    assert!(head.starts_with("post /v1/chat/completions "), "{head}");
    assert!(!head.contains("accept-encoding"), "{head}");
    assert!(head.contains("user-agent: longhaul/"), "{head}");
}
