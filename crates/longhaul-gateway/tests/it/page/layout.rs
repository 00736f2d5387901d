//! How the page is laid out: on a phone and on a desk, in light and dark. Nothing overlaps, everything can be read.

use longhaul_gateway::front::Gateway;
use longhaul_testkit::browser::{Browser, BrowserPage, ColorScheme};
use serde_json::json;

use super::told::SESSION;
use super::{assert_clean, assert_fits, picture, told};

/// Widths of a phone and of a desk.
const WIDTHS: [u32; 2] = [390, 1280];

/// No two texts of a drawing share a place, and none lies on a badge.
async fn assert_labels_are_apart(page: &BrowserPage) {
    let overlapping = page
        .evaluate(
            "(() => {
                const boxes = [...document.querySelectorAll('.plot > text, .plot g.compaction')].map((one) => [one.textContent, one.getBoundingClientRect()])
                    .filter(([words, box]) => words.trim() && box.width > 12);
                const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 2 || b.bottom <= a.top + 2;
                return boxes.flatMap(([one, a], at) => boxes.slice(at + 1).filter(([, b]) => !apart(a, b)).map(([other]) => `${one} | ${other}`));
            })()",
        )
        .await;
    assert_eq!(overlapping, json!([]));
}

/// Every text stands out from its background as WCAG AA demands: 4.5 to 1, or 3 to 1 if it is large.
async fn assert_readable(page: &BrowserPage) {
    let faint = page
        .evaluate(
            "(() => {
                const channels = (text) => text.match(/[0-9.]+/g).map(Number);
                const light = ([r, g, b]) => [r, g, b].map((one) => { const part = one / 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; })
                    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
                const ground = (node) => { for (let at = node; at; at = at.parentElement) { const found = channels(getComputedStyle(at).backgroundColor); if (found.length < 4 || found[3] > 0) return found; } return [255, 255, 255]; };
                const faint = [];
                for (const node of document.querySelectorAll('main *, header *')) {
                    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
                    if (!own || node.closest('svg, [hidden], button:disabled, [popover]') || !node.getClientRects().length) continue;
                    const style = getComputedStyle(node), a = light(channels(style.color)), b = light(ground(node));
                    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), large = parseFloat(style.fontSize) >= 24;
                    if (ratio < (large ? 3 : 4.5)) faint.push(`${node.textContent.slice(0, 40)}: ${ratio.toFixed(2)}`);
                }
                return [...new Set(faint)].slice(0, 9);
            })()",
        )
        .await;
    assert_eq!(faint, json!([]));
}

