//! Managing is worth its price: no compaction for a small gain, and no more is reported as saved than was.

use longhaul_core::models::ModelTable;
use longhaul_gateway::front::Gateway;
use serde_json::Value;

use super::long::{Client, Kind, Workload, gateway, with_window};
use super::support::{body_of, get, sessions_when};

const MODEL: &str = "claude-haiku-4-5";
/// Its own window fits the unmanaged conversation.
const LARGE: &str = "claude-sonnet-4-6";

fn spent(gateway: &Gateway) -> f64 {
    let world = gateway.simulated().unwrap();
    world.with_world(|world| world.usage_log().total.cost_usd.to_f64())
}

async fn session(gateway: &Gateway, turns: u64) -> (Value, Value) {
    let sessions = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == turns).await;
    let row = sessions["sessions"][0].clone();
    let id = row["session"].as_str().unwrap();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    (row, serde_json::from_str(body_of(&answer)).unwrap())
}

/// The same client twice: its cost without managing, and its cost managed in a window of this many tokens.
async fn saved(model: &'static str, window: u64, workload: Workload) {
    const TURNS: u64 = 70;
    let off = gateway(ModelTable::builtin(), |options| {
        options.policies.rules = vec!["off".parse().unwrap()];
    })
    .await;
    let mut client = Client::new(&off, model, workload, window).await;
    for turn in 0..TURNS {
        client.turn(turn).await;
    }
    let unmanaged = spent(&off);
    off.stop().await;
    let managed = gateway(ModelTable::builtin(), |options| {
        options.config.window_cap = Some(window);
    })
    .await;
    let mut client = Client::new(&managed, model, workload, window).await;
    for turn in 0..TURNS {
        client.turn(turn).await;
    }
    session(&managed, TURNS).await;
    // The cost of the newest compaction is recorded after the response.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let (row, one) = session(&managed, TURNS).await;
    let bill = spent(&managed);
    let truly = unmanaged - bill;
    let name = workload.name;
    for told in [&row["saved_usd"], &one["saved_usd"]] {
        let told = told.as_f64().unwrap();
        println!("{name}: told {told:.4}, truly {truly:.4} of {unmanaged:.4}");
        assert!(told <= truly + 1e-6, "{name}: told {told}, truly {truly}");
    }
    assert!(row["compactions"].as_u64().unwrap() > 0);
    // What is told as spent is the provider's bill, the gateway's own requests included, in every place.
    let savings = get(managed.addr(), "/longhaul/api/savings").await;
    let savings: Value = serde_json::from_str(body_of(&savings)).unwrap();
    for told in [&row, &one, &savings["total"]] {
        let (spent, without) = (&told["cost_usd"], &told["without_usd"]);
        let spent = spent.as_f64().unwrap();
        assert!((spent - bill).abs() < 1e-6, "{name}: {spent} of {bill}");
        let without = without.as_f64().unwrap();
        assert!(
            without <= unmanaged + 1e-6,
            "{name}: {without} of {unmanaged}"
        );
        assert_eq!(told["own_calls"], row["own_calls"], "{name}");
        assert_eq!(told["simulated"], true, "{name}");
    }
    let metrics = get(managed.addr(), "/metrics").await;
    let counted = metrics
        .lines()
        .find_map(|line| line.strip_prefix("longhaul_cost_usd_total "))
        .unwrap();
    assert!((counted.parse::<f64>().unwrap() - bill).abs() < 1e-6);
    let calls = managed.simulated().unwrap();
    let calls = calls.with_world(|world| {
        let total = world.usage_log().total;
        total.requests - total.errors
    });
    let own = row["own_calls"].as_u64().unwrap();
    assert_eq!(TURNS + own, calls, "{name}: requests");
    managed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v6_x8_what_is_told_as_saved_by_summaries_is_never_more_than_was() {
    let workload = Workload {
        name: "summaries",
        words: 30,
        result: 1,
        ..Workload::PLAIN
    };
    saved(MODEL, 40_000, workload).await;
    saved(LARGE, 100_000, workload).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v6_x8_what_is_told_as_saved_by_clearing_is_never_more_than_was() {
    let workload = Workload {
        name: "clearing",
        words: 1,
        result: 40,
        kinds: &[Kind::Words, Kind::Csv],
        ..Workload::PLAIN
    };
    saved(MODEL, 40_000, workload).await;
    saved(LARGE, 100_000, workload).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v6_x8_what_is_told_as_saved_of_a_mixed_and_streamed_session_is_never_more_than_was() {
    let workload = Workload {
        name: "large texts, calls at once, streamed",
        words: 12,
        result: 10,
        calls: 3,
        kinds: &[Kind::Log, Kind::Json, Kind::Words],
        streamed: true,
        ..Workload::PLAIN
    };
    saved(LARGE, 100_000, workload).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v6_x8_what_is_told_as_saved_of_a_client_without_markers_is_never_more_than_was() {
    let workload = Workload {
        name: "dense texts without markers",
        words: 15,
        result: 15,
        kinds: &[Kind::Chinese],
        marks: false,
        ..Workload::PLAIN
    };
    saved(LARGE, 100_000, workload).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y1_x8_a_large_head_makes_no_compaction_that_frees_little() {
    const TURNS: u64 = 150;
    let (models, window) = with_window(MODEL, 50_000);
    let gateway = gateway(models, |_| {}).await;
    let workload = Workload {
        name: "large head",
        words: 8,
        result: 12,
        ..Workload::PLAIN
    };
    let mut client = Client::new(&gateway, MODEL, workload, window).await;
    client.head = "You work on a repository with many rules. ".repeat(1_450);
    for turn in 0..TURNS {
        client.turn(turn).await;
    }
    let (_, session) = session(&gateway, TURNS).await;
    let made = session["compactions"].as_array().unwrap();
    let made: Vec<&Value> = made.iter().filter(|one| one["kind"] != "settled").collect();
    let freed = |one: &Value| {
        let tokens = |name: &str| one[name].as_u64().unwrap();
        tokens("before_tokens").saturating_sub(tokens("after_tokens"))
    };
    println!(
        "{} compactions in {TURNS} turns, {:?} tokens freed",
        made.len(),
        made.iter().map(|one| freed(one)).collect::<Vec<_>>()
    );
    for one in &made {
        assert!(freed(one) >= window / 10, "{one}");
        assert_ne!(
            one["kind"], "extracted",
            "the model has always answered: {one}"
        );
    }
    // A turn brings 1,100 tokens, and a summary frees 6,000 to 10,000: it is due about every seven turns.
    let most = TURNS as usize / 7;
    assert!(made.len() <= most, "not in every few turns: {}", made.len());
    gateway.stop().await;
}
