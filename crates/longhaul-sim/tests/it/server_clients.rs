//! Many clients of the server at once, those that go away, and its end.
use std::time::Duration;

use longhaul_sim::faults::wire::EventPace;
use longhaul_sim::server::{SimServer, SimServerOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::house::{self, House, hello, hello_streamed};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_are_all_answered() {
    let house = House::new().await;
    let calls = (0..100).map(|index| {
        let (streamed, plain) = (hello_streamed(), hello());
        let house = &house;
        async move {
            let body = if index % 2 == 0 { streamed } else { plain };
            let response = house.messages(&body).await;
            assert_eq!(response.status(), 200);
            response.text().await.unwrap()
        }
    });
    let answers = futures_util::future::join_all(calls).await;
    assert!(
        answers
            .iter()
            .all(|answer| answer.contains("The parser reads"))
    );
    assert_eq!(house.get("/sim/books").await["total"]["requests"], 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_hang_up_leave_nothing_behind() {
    // This stream would take minutes.
    let house = House::with(SimServerOptions {
        pace: EventPace::parse("0s/10s").unwrap(),
        ..SimServerOptions::default()
    })
    .await;
    let before = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    let body = hello_streamed().to_string();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: sim\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut open = Vec::new();
    for index in 0..100 {
        let mut raw = TcpStream::connect(house.server.addr()).await.unwrap();
        // Some clients leave during their request, some before the reply, most during it.
        let sent = if index % 10 == 0 {
            head.len() / 2
        } else {
            head.len()
        };
        raw.write_all(&head.as_bytes()[..sent]).await.unwrap();
        if index % 10 > 1 {
            let mut some = [0; 64];
            raw.read_exact(&mut some).await.unwrap();
        }
        open.push(raw);
    }
    assert!(house.server.replies() >= 80, "{}", house.server.replies());
    drop(open);
    assert!(
        house.is_empty().await,
        "{} {}",
        house.server.connections(),
        house.server.replies()
    );
    let after = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    assert!(after <= before, "{before} {after}");
}

#[tokio::test]
async fn stopping_lets_a_reply_finish_and_frees_the_port() {
    let house = House::with(SimServerOptions {
        pace: EventPace::parse("0s/20ms").unwrap(),
        ..SimServerOptions::default()
    })
    .await;
    let (addr, response) = (house.server.addr(), house.messages(&hello_streamed()).await);
    let (stream, ()) = tokio::join!(response.text(), house.server.stop());
    assert!(stream.unwrap().contains("message_stop"));
    let again = SimServer::start(addr, house::world(), SimServerOptions::default()).await;
    assert_eq!(again.unwrap().addr(), addr);
}

#[tokio::test]
async fn a_stalled_reply_does_not_hold_up_the_end() {
    let house = House::faulty("stall").await;
    let _held = house.messages(&hello_streamed()).await;
    let stopped = tokio::time::timeout(Duration::from_secs(5), house.server.stop());
    assert!(stopped.await.is_ok());
}
