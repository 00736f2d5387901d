//! Clients without a token see nothing.

use longhaul_gateway::front::Gateway;
use longhaul_provider::Secret;
use longhaul_testkit::browser::Browser;

use super::{picture, told};

#[tokio::test]
async fn x8_the_page_asks_for_the_token_and_keeps_it_for_the_tab_alone() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let mut options = told().await;
    options.token = Some(Secret::new("let-me-in"));
    let gateway = Gateway::start(options).await.unwrap();
    let page = browser.page().await;
    page.size(1280, 800).await;
    page.open(&gateway.url()).await;
    page.wait_for("#token").await;
    page.picture(&picture("token")).await;
    page.type_text("let-me-on").await;
    page.press("Enter").await;
    page.wait_for("#wrong").await;
    assert_eq!(page.texts("tbody tr").await.len(), 0);
    page.type_text("let-me-in").await;
    page.press("Enter").await;
    page.wait_for("tbody tr").await;
    page.wait_until("document.querySelector('#live').dataset.state === 'live'")
        .await;
    let kept =
        "[localStorage.length, document.cookie.length, Object.values(sessionStorage).join()]";
    let kept = page.evaluate(kept).await;
    assert_eq!(kept, serde_json::json!([0, 0, "let-me-in"]));
    // Another tab has to ask again; forgetting the token works.
    let other = browser.page().await;
    other.open(&gateway.url()).await;
    other.wait_for("#token").await;
    page.click("#forget").await;
    page.wait_for("#token").await;
    let left = page.evaluate("sessionStorage.length").await;
    assert_eq!(left, 0);
    let unexpected = page
        .problems()
        .into_iter()
        .filter(|one| !one.contains("401"));
    assert_eq!(unexpected.collect::<Vec<_>>(), [""; 0]);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_beyond_this_machine_and_without_a_token_the_page_says_what_to_do() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let mut options = told().await;
    options.listen = "0.0.0.0:0".parse().unwrap();
    let gateway = Gateway::start(options).await.unwrap();
    let page = browser.page().await;
    page.open(&format!("http://127.0.0.1:{}", gateway.addr().port()))
        .await;
    let said = page.text(".notice").await;
    assert!(said.contains("LONGHAUL_GATEWAY_TOKEN"), "{said}");
    gateway.stop().await;
}
