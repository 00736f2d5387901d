//! Events as OpenTelemetry metrics, through the meter provider that the host has set; without one nothing is counted.
//!
//! Names begin with `longhaul.`; tokens and costs are sums, so any backend can derive rates from them.

use longhaul_core::engine::{CompactionSuccess, Event};
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use opentelemetry::metrics::Meter;
use opentelemetry::{KeyValue, global};

pub(super) fn record(event: &Event) {
    // The meter is looked up each time: a host may set its provider after the first session was opened, and events are
    // rare.
    let meter = global::meter("longhaul");
    match event {
        // A reply that was withheld is billed like any other.
        Event::Replied { usage, cost, .. } | Event::Withheld { usage, cost } => {
            tokens(&meter, usage, "turn");
            spent(&meter, *cost, "turn");
        }
        Event::ReplyLost {
            source,
            usage,
            cost,
        } => {
            let purpose = match source.as_str() {
                "compact" | "collapse" => "summary",
                "notes" => "notes",
                _ => "turn",
            };
            tokens(&meter, usage, purpose);
            spent(&meter, *cost, purpose);
        }
        Event::Compacted(done) => compacted(&meter, done),
        Event::CompactFailed { kind, .. } => count(
            &meter,
            "longhaul.compaction.failures",
            1,
            &[KeyValue::new("kind", format!("{kind:?}"))],
        ),
        Event::MicroCompacted { reason, saved, .. } => {
            let reason = [KeyValue::new("reason", reason.as_str())];
            count(&meter, "longhaul.microcompactions", 1, &reason);
            count(
                &meter,
                "longhaul.microcompaction.tokens_saved",
                *saved,
                &reason,
            );
        }
        Event::NotesTaken(notes) => {
            let ok = [KeyValue::new("ok", notes.taken.failed.is_none())];
            count(&meter, "longhaul.notes_taken", 1, &ok);
            tokens(&meter, &notes.taken.usage, "notes");
            spent(&meter, notes.cost, "notes");
        }
        Event::TooLongRetry { .. } => count(&meter, "longhaul.summary.retries", 1, &[]),
        Event::ThresholdExceededAfter { .. } => {
            count(&meter, "longhaul.threshold_exceeded_after", 1, &[]);
        }
        Event::CacheBreak(finding) => {
            let cause = [KeyValue::new("cause", finding.cause.name())];
            count(&meter, "longhaul.cache_breaks", 1, &cause);
            count(
                &meter,
                "longhaul.cache_break.tokens",
                finding.missed,
                &cause,
            );
        }
        Event::FileRestore { failed, .. } => count(
            &meter,
            "longhaul.file_restores",
            1,
            &[KeyValue::new("ok", failed.is_none())],
        ),
        Event::BreakerTripped => count(&meter, "longhaul.breaker_trips", 1, &[]),
        _ => {}
    }
}

fn compacted(meter: &Meter, done: &CompactionSuccess) {
    let labels = [
        KeyValue::new("trigger", done.trigger.as_str()),
        KeyValue::new("by", format!("{:?}", done.by)),
    ];
    count(meter, "longhaul.compactions", 1, &labels);
    let saved = done.before.saturating_sub(done.after);
    count(meter, "longhaul.compaction.tokens_saved", saved, &labels);
    meter
        .u64_histogram("longhaul.compaction.duration")
        .with_unit("ms")
        .build()
        .record(done.milliseconds, &labels);
    meter
        .u64_histogram("longhaul.compaction.waited")
        .with_unit("ms")
        .build()
        .record(done.waited, &labels);
    if let Some(usage) = &done.usage {
        tokens(meter, usage, "summary");
    }
    spent(meter, done.cost, "summary");
}

fn tokens(meter: &Meter, usage: &Usage, of: &'static str) {
    for (kind, amount) in [
        ("input", usage.input),
        ("output", usage.output),
        ("cache_read", usage.cache_read),
        ("cache_write", usage.cache_write()),
    ] {
        let labels = [KeyValue::new("kind", kind), KeyValue::new("of", of)];
        count(meter, "longhaul.tokens", amount, &labels);
    }
}

fn spent(meter: &Meter, cost: Option<Usd>, of: &'static str) {
    if let Some(cost) = cost {
        let counter = meter.f64_counter("longhaul.cost").with_unit("USD").build();
        counter.add(cost.to_f64(), &[KeyValue::new("of", of)]);
    }
}

fn count(meter: &Meter, name: &'static str, amount: u64, labels: &[KeyValue]) {
    meter.u64_counter(name).build().add(amount, labels);
}
