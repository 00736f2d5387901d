//! Managing is worth its price: no compaction for little, and no more told as saved than was.

use longhaul_core::models::ModelTable;
use longhaul_gateway::front::Gateway;
use serde_json::Value;

use super::long::{Client, Kind, Workload, gateway, with_window};
use super::support::{body_of, get, sessions_when};

const MODEL: &str = "claude-haiku-4-5";

fn spent(gateway: &Gateway) -> f64 {
    let world = gateway.simulated().unwrap();
    world.with_world(|world| world.books().total.cost_usd.to_f64())
}

async fn session(gateway: &Gateway, turns: u64) -> (Value, Value) {
    let sessions = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == turns).await;
    let row = sessions["sessions"][0].clone();
    let id = row["session"].as_str().unwrap();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    (row, serde_json::from_str(body_of(&answer)).unwrap())
}

/// The same client twice: what it costs as it is, and what it costs managed in a window of 40,000 tokens.
async fn saved(workload: Workload) {
    const TURNS: u64 = 70;
    let off = gateway(ModelTable::builtin(), |options| {
        options.policies.rules = vec!["off".parse().unwrap()];
    })
    .await;
    let mut client = Client::new(&off, MODEL, workload, 40_000).await;
    for turn in 0..TURNS {
        client.turn(turn).await;
    }
    let unmanaged = spent(&off);
    off.stop().await;
    let managed = gateway(ModelTable::builtin(), |options| {
        options.config.window_cap = Some(40_000);
    })
    .await;
    let mut client = Client::new(&managed, MODEL, workload, 40_000).await;
    for turn in 0..TURNS {
        client.turn(turn).await;
    }
    session(&managed, TURNS).await;
    // What the newest compaction cost is written down behind the answer.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let (row, one) = session(&managed, TURNS).await;
    let truly = unmanaged - spent(&managed);
    let name = workload.name;
    for told in [&row["saved_usd"], &one["saved_usd"]] {
        let told = told.as_f64().unwrap();
        println!("{name}: told {told:.4}, truly {truly:.4} of {unmanaged:.4}");
        assert!(told <= truly + 1e-6, "{name}: told {told}, truly {truly}");
    }
    assert!(row["compactions"].as_u64().unwrap() > 0);
    managed.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v6_x8_what_is_told_as_saved_by_summaries_is_never_more_than_was() {
    saved(Workload {
        name: "summaries",
        words: 30,
        result: 1,
        ..Workload::PLAIN
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v6_x8_what_is_told_as_saved_by_clearing_is_never_more_than_was() {
    saved(Workload {
        name: "clearing",
        words: 1,
        result: 40,
        kinds: &[Kind::Words, Kind::Csv],
        ..Workload::PLAIN
    })
    .await;
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
    let most = TURNS as usize / 5;
    assert!(made.len() <= most, "not in every few turns: {}", made.len());
    gateway.stop().await;
}
