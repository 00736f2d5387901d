//! Events appear on the page without reloading it.

use std::sync::Arc;

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::InMemoryStore;
use longhaul_testkit::browser::Browser;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::super::endless::{Endless, world};
use super::super::support::{body_of, get, header, read_head, sessions_when};
use super::super::world::Client;
use super::{assert_clean, assert_fits, json_of, picture};

async fn empty() -> Gateway {
    let store = Arc::new(InMemoryStore::new().unwrap());
    let options = GatewayOptions::new(UpstreamChoice::Simulated, store, Tenants::passing());
    Gateway::start(options).await.unwrap()
}

#[tokio::test]
async fn x8_an_empty_page_tells_how_to_begin_and_fills_by_itself() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = empty().await;
    let page = browser.page().await;
    page.size(360, 800).await;
    page.open(&gateway.url()).await;
    let said = page.text("#welcome").await;
    let how = format!("ANTHROPIC_BASE_URL={} claude", gateway.url());
    assert!(said.contains(&how), "{said}");
    assert_fits(&page).await;
    page.picture(&picture("welcome-phone")).await;
    page.wait_until("document.querySelector('#live').dataset.state === 'live'")
        .await;
    page.evaluate("window.loadedOnce = true").await;
    let mut client = Client::new(&gateway, "k").await;
    client.turn("a first question").await;
    page.wait_for("tbody tr").await;
    page.click("tbody tr").await;
    page.wait_until("document.querySelectorAll('#calls tbody tr').length === 1")
        .await;
    client.turn("another").await;
    client.system.push_str("and one more rule");
    client.turn("a third").await;
    page.wait_until("document.querySelector('#calls td[data-name=Call]').textContent === '3'")
        .await;
    // A changed system prompt is a break, and its cause is shown.
    let broken = page.text("#breaks li").await;
    assert!(
        broken.contains("Call 3") && broken.contains("system"),
        "{broken}"
    );
    assert_eq!(page.evaluate("window.loadedOnce").await, true);
    assert_clean(&page, &gateway);
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_a_conversation_that_is_made_smaller_is_seen_to_be() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = world(|_| {}).await;
    let page = browser.page().await;
    page.size(1280, 1_560).await;
    page.open(&gateway.url()).await;
    let mut client = Endless::new(&gateway, "claude-sonnet-4-6").await;
    client.go_on(&json!({"content": []}));
    for turn in 0..120 {
        let reply = client.turn().await;
        client.go_on(&reply);
        if turn == 0 {
            page.click("tbody tr").await;
            page.wait_for(".plot").await;
        }
    }
    page.wait_until("document.querySelector('#calls td[data-name=Call]').textContent === '120'")
        .await;
    let id = page.text(".session-head .id").await;
    let answer = json_of(&gateway, &format!("/longhaul/api/sessions/{id}")).await;
    let made = answer["compactions"].as_array().unwrap().len();
    assert!(made > 1, "a window of 40,000 is full more than once");
    page.wait_until(&format!(
        "document.querySelectorAll('#compactions .compaction').length === {made}"
    ))
    .await;
    assert_eq!(page.texts(".plot g.compaction").await.len(), made);
    assert_eq!(page.texts(".plot .whole").await.len(), 1);
    page.click("#compactions details:first-of-type summary")
        .await;
    let report = page
        .text("#compactions details:first-of-type .report")
        .await;
    assert!(report.contains("user message"), "{report}");
    // The summary as the model reads it is shown, and is what the store has.
    let newest = &answer["compactions"][made - 1];
    let path = format!(
        "/longhaul/api/sessions/{id}/compactions/{}",
        newest["id"].as_str().unwrap()
    );
    let texts = json_of(&gateway, &path).await;
    let summary = texts["summary"].as_str().unwrap();
    let last = summary
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap();
    page.wait_until(&format!(
        "document.querySelector('#compactions .summary-text').textContent.includes({})",
        json!(last)
    ))
    .await;
    let files = texts["files"].as_array().unwrap();
    assert!(
        files.iter().all(|file| file["path"].is_string()),
        "{files:?}"
    );
    let none = get(
        gateway.addr(),
        &path
            .replace(".summarised", ".noted")
            .replace(".extracted", ".noted"),
    )
    .await;
    assert!(none.starts_with("HTTP/1.1 404"), "{none}");
    page.evaluate("scrollTo(0, 0)").await;
    page.picture(&picture("managed")).await;
    assert_clean(&page, &gateway);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_events_name_the_session_that_changed_and_end_with_the_gateway() {
    let gateway = empty().await;
    let mut stream = TcpStream::connect(gateway.addr()).await.unwrap();
    let ask = b"GET /longhaul/api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    stream.write_all(ask).await.unwrap();
    let head = String::from_utf8(read_head(&mut stream).await.unwrap()).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let kind = header(&head, "content-type");
    assert_eq!(kind.as_deref(), Some("text/event-stream"));
    let mut client = Client::new(&gateway, "k").await;
    client.turn("hello").await;
    let all = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 1).await;
    let session = all["sessions"][0]["session"].as_str().unwrap().to_owned();
    let expected = format!("event: changed\ndata: {{\"session\":\"{session}\"}}\n\n");
    let mut said = String::new();
    while !said.contains(&expected) {
        let mut bytes = [0; 512];
        let read = stream.read(&mut bytes).await.unwrap();
        assert_ne!(read, 0, "{said}");
        said.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    drop(client);
    // Read-only subscribers do not delay a stop.
    gateway.stop().await;
    let mut rest = Vec::new();
    let ended = stream.read_to_end(&mut rest).await;
    assert!(ended.is_ok(), "the stream ends as it should");
}

/// As many subscribers as are allowed.
async fn crowd(gateway: &Gateway) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for _ in 0..256 {
        let mut stream = TcpStream::connect(gateway.addr()).await.unwrap();
        let ask = b"GET /longhaul/api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
        stream.write_all(ask).await.unwrap();
        let head = read_head(&mut stream).await.unwrap();
        assert!(head.starts_with(b"HTTP/1.1 200"));
        streams.push(stream);
    }
    streams
}

#[tokio::test]
async fn x8_no_more_than_so_many_follow_at_once() {
    let gateway = empty().await;
    let streams = crowd(&gateway).await;
    let one_more = get(gateway.addr(), "/longhaul/api/events").await;
    assert!(one_more.starts_with("HTTP/1.1 503"), "{one_more}");
    assert!(body_of(&one_more).contains("too many"));
    drop(streams);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_page_that_cannot_follow_looks_now_and_then() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = empty().await;
    let _streams = crowd(&gateway).await;
    let page = browser.page().await;
    page.open(&gateway.url()).await;
    page.wait_until("document.querySelector('#live').dataset.state === 'polling'")
        .await;
    Client::new(&gateway, "k").await.turn("hello").await;
    page.wait_for("tbody tr").await;
    let unexpected = page
        .problems()
        .into_iter()
        .filter(|one| !one.contains("503"));
    assert_eq!(unexpected.collect::<Vec<_>>(), [""; 0]);
    gateway.stop().await;
}
