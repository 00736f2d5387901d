//! Counters, and their text for Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use longhaul_core::message::Usage;
use longhaul_core::money::Usd;

use crate::store::Kind;

/// Upper bounds of the histogram of durations, in milliseconds.
const BOUNDS: [u64; 10] = [
    5, 25, 100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000,
];

/// Why the gateway itself refused a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The body was too large.
    TooLarge,
    /// Too many requests at once.
    Busy,
    /// The client sent too slowly.
    SlowClient,
    /// The upstream could not be reached or broke off.
    Upstream,
    /// The upstream was silent for too long.
    UpstreamSilent,
    /// Not allowed to see what was asked for.
    Forbidden,
    /// A thread that the server would hold.
    Thread,
}

const REFUSED: [(&str, Refused); 7] = [
    ("too_large", Refused::TooLarge),
    ("busy", Refused::Busy),
    ("slow_client", Refused::SlowClient),
    ("upstream", Refused::Upstream),
    ("upstream_silent", Refused::UpstreamSilent),
    ("forbidden", Refused::Forbidden),
    ("thread", Refused::Thread),
];

/// All counters.
#[derive(Debug, Default)]
pub struct Metrics {
    /// By the first digit of the status.
    answers: [AtomicU64; 6],
    refused: [AtomicU64; REFUSED.len()],
    in_flight: AtomicI64,
    tokens: [AtomicU64; 4],
    cost_pico: AtomicU64,
    findings: AtomicU64,
    dropped: AtomicU64,
    lines: AtomicU64,
    recognised: [AtomicU64; 4],
    durations: [AtomicU64; BOUNDS.len() + 1],
    duration_sum: AtomicU64,
    compactions: [AtomicU64; Kind::ALL.len()],
}

const TOKENS: [&str; 4] = ["input", "cache_read", "cache_write", "output"];
const RECOGNISED: [&str; 4] = ["new", "again", "extends", "branches"];

fn add(counter: &AtomicU64, number: u64) {
    counter.fetch_add(number, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl Metrics {
    /// A request was answered.
    pub fn answered(&self, status: u16, millis: u64) {
        add(&self.answers[usize::from(status / 100).min(5)], 1);
        let slot = BOUNDS.iter().position(|bound| millis <= *bound);
        add(&self.durations[slot.unwrap_or(BOUNDS.len())], 1);
        add(&self.duration_sum, millis);
    }

    /// A request was refused here.
    pub fn refused(&self, why: Refused) {
        if let Some(at) = REFUSED.iter().position(|(_, other)| *other == why) {
            add(&self.refused[at], 1);
        }
    }

    /// A request began (+1) or ended (−1).
    pub fn in_flight(&self, change: i64) {
        self.in_flight.fetch_add(change, Ordering::Relaxed);
    }

    /// Requests under way.
    pub fn under_way(&self) -> i64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// What a call used.
    pub fn used(&self, usage: &Usage, cost: Option<Usd>) {
        let counts = [
            usage.input,
            usage.cache_read,
            usage.cache_write(),
            usage.output,
        ];
        for (counter, count) in self.tokens.iter().zip(counts) {
            add(counter, count);
        }
        let pico = cost.and_then(|cost| u64::try_from(cost.pico()).ok());
        add(&self.cost_pico, pico.unwrap_or(0));
    }

    /// The cache watch found something.
    pub fn found(&self) {
        add(&self.findings, 1);
    }

    /// A conversation was made smaller.
    pub fn compacted(&self, kind: Kind) {
        if let Some(at) = Kind::ALL.iter().position(|other| *other == kind) {
            add(&self.compactions[at], 1);
        }
    }

    /// An entry of the books was dropped.
    pub fn dropped(&self) {
        add(&self.dropped, 1);
    }

    /// A request was placed.
    pub fn placed(&self, relation: crate::line::Relation) {
        use crate::line::Relation::{Again, Branches, Extends, New};
        let at = match relation {
            New => 0,
            Again => 1,
            Extends(_) => 2,
            Branches(..) => 3,
        };
        add(&self.recognised[at], 1);
        if matches!(relation, New | Branches(..)) {
            add(&self.lines, 1);
        }
    }

    /// The text format of Prometheus.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut family = |name: &str, kind: &str, help: &str, samples: &[(String, String)]| {
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "# HELP longhaul_{name} {help}\n# TYPE longhaul_{name} {kind}"
            );
            for (labels, value) in samples {
                let _ = writeln!(out, "longhaul_{name}{labels} {value}");
            }
        };
        let labelled = |label: &str, names: &[&str], counters: &[AtomicU64]| {
            let samples = names.iter().zip(counters);
            samples
                .map(|(name, counter)| {
                    (format!("{{{label}=\"{name}\"}}"), get(counter).to_string())
                })
                .collect::<Vec<_>>()
        };
        let plain = |value: String| [(String::new(), value)];
        let classes = ["0xx", "1xx", "2xx", "3xx", "4xx", "5xx"];
        family(
            "requests_total",
            "counter",
            "Requests answered, by class of status.",
            &labelled("status", &classes, &self.answers),
        );
        let reasons = REFUSED.map(|(name, _)| name);
        family(
            "refused_total",
            "counter",
            "Requests that the gateway itself refused or gave up.",
            &labelled("reason", &reasons, &self.refused),
        );
        family(
            "requests_in_flight",
            "gauge",
            "Requests under way.",
            &plain(self.under_way().to_string()),
        );
        family(
            "tokens_total",
            "counter",
            "Tokens as the upstream measured them.",
            &labelled("kind", &TOKENS, &self.tokens),
        );
        family(
            "cost_usd_total",
            "counter",
            "Cost as far as prices are known.",
            &plain(format!("{}", get(&self.cost_pico) as f64 / 1e12)),
        );
        family(
            "cache_findings_total",
            "counter",
            "Calls that read less from the cache than they could have.",
            &plain(get(&self.findings).to_string()),
        );
        family(
            "compactions_total",
            "counter",
            "Conversations made smaller, by how.",
            &labelled("kind", &Kind::ALL.map(Kind::name), &self.compactions),
        );
        family(
            "books_dropped_total",
            "counter",
            "Entries of the books that were dropped because the queue was full.",
            &plain(get(&self.dropped).to_string()),
        );
        family(
            "recognised_total",
            "counter",
            "Requests by how they stand to known conversations.",
            &labelled("as", &RECOGNISED, &self.recognised),
        );
        family(
            "lines_begun_total",
            "counter",
            "Lines of conversations that began.",
            &plain(get(&self.lines).to_string()),
        );
        let mut below = 0;
        let mut buckets = Vec::new();
        for (bound, counter) in BOUNDS.iter().zip(&self.durations) {
            below += get(counter);
            let seconds = *bound as f64 / 1_000.0;
            buckets.push((format!("_bucket{{le=\"{seconds}\"}}"), below.to_string()));
        }
        below += get(&self.durations[BOUNDS.len()]);
        buckets.push(("_bucket{le=\"+Inf\"}".to_owned(), below.to_string()));
        let sum = get(&self.duration_sum) as f64 / 1_000.0;
        buckets.push(("_sum".to_owned(), sum.to_string()));
        buckets.push(("_count".to_owned(), below.to_string()));
        family(
            "request_duration_seconds",
            "histogram",
            "From the head of a request to the end of its answer.",
            &buckets,
        );
        out
    }
}
