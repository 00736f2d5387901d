//! The gateway sends its own requests late, seldom, and not over and over.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use jiff::{SignedDuration, Timestamp};
use longhaul::Clock;
use longhaul_gateway::front::{Gateway, UpstreamChoice};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::endless::{Endless, world};
use super::gate::Gate;
use super::long::{Client, Kind, Workload, gateway, with_window};
use super::managed::{body, talk};
use super::support::{
    Upstream, body_of, caught_up, exchange, exchange_whole, get, header, post, read_message,
    sessions_when,
};

/// A clock that advances by this many seconds with each turn.
#[derive(Default)]
struct Pace(AtomicI64);

impl Clock for Pace {
    fn now(&self) -> Timestamp {
        let seconds = self.0.load(Ordering::Relaxed);
        Timestamp::constant(1_800_000_000, 0) + SignedDuration::from_secs(seconds)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x5_x8_a_summary_is_prepared_as_late_as_it_can_be_ready_in_time() {
    const MODEL: &str = "claude-haiku-4-5";
    let (models, window) = with_window(MODEL, 40_000);
    let behind = gateway(models.clone(), |options| {
        options.policies.rules = vec!["off".parse().unwrap()];
    })
    .await;
    let gate = Gate::before(behind.addr()).await;
    gate.open();
    let clock = Arc::new(Pace::default());
    let gateway = gateway(models, |options| {
        options.upstream = UpstreamChoice::Url(gate.url.parse().unwrap());
        options.clock = Arc::clone(&clock) as Arc<dyn Clock>;
    })
    .await;
    let workload = Workload {
        words: 12,
        result: 1,
        ..Workload::PLAIN
    };
    let mut client = Client::new(&gateway, MODEL, workload, window).await;
    let mut prompts = Vec::new();
    // A turn takes fifteen seconds, and a summary whose duration is not known yet is assumed to take 45.
    for turn in 0.. {
        prompts.push(client.turn(turn).await);
        clock.0.fetch_add(15, Ordering::Relaxed);
        caught_up(gateway.addr(), prompts.len()).await;
        if gate.arrived() > 0 {
            break;
        }
    }
    let largest = prompts.windows(2).map(|pair| pair[1] - pair[0]).max();
    let (last, largest) = (*prompts.last().unwrap(), largest.unwrap());
    // The part reserved for a reply, and the margin before it.
    let threshold = window - window / 5 - window * 13 / 100;
    println!("asked for at {last} of {threshold} tokens, the largest turn has {largest}");
    assert!(
        last + 7 * largest >= threshold,
        "asked for at {last} of {threshold}, turns have {largest} at most"
    );
    assert!(
        last * 100 > threshold * 75,
        "asked for at {last} of {threshold}"
    );
    gateway.stop().await;
    behind.stop().await;
}

/// How an upstream answers requests that are not the client's own.
#[derive(Clone, Copy, PartialEq)]
enum OwnAnswer {
    Overloaded,
    /// It breaks off after more than half.
    CutOff,
}

/// An upstream that fails for every request that is not the client's own. The client's requests have a mark
/// that the gateway does not repeat in its own requests. Returns its address, and how many requests failed.
async fn failing(inside: &Gateway, own: OwnAnswer) -> (String, Arc<AtomicUsize>) {
    const BUSY: &str =
        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}";
    let mut outside = Upstream::start().await;
    let (url, addr) = (outside.url().to_string(), inside.addr());
    let turned_away = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&turned_away);
    tokio::spawn(async move {
        while let Some(mut stream) = outside.accepted.recv().await {
            let counted = Arc::clone(&counted);
            tokio::spawn(async move {
                while let Some(request) = read_message(&mut stream).await {
                    let is_the_clients = memchr::memmem::find(&request, b"dempotency-").is_some();
                    let answered = async || exchange_whole(addr, &request).await;
                    let answer = if is_the_clients {
                        answered().await
                    } else if own == OwnAnswer::CutOff {
                        counted.fetch_add(1, Ordering::SeqCst);
                        let answer = answered().await;
                        stream
                            .write_all(&answer[..answer.len() * 2 / 3])
                            .await
                            .unwrap();
                        return;
                    } else {
                        counted.fetch_add(1, Ordering::SeqCst);
                        let length = BUSY.len();
                        format!("HTTP/1.1 529 Overloaded\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{BUSY}").into_bytes()
                    };
                    stream.write_all(&answer).await.unwrap();
                    if is_the_clients {
                        // Its answer may be a stream, which ends with the connection.
                        return;
                    }
                }
            });
        }
    });
    (url, turned_away)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o2_x8_an_overloaded_provider_costs_one_attempt_to_compact_six_requests_at_most() {
    let behind = world(|options| options.policies.rules = vec!["off".parse().unwrap()]).await;
    let (url, turned_away) = failing(&behind, OwnAnswer::Overloaded).await;
    let gateway = world(|options| {
        options.upstream = UpstreamChoice::Url(url.parse().unwrap());
    })
    .await;
    let headers = "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\nidempotency-key: one\r\n";
    let ask = async |exchanges: usize| {
        let request = post("/v1/messages", headers, &body(&talk(exchanges)).to_string());
        let answer = exchange(gateway.addr(), &request).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer
    };
    // A request waits for this one, because its history is too long from the start.
    let answer = ask(56).await;
    let action = header(&answer, "x-longhaul-action");
    assert_eq!(action.as_deref(), Some("extracted"));
    let waited_for = turned_away.swap(0, Ordering::SeqCst);
    println!("{waited_for} requests while one waited");
    assert!((1..=6).contains(&waited_for), "{waited_for}");
    // No request waits for this one; stopping the gateway waits for work in progress.
    ask(50).await;
    gateway.stop().await;
    let ahead = turned_away.load(Ordering::SeqCst);
    println!("{ahead} requests while nobody waited");
    assert!((1..=6).contains(&ahead), "{ahead}");
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_what_own_requests_cost_whose_answers_break_off_is_in_the_books() {
    let behind = world(|options| options.policies.rules = vec!["off".parse().unwrap()]).await;
    let (url, cut_off) = failing(&behind, OwnAnswer::CutOff).await;
    let gateway = world(|options| {
        options.upstream = UpstreamChoice::Url(url.parse().unwrap());
    })
    .await;
    let headers = "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\nidempotency-key: one\r\n";
    let mut request = body(&talk(56));
    request["stream"] = json!(true);
    let request = post("/v1/messages", headers, &request.to_string());
    let answer = exchange_whole(gateway.addr(), &request).await;
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    let own = cut_off.load(Ordering::SeqCst);
    assert!(own > 0, "a summary was asked for");
    let sessions = sessions_when(gateway.addr(), |all| {
        all["sessions"][0]["calls"] == 1 && all["sessions"][0]["own_calls"] == own
    })
    .await;
    let sim = behind.simulated().unwrap();
    let billed = sim.with_world(|world| world.usage_log().total.cost_usd);
    let billed = billed.pico() as f64 / 1e12;
    let told = sessions["sessions"][0]["cost_usd"].as_f64().unwrap();
    println!("{own} answers broke off; ${told} of ${billed}");
    // What the model wrote after the break was billed, too, but nobody can know it.
    assert!(
        told > 0.75 * billed && told <= billed,
        "${told} of ${billed}"
    );
    gateway.stop().await;
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o2_x8_a_model_that_failed_is_tried_again_after_some_extracts_and_no_sooner() {
    let gateway = world(|_| {}).await;
    let sim = gateway.simulated().unwrap();
    let addr = sim.url().trim_start_matches("http://").parse().unwrap();
    let misbehave = async |what: &str| {
        let raw = json!({"misbehave": what}).to_string();
        let headers = "content-type: application/json\r\n";
        exchange(addr, &post("/sim/faults", headers, &raw)).await;
    };
    // Each unsuccessful summary is requested in two ways. Three of them open the breaker.
    misbehave("summary:empty*6").await;
    let mut client = Endless::new(&gateway, "claude-sonnet-4-6").await;
    client.go_on(&json!({"content": []}));
    // How many of its own calls the gateway had made at each compaction.
    let mut asked: Vec<u64> = Vec::new();
    while client
        .actions
        .last()
        .is_none_or(|last| last != "summarised")
    {
        let reply = client.turn().await;
        client.go_on(&reply);
        caught_up(gateway.addr(), client.actions.len()).await;
        let sessions = sessions_when(gateway.addr(), |_| true).await;
        let made = sessions["sessions"][0]["compactions"].as_u64().unwrap();
        let total = sim.with_world(|world| world.usage_log().total);
        while (asked.len() as u64) < made {
            asked.push(total.requests - client.actions.len() as u64);
        }
        assert!(asked.len() < 20, "it is never asked again: {asked:?}");
    }
    println!("calls of the gateway's own by compaction: {asked:?}");
    let unaided = asked.iter().filter(|calls| **calls == 6).count();
    assert!(
        (5..=7).contains(&unaided),
        "extracts do without a model for a while: {asked:?}"
    );
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y1_x8_a_small_window_is_not_summarized_with_every_turn() {
    const TURNS: u64 = 150;
    const MODEL: &str = "claude-opus-5-5";
    let (models, window) = with_window(MODEL, 16_000);
    let gateway = gateway(models, |_| {}).await;
    let workload = Workload {
        words: 12,
        result: 60,
        kinds: &[Kind::Words],
        ..Workload::PLAIN
    };
    let mut client = Client::new(&gateway, MODEL, workload, window).await;
    for turn in 0..TURNS {
        client.turn(turn).await;
    }
    let total = (gateway.simulated().unwrap()).with_world(|world| world.usage_log().total);
    let sessions = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == TURNS).await;
    let id = sessions["sessions"][0]["session"].as_str().unwrap();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    let session: serde_json::Value = serde_json::from_str(body_of(&answer)).unwrap();
    let made = session["compactions"].as_array().unwrap().iter();
    let made = made.filter(|one| one["kind"] != "settled").count() as u64;
    let own = total.requests - TURNS;
    println!("{made} compactions and {own} calls of the gateway's own in {TURNS} turns");
    assert_eq!(total.errors, 0);
    // In so small a window some answers are cut off, and are asked for again. How many depends on when a turn meets the
    // work in the background: one in seven in the mean, one in four at most of fifty runs on a busy machine.
    assert!(own <= made + made / 3, "{own} calls for {made} compactions");
    assert!(own <= TURNS / 2, "{own} calls in {TURNS} turns");
    gateway.stop().await;
}
