//! Waiting, in paused time: hours pass in milliseconds, and only when the server says that it stalls.

use std::time::Duration;

use longhaul_provider::error::{AwaitedStep, ErrorClass};
use longhaul_provider::retry::RetryPolicy;
use longhaul_provider::{Client, Dialect, Error, Reply, Request};
use tokio::time::Instant;

use crate::client::config;
use crate::server::{Act, Script, Server, answer, events};
use crate::support::{HELLO, stream_of};

/// Runs an exchange; while `waits` returns true, time advances by a second every other millisecond.
async fn run(
    server: &Server,
    client: &Client,
    waits: impl Fn() -> bool,
) -> (Result<Reply, Error>, Duration) {
    let began = Instant::now();
    let request = Request::new(b"{}".to_vec());
    let exchange = async {
        let stream = client.send(request).await?;
        stream.into_reply().await
    };
    // Paused time advances by itself whenever nothing is ready, and bytes on their way through the kernel are not seen
    // as work; a waiting blocking task holds it back.
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let holder = tokio::task::spawn_blocking(move || stopped.recv());
    let mut exchange = std::pin::pin!(exchange);
    let result = loop {
        let moment = tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(2)));
        tokio::select! {
            biased;
            result = &mut exchange => break result,
            _ = moment => {}
        }
        if waits() {
            tokio::time::advance(Duration::from_secs(1)).await;
        }
    };
    drop(stop);
    let _ = holder.await;
    assert!(!server.requests().is_empty());
    (result, began.elapsed())
}

fn client(server: &Server, change: impl FnOnce(&mut longhaul_provider::ClientConfig)) -> Client {
    let mut config = config(server, Dialect::Anthropic);
    config.timeouts.first_byte = Duration::from_secs(100_000);
    config.timeouts.silence = Duration::from_secs(100_000);
    config.timeouts.connect = Duration::from_secs(100_000);
    change(&mut config);
    Client::new(config).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_slow_first_byte_times_out() {
    let server = Server::start(vec![Script::new(vec![Act::Stall])]);
    let client = client(&server, |config| {
        config.timeouts.first_byte = Duration::from_secs(40);
        config.retry = RetryPolicy::never();
    });
    let (result, took) = run(&server, &client, || server.stalled()).await;
    let error = result.unwrap_err();
    assert_eq!(error.class, ErrorClass::Timeout(AwaitedStep::FirstByte));
    assert!((40..=42).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_head_without_a_body_times_out_too_and_is_tried_again() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let server = Server::start(vec![
        Script::send(head).then_stall(),
        events(&stream_of(HELLO)),
    ]);
    let client = client(&server, |config| {
        config.timeouts.first_byte = Duration::from_secs(40)
    });
    let (result, took) = run(&server, &client, || {
        server.stalled() && server.requests().len() == 1
    })
    .await;
    assert_eq!(result.unwrap().text(), "Hello, you");
    assert!(took.as_secs() >= 40, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stall_mid_stream_times_out_with_what_had_come() {
    let server = Server::start(vec![
        events(&stream_of(&HELLO[..4])).then_stall(),
        events(&stream_of(HELLO)),
    ]);
    let client = client(&server, |config| {
        config.timeouts.silence = Duration::from_secs(40)
    });
    let (result, took) = run(&server, &client, || server.stalled()).await;
    let error = result.unwrap_err();
    assert_eq!(error.class, ErrorClass::Timeout(AwaitedStep::NextByte));
    assert_eq!(error.partial.unwrap().text(), "Hello");
    assert_eq!(error.request_id.as_deref(), Some("req_1"));
    assert!((40..=42).contains(&took.as_secs()), "{took:?}");
    assert_eq!(
        server.requests().len(),
        1,
        "nothing is sent twice behind the first byte"
    );
}

#[tokio::test(start_paused = true)]
async fn an_error_whose_body_stalls_is_classed_by_its_status() {
    let head = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 99\r\n\r\nno";
    let server = Server::start(vec![Script::send(head).then_stall()]);
    let client = client(&server, |_| {});
    let (result, took) = run(&server, &client, || server.stalled()).await;
    let error = result.unwrap_err();
    assert_eq!((error.class, &*error.message), (ErrorClass::Auth, "no"));
    assert!((10..=12).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn n5_retry_after_is_waited_for() {
    let server = Server::start(vec![
        answer("429 Too Many Requests", "retry-after: 60\r\n", ""),
        events(&stream_of(HELLO)),
    ]);
    let client = client(&server, |_| {});
    let (result, took) = run(&server, &client, || server.answered() == 1).await;
    assert_eq!(result.unwrap().text(), "Hello, you");
    assert!((60..=62).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn n5_a_longer_wait_than_allowed_is_the_callers_decision() {
    let server = Server::start(vec![answer(
        "429 Too Many Requests",
        "retry-after: 3600\r\n",
        "",
    )]);
    let client = client(&server, |_| {});
    let (result, _) = run(&server, &client, || false).await;
    let hour = Some(Duration::from_secs(3_600));
    assert_eq!(
        result.unwrap_err().class,
        ErrorClass::RateLimited { after: hour }
    );
}

#[tokio::test(start_paused = true)]
async fn n5_a_spending_cap_is_tried_twice_only() {
    let cap = answer(
        "429 Too Many Requests",
        "",
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"monthly limit"}}"#,
    );
    let server = Server::start(vec![cap; 9]);
    let client = client(&server, |config| config.retry = RetryPolicy::default());
    let (result, _) = run(&server, &client, || server.answered() > 0).await;
    assert_eq!(result.unwrap_err().attempts, 2);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn waits_grow_while_a_server_is_overloaded() {
    let server = Server::start(vec![answer("529 Overloaded", "", ""); 9]);
    let client = client(&server, |config| {
        config.retry.base = Duration::from_secs(8);
    });
    let (result, took) = run(&server, &client, || server.answered() > 0).await;
    assert_eq!(result.unwrap_err().attempts, 5);
    // 8 + 16 + 30 + 30, at most a quarter less.
    assert!((63..=95).contains(&took.as_secs()), "{took:?}");
}
