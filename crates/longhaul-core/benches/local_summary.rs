//! Measures how fast facts are gathered, a summary is audited, and a summary without a model is made (X1, X9).
//!
//! Run `cargo bench -p longhaul-core --bench local_summary`. The entries are those of a generated session, scanned
//! before the clock starts. The baseline reads every text once with `json::decode`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_types,
    missing_docs,
    reason = "a bench talks, measures time and may fail loudly"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul_core::facts::{AuditInput, Facts, FactsBudget, audit};
use longhaul_core::json;
use longhaul_core::local_summary::summarize;
use longhaul_core::message::{BlockKind, Entry};
use longhaul_testkit::session::{CompactionSchedule, SessionSpec};

const ROUNDS: usize = 9;
const BUDGET: u64 = 20_000;

fn main() {
    let bytes = SessionSpec::new(11, 3_000)
        .compaction(CompactionSchedule::Never)
        .bytes();
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let entries: Vec<Entry> = lines
        .map(|line| Entry::read(line.to_vec().into()).unwrap())
        .collect();
    let views = || entries.iter().map(Entry::view);
    let size = bytes.len() as f64 / 1e6;
    println!("{} entries, {size:.1} MB, best of {ROUNDS}", entries.len());

    let baseline = best(|| {
        for view in views() {
            let texts = view.facets.blocks.iter().filter(|block| {
                matches!(block.kind, BlockKind::Text)
                    || block.kind == BlockKind::ToolResult && !block.has_inner
            });
            for block in texts {
                black_box(json::decode(block.body.of(view.line)));
            }
        }
    });
    let facts = Facts::scan(Arc::default(), views());
    let scan = best(|| {
        black_box(Facts::scan(Arc::default(), views()));
    });
    let summary = best(|| {
        black_box(summarize(views(), &facts, BUDGET));
    });
    let report = |name: &str, time: Duration| {
        let seconds = time.as_secs_f64();
        let ratio = baseline.as_secs_f64() / seconds;
        println!(
            "  {name:<28}{:>9.2} ms {:>9.0} MB/s {ratio:>8.2}x",
            seconds * 1e3,
            size / seconds
        );
    };
    report("every text read once", baseline);
    report("facts gathered", scan);
    report("summary without a model", summary);

    let messages: Vec<String> = (0..2_000)
        .map(|at| format!(r#"{{"type":"user","uuid":"u{at}","message":{{"role":"user","content":"message {at}: please look at part {at} and never at part {at}0"}}}}"#))
        .collect();
    let spoken: Vec<Entry> = messages
        .iter()
        .map(|line| Entry::read(line.clone().into_bytes().into()).unwrap())
        .collect();
    let facts = Facts::scan(Arc::default(), spoken.iter().map(Entry::view));
    let text = "A sentence of a summary that says nothing of it. ".repeat(2_100);
    let seen = AuditInput {
        summary: &text,
        beside: &[],
    };
    let budget = FactsBudget {
        tokens: BUDGET,
        protected: 83_500,
    };
    let audited = best(|| {
        black_box(audit(&facts, seen, budget));
    });
    println!(
        "  audit of 2,000 messages against {} KB: {:.2} ms",
        text.len() / 1_000,
        audited.as_secs_f64() * 1e3
    );
}

fn best(mut run: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed());
    }
    best
}
