//! Measures the cost of planning: a compaction of a million tokens (F1, F7), and a micro pass among ten thousand
//! results (T3, U).
//!
//! Run `cargo bench -p longhaul-core --bench compaction`. A plan is everything between the decision to compact and the
//! request for the summary: pieces, scope, sizes, prompt, the slices of the fork. Rendering the conversation is not
//! included, because it was done turn by turn. The baseline of the plan is one walk over the bytes of the history; that
//! of the micro pass is the same pass among a tenth of the results.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_types,
    missing_docs,
    reason = "a bench talks, measures time and may fail loudly"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use longhaul_core::config::Config;
use longhaul_core::engine::{
    CompactRequest, Effect, EffectOutcome, Engine, EngineConfig, EngineInput, EngineResume,
    HookOutcome, LiveEntry, ModelReply, NewEntry, SessionIdentity, UuidSequence,
};
use longhaul_core::message::{Entry, Usage};
use longhaul_core::micro::{CacheState, ClearableTools, MicroSituation, ToolResults, choose};
use longhaul_core::models::ModelTable;
use longhaul_core::prompt::{LatchedSettings, RequestPrefix, Ttl};
use longhaul_core::window::{WindowInput, WindowSettings, WindowStatus};
use serde_json::value::RawValue;

const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);
const ROUNDS: usize = 25;

fn main() {
    plan();
    micro();
}

fn plan() {
    println!("planning a compaction: pieces, scope, sizes, prompt, slices of the fork");
    for tokens in [100_000, 1_000_000] {
        let entries = history(tokens);
        let count = entries.len();
        let bytes: usize = entries
            .iter()
            .map(|kept| kept.entry.view().line.len())
            .sum();
        let walk = best(|| {
            let lines = entries.iter().map(|kept| kept.entry.view().line);
            black_box(lines.map(memchr_count).sum::<usize>());
        });
        let mut engine = engine(entries);
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            engine.handle(EngineInput::Compact(CompactRequest::default()), NOW);
            let asked = summarize(&mut engine);
            times.push(start.elapsed());
            black_box(asked);
            engine.handle(EngineInput::Cancel, NOW);
            while engine.poll().is_some() {}
        }
        times.sort_unstable();
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        println!(
            "  {tokens:>9} tokens, {count:>6} entries, {:>5} KB   p50 {:>7.0} µs   most {:>7.0} µs   one walk over the bytes {:>6.0} µs",
            bytes / 1_000,
            micros(times[ROUNDS / 2]),
            micros(times[ROUNDS - 1]),
            micros(walk),
        );
    }
}

/// Reports that the hooks have run, and returns the size of the request for the summary.
fn summarize(engine: &mut Engine) -> usize {
    let mut offset = 1 << 30;
    while let Some(effect) = engine.poll() {
        let (id, outcome) = match effect {
            Effect::Summarize { request, .. } => return request.body.len(),
            Effect::RunHooks { id, .. } => (id, EffectOutcome::HooksRan(HookOutcome::default())),
            Effect::Persist { id, lines } => {
                offset += lines.len() as u64;
                (id, EffectOutcome::Persisted { offset })
            }
            _ => continue,
        };
        engine.handle(EngineInput::Done { id, outcome }, NOW);
    }
    panic!("no summary was asked for");
}

