//! Measures the cost of one more turn's request in a long conversation (B1, T3).
//!
//! Run `cargo bench -p longhaul-core --bench assemble`. A turn is six entries: a reply with two calls, their results, a
//! closing reply, a prompt. They are pushed, sealed and given cache breakpoints, and the request's slices are
//! assembled. The baseline is `serde_json::to_vec` of the same request.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_types,
    missing_docs,
    reason = "a bench talks, measures time and may fail loudly"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use longhaul_core::message::Entry;
use longhaul_core::models::{ModelTable, ThinkingBinding};
use longhaul_core::prompt::{
    LatchedSettings, NewEntryStamp, PrefixReason, PriorRendering, RenderingStart, RequestAssembly,
    RequestKind, RequestPrefix, Ttl,
};
use longhaul_core::tokens::Estimate;
use serde_json::value::RawValue;

const SHORT: u64 = 100_000;
const LONG: u64 = 1_000_000;
/// The turns timed in each round. They are few, since they add to the length.
const TIMED: usize = 10;
const ROUNDS: usize = 200;

fn main() {
    let mut figures = Vec::new();
    for tokens in [SHORT, LONG] {
        let mut times = Vec::new();
        let mut baseline = Duration::MAX;
        let mut size = 0;
        for round in 0..ROUNDS {
            let (mut session, turns) = session(tokens);
            for turn in turns..turns + TIMED {
                let entries = turn_entries(turn);
                let start = Instant::now();
                let request = session.turn(&entries);
                times.push(start.elapsed());
                drop(black_box(request));
            }
            if round == 0 {
                let body = session.body();
                size = body.len();
                let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
                for _ in 0..8 {
                    let start = Instant::now();
                    black_box(serde_json::to_vec(&value).unwrap());
                    baseline = baseline.min(start.elapsed());
                }
            }
        }
        times.sort_unstable();
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let at = |share: f64| micros(times[(times.len() as f64 * share) as usize]);
        figures.push((tokens, size, at(0.5), at(0.99), micros(baseline)));
    }
    println!("request of one more turn: pushed, sealed, marked, sliced");
    let short = figures[0].2;
    for (tokens, size, p50, p99, baseline) in &figures {
        println!(
            "  {tokens:>9} tokens, {:>5} KB   p50 {p50:>6.1} µs   p99 {p99:>6.1} µs   {:.2}x   to_vec {baseline:>8.0} µs, {:>5.0} times as long",
            size / 1_000,
            p50 / short,
            baseline / p50,
        );
    }
}

struct Session {
    assembly: RequestAssembly,
}

impl Session {
    fn turn(&mut self, entries: &[Entry]) -> Vec<Bytes> {
        for entry in entries {
            let _ = self.assembly.push(entry.view());
        }
        let request = self.assembly.request(RequestKind::Main, None);
        request.unwrap().slices
    }

    fn body(&mut self) -> Vec<u8> {
        let request = self.assembly.request(RequestKind::Main, None);
        request.unwrap().to_vec()
    }
}

/// Returns a session whose history has so many tokens, and the number of its turns.
fn session(tokens: u64) -> (Session, usize) {
    let spec = ModelTable::builtin().resolve("claude-opus-4-8").spec;
    let raw = |json: String| RawValue::from_string(json).unwrap();
    let prompt = "You are an agent that works on code. ".repeat(400);
    let head = RequestPrefix {
        system: raw(format!(
            r#"[{{"type":"text","text":"{prompt}","cache_control":{{"type":"ephemeral"}}}}]"#
        )),
        tools: raw(r#"[{"name":"Read","input_schema":{"type":"object"}}]"#.to_owned()),
        user_context: None,
        latched: LatchedSettings::new(
            Some(Ttl::FiveMinutes),
            [],
            &spec,
            raw(r#"{"max_tokens":32000,"model":"claude-opus-4-8"}"#.to_owned()),
        ),
    };
    let beginning = RenderingStart {
        before: PriorRendering::None,
        head,
        reason: PrefixReason::First,
        binding: ThinkingBinding::None,
    };
    let mut assembly = RequestAssembly::begin(beginning, std::iter::empty());
    let birth = NewEntryStamp {
        session_id: "s",
        uuid: "h",
        parent: None,
        timestamp: jiff::Timestamp::UNIX_EPOCH,
    };
    let entries = assembly.entries_before_request(birth).unwrap();
    assembly.persisted(&entries).unwrap();
    let mut session = Session { assembly };
    let mut turns = 0;
    let weight = |session: &Session| {
        let blocks = session.assembly.rendering().blocks().iter();
        blocks.map(|block| block.weight).sum::<Estimate>()
    };
    let mut first = turn_entries(0);
    drop(session.turn(&first.split_off(5)));
    let mut total = 0;
    while total < tokens {
        turns += 1;
        drop(session.turn(&turn_entries(turns)));
        if turns % 10 == 0 {
            total = weight(&session).unpadded();
        }
    }
    (session, turns + 1)
}

fn turn_entries(turn: usize) -> Vec<Entry> {
    let lines = lines(turn).into_iter();
    lines
        .map(|line| Entry::read(line.into()).unwrap())
        .collect()
}

/// Returns the lines of a turn. Ids are unique, as in a real session.
fn lines(turn: usize) -> Vec<String> {
    let text = "Some words of the kind that people and programs exchange.\\n".repeat(30);
    let user = |n: usize, content: &str| {
        format!(
            r#"{{"type":"user","uuid":"u{turn}-{n}","message":{{"role":"user","content":{content}}}}}"#
        )
    };
    let reply = |n: usize, id: &str, block: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"u{turn}-{n}","message":{{"id":"{id}{turn}","model":"m","content":[{block}]}}}}"#
        )
    };
    let call = |n: usize| {
        format!(
            r#"{{"type":"tool_use","id":"t{turn}-{n}","name":"Read","input":{{"file_path":"/a/b"}}}}"#
        )
    };
    let result = |n: usize| {
        format!(r#"[{{"type":"tool_result","tool_use_id":"t{turn}-{n}","content":"{text}"}}]"#)
    };
    vec![
        reply(1, "a", &call(1)),
        reply(2, "a", &call(2)),
        user(3, &result(1)),
        user(4, &result(2)),
        reply(5, "b", &format!(r#"{{"type":"text","text":"{text}"}}"#)),
        user(0, &format!("\"{text}\"")),
    ]
}
