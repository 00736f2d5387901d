//! Which actions are decided by price: by the setting, by a rule, and as far as the user's switches permit it (V5).

use longhaul_core::economy::EconomyPolicy;
use longhaul_gateway::front::{Gateway, GatewayOptions};
use serde_json::json;

use super::script::Script;
use crate::long::{Client, Kind, Workload, gateway, with_window};
use crate::support::{header, options};

const TURNS: usize = 40;

/// The decisions of a gateway with these options for a conversation that reads many files.
async fn decisions(script: Script, change: impl FnOnce(&mut GatewayOptions)) -> Vec<String> {
    let upstream = script.upstream().await;
    let mut options = options(upstream.url.clone());
    change(&mut options);
    let gateway = upstream.gateway(options).await;
    let decisions = script.decisions(&gateway, TURNS).await;
    gateway.stop().await;
    decisions
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v5_the_setting_chooses_whether_results_are_cleared_by_price() {
    for script in [
        Script::messages("claude-haiku-4-5"),
        Script::SONNET,
        Script::OPUS,
        Script::messages("claude-fable-5-2"),
        Script::CHAT,
    ] {
        let unset = decisions(script, |_| {}).await;
        assert!(!unset.is_empty(), "{}: clear is the default", script.model);
        for one in &unset {
            assert!(one.starts_with("policy=clear; action=clear; "), "{one}");
        }
        let off = decisions(script, |options| {
            options.config.economy = EconomyPolicy::Off;
        })
        .await;
        assert_eq!(off, Vec::<String>::new(), "{}", script.model);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v5_a_rule_chooses_for_its_requests() {
    let rules = |options: &mut GatewayOptions| {
        options.config.economy = EconomyPolicy::Off;
        options.policies.rules = vec![
            "model=claude-sonnet-*:manage,economy=clear"
                .parse()
                .unwrap(),
        ];
    };
    let named = decisions(Script::SONNET, rules).await;
    assert!(!named.is_empty(), "the rule says clear");
    let others = decisions(Script::OPUS, rules).await;
    assert_eq!(others, Vec::<String>::new(), "the setting says off");
    let off = decisions(Script::SONNET, |options| {
        options.policies.rules = vec!["manage,economy=off".parse().unwrap()];
    })
    .await;
    assert_eq!(off, Vec::<String>::new(), "the rule says off");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v5_the_switches_for_clearing_and_for_everything_automatic_hold() {
    let micro = decisions(Script::SONNET, |options| {
        options.config.switches.micro = false;
    })
    .await;
    assert_eq!(micro, Vec::<String>::new());
    for economy in [EconomyPolicy::Clear, EconomyPolicy::Full] {
        let automatic = decisions(Script::SONNET, |options| {
            options.config.economy = economy;
            options.config.switches.automatic = false;
        })
        .await;
        assert_eq!(automatic, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v5_nothing_is_cleared_for_a_client_that_has_the_provider_clear_results() {
    let script = Script::SONNET;
    let upstream = script.upstream().await;
    let gateway = upstream.gateway(options(upstream.url.clone())).await;
    for turn in 0..TURNS {
        let mut body = script.body(turn);
        body["context_management"] = json!({"edits": [{"type": "clear_tool_uses_20250919"}]});
        let answer = script.send_body(&gateway, &body).await;
        assert_eq!(header(&answer, "x-longhaul-economy"), None, "turn {turn}");
    }
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v5_a_model_without_known_prices_is_decided_by_thresholds_alone() {
    let script = Script::messages("a-model-that-nobody-knows");
    assert_eq!(decisions(script, |_| {}).await, Vec::<String>::new());
}

/// Texts that only a summary removes.
const TALK: Workload = Workload {
    name: "long answers to long questions",
    words: 10,
    result: 1,
    kinds: &[Kind::Words],
    ..Workload::PLAIN
};

/// The decisions in a conversation with the simulator, as pairs of policy and action.
async fn talk(change: impl FnOnce(&mut GatewayOptions)) -> (Gateway, Vec<String>) {
    const MODEL: &str = "claude-sonnet-4-6";
    let (models, window) = with_window(MODEL, 200_000);
    let gateway = gateway(models, change).await;
    let mut client = Client::new(&gateway, MODEL, TALK, window).await;
    for turn in 0..70 {
        client.turn(turn).await;
    }
    (gateway, client.decisions)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v5_under_full_a_summary_is_made_when_it_pays_although_the_window_has_room() {
    let (full, decided) = talk(|options| {
        options.config.economy = EconomyPolicy::Full;
    })
    .await;
    let summarize = |one: &&String| one.starts_with("policy=full; action=summarize; ");
    assert!(
        decided.iter().filter(summarize).count() > 0,
        "{decided:?}: it pays"
    );
    let (clear, decided) = talk(|_| {}).await;
    assert_eq!(decided.iter().find(summarize), None);
    let spent = |gateway: &Gateway| {
        let world = gateway.simulated().unwrap();
        world.with_world(|world| world.usage_log().total.cost_usd.to_f64())
    };
    assert!(
        spent(&full) < spent(&clear),
        "{} and {}",
        spent(&full),
        spent(&clear)
    );
    full.stop().await;
    clear.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v5_a_summary_that_pays_does_not_wait_for_a_clearing_that_is_switched_off() {
    let (gateway, decided) = talk(|options| {
        options.config.economy = EconomyPolicy::Full;
        options.config.switches.micro = false;
    })
    .await;
    let actions: Vec<bool> = (decided.iter())
        .map(|one| one.contains("action=summarize"))
        .collect();
    assert!(!actions.is_empty() && actions.iter().all(|summary| *summary));
    gateway.stop().await;
}
