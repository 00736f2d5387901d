//! What was spent: over time, by model and key, for a range of days, sorted, as a file; and how long calls took.

use longhaul_gateway::front::Gateway;
use longhaul_testkit::browser::Browser;
use serde_json::Value;

use super::super::support::{body_of, get, header};
use super::told::{MARKUP, SESSION, TITLE};
use super::{assert_clean, dollars, json_of, told};

/// The columns of a row of CSV, where quotes only surround whole cells.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            other => cells.last_mut().unwrap().push(other),
        }
    }
    cells
}

#[tokio::test]
async fn x8_costs_are_shown_by_model_and_key_for_a_range_of_days() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    page.size(1280, 1_400).await;
    page.open(&gateway.url()).await;
    page.wait_for("tbody tr").await;
    page.click("nav.views a:last-child").await;
    page.wait_for("#groups tbody tr").await;
    let answer = json_of(&gateway, "/longhaul/api/savings?by=model&over=day").await;
    let total = |name: &str| answer["total"][name].as_f64().unwrap();
    let spent = total("cost_usd");
    let tiles = page.text(".tiles").await;
    for figure in [spent, total("without_usd"), total("saved_usd")] {
        assert!(tiles.contains(&dollars(figure)), "{figure} in {tiles}");
    }
    let models = page.texts("#groups td[data-name='Model']").await;
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(models.len(), rows.len());
    assert!(
        models.contains(&MARKUP.to_owned()),
        "markup is text: {models:?}"
    );
    assert!(
        page.texts(".plot.days .day").await.len() >= 30,
        "every day of the range has a place"
    );
    assert!(
        page.texts("#days .legend li")
            .await
            .contains(&"claude-opus-4-5".to_owned())
    );
    // What has no price is unknown, not free.
    let spent = page
        .evaluate("[...document.querySelectorAll('#groups tbody tr')].find((row) => row.textContent.includes('gpt-of-unknown-price')).querySelector('[data-name=Spent]').textContent")
        .await;
    assert_eq!(spent, "–");
    // Sorted by another column, the other way round.
    page.click("#groups th[data-name='Calls'] button").await;
    page.wait_for("#groups th[aria-sort='descending']").await;
    let calls = page.texts("#groups td[data-name='Calls']").await;
    let calls: Vec<u64> = calls.iter().map(|text| text.parse().unwrap()).collect();
    assert!(calls.is_sorted_by(|a, b| a >= b), "{calls:?}");
    // Latency, by model.
    let took = page.text("#latency tbody").await;
    assert!(
        took.contains("claude-opus-4-5") && took.contains(" s"),
        "{took}"
    );
    // By key.
    page.evaluate("(() => { const choice = document.querySelector('#by'); choice.value = 'key'; choice.dispatchEvent(new Event('change')); })()").await;
    page.wait_for("#groups td[data-name='Key']").await;
    assert_eq!(
        page.texts("#groups td[data-name='Key']").await,
        ["4c4c0000"]
    );
    assert!(
        page.evaluate("location.hash")
            .await
            .as_str()
            .unwrap()
            .contains("by=key"),
        "a link to share"
    );
    // A range in which nothing was called.
    page.open("about:blank").await;
    page.open(&format!(
        "{}/#/spend?from=2020-01-01&to=2020-02-01",
        gateway.url()
    ))
    .await;
    page.wait_until("document.querySelector('main').innerText.includes('Nothing was called')")
        .await;
    assert_clean(&page, &gateway);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_costs_can_be_asked_for_by_range_model_and_key() {
    let gateway = Gateway::start(told().await).await.unwrap();
    let ask = |query: &str| {
        let path = format!("/longhaul/api/savings?{query}");
        let gateway = &gateway;
        async move { json_of(gateway, &path).await }
    };
    let all = ask("by=key").await;
    assert_eq!(all["rows"][0]["key"], "4c4c000011112222");
    let calls = all["total"]["calls"].as_u64().unwrap();
    let opus = ask("by=agent&model=claude-opus-4-5").await;
    let named = opus["rows"].as_array().unwrap();
    assert!(
        named.iter().any(|row| row["key"] == "claude-cli"),
        "{named:?}"
    );
    let rest = ask("by=day&key=4c4c000011112222").await;
    assert_eq!(rest["total"]["calls"], calls);
    assert_eq!(ask("by=day&key=1").await["total"]["calls"], 0);
    let now = jiff::Timestamp::now().as_millisecond();
    assert_eq!(ask(&format!("since={now}")).await["total"]["calls"], 0);
    assert_eq!(ask("until=5").await["total"]["calls"], 0);
    // The days of the groups add up to the groups.
    let by_day = ask("by=model&over=day").await;
    let sum = |rows: &Value| {
        rows.as_array()
            .unwrap()
            .iter()
            .map(|row| row["calls"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!((sum(&by_day["days"]), sum(&by_day["rows"])), (calls, calls));
    for wrong in [
        "by=nothing",
        "since=soon",
        "key=x!",
        "over=year",
        "format=pdf",
        "where=here",
    ] {
        let answer = get(gateway.addr(), &format!("/longhaul/api/savings?{wrong}")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{wrong}: {answer}");
    }
    let took = json_of(&gateway, "/longhaul/api/latency").await;
    let whole = &took["all"]["whole"];
    assert_eq!(whole["calls"], calls - 1, "one failed");
    let times = ["p50", "p90", "p95", "p99"].map(|name| whole[name].as_u64().unwrap());
    assert!(times.is_sorted() && times[0] > 1_000, "{times:?}");
    assert!(took["all"]["beginning"]["p50"].as_u64() < whole["p50"].as_u64());
    gateway.stop().await;
}

#[tokio::test]
async fn n8_tables_are_files_in_which_nothing_is_a_formula() {
    let gateway = Gateway::start(told().await).await.unwrap();
    let file = |path: &str| {
        let path = path.to_owned();
        let addr = gateway.addr();
        async move { get(addr, &path).await }
    };
    let sessions = file("/longhaul/api/sessions?format=csv").await;
    assert_eq!(
        header(&sessions, "content-type").as_deref(),
        Some("text/csv; charset=utf-8")
    );
    assert_eq!(
        header(&sessions, "content-disposition").as_deref(),
        Some("attachment; filename=\"longhaul-sessions.csv\"")
    );
    let lines: Vec<&str> = body_of(&sessions).split("\r\n").collect();
    assert!(
        lines[0].starts_with("session,client,title,tenant,model,"),
        "{}",
        lines[0]
    );
    assert_eq!(
        cells(lines[1])[..3],
        [SESSION.to_string().as_str(), "claude-cli", TITLE]
    );
    let calls = file(&format!("/longhaul/api/sessions/{SESSION}?format=csv")).await;
    let calls: Vec<&str> = body_of(&calls).trim_end().split("\r\n").collect();
    assert_eq!(calls.len(), 1 + 73);
    assert!(
        calls[1..]
            .iter()
            .all(|line| cells(line).len() == cells(calls[0]).len())
    );
    // The model of some is an image with a script; none of them begins like a formula.
    for path in ["by=model", "by=key", "by=model&over=day"] {
        let table = file(&format!("/longhaul/api/savings?{path}&format=csv")).await;
        for line in body_of(&table).trim_end().split("\r\n") {
            assert!(!line.starts_with(['=', '+', '-', '@']), "{line}");
        }
    }
    let none =
        file("/longhaul/api/sessions/0123456789abcdef/compactions/1.2.cleared?format=csv").await;
    assert!(none.starts_with("HTTP/1.1 404"), "{none}");
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_table_is_saved_with_the_token_and_without_a_request_elsewhere() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let mut options = told().await;
    options.token = Some(longhaul_provider::Secret::new("let-me-in"));
    let gateway = Gateway::start(options).await.unwrap();
    let page = browser.page().await;
    page.size(1280, 800).await;
    page.open(&gateway.url()).await;
    page.wait_for("#token").await;
    page.type_text("let-me-in").await;
    page.press("Enter").await;
    page.wait_for("tbody tr").await;
    // A link that saves is made and pressed; here it is kept instead.
    page.evaluate("HTMLAnchorElement.prototype.click = function () { fetch(this.href).then((it) => it.text()).then((text) => { window.saved = [this.download, text]; }); }").await;
    page.evaluate("document.querySelector('button.save').click()")
        .await;
    // The page's own policy does not let scripts read it: that it was asked for with the token is enough.
    page.wait_until("!document.querySelector('button.save').disabled")
        .await;
    assert_eq!(page.text("button.save").await, "CSV");
    let asked = page
        .requests()
        .into_iter()
        .filter(|url| url.ends_with("format=csv"))
        .count();
    assert_eq!(asked, 1);
    gateway.stop().await;
}
