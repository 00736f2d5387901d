//! Long conversations of every kind: whatever a client sends, no request is larger than the window, and no error
//! reaches the client.
//!
//! `LONGHAUL_LONG_TURNS` makes them longer, `LONGHAUL_LONG_WINDOW` sets another window than 40,000 tokens (0: the
//! model's own), `LONGHAUL_LONG_ECONOMY` another policy of prices than `clear`, `LONGHAUL_LONG_SHOW` prints every
//! compaction and the gateway's log.

mod client;
mod texts;

use std::sync::Arc;

use client::Dialect;
use jiff::Timestamp;
use longhaul_core::config::Config;
use longhaul_core::economy::EconomyPolicy;
use longhaul_core::models::ModelTable;
use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::manage::CompactorSettings;
use longhaul_gateway::store::InMemoryStore;
pub(crate) use texts::Kind;

use super::support::{body_of, get, sessions_when};

pub(crate) use client::{Client, Workload};

fn asked(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |given| given.parse().unwrap())
}

/// The built-in models with another window; the simulator has the same, and rejects what is longer.
pub(crate) fn with_window(model: &str, window: u64) -> (ModelTable, u64) {
    let table = ModelTable::builtin();
    if window == 0 {
        let native = table.resolve(model).spec.window;
        return (table, native);
    }
    let text = format!("[models.{model}]\nwindow = {window}\n");
    (table.extended_with(&text).unwrap(), window)
}

pub(crate) async fn gateway(
    models: ModelTable,
    change: impl FnOnce(&mut GatewayOptions),
) -> Gateway {
    let store = Arc::new(InMemoryStore::new().unwrap());
    let mut options = GatewayOptions::new(UpstreamChoice::Simulated, store, Tenants::passing());
    options.models = models;
    change(&mut options);
    Gateway::start(options).await.unwrap()
}

/// Turns are at most as large as they would be in a window of this many tokens: a thousand of them in a window of a
/// million would be more than any provider accepts in one request.
const LARGEST_TURNS: u64 = 40_000;

/// Runs a workload.
async fn run(model: &'static str, workload: Workload) {
    if std::env::var_os("LONGHAUL_LONG_SHOW").is_some() {
        // A test that ran before may have set a subscriber.
        let log = tracing_subscriber::fmt().with_max_level(tracing::Level::INFO);
        let _ = log.with_ansi(false).try_init();
    }
    let turns = asked("LONGHAUL_LONG_TURNS", 120);
    let (models, window) = with_window(model, asked("LONGHAUL_LONG_WINDOW", 40_000));
    let economy = std::env::var("LONGHAUL_LONG_ECONOMY").ok();
    let economy = economy.map_or_else(EconomyPolicy::default, |name| {
        EconomyPolicy::named(&name).expect("off, clear or full")
    });
    let gateway = gateway(models, |options| options.config.economy = economy).await;
    let mut client = Client::new(&gateway, model, workload, window.min(LARGEST_TURNS)).await;
    let mut largest = 0;
    for turn in 0..turns {
        let prompt = client.turn(turn).await;
        largest = largest.max(prompt);
    }
    let name = workload.name;
    let (total, refused) = gateway.simulated().unwrap().with_world(|world| {
        let recent = world.usage_log().recent.iter();
        let refused: Vec<String> = recent.filter_map(|one| one.refusal.clone()).collect();
        (world.usage_log().total, refused)
    });
    println!(
        "{model}, {name}, economy {}: {turns} turns, window {window}, {} decisions by price, largest prompt {largest}, {} compactions, {} calls of the gateway's own, {} errors, actions {:?}, ${:.2}",
        economy.as_str(),
        client.decisions.len(),
        made(&gateway).await,
        total.requests - turns - total.errors,
        total.errors,
        client.actions,
        total.cost_usd.to_f64(),
    );
    if std::env::var_os("LONGHAUL_LONG_SHOW").is_some() {
        show(&gateway).await;
    }
    let made = compactions(&gateway).await;
    let extracted = made.iter().filter(|one| one["kind"] == "extracted");
    assert_eq!(
        extracted.count(),
        0,
        "{model}, {name}: the model has always answered"
    );
    assert_eq!(refused, Vec::<String>::new(), "{model}, {name}");
    assert_eq!(
        total.errors, 0,
        "{model}, {name}: the world refused nothing"
    );
    assert!(largest <= window, "{model}, {name}");
    assert!(
        client.actions.keys().any(|action| action != "passed"),
        "the client's history is beyond the window"
    );
    gateway.stop().await;
}

/// How often the conversation was compacted.
async fn made(gateway: &Gateway) -> u64 {
    let sessions = sessions_when(gateway.addr(), |_| true).await;
    let rows = sessions["sessions"].as_array().unwrap().iter();
    rows.map(|row| row["compactions"].as_u64().unwrap()).sum()
}

/// Every compaction of every session.
async fn compactions(gateway: &Gateway) -> Vec<serde_json::Value> {
    let sessions = sessions_when(gateway.addr(), |_| true).await;
    let mut all = Vec::new();
    for row in sessions["sessions"].as_array().unwrap() {
        let path = format!(
            "/longhaul/api/sessions/{}",
            row["session"].as_str().unwrap()
        );
        let answer = get(gateway.addr(), &path).await;
        let session: serde_json::Value = serde_json::from_str(body_of(&answer)).unwrap();
        all.extend(session["compactions"].as_array().unwrap().iter().cloned());
    }
    all
}

