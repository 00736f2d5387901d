//! The counters of the gateway. They are read in one place, [`Metrics::families`], for both Prometheus (`prometheus`)
//! and OpenTelemetry (`telemetry`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use opentelemetry::KeyValue;
use opentelemetry::metrics::Histogram;

use super::family::{MetricFamily, MetricKind, MetricSample, MetricValue};
use crate::branch::BranchRelation;
use crate::policy::RequestPolicy;
use crate::store;

/// Upper bounds of the histogram of durations, in milliseconds.
pub(super) const BOUNDS: [u64; 10] = [
    5, 25, 100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000,
];

/// Why the gateway itself rejected a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalClass {
    /// The body was too large.
    TooLarge,
    /// There were too many requests at once.
    Busy,
    /// All available memory was in use.
    NoMemory,
    /// The client sent too slowly.
    SlowClient,
    /// The upstream could not be reached or broke off.
    Upstream,
    /// The upstream was silent for too long.
    UpstreamSilent,
    /// The client was not allowed to see what it requested.
    Forbidden,
    /// The request is for a thread that the server would store.
    Thread,
    /// The request asked for another protocol.
    Upgrade,
    /// The request asked for a policy that there is not.
    Policy,
}

const REFUSED: [(&str, RefusalClass); 10] = [
    ("too_large", RefusalClass::TooLarge),
    ("busy", RefusalClass::Busy),
    ("no_memory", RefusalClass::NoMemory),
    ("slow_client", RefusalClass::SlowClient),
    ("upstream", RefusalClass::Upstream),
    ("upstream_silent", RefusalClass::UpstreamSilent),
    ("forbidden", RefusalClass::Forbidden),
    ("thread", RefusalClass::Thread),
    ("upgrade", RefusalClass::Upgrade),
    ("policy", RefusalClass::Policy),
];
const CLASSES: [&str; 6] = ["0xx", "1xx", "2xx", "3xx", "4xx", "5xx"];
/// The last one is for requests rejected before a policy was decided.
const POLICIES: [&str; 4] = ["off", "observe", "manage", "none"];
const TOKENS: [&str; 4] = ["input", "cache_read", "cache_write", "output"];
const RECOGNIZED: [&str; 4] = ["new", "again", "extends", "branches"];

/// The outcome of a request for session notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesResult {
    /// Notes were stored.
    Kept,
    /// No notes were stored.
    Failed,
}

const NOTES: [&str; 2] = ["kept", "failed"];

/// All counters.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Indexed by policy, then by the first digit of the status.
    answers: [[AtomicU64; CLASSES.len()]; POLICIES.len()],
    refused: [AtomicU64; REFUSED.len()],
    in_flight: AtomicI64,
    tokens: [AtomicU64; TOKENS.len()],
    cost_pico: AtomicU64,
    own_requests: AtomicU64,
    own_cost_pico: AtomicU64,
    findings: Mutex<BTreeMap<&'static str, u64>>,
    dropped: AtomicU64,
    lines: AtomicU64,
    recognized: [AtomicU64; RECOGNIZED.len()],
    durations: [AtomicU64; BOUNDS.len() + 1],
    duration_sum: AtomicU64,
    compactions: [AtomicU64; store::CompactedPrefixKind::ALL.len()],
    notes: [AtomicU64; NOTES.len()],
    notes_tokens: [AtomicU64; TOKENS.len()],
    notes_cost_pico: AtomicU64,
    /// Durations for OpenTelemetry, which needs each single value.
    pub(super) told: OnceLock<Histogram<f64>>,
}

