//! What the page shows, and how it looks.

use longhaul_gateway::front::Gateway;
use longhaul_testkit::browser::{Browser, ColorScheme};

use super::told::{CAUSE, MARKUP, SESSION, SHORT};
use super::{assert_clean, assert_fits, json_of, picture, told};

#[tokio::test]
async fn x8_the_page_lists_sessions_with_the_figures_of_the_api() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    page.size(1280, 900).await;
    page.open(&gateway.url()).await;
    page.wait_for("tbody tr").await;
    assert_eq!(page.texts("tbody tr").await.len(), 50, "a page of them");
    let all = json_of(&gateway, "/longhaul/api/sessions").await;
    let first = &all["sessions"][0];
    assert_eq!(first["session"], SESSION.to_string());
    let cell = |name: &str| {
        let selector = format!("tbody tr:first-child td[data-name='{name}']");
        let page = page.clone();
        async move { page.text(&selector).await }
    };
    assert_eq!(cell("Session").await, SESSION.to_string()[..8]);
    assert_eq!(cell("Calls").await, first["calls"].to_string());
    assert_eq!(cell("Messages").await, first["messages"].to_string());
    assert_eq!(cell("Compactions").await, first["compactions"].to_string());
    assert_eq!(cell("Breaks").await, first["findings"].to_string());
    assert_eq!(cell("Failed").await, "1");
    let money = |name: &str| first[name].as_f64().unwrap();
    let spent = money("cost_usd") + money("summaries_cost_usd");
    assert_eq!(cell("Spent").await, format!("${spent:.4}"));
    assert_eq!(cell("Saved").await, format!("${:.4}", money("saved_usd")));
    // Markup in a name is shown as plain text.
    assert!(
        page.texts("td[data-name='Model']")
            .await
            .contains(&MARKUP.to_owned())
    );
    assert_eq!(page.evaluate("document.title").await, "Longhaul gateway");
    // The rest is on a second page; searching finds it.
    page.click(".pager button:last-child").await;
    let rest = SHORT + 1 - 50;
    page.wait_until(&format!(
        "document.querySelectorAll('tbody tr').length === {rest}"
    ))
    .await;
    page.click("input[type=search]").await;
    page.type_text("onerror").await;
    page.wait_until("document.querySelectorAll('tbody tr').length === 1")
        .await;
    assert_clean(&page, &gateway);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_the_page_of_a_session_shows_curve_compactions_and_breaks() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    page.size(1280, 900).await;
    page.open(&gateway.url()).await;
    page.click("tbody tr:first-child td[data-name='Model']")
        .await;
    page.wait_for(".plot .curve").await;
    let hash = page.evaluate("location.hash").await;
    assert_eq!(hash, format!("#/session/{SESSION}"), "a link to share");
    let answer = json_of(&gateway, &format!("/longhaul/api/sessions/{SESSION}")).await;
    // The branch with the most calls is drawn, with its limits, the compactions, and the cache breaks.
    assert_eq!(page.texts(".plot g.compaction").await.len(), 5);
    assert_eq!(page.texts(".plot .break").await.len(), 2);
    assert_eq!(page.texts(".plot .failed").await.len(), 1);
    assert_eq!(page.texts(".plot .limit").await.len(), 3);
    assert_eq!(page.texts(".plot .whole").await.len(), 1);
    assert!(page.texts(".plot .bill.read").await.len() > 60);
    // Every compaction is described in words.
    let newest = &answer["compactions"][4];
    let shown = page.text("#compactions details:first-of-type").await;
    assert!(shown.contains("5. Extracted"), "{shown}");
    page.click("#compactions details:first-of-type summary")
        .await;
    let report = page
        .text("#compactions details:first-of-type .report")
        .await;
    for words in [
        "11 of 14 user messages are kept word for word; 2 shortened, 1 left out.",
        "All 3 rules of the user are kept word for word.",
        "9 files touched; 5 put back with their content; 1 neither put back nor named.",
        "All 4 open to-dos are in view.",
        "27 tool results no longer in view.",
        "The model did not answer in time",
    ] {
        assert!(report.contains(words), "{words} in {report}");
    }
    let facts = page.text("#compactions details:first-of-type .facts").await;
    assert!(
        facts.contains("a request waited 2.4 s for it")
            || facts.contains("a request waited 2.3 s for it"),
        "{facts}"
    );
    assert!(
        facts.contains("36,000 after") && facts.contains("$0.0520"),
        "{facts}"
    );
    assert_eq!(newest["report"]["files"]["restored"], 5);
    // The cause of a break: in the list, in the table, and when its call is selected.
    assert!(page.text("#breaks li").await.contains(CAUSE));
    page.click("#breaks li:last-child button").await;
    page.wait_until(&format!(
        "document.querySelector('#detail').innerText.includes({})",
        serde_json::json!(CAUSE)
    ))
    .await;
    assert!(page.text("#detail").await.starts_with("Call 24 "));
    page.press("ArrowRight").await;
    page.wait_until("document.querySelector('#detail').innerText.startsWith('Call 25 ')")
        .await;
    // Money matches the API.
    let saved = answer["saved_usd"].as_f64().unwrap();
    let tiles = page.text(".tiles").await;
    assert!(
        tiles.contains(&format!("${saved:.4}")),
        "{saved} in {tiles}"
    );
    // A separate branch.
    page.evaluate("(() => { const choice = document.querySelector('#line'); choice.selectedIndex = 1; choice.dispatchEvent(new Event('change')); })()")
        .await;
    page.wait_until("document.querySelectorAll('.plot g.compaction').length === 0")
        .await;
    assert_clean(&page, &gateway);
    gateway.stop().await;
}