/// Prints every compaction.
async fn show(gateway: &Gateway) {
    for made in compactions(gateway).await {
        let [kind, before, after, waited, cost] = [
            "kind",
            "before_tokens",
            "after_tokens",
            "waited_milliseconds",
            "cost_usd",
        ]
        .map(|name| &made[name]);
        println!("  {kind} {before} -> {after}, waited {waited}, cost {cost}");
    }
}

macro_rules! long {
    ($($test:ident: $model:literal, $workload:expr;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            run($model, $workload).await;
        }
    )*};
}

/// Each turn brings the same share of a window, so that a small window shows what happens in a large one.
const LARGE_TEXTS: Workload = Workload {
    name: "large user texts",
    words: 12,
    result: 60,
    kinds: &[Kind::Words],
    ..Workload::PLAIN
};
const DENSE: Workload = Workload {
    name: "dense results",
    words: 3,
    result: 30,
    kinds: &[
        Kind::Csv,
        Kind::Log,
        Kind::Json,
        Kind::Base64,
        Kind::Chinese,
    ],
    ..Workload::PLAIN
};
const PARALLEL: Workload = Workload {
    name: "parallel calls",
    words: 3,
    result: 12,
    calls: 5,
    kinds: &[Kind::Words, Kind::Log],
    ..Workload::PLAIN
};
const STREAMED: Workload = Workload {
    name: "streamed",
    words: 5,
    result: 30,
    kinds: &[Kind::Words, Kind::Json],
    streamed: true,
    ..Workload::PLAIN
};
const DENSE_WORDS: Workload = Workload {
    name: "users who write Chinese",
    words: 15,
    result: 15,
    kinds: &[Kind::Chinese],
    ..Workload::PLAIN
};
const CHAT: Workload = Workload {
    name: "chat completions",
    words: 6,
    result: 40,
    kinds: &[Kind::Words, Kind::Csv],
    dialect: Dialect::Chat,
    ..Workload::PLAIN
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x1_the_users_words_never_fill_the_window_however_many_there_are() {
    never_fill_the_window(&[Kind::Words]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x1_the_users_words_never_fill_the_window_however_dense_they_are() {
    never_fill_the_window(&[Kind::Chinese]).await;
}

/// A session with many short requests: not all of them fit into the window, not even shortened.
async fn never_fill_the_window(kinds: &'static [Kind]) {
    let model = "claude-haiku-4-5";
    let (models, window) = with_window(model, 20_000);
    let gateway = gateway(models.clone(), |_| {}).await;
    let workload = Workload {
        name: "many short requests",
        words: 6,
        result: 30,
        kinds,
        ..Workload::PLAIN
    };
    let mut client = Client::new(&gateway, model, workload, window).await;
    for turn in 0..500 {
        client.turn(turn).await;
    }
    let settings = CompactorSettings::new(
        Arc::new(Config::default()),
        Arc::new(models),
        &[],
        Timestamp::UNIX_EPOCH,
    );
    let threshold = settings.window(model).unwrap().auto_compact;
    let made = compactions(&gateway).await;
    let left = made.iter().map(|one| one["after_tokens"].as_u64().unwrap());
    let most = left.max().unwrap();
    assert!(
        most <= threshold * 7 / 10,
        "{most} of {threshold} tokens are left"
    );
    let omitted = &made[made.len() - 1]["report"]["user_messages"]["omitted"];
    assert!(
        omitted.as_u64().unwrap() > 0,
        "some could not be kept, and it says so"
    );
    gateway.stop().await;
}

long! {
    x8_haiku_never_overflows_with_large_user_texts: "claude-haiku-4-5", LARGE_TEXTS;
    x8_haiku_never_overflows_with_dense_results: "claude-haiku-4-5", DENSE;
    x8_haiku_never_overflows_with_parallel_calls: "claude-haiku-4-5", PARALLEL;
    x8_haiku_never_overflows_when_streamed: "claude-haiku-4-5", STREAMED;
    x8_haiku_never_overflows_with_dense_user_texts: "claude-haiku-4-5", DENSE_WORDS;
    x8_sonnet_never_overflows_with_large_user_texts: "claude-sonnet-4-6", LARGE_TEXTS;
    x8_sonnet_never_overflows_with_dense_results: "claude-sonnet-4-6", DENSE;
    x8_sonnet_never_overflows_with_parallel_calls: "claude-sonnet-4-6", PARALLEL;
    x8_sonnet_never_overflows_when_streamed: "claude-sonnet-4-6", STREAMED;
    n2_x8_opus_never_overflows_with_large_user_texts: "claude-opus-5-5", LARGE_TEXTS;
    n2_x8_opus_never_overflows_with_dense_results: "claude-opus-5-5", DENSE;
    n2_x8_opus_never_overflows_with_parallel_calls: "claude-opus-5-5", PARALLEL;
    n2_x8_opus_never_overflows_when_streamed: "claude-opus-5-5", STREAMED;
    n2_x8_fable_never_overflows_with_dense_results: "claude-fable-5-2", DENSE;
    x8_chat_completions_never_overflow: "claude-haiku-4-5", CHAT;
}
