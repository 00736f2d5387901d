//! Tests breaks that are found in transcripts by usage alone.

use jiff::{SignedDuration, Timestamp};
use longhaul_core::inspect::CacheBreak;
use longhaul_testkit::session::{CacheTtl, SessionSpec};
use serde_json::{Value, json};

use crate::lines::{Lines, inspect};

/// A transcript of responses at given minutes.
#[derive(Default)]
struct Record {
    lines: Lines,
    next: usize,
}

impl Record {
    fn response(&mut self, minute: i64, model: &str, usage: Value) -> &mut Self {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let time = |seconds| (start + SignedDuration::from_secs(60 * minute + seconds)).to_string();
        self.next += 1;
        let id = format!("m{}", self.next);
        self.lines.add(
            &format!("u{id}"),
            json!({ "type": "user", "timestamp": time(0), "message": { "role": "user", "content": "go on" } }),
        );
        for (part, share) in [("a", 2), ("b", 1)] {
            // Lines of one response carry partial counts first.
            let mut usage = usage.clone();
            for count in usage.as_object_mut().unwrap().values_mut() {
                if let Some(number) = count.as_u64() {
                    *count = json!(number / share);
                }
            }
            let message = json!({ "id": id, "role": "assistant", "model": model, "usage": usage,
                "content": [{ "type": "text", "text": part }] });
            let entry = json!({ "type": "assistant", "timestamp": time(20), "message": message });
            self.lines.add(&format!("{part}{id}"), entry);
        }
        self
    }

    fn breaks(&self) -> Vec<CacheBreak> {
        let report = inspect((self.lines.lines.join("\n") + "\n").as_bytes());
        let total = report.cache_break_totals;
        let lost: u64 = report
            .cache_breaks
            .iter()
            .map(|found| found.lost_tokens)
            .sum();
        assert_eq!(
            (total.breaks, total.lost_tokens),
            (report.cache_breaks.len() as u64, lost)
        );
        report.cache_breaks
    }
}

const OPUS: &str = "claude-opus-5";

fn usage(read: u64, written: u64, lifetime: &str) -> Value {
    let split = match lifetime {
        "1h" => json!({ "ephemeral_1h_input_tokens": written }),
        _ => json!({ "ephemeral_5m_input_tokens": written }),
    };
    json!({ "input_tokens": 4, "output_tokens": 10, "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written, "cache_creation": split })
}

#[test]
fn d2_a_recorded_break_is_told_by_model_time_and_the_lifetime_of_writes() {
    let after = |minute, model, lifetime: &str, now: Value| {
        let mut record = Record::default();
        record
            .response(0, OPUS, usage(0, 40_000, lifetime))
            .response(1, OPUS, usage(40_000, 2_000, lifetime))
            .response(minute, model, now);
        record.breaks()
    };
    let cold = |lifetime| usage(0, 43_000, lifetime);
    for (minute, model, lifetime, now, cause) in [
        (7, OPUS, "5m", cold("5m"), "expired_5m"),
        (7, OPUS, "1h", cold("1h"), "unknown"),
        (62, OPUS, "1h", cold("1h"), "expired_1h"),
        (2, OPUS, "5m", cold("5m"), "unknown"),
        (9, "claude-opus-4-8", "5m", cold("5m"), "model"),
        (2, OPUS, "5m", usage(20_000, 500, "5m"), "shorter_prompt"),
    ] {
        let breaks = after(minute, model, lifetime, now);
        let [found] = &breaks[..] else {
            panic!("{cause}: {breaks:?}");
        };
        assert_eq!(found.cause, cause);
        assert_eq!((found.line, found.from), (8, 40_000));
        assert_eq!(found.idle_seconds, Some((minute - 1) * 60));
    }
    let breaks = after(7, OPUS, "5m", cold("5m"));
    // 42,000 tokens were written at $6.25 per million instead of read at $0.50.
    assert_eq!(breaks[0].cost_usd, Some(0.2415));
    assert!(after(2, OPUS, "5m", usage(42_000, 900, "5m")).is_empty());
    assert!(
        after(
            2,
            OPUS,
            "5m",
            json!({ "input_tokens": 0, "output_tokens": 0 })
        )
        .is_empty()
    );
}

#[test]
fn d4_recorded_compactions_reset_and_clearings_are_expected() {
    let mut record = Record::default();
    record
        .response(0, OPUS, usage(0, 40_000, "5m"))
        .response(1, OPUS, usage(40_000, 2_000, "5m"));
    record.lines.clearing("c", &["t1"]);
    record.response(2, OPUS, usage(20_000, 9_000, "5m"));
    record
        .lines
        .boundary("b", "s", json!({ "trigger": "auto" }));
    record.response(3, OPUS, usage(9_000, 3_000, "5m"));
    assert!(record.breaks().is_empty());
    record.response(4, OPUS, usage(0, 12_000, "5m"));
    assert_eq!(record.breaks().len(), 1);
}

#[test]
fn d2_in_generated_sessions_every_break_is_a_rewind_or_an_expiry_of_their_lifetime() {
    let (mut found, mut rewinds) = ([0, 0], 0);
    for seed in 0..30 {
        for (nth, (ttl, cause)) in [
            (CacheTtl::FiveMinutes, "expired_5m"),
            (CacheTtl::OneHour, "expired_1h"),
        ]
        .into_iter()
        .enumerate()
        {
            let session = SessionSpec::new(seed, 120).cache_ttl(ttl).generate();
            for one in inspect(&session.bytes).cache_breaks {
                match one.cause {
                    "rewind" => rewinds += 1,
                    other => {
                        assert_eq!(other, cause, "seed {seed}: {one:?}");
                        found[nth] += 1;
                    }
                }
            }
        }
    }
    assert!(
        found[0] > 20 && found[1] > 0 && rewinds > 0,
        "{found:?} {rewinds}"
    );
}