#[tokio::test]
async fn v6_the_page_says_what_a_decision_by_price_cost_and_has_saved_since() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    page.open(&format!("{}/#/session/{SESSION}", gateway.url()))
        .await;
    page.wait_for("#compaction-1 summary").await;
    page.click("#compaction-1 summary").await;
    // Nine calls, until the next summary, were cheaper by $0.026.
    assert_eq!(
        page.text("#compaction-1 .worth").await,
        "Decided by price: cost $0.14, paid back after 6 requests, saved $0.0940 since."
    );
    assert_clean(&page, &gateway);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_the_page_is_looked_at_in_light_and_dark_and_on_a_phone() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    let session = format!("{}/#/session/{SESSION}", gateway.url());
    let mut grounds = Vec::new();
    for (name, scheme, width) in [
        ("light", ColorScheme::Light, 1280),
        ("dark", ColorScheme::Dark, 1280),
        ("phone-light", ColorScheme::Light, 360),
        ("phone-dark", ColorScheme::Dark, 360),
    ] {
        page.size(width, 1_560).await;
        page.scheme(scheme).await;
        page.open("about:blank").await;
        page.open(&gateway.url()).await;
        page.wait_for("tbody tr").await;
        assert_fits(&page).await;
        page.picture(&picture(&format!("list-{name}"))).await;
        page.open(&session).await;
        page.wait_for(".plot .curve").await;
        page.click("#compactions details:first-of-type summary")
            .await;
        assert_fits(&page).await;
        page.evaluate("scrollTo(0, 0)").await;
        page.picture(&picture(&format!("session-{name}"))).await;
        page.evaluate("document.querySelector('#compactions').scrollIntoView()")
            .await;
        page.picture(&picture(&format!("compactions-{name}"))).await;
        let ground = "getComputedStyle(document.body).backgroundColor";
        grounds.push(page.evaluate(ground).await);
    }
    assert_ne!(grounds[0], grounds[1], "dark is not light");
    assert_eq!(grounds[0], grounds[2]);
    let requests = page.requests();
    let elsewhere = requests
        .iter()
        .find(|url| !url.starts_with(&gateway.url()) && !url.starts_with("about:"));
    assert_eq!(elsewhere, None);
    assert_eq!(page.problems(), [""; 0]);
    gateway.stop().await;
}
