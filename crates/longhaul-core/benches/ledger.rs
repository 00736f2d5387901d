//! Compares the cost of one more turn in a long conversation with that in a short one (T3).
//!
//! Run `cargo bench -p longhaul-core --bench ledger`. A turn is six entries: a prompt, a reply with two calls, their
//! results, a closing reply. Each is scanned, weighed and counted, and the context size is requested.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_types,
    missing_docs,
    reason = "a bench talks, measures time and may fail loudly"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use longhaul_core::message::LineScanner;
use longhaul_core::tokens::{EntryStanding, TokenLedger};

const ENTRIES_PER_TURN: usize = 6;
const SHORT: usize = 1_000;
const LONG: usize = 100_000;
/// The turns timed at each length: few compared with the length itself, many compared with the noise.
const TIMED: usize = 100;
const ROUNDS: usize = 15;

fn main() {
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for (best, entries) in best.iter_mut().zip([SHORT, LONG]) {
            let mut session = Session::default();
            let turns = entries / ENTRIES_PER_TURN;
            (0..turns).for_each(|turn| session.turn(&lines(turn)));
            let more: Vec<_> = (turns..turns + TIMED).map(lines).collect();
            let start = Instant::now();
            more.iter().for_each(|lines| session.turn(lines));
            *best = (*best).min(start.elapsed());
        }
    }
    let turn = |time: Duration| time.as_secs_f64() * 1e6 / TIMED as f64;
    println!("one more turn of {ENTRIES_PER_TURN} entries, best of {ROUNDS}");
    println!("  at {SHORT:>7} entries   {:>6.2} µs   1.00", turn(best[0]));
    let ratio = best[1].as_secs_f64() / best[0].as_secs_f64();
    println!(
        "  at {LONG:>7} entries   {:>6.2} µs   {ratio:.2}x",
        turn(best[1])
    );
}

#[derive(Default)]
struct Session {
    scanner: LineScanner,
    ledger: TokenLedger,
}

impl Session {
    fn turn(&mut self, lines: &[String]) {
        for line in lines {
            let facets = self.scanner.scan(line.as_bytes()).unwrap();
            let entry = facets.view(line.as_bytes());
            self.ledger.entry(entry, EntryStanding::Live);
        }
        black_box(self.ledger.context());
    }
}

/// Returns the lines of a turn. Ids are unique, as in a real session.
fn lines(turn: usize) -> Vec<String> {
    let text = "Some words of the kind that people and programs exchange.\\n".repeat(8);
    let usage = r#""usage":{"input_tokens":4,"cache_read_input_tokens":90000,"output_tokens":200}"#;
    let user = |n: usize, content: &str| {
        format!(
            r#"{{"type":"user","uuid":"u{turn}-{n}","message":{{"role":"user","content":{content}}}}}"#
        )
    };
    let reply = |n: usize, id: &str, block: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"u{turn}-{n}","message":{{"id":"{id}{turn}","model":"m","content":[{block}],{usage}}}}}"#
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
        user(0, &format!("\"{text}\"")),
        reply(1, "a", &call(1)),
        reply(2, "a", &call(2)),
        user(3, &result(1)),
        user(4, &result(2)),
        reply(5, "b", &format!(r#"{{"type":"text","text":"{text}"}}"#)),
    ]
}
