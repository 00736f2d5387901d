//! The page in a real browser, and the figures behind it.

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

/// Options of a gateway to the offline world whose books tell of a long session and many short ones.
async fn told() -> GatewayOptions {
    let store = Arc::new(InMemoryStore::new().unwrap());
    told::fill(&store).await;
    GatewayOptions::new(UpstreamChoice::Simulated, store, Tenants::passing())
}

async fn json_of(gateway: &Gateway, path: &str) -> Value {
    serde_json::from_str(body_of(&get(gateway.addr(), path).await)).unwrap()
}

/// Where pictures are put, for people to look at.
fn picture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("page")
        .join(format!("{name}.png"))
}

/// Nothing was asked for elsewhere, and the browser had nothing to complain of.
fn assert_clean(page: &BrowserPage, gateway: &Gateway) {
    for url in page.requests() {
        assert!(url.starts_with(&gateway.url()), "{url} is elsewhere");
    }
    assert_eq!(page.problems(), [""; 0]);
}

/// Nothing sticks out of the screen to the side.
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
