//! Many conversations at once, for a long time, with many faults: no request is lost, none is answered with another's
//! words, the strict simulator rejects nothing, and the gateway, a separate process, does not grow.
//!
//! `LONGHAUL_SOAK_SESSIONS` and `LONGHAUL_SOAK_SECONDS` make it larger and longer.

mod client;
mod process;
mod wire;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use client::{Conversation, Kind};
use longhaul_gateway::front::UpstreamChoice;
use longhaul_sim::server::SimServer;
use process::Process;
use serde_json::Value;

use super::echo::{Rest, echoing};
use super::endless::{small_windows, world};
use super::support::{body_of, get};

/// Faults on the wire: rejected, broken, cut short, late.
const FAULTS: &str = "5%: 529, 500, 429(retry-after=0), 429(retry-after=none), slow(20ms), stall(after=2,for=50ms), \
    stall(after=4,for=20ms), reset(0), reset(4), truncate(2), truncate(9), malformed(1), malformed(5), error(1), error(6)";
/// Misbehavior of the model that summarizes.
const MISBEHAVIOR: &str = "summary:empty@0.03,summary:tool@0.03,summary:refuse@0.02,summary:long@0.03,\
    summary:cut@0.03,summary:untagged@0.03,summary:silent@0.02";
/// After this many turns a client begins a new conversation.
const LIFE: u64 = 40;
/// Memory may grow by what an idle conversation may take, for each that begins, and by a quarter for the allocator.
const RESTING: u64 = 20 << 10;
const SLACK: u64 = 32 << 20;

/// How much there is to do.
#[derive(Clone, Copy)]
enum Until {
    /// Until each client has had this many turns.
    Turns(u64),
    /// Until this much time has passed.
    Time(Duration),
}

/// What the simulator rejected recently, and why.
fn refusals_of(world: &SimServer) -> Vec<(String, String, String)> {
    world.with_world(|world| {
        let recent = world.usage_log().recent.iter();
        let refused = recent.filter_map(|record| {
            let why = record.refusal.clone()?;
            Some((record.request_id.clone(), record.model.clone(), why))
        });
        refused.collect()
    })
}

fn asked(name: &str) -> Option<u64> {
    Some(std::env::var(name).ok()?.parse().unwrap())
}

/// What all clients saw.
#[derive(Default)]
pub(crate) struct Counts {
    conversations: AtomicU64,
    turns: AtomicU64,
    failures: AtomicU64,
    given_up: AtomicU64,
}

impl Counts {
    fn add(counter: &AtomicU64) -> u64 {
        counter.fetch_add(1, Ordering::Relaxed)
    }
}

