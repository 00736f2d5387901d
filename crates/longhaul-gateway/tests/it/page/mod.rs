//! The page in a real browser, and the figures that it shows.

mod figures;
mod looks;
mod news;
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

/// The path of a screenshot for people to look at.
fn picture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("page")
        .join(format!("{name}.png"))
}

/// Nothing was requested from elsewhere, and the browser reported no errors.
fn assert_clean(page: &BrowserPage, gateway: &Gateway) {
    for url in page.requests() {
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
