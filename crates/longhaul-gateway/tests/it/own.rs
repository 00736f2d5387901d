//! The gateway's own responses, and who may see them.

use longhaul_gateway::front::Gateway;
use longhaul_provider::Secret;
use serde_json::json;

use super::support::{
    self, REPLY, answering, body_of, exchange, gateway, get, header, options, post,
};

#[tokio::test]
async fn x8_health_counters_and_page_are_there() {
    let (url, got) = answering(REPLY).await;
    let gateway = gateway(url).await;
    let health = get(gateway.addr(), "/healthz").await;
    assert!(health.starts_with("HTTP/1.1 200") && health.contains("ok"));
    let body = support::body(&json!([{"role": "user", "content": "hi"}]));
    exchange(gateway.addr(), &post("/v1/messages", "", &body)).await;
    support::sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 1).await;
    let metrics = get(gateway.addr(), "/metrics").await;
    for line in [
        "longhaul_requests_total{policy=\"manage\",status=\"2xx\"} 1",
        "longhaul_tokens_total{kind=\"input\"} 9",
        "longhaul_recognised_total{as=\"new\"} 1",
        "longhaul_requests_in_flight 0",
        "longhaul_request_duration_seconds_count 1",
    ] {
        assert!(
            metrics.contains(&format!("{line}\n")),
            "{line} in {metrics}"
        );
    }
    let page = get(gateway.addr(), "/").await;
    assert!(page.contains("<!doctype html>"));
    let own = body_of(&page).replace("http://www.w3.org/2000/svg", "");
    assert!(
        !own.contains("http://") && !own.contains("https://"),
        "no outside asset"
    );
    assert!(
        header(&page, "content-security-policy")
            .unwrap()
            .contains("default-src 'none'")
    );
    assert!(
        get(gateway.addr(), "/longhaul/api/sessions/0123456789abcdef")
            .await
            .starts_with("HTTP/1.1 404")
    );
    assert!(
        get(gateway.addr(), "/longhaul/api/nothing")
            .await
            .starts_with("HTTP/1.1 404")
    );
    assert_eq!(
        got.lock().unwrap().len(),
        1,
        "none of this reaches the upstream"
    );
    gateway.stop().await;
}

#[tokio::test]
async fn x8_sessions_are_shown_to_this_machine_alone_or_to_whoever_has_the_token() {
    let (url, _) = answering(REPLY).await;
    let open = gateway(url.clone()).await;
    let named = b"GET /longhaul/api/sessions HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    assert!(
        exchange(open.addr(), named)
            .await
            .starts_with("HTTP/1.1 403")
    );
    assert!(
        get(open.addr(), "/longhaul/api/sessions")
            .await
            .starts_with("HTTP/1.1 200")
    );
    open.stop().await;

    let mut beyond = options(url.clone());
    beyond.listen = "0.0.0.0:0".parse().unwrap();
    let beyond = Gateway::start(beyond).await.unwrap();
    let addr = ([127, 0, 0, 1], beyond.addr().port()).into();
    assert!(
        get(addr, "/longhaul/api/sessions")
            .await
            .starts_with("HTTP/1.1 403")
    );
    assert!(get(addr, "/metrics").await.starts_with("HTTP/1.1 403"));
    assert!(get(addr, "/healthz").await.starts_with("HTTP/1.1 200"));
    beyond.stop().await;

    let mut guarded = options(url);
    guarded.listen = "0.0.0.0:0".parse().unwrap();
    guarded.token = Some(Secret::new("let-me-in"));
    let guarded = Gateway::start(guarded).await.unwrap();
    let addr = ([127, 0, 0, 1], guarded.addr().port()).into();
    let ask = |token: &str| {
        format!("GET /longhaul/api/sessions HTTP/1.1\r\nHost: any\r\nAuthorization: Bearer {token}\r\n\r\n").into_bytes()
    };
    assert!(
        exchange(addr, &ask("let-me-in"))
            .await
            .starts_with("HTTP/1.1 200")
    );
    assert!(
        exchange(addr, &ask("let-me-on"))
            .await
            .starts_with("HTTP/1.1 401")
    );
    assert!(
        get(addr, "/longhaul/api/sessions")
            .await
            .starts_with("HTTP/1.1 401")
    );
    guarded.stop().await;
}