fn add(counter: &AtomicU64, number: u64) {
    counter.fetch_add(number, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn spend(tokens: &[AtomicU64; TOKENS.len()], pico: &AtomicU64, usage: &Usage, cost: Option<Usd>) {
    let counts = [
        usage.input,
        usage.cache_read,
        usage.cache_write(),
        usage.output,
    ];
    for (counter, count) in tokens.iter().zip(counts) {
        add(counter, count);
    }
    let cost = cost.and_then(|cost| u64::try_from(cost.pico()).ok());
    add(pico, cost.unwrap_or(0));
}

impl Metrics {
    /// A request was answered, with its policy if one was decided.
    pub fn answered(&self, status: u16, policy: Option<RequestPolicy>, took: Duration) {
        let class = usize::from(status / 100).min(CLASSES.len() - 1);
        let policy = match policy {
            Some(RequestPolicy::Off) => 0,
            Some(RequestPolicy::Observe) => 1,
            Some(RequestPolicy::Manage) => 2,
            None => 3,
        };
        add(&self.answers[policy][class], 1);
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let slot = BOUNDS.iter().position(|bound| millis <= *bound);
        add(&self.durations[slot.unwrap_or(BOUNDS.len())], 1);
        add(&self.duration_sum, millis);
        if let Some(told) = self.told.get() {
            let labels = [
                KeyValue::new("status", CLASSES[class]),
                KeyValue::new("policy", POLICIES[policy]),
            ];
            told.record(millis as f64 / 1_000.0, &labels);
        }
    }

    /// The gateway rejected a request.
    pub fn refused(&self, why: RefusalClass) {
        if let Some(at) = REFUSED.iter().position(|(_, other)| *other == why) {
            add(&self.refused[at], 1);
        }
    }

    /// A request began (+1) or ended (−1).
    pub fn in_flight(&self, change: i64) {
        self.in_flight.fetch_add(change, Ordering::Relaxed);
    }

    /// The number of requests in flight.
    pub fn under_way(&self) -> i64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Adds the usage of a call.
    pub fn used(&self, usage: &Usage, cost: Option<Usd>) {
        spend(&self.tokens, &self.cost_pico, usage, cost);
    }

    /// Counts a request of the gateway's own, and its cost, if that is known. Its usage is added like that of a call.
    pub fn used_itself(&self, cost: Option<Usd>) {
        add(&self.own_requests, 1);
        let cost = cost.and_then(|cost| u64::try_from(cost.pico()).ok());
        add(&self.own_cost_pico, cost.unwrap_or(0));
    }

    /// Adds the usage of a request for session notes.
    pub(crate) fn used_for_notes(&self, usage: &Usage, cost: Option<Usd>) {
        spend(&self.notes_tokens, &self.notes_cost_pico, usage, cost);
    }

    /// Counts a request for session notes.
    pub fn noted(&self, result: NotesResult) {
        let at = match result {
            NotesResult::Kept => 0,
            NotesResult::Failed => 1,
        };
        add(&self.notes[at], 1);
    }

    /// The cache watch found something, with this cause.
    pub fn found(&self, cause: &'static str) {
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        *findings.entry(cause).or_default() += 1;
    }

    /// A conversation was compacted.
    pub fn compacted(&self, kind: store::CompactedPrefixKind) {
        if let Some(at) = store::CompactedPrefixKind::ALL
            .iter()
            .position(|other| *other == kind)
        {
            add(&self.compactions[at], 1);
        }
    }

    /// An item of the usage log was dropped.
    pub fn dropped(&self) {
        add(&self.dropped, 1);
    }

    /// A request was placed.
    pub fn placed(&self, relation: BranchRelation) {
        let at = match relation {
            BranchRelation::New => 0,
            BranchRelation::Again => 1,
            BranchRelation::Extends(_) => 2,
            BranchRelation::Branches(..) => 3,
        };
        add(&self.recognized[at], 1);
        if matches!(relation, BranchRelation::New | BranchRelation::Branches(..)) {
            add(&self.lines, 1);
        }
    }

    /// All current values except the durations.
    pub(super) fn families(&self) -> Vec<MetricFamily> {
        let plain = |number| vec![MetricSample::plain(number)];
        let labeled = |label: &'static str, names: &[&'static str], counters: &[AtomicU64]| {
            let samples = names.iter().zip(counters);
            samples
                .map(|(name, counter)| {
                    MetricSample::of([(label, *name)], MetricValue::Count(get(counter)))
                })
                .collect::<Vec<_>>()
        };
        let answers = POLICIES
            .iter()
            .zip(&self.answers)
            .flat_map(|(policy, counters)| {
                CLASSES.iter().zip(counters).map(|(class, counter)| {
                    let number = MetricValue::Count(get(counter));
                    MetricSample::of([("policy", *policy), ("status", *class)], number)
                })
            });
        let findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        let findings = findings.iter();
        let findings = findings.map(|(cause, count)| {
            MetricSample::of([("cause", *cause)], MetricValue::Count(*count))
        });
        let counter = |name, help, samples| MetricFamily {
            name,
            kind: MetricKind::Counter,
            help,
            samples,
        };
        vec![
            counter(
                "requests",
                "Requests answered, by policy and class of status.",
                answers.collect(),
            ),
            counter(
                "refused",
                "Requests that the gateway itself refused or gave up.",
                labeled("reason", &REFUSED.map(|(name, _)| name), &self.refused),
            ),
            MetricFamily {
                name: "requests_in_flight",
                kind: MetricKind::Gauge,
                help: "Requests under way.",
                samples: plain(MetricValue::Level(self.under_way())),
            },
            counter(
                "tokens",
                "Tokens as the upstream measured them, of the gateway's own requests, too.",
                labeled("kind", &TOKENS, &self.tokens),
            ),
            counter(
                "cost_usd",
                "Cost as far as prices are known, of the gateway's own requests, too.",
                plain(MetricValue::Amount(get(&self.cost_pico) as f64 / 1e12)),
            ),
            counter(
                "own_requests",
                "Requests of the gateway's own, for summaries and notes.",
                plain(MetricValue::Count(get(&self.own_requests))),
            ),
            counter(
                "own_cost_usd",
                "The part of cost_usd that is of the gateway's own requests.",
                plain(MetricValue::Amount(get(&self.own_cost_pico) as f64 / 1e12)),
            ),
            counter(
                "cache_findings",
                "Calls that read less from the cache than they could have, by cause.",
                findings.collect(),
            ),
            counter(
                "compactions",
                "Conversations compacted, by kind.",
                labeled(
                    "kind",
                    &store::CompactedPrefixKind::ALL.map(store::CompactedPrefixKind::name),
                    &self.compactions,
                ),
            ),
            counter(
                "notes",
                "Requests for session notes, by outcome.",
                labeled("result", &NOTES, &self.notes),
            ),
            counter(
                "notes_tokens",
                "The part of tokens that is of requests for session notes.",
                labeled("kind", &TOKENS, &self.notes_tokens),
            ),
            counter(
                "notes_cost_usd",
                "The part of cost_usd that is of requests for session notes.",
                plain(MetricValue::Amount(
                    get(&self.notes_cost_pico) as f64 / 1e12,
                )),
            ),
            counter(
                "books_dropped",
                "Records of the usage log that were dropped because the queue was full.",
                plain(MetricValue::Count(get(&self.dropped))),
            ),
            counter(
                "recognised",
                "Requests by their relation to known conversations.",
                labeled("as", &RECOGNIZED, &self.recognized),
            ),
            counter(
                "lines_begun",
                "Conversation branches that began.",
                plain(MetricValue::Count(get(&self.lines))),
            ),
        ]
    }

    /// How many requests took how long, by [`BOUNDS`] and beyond, and the total in milliseconds.
    pub(super) fn durations(&self) -> ([u64; BOUNDS.len() + 1], u64) {
        (self.durations.each_ref().map(get), get(&self.duration_sum))
    }
}