/// Returns an engine that has sent a request with all of these entries.
fn engine(entries: Vec<LiveEntry>) -> Engine {
    let spec = ModelTable::builtin().resolve("claude-opus-4-6").spec;
    let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
    let head = RequestPrefix {
        system: raw(r#"[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]"#),
        tools: raw(r#"[{"name":"Read","input_schema":{"type":"object"}}]"#),
        user_context: None,
        latched: LatchedSettings::new(
            Some(Ttl::FiveMinutes),
            [],
            &spec,
            raw(r#"{"max_tokens":32000,"model":"claude-opus-4-6"}"#),
        ),
    };
    let window = WindowStatus::new(&WindowInput {
        window: 2_000_000,
        max_output: spec.max_output,
        used: 0,
        settings: WindowSettings::default(),
    });
    let config = EngineConfig::new(
        SessionIdentity::default(),
        (*spec).clone(),
        window.unwrap(),
        &Config::default(),
    );
    let resume = EngineResume {
        entries,
        ..EngineResume::default()
    };
    let mut engine = Engine::new(config, UuidSequence::new(1), head, resume);
    engine.handle(EngineInput::Add(vec![NewEntry::text("Go on.")]), NOW);
    turn(&mut engine);
    engine.handle(EngineInput::Turn, NOW);
    turn(&mut engine);
    engine
}

/// Performs the requested effects, with a short reply.
fn turn(engine: &mut Engine) {
    let mut offset = 1 << 29;
    while let Some(effect) = engine.poll() {
        let (id, outcome) = match effect {
            Effect::Persist { id, lines } => {
                offset += lines.len() as u64;
                (id, EffectOutcome::Persisted { offset })
            }
            Effect::Archive { id, .. } => (id, EffectOutcome::Archived),
            Effect::Send { id, .. } => {
                let message = r#"{"id":"msg_x","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Fine."}],"stop_reason":"end_turn","usage":{"input_tokens":1000000,"output_tokens":5}}"#;
                let reply = ModelReply {
                    message: RawValue::from_string(message.to_owned()).unwrap(),
                    usage: Usage {
                        input: 1_000_000,
                        output: 5,
                        ..Usage::default()
                    },
                    request_id: None,
                    applied: Default::default(),
                    ending: Default::default(),
                };
                (id, EffectOutcome::Replied(Box::new(reply)))
            }
            _ => continue,
        };
        engine.handle(EngineInput::Done { id, outcome }, NOW);
    }
}

/// Returns turns of a prompt, a call, its result and a closing reply, about 1,300 tokens each.
fn history(tokens: usize) -> Vec<LiveEntry> {
    let text = "Some words of the kind that people and programs exchange.\\n".repeat(30);
    let mut parent = "null".to_owned();
    let mut entries = Vec::new();
    for turn in 0..tokens / 1_330 {
        let mut add = |n: u32, kind: &str, message: String| {
            let line = format!(
                r#"{{"type":"{kind}","uuid":"u{turn}-{n}","parentUuid":{parent},"timestamp":"2027-01-15T07:00:00.000Z","message":{message}}}"#
            );
            parent = format!("\"u{turn}-{n}\"");
            entries.push(LiveEntry {
                entry: Entry::read(line.into()).unwrap(),
                offset: Some(entries.len() as u64 * 2_000),
            });
        };
        add(
            0,
            "user",
            format!(r#"{{"role":"user","content":"{text}"}}"#),
        );
        add(
            1,
            "assistant",
            format!(
                r#"{{"role":"assistant","id":"a{turn}","model":"m","content":[{{"type":"tool_use","id":"t{turn}","name":"Read","input":{{"file_path":"/a/{turn}"}}}}]}}"#
            ),
        );
        add(
            2,
            "user",
            format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{turn}","content":"{text}"}}]}}"#
            ),
        );
        add(
            3,
            "assistant",
            format!(
                r#"{{"role":"assistant","id":"b{turn}","model":"m","content":[{{"type":"text","text":"{text}"}}]}}"#
            ),
        );
    }
    entries
}

fn memchr_count(line: &[u8]) -> usize {
    line.iter().filter(|byte| **byte == b'\\').count()
}

fn micro() {
    println!("one more result, and whether anything is to be cleared");
    let mut first = None;
    for count in [1_000, 10_000] {
        let status = WindowStatus::new(&WindowInput {
            window: 1_000_000,
            max_output: 64_000,
            used: 500_000,
            settings: WindowSettings::default(),
        })
        .unwrap();
        let mut results = ToolResults::new(ClearableTools::default());
        let pair = |at: usize| {
            let call = format!(
                r#"{{"type":"assistant","uuid":"c{at}","message":{{"id":"m{at}","model":"m","content":[{{"type":"tool_use","id":"t{at}","name":"Read","input":{{"file_path":"/a/{at}"}}}}]}}}}"#
            );
            let result = format!(
                r#"{{"type":"user","uuid":"r{at}","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{at}","content":"some words of a result, not many"}}]}}}}"#
            );
            [call, result].map(|line| Entry::read(line.into()).unwrap())
        };
        for at in 0..count {
            for entry in pair(at) {
                results.push(entry.view());
            }
        }
        let mut times = Vec::new();
        for at in count..count + 200 {
            let entries = pair(at);
            let start = Instant::now();
            for entry in &entries {
                results.push(entry.view());
            }
            black_box(choose(&MicroSituation {
                limits: &Default::default(),
                pressure: Default::default(),
                results: &results,
                status: &status,
                last_reply: Some(NOW),
                now: NOW,
                cache: CacheState::Warm,
                cached: None,
            }));
            times.push(start.elapsed());
        }
        times.sort_unstable();
        let nanos = times[times.len() / 2].as_secs_f64() * 1e9;
        let ratio = nanos / *first.get_or_insert(nanos);
        println!("  {count:>6} results   p50 {nanos:>6.0} ns   {ratio:.2}x");
    }
}

fn best(mut run: impl FnMut()) -> Duration {
    let times = (0..9).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}
