//! The figures that a gateway shows for a decision by price justify it (V6): the rent has reached the price, less what was
//! waived.

use longhaul_core::economy::EconomyPolicy;
use serde_json::Value;

use super::explained::field;
use super::script::Script;
use crate::support::{body_of, get, options, sessions_when};

const TURNS: usize = 60;
/// A header has six decimals.
const ROUNDED: f64 = 2e-6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v6_the_figures_of_every_decision_behind_the_gateway_justify_it() {
    let mut waived = 0;
    for (script, policy) in [
        (Script::SONNET, EconomyPolicy::Clear),
        (Script::SONNET, EconomyPolicy::Full),
        (Script::OPUS, EconomyPolicy::Clear),
        (Script::CHAT, EconomyPolicy::Full),
    ] {
        let upstream = script.upstream().await;
        let mut options = options(upstream.url.clone());
        options.config.economy = policy;
        let gateway = upstream.gateway(options).await;
        let told = script.decisions(&gateway, TURNS).await;
        assert!(!told.is_empty(), "{script:?} {policy:?}");
        for told in &told {
            let amount = |name: &str| field(told, name);
            let (price, rent) = (amount("price-usd"), amount("rent-usd"));
            assert!(rent + amount("waived-usd") + ROUNDED >= price, "{told}");
            waived += usize::from(rent < price);
        }
        let sessions = sessions_when(gateway.addr(), |_| true).await;
        let id = sessions["sessions"][0]["session"].as_str().unwrap();
        let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
        let session: Value = serde_json::from_str(body_of(&answer)).unwrap();
        let made = session["compactions"].as_array().unwrap();
        let records = made.iter().map(|made| &made["report"]["economy"]);
        for record in records.filter(|record| record.is_object()) {
            let amount = |name: &str| record[name].as_f64().unwrap();
            let reached = amount("rentUsd") + amount("waivedUsd") + ROUNDED;
            assert!(reached >= amount("priceUsd"), "{record}");
        }
        gateway.stop().await;
    }
    assert!(waived > 0, "some rents are below their price");
}