/// One client: conversation after conversation.
async fn one(addr: String, number: u64, until: Until, counts: Arc<Counts>) {
    let began = Instant::now();
    // They do not all begin again at the same time.
    let mut life = 1 + number * 7 % LIFE;
    if let Until::Turns(_) = until {
        life = LIFE;
    }
    let mut turns = 0;
    loop {
        let conversation = Counts::add(&counts.conversations);
        let kind = Kind::ALL[number as usize % Kind::ALL.len()];
        let model = ["claude-sonnet-4-6", "claude-opus-5-5"][number as usize / 4 % 2];
        let key = format!("sk-group-{}", number / 10);
        let mut client = Conversation::new(&addr, key, kind, model, conversation);
        for _ in 0..life {
            client.turn(&counts).await;
            turns += 1;
            let done = match until {
                Until::Turns(most) => turns >= most,
                Until::Time(most) => began.elapsed() >= most,
            };
            if done {
                return;
            }
        }
        life = LIFE;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_many_conversations_in_bad_weather_are_each_answered_rightly() {
    let sessions = asked("LONGHAUL_SOAK_SESSIONS").unwrap_or(24);
    let seconds = asked("LONGHAUL_SOAK_SECONDS").map(Duration::from_secs);
    let until = seconds.map_or(Until::Turns(LIFE), Until::Time);
    let (behind, seen) = echoing(small_windows(), Rest::Sometimes, FAULTS, MISBEHAVIOR).await;
    let mut gateway = Process::start(&behind.url()).await;
    let counts = Arc::new(Counts::default());
    let began = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..sessions {
        clients.spawn(one(gateway.addr(), number, until, Arc::clone(&counts)));
    }
    // The first third fills the caches.
    let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let is_third = |counts: &Counts| match until {
        Until::Turns(most) => load(&counts.turns) >= most * sessions / 3,
        Until::Time(most) => began.elapsed() >= most / 3,
    };
    let mut third = None;
    let mut refusals = BTreeSet::new();
    let mut told = Instant::now();
    let mut every = tokio::time::interval(Duration::from_millis(50));
    loop {
        tokio::select! {
            ended = clients.join_next() => match ended {
                Some(ended) => ended.unwrap(),
                None => break,
            },
            _ = every.tick() => {}
        }
        for refusal in refusals_of(&behind) {
            if refusals.insert(refusal.clone()) {
                println!("refused: {refusal:?}");
            }
        }
        if third.is_none() && is_third(&counts) {
            third = gateway
                .resident()
                .map(|bytes| (bytes, load(&counts.conversations)));
        }
        if told.elapsed() > Duration::from_secs(15) {
            told = Instant::now();
            let resident = gateway.resident().unwrap_or(0) >> 20;
            println!(
                "{:>4} s: {} turns, {resident} MB",
                began.elapsed().as_secs(),
                load(&counts.turns)
            );
        }
    }
    let resident = gateway.resident();
    let took = began.elapsed().as_secs_f64();
    let metrics = get(gateway.addr().parse().unwrap(), "/metrics").await;
    let compactions = metrics
        .lines()
        .filter(|line| line.starts_with("longhaul_compactions_total"));
    let compactions: Vec<&str> = compactions.collect();
    let struck = get(behind.addr(), "/sim/faults").await;
    let struck: Value = serde_json::from_str(body_of(&struck)).unwrap();
    gateway.stop();
    let total = behind.with_world(|world| world.usage_log().total);
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    let (turns, failures) = (load(&counts.turns), load(&counts.failures));
    println!(
        "{sessions} clients, {} conversations, {turns} turns in {took:.0} s; {} requests at the upstream, {} faults, {failures} seen by \
         clients, {} times three in a row; {} summaries asked for, {compactions:?}; {:?} -> {resident:?} bytes resident",
        load(&counts.conversations),
        struck["requests"],
        struck["struck"],
        load(&counts.given_up),
        seen.summaries,
        third,
    );
    assert_eq!(
        seen.mixed,
        [],
        "what belongs to one conversation is in another's request"
    );
    assert_eq!(
        (total.errors, refusals),
        (0, BTreeSet::new()),
        "the world refused something"
    );
    assert!(
        failures <= struck["struck"].as_u64().unwrap(),
        "clients saw failures that nobody injected"
    );
    assert!(seen.turns >= turns && seen.summaries > 0 && !compactions.is_empty());
    if let (Some((before, begun)), Some(now)) = (third, resident) {
        let begun = load(&counts.conversations) - begun;
        let most = before + before / 4 + SLACK + begun * RESTING;
        assert!(
            now <= most,
            "{before} bytes resident after a third, {now} at the end"
        );
    }
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_what_is_asked_again_is_answered_though_its_history_was_summed_up_meanwhile() {
    let (behind, seen) = echoing(small_windows(), Rest::Sometimes, "", "").await;
    let gateway = world(|options| {
        options.upstream = UpstreamChoice::Url(behind.url().parse().unwrap());
    })
    .await;
    let counts = Counts::default();
    for (number, kind) in Kind::ALL.into_iter().enumerate() {
        let model = ["claude-sonnet-4-6", "claude-opus-5-5"][number % 2];
        let (addr, key) = (gateway.addr().to_string(), "sk-one".to_owned());
        let mut client = Conversation::new(&addr, key, kind, model, number as u64);
        for _ in 0..LIFE {
            // Long enough for a summary in this test.
            client.ask_again(Duration::from_millis(20)).await;
            client.turn(&counts).await;
        }
    }
    assert!(seen.lock().unwrap().summaries >= 4);
    assert_eq!(behind.with_world(|world| world.usage_log().total.errors), 0);
    gateway.stop().await;
    behind.stop().await;
}
