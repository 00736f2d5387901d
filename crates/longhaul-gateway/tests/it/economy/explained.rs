//! A decision by price is explained: in a header, and with what has become of it in the API of the page (V6).

use serde_json::Value;

use super::script::Script;
use crate::support::{body_of, caught_up, get, header, options, sessions_when};

const TURNS: usize = 45;

pub(super) fn field(header: &str, name: &str) -> f64 {
    let mut fields = header.split("; ");
    let field = fields.find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    field.unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v6_a_clearing_is_explained_in_a_header_and_its_outcome_is_computed_when_read() {
    let script = Script::SONNET;
    let upstream = script.upstream().await;
    let gateway = upstream.gateway(options(upstream.url.clone())).await;
    let mut decided = Vec::new();
    for turn in 0..TURNS {
        let answer = script.send(&gateway, turn).await;
        if let Some(header) = header(&answer, "x-longhaul-economy") {
            decided.push((turn, header));
        }
        caught_up(gateway.addr(), turn + 1).await;
    }
    let (turn, told) = decided.first().unwrap();
    println!("turn {turn}: {told}");
    assert!(told.starts_with("policy=clear; action=clear; "), "{told}");
    let sessions = sessions_when(gateway.addr(), |_| true).await;
    let id = sessions["sessions"][0]["session"].as_str().unwrap();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    let session: Value = serde_json::from_str(body_of(&answer)).unwrap();
    let made = session["compactions"].as_array().unwrap();
    assert_eq!(made.len(), decided.len());
    for (made, (turn, told)) in made.iter().zip(&decided) {
        let record = &made["report"]["economy"];
        assert_eq!(record["policy"], "clear");
        assert_eq!(record["action"], "clear");
        let near = |name: &str, shown: &str| {
            let (record, shown) = (record[name].as_f64().unwrap(), field(told, shown));
            assert!((record - shown).abs() < 1e-6, "{name}: {record}, {told}");
        };
        near("priceUsd", "price-usd");
        near("rentUsd", "rent-usd");
        near("waivedUsd", "waived-usd");
        near("tokensFreed", "tokens-freed");
        near("payBackRequests", "pay-back");
        assert!(field(told, "rent-usd") > 0.0, "{told}");
        let outcome = &made["economy"];
        let later = (TURNS - 1 - turn) as u64;
        assert_eq!(outcome["requests"], later);
        let saved = record["savedPerRequestUsd"].as_f64().unwrap() * later as f64
            - record["priceUsd"].as_f64().unwrap();
        assert!((outcome["saved_usd"].as_f64().unwrap() - saved).abs() < 1e-9);
        assert_eq!(outcome["has_paid_back"], saved >= 0.0);
    }
    assert_eq!(made[0]["economy"]["has_paid_back"], true);
    gateway.stop().await;
}
