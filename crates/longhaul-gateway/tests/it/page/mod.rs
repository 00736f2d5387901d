//! The page in a real browser, and the figures that it shows.

mod costs;
mod figures;
mod layout;
mod looks;
mod news;
mod readers;
mod tokens;
pub(crate) mod told;

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::InMemoryStore;
use longhaul_testkit::browser::BrowserPage;
use serde_json::Value;

use super::support::{body_of, get};

/// Options for a gateway to the simulator whose usage log has a long session and many short ones.
async fn told() -> GatewayOptions {
    let store = Arc::new(InMemoryStore::new().unwrap());
    told::fill(&store).await;
    GatewayOptions::new(UpstreamChoice::Simulated, store, Tenants::passing())
}

async fn json_of(gateway: &Gateway, path: &str) -> Value {
    serde_json::from_str(body_of(&get(gateway.addr(), path).await)).unwrap()
}

/// Dollars as the page writes them.
fn dollars(amount: f64) -> String {
    let size = amount.abs();
    let sign = if amount < 0.0 { "−" } else { "" };
    if size >= 0.0995 {
        return format!("{sign}${size:.2}");
    }
    let digits = (1 - size.log10().floor() as i32) as usize;
    format!("{sign}${size:.digits$}")
}

/// The path of a screenshot for people to look at.
fn picture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("page")
        .join(format!("{name}.png"))
}

/// Every address that was requested. The browser has pictures of its own for dates, in addresses that are data.
fn elsewhere_or_here(page: &BrowserPage) -> Vec<String> {
    let mut requests = page.requests();
    requests.retain(|url| !url.starts_with("data:") && !url.starts_with("about:"));
    requests
}

/// Nothing was requested from elsewhere, and the browser reported no errors.
fn assert_clean(page: &BrowserPage, gateway: &Gateway) {
    for url in elsewhere_or_here(page) {
        assert!(url.starts_with(&gateway.url()), "{url} is elsewhere");
    }
    assert_eq!(page.problems(), [""; 0]);
}

/// Nothing extends beyond the sides of the screen.
async fn assert_fits(page: &BrowserPage) {
    let sizes = page
        .evaluate("[document.documentElement.scrollWidth, innerWidth]")
        .await;
    assert!(
        sizes[0].as_f64() <= sizes[1].as_f64(),
        "{sizes} wide, of: {}",
        page.evaluate(
            "[...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
                .slice(0, 9).map((one) => `${one.tagName}.${one.className?.baseVal ?? one.className}`).join(' ')"
        )
        .await
    );
}
