//! What the page shows, and how it looks.

use longhaul_gateway::front::Gateway;
use longhaul_testkit::browser::Browser;

use super::told::{CAUSE, ERROR, MARKUP, SESSION, SHORT, TITLE};
use super::{assert_clean, dollars, json_of, told};

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
    // By the user's first words, in which markup is text, and by client and hash.
    let named = format!("{TITLE}\nclaude-cli · {}", &SESSION.to_string()[..8]);
    assert_eq!(cell("Session").await, named);
    assert_eq!(page.texts("tbody b").await.len(), 0);
    assert_eq!(cell("Calls").await, first["calls"].to_string());
    assert_eq!(cell("Messages").await, first["messages"].to_string());
    assert_eq!(cell("Compactions").await, first["compactions"].to_string());
    assert_eq!(cell("Breaks").await, first["findings"].to_string());
    assert_eq!(cell("Failed").await, "1");
    let money = |name: &str| first[name].as_f64().unwrap();
    let spent = money("cost_usd");
    assert_eq!(cell("Spent").await, dollars(spent));
    let share = 100.0 * money("saved_share");
    assert_eq!(
        cell("Saved").await,
        format!("{} ({share:.0}%)", dollars(money("saved_usd")))
    );
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
        facts.contains("36,000 after") && facts.contains("$0.052"),
        "{facts}"
    );
    assert_eq!(newest["report"]["files"]["restored"], 5);
    // Each of the results that went is named, with its size; the others on request.
    let went = page.text("#compactions details:first-of-type .went").await;
    assert!(
        went.contains("Results that went: 30, more than 138K tokens"),
        "{went}"
    );
    assert!(
        went.contains("src/<i>0</i>.rs") && went.contains("9.0K tokens"),
        "{went}"
    );
    assert!(went.contains("can look each of them up again"), "{went}");
    let things = "#compactions details:first-of-type .things li";
    assert_eq!(page.texts(things).await.len(), 8);
    page.click("#compactions details:first-of-type .went button")
        .await;
    assert_eq!(page.texts(things).await.len(), 27);
    // What somebody changed in the store is not shown.
    let texts = "#compactions details:first-of-type .texts";
    page.wait_until(&format!(
        "document.querySelector('{texts}').innerText.includes('broken seal')"
    ))
    .await;
    // A summary whose thinking was settled is one row, and so one badge.
    let rows = page.texts("#compactions .compaction .what strong").await;
    assert_eq!(
        rows,
        [
            "5. Extracted",
            "4. Settled",
            "3. Noted",
            "2. Summarized",
            "1. Cleared"
        ]
    );
    page.click("#compaction-2 summary").await;
    let facts = page.text("#compaction-2 .facts").await;
    assert!(
        facts.contains("Thinking from before it was left out"),
        "{facts}"
    );
    assert!(facts.contains("cost $0.18"), "{facts}");
    // A failed call says why.
    let remark = page
        .evaluate("[...document.querySelectorAll('#calls .remark')].map((one) => one.textContent)")
        .await;
    assert!(
        !remark.to_string().contains(ERROR),
        "the failed call is on an older page"
    );
    page.click("#calls .pager button:last-child").await;
    page.wait_until(&format!(
        "document.querySelector('#calls').innerText.includes({})",
        serde_json::json!(ERROR)
    ))
    .await;
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
    let without = answer["without_usd"].as_f64().unwrap();
    assert!(
        tiles.contains(&format!("{} without Longhaul", dollars(without))),
        "{tiles}"
    );
    let share = format!("{:.0}%", 100.0 * answer["saved_share"].as_f64().unwrap());
    assert!(tiles.contains(&share), "{share} in {tiles}");
    assert!(tiles.contains("calls would not have fit"), "{tiles}");
    assert!(
        tiles.contains("p90") && tiles.contains("p99") && tiles.contains("began after"),
        "{tiles}"
    );
    assert!(tiles.contains(&dollars(saved)), "{saved} in {tiles}");
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
        "Decided by price: cost $0.14 (rent $0.080, waived $0.070), paid back after 6 requests, saved $0.094 since."
    );
    assert_clean(&page, &gateway);
    gateway.stop().await;
}