#[tokio::test]
async fn x8_the_page_is_looked_at_on_a_phone_and_a_desk_in_light_and_dark() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    let session = format!("{}/#/session/{SESSION}", gateway.url());
    let costs = format!("{}/#/spend?by=model", gateway.url());
    let mut grounds = Vec::new();
    for width in WIDTHS {
        for (name, scheme) in [("light", ColorScheme::Light), ("dark", ColorScheme::Dark)] {
            let taken = |view: &str| picture(&format!("{view}-{width}-{name}"));
            page.size(width, 1_560).await;
            page.scheme(scheme).await;
            page.open("about:blank").await;
            page.open(&gateway.url()).await;
            page.wait_for("tbody tr").await;
            assert_fits(&page).await;
            assert_readable(&page).await;
            page.picture(&taken("list")).await;
            page.open(&session).await;
            page.wait_for(".plot .curve").await;
            assert_labels_are_apart(&page).await;
            page.click("#compactions details:first-of-type summary")
                .await;
            page.wait_for("#compactions details:first-of-type .texts .small")
                .await;
            assert_fits(&page).await;
            assert_readable(&page).await;
            page.evaluate("scrollTo(0, 0)").await;
            page.picture(&taken("session")).await;
            for part in ["compactions", "calls"] {
                page.evaluate(&format!(
                    "document.querySelector('#{part}').scrollIntoView()"
                ))
                .await;
                page.picture(&taken(part)).await;
            }
            page.open(&costs).await;
            page.wait_for(".plot.days").await;
            page.wait_for("#groups tbody tr").await;
            assert_labels_are_apart(&page).await;
            assert_fits(&page).await;
            assert_readable(&page).await;
            page.picture(&taken("costs")).await;
            let ground = "getComputedStyle(document.body).backgroundColor";
            grounds.push(page.evaluate(ground).await);
        }
    }
    assert_ne!(grounds[0], grounds[1], "dark is not light");
    assert_eq!(grounds[..2], grounds[2..]);
    assert_clean(&page, &gateway);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_the_name_of_a_model_is_in_one_line_of_the_list() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    page.size(1280, 900).await;
    page.open(&gateway.url()).await;
    page.wait_for("tbody tr").await;
    let broken = page
        .evaluate(
            "[...document.querySelectorAll(\"td[data-name='Model']\")].filter((cell) => {
                const words = document.createRange();
                words.selectNodeContents(cell);
                return cell.textContent.length < 30 && words.getClientRects().length > 1;
            }).map((cell) => cell.textContent)",
        )
        .await;
    assert_eq!(broken, json!([]));
    assert_fits(&page).await;
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_clearing_is_drawn_before_the_request_that_it_was_made_for() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    page.open(&gateway.url()).await;
    page.wait_for("tbody tr").await;
    let placed = |kind: &str, second: u32, saved: u64| {
        let script = format!(
            "import('/longhaul/page/columns.js').then(({{ placeOf }}) => placeOf([[0, 500], [10, {saved}], [20, {saved}]].map(([at, left]) =>
                ({{ calls: [{{ at: new Date(at * 1000).toISOString(), milliseconds: 4000, saved_tokens: left }}] }})),
                {{ kind: '{kind}', at: new Date({second} * 1000).toISOString(), waited_milliseconds: 0 }}))"
        );
        let page = page.clone();
        async move { page.evaluate(&script).await }
    };
    assert_eq!(placed("cleared", 11, 900).await, 1, "while it is prepared");
    assert_eq!(placed("cleared", 11, 500).await, 2, "after it was sent");
    assert_eq!(placed("cleared", 16, 900).await, 2, "between two");
    assert_eq!(placed("summarised", 11, 900).await, 2, "in the background");
    gateway.stop().await;
}

#[tokio::test]
async fn x8_the_axis_holds_the_clients_whole_history_however_long_it_is() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    for width in WIDTHS {
        page.size(width, 900).await;
        page.open("about:blank").await;
        page.open(&format!("{}/#/session/{SESSION}", gateway.url()))
            .await;
        page.wait_for(".plot .whole").await;
        // The curve of the history ends within the drawing, above that of the window, and the axis says where it bends.
        let tops = page
            .evaluate(
                "(() => { const top = (kind) => document.querySelector(`.plot ${kind}`).getBBox().y;
                    return [top('.whole'), top('.curve'), document.querySelectorAll('.plot .bend').length]; })()",
            )
            .await;
        let at = |index: usize| tops[index].as_f64().unwrap();
        assert!(at(0) >= 28.0 && at(0) < at(1), "{tops}");
        assert_eq!(at(2), 1.0, "{tops}");
        // The window keeps most of the height.
        let curve = page
            .evaluate("document.querySelector('.plot .curve').getBBox().height")
            .await;
        assert!(curve.as_f64() > Some(80.0), "{curve}");
        let history = "Math.max(...[...document.querySelectorAll('.plot text.tick')].map((one) => /^([0-9.]+)([KM])$/.exec(one.textContent)).filter(Boolean).map(([, number, unit]) => number * (unit === 'M' ? 1e6 : 1e3)))";
        let highest = page.evaluate(history).await;
        assert!(
            highest.as_f64() > Some(200_000.0),
            "{highest} is on the axis"
        );
    }
    gateway.stop().await;
}

#[tokio::test]
async fn x8_on_a_phone_a_call_has_two_lines_and_a_third_only_for_a_remark() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    page.size(390, 844).await;
    page.open(&format!("{}/#/session/{SESSION}", gateway.url()))
        .await;
    page.wait_for("#calls tbody tr").await;
    let rows = page
        .evaluate(
            "[...document.querySelectorAll('#calls tbody tr')].map((row) => [row.querySelector('[data-name=Remarks]').textContent === '',
                [...row.querySelectorAll('.line-one, td > .line')].map((line) => line.getClientRects()[0].height), row.getBoundingClientRect().height])",
        )
        .await;
    for row in rows.as_array().unwrap() {
        let lines = row[1].as_array().unwrap();
        assert_eq!(lines.len(), 2, "{row}");
        assert!(lines.iter().all(|line| line.as_f64() < Some(30.0)), "{row}");
        if row[0] == true {
            assert!(row[2].as_f64() < Some(66.0), "{row}");
        }
    }
    let first = page.text("#calls tbody tr:first-child").await;
    let lines = first.lines().filter(|line| !line.trim().is_empty());
    assert!(lines.count() > 1, "{first}");
    assert!(
        first.contains("#73") && first.contains("in the window") && first.contains("cached"),
        "{first}"
    );
    // Heads cannot be pressed here, so there is a list to sort by.
    page.evaluate("(() => { const list = document.querySelector('#calls .sorter select'); list.value = 'Cost'; list.dispatchEvent(new Event('change')); })()").await;
    page.wait_until("!document.querySelector('#calls tbody tr').innerText.includes('#73')")
        .await;
    gateway.stop().await;
}

#[tokio::test]
async fn x8_on_a_phone_a_session_has_its_name_and_two_paragraphs_of_figures() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    page.size(390, 844).await;
    page.open(&gateway.url()).await;
    page.wait_for("tbody tr").await;
    let first = page.text("tbody tr:first-child").await;
    let lines: Vec<&str> = first.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 4, "{first}");
    assert!(
        lines[2].contains("claude-opus-4-5 · 73 calls · "),
        "{first}"
    );
    assert!(
        lines[3].contains("% saved") && lines[3].starts_with("1 failed"),
        "{first}"
    );
    // A session of which little is to be said takes little space.
    let height = "document.querySelector('tbody tr:nth-child(2)').getBoundingClientRect().height";
    assert!(page.evaluate(height).await.as_f64() < Some(90.0));
    gateway.stop().await;
}

#[tokio::test]
async fn x8_on_a_phone_the_name_of_a_session_has_a_whole_line_of_the_costs() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    page.size(390, 844).await;
    page.open(&format!("{}/#/spend?by=session", gateway.url()))
        .await;
    page.wait_for("#groups tbody tr").await;
    let sizes = "['td:first-child', ''].map((part) => document.querySelector(`#groups tbody tr ${part}`).getBoundingClientRect().width)";
    let sizes = page.evaluate(sizes).await;
    assert_eq!(sizes[0], sizes[1]);
    assert_fits(&page).await;
    gateway.stop().await;
}

#[tokio::test]
async fn x8_the_page_can_be_used_by_keyboard_alone() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let gateway = Gateway::start(told().await).await.unwrap();
    let page = browser.page().await;
    page.size(1280, 900).await;
    page.open(&gateway.url()).await;
    page.wait_for("tbody tr").await;
    // Everything that reacts to a click is reached with the tab key, and has a name.
    let nameless = page
        .evaluate(
            "[...document.querySelectorAll('button, a[href], input, select, [role=slider]')].filter((one) => one.getClientRects().length)
                .filter((one) => one.tabIndex < 0 || !(one.ariaLabel || one.textContent.trim() || one.labels?.length || one.title)).map((one) => one.outerHTML.slice(0, 80))",
        )
        .await;
    assert_eq!(nameless, json!([]));
    // A head sorts by its column, and says so.
    page.evaluate("[...document.querySelectorAll('th button')].find((one) => one.textContent === 'Calls').focus()").await;
    page.press("Enter").await;
    page.wait_for("th[aria-sort='descending']").await;
    let calls = page.texts("td[data-name='Calls']").await;
    let numbers: Vec<u64> = calls.iter().map(|text| text.parse().unwrap()).collect();
    assert!(numbers.is_sorted_by(|a, b| a >= b), "{numbers:?}");
    page.press("Enter").await;
    page.wait_for("th[aria-sort='ascending']").await;
    gateway.stop().await;
}
