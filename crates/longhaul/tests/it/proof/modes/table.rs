//! The results of a mode, and all modes side by side.

use std::collections::BTreeMap;

use longhaul_core::engine::{Event, PreparationEvent, Summarizer};
use longhaul_core::money::Usd;
use longhaul_core::report::{RuleLoss, UserMessageLoss};
use longhaul_sim::usage_log::UsageTotals;

use super::host::Host;

/// The results of a mode.
pub(super) struct Figures {
    pub(super) name: String,
    pub(super) compactions: BTreeMap<String, usize>,
    /// Why notes were not used, what happened to prepared summaries, what failed.
    pub(super) oddities: BTreeMap<String, usize>,
    /// Requests, tokens and cost by who asked.
    pub(super) by: BTreeMap<String, UsageTotals>,
    pub(super) total: UsageTotals,
    /// The cost that the session reported.
    pub(super) told: Usd,
    /// The cost of a summary that was being prepared when the session ended: it is not reported.
    pub(super) untold: Usd,
    pub(super) waited: f64,
    pub(super) longest: f64,
    /// The waiting time that the compactions reported.
    pub(super) waited_told: f64,
    pub(super) grown: usize,
    pub(super) messages: UserMessageLoss,
    pub(super) rules: RuleLoss,
}

impl Figures {
    pub(super) fn of(host: &Host) -> Self {
        let mut compactions: BTreeMap<String, usize> = BTreeMap::new();
        let mut oddities: BTreeMap<String, usize> = BTreeMap::new();
        let (mut told, mut waited_told) = (Usd::default(), 0);
        let mut begun = 0;
        for event in host.told.events() {
            let odd = match event {
                Event::Compacted(done) => {
                    begun = 0;
                    told += done.cost.unwrap_or_default();
                    waited_told += done.waited;
                    *compactions.entry(format!("{:?}", done.by)).or_default() += 1;
                    continue;
                }
                Event::Replied { cost, .. } | Event::ReplyLost { cost, .. } => {
                    told += cost.unwrap_or_default();
                    continue;
                }
                Event::NotesTaken(event) => {
                    told += event.cost.unwrap_or_default();
                    match event.taken.failed {
                        Some(why) => format!("notes failed: {why}"),
                        None => continue,
                    }
                }
                Event::NotesNotUsed { reason } => {
                    let reason = format!("{reason:?}");
                    let kind = reason.split(' ').next().unwrap_or_default();
                    format!("notes not used: {kind}")
                }
                Event::Ahead(PreparationEvent::Dropped) => "ahead dropped".to_owned(),
                Event::Ahead(PreparationEvent::Begun) => {
                    begun = 1;
                    "ahead begun".to_owned()
                }
                Event::CompactFailed { kind, .. } => format!("failed {kind:?}"),
                Event::MicroCompacted { reason, .. } => format!("cleared {reason:?}"),
                Event::ThresholdExceededAfter { .. } => "still over".to_owned(),
                Event::BreakerTripped => "breaker".to_owned(),
                Event::TooLongRetry { .. } => "too long retry".to_owned(),
                _ => continue,
            };
            *oddities.entry(odd).or_default() += 1;
        }
        let done = host.told.compactions();
        let newest = done.last().map(|done| &done.report);
        let (by, total, untold) = host.provider.with_world(|world| {
            let books = world.usage_log();
            let summary = |session: &str| matches!(session, "compact" | "collapse");
            let mut recent = books.recent.iter().rev();
            let newest = recent.find(|record| summary(&record.session) && begun == 1);
            let untold = newest.map(|record| record.tokens.cost_usd);
            (
                books.sessions.clone(),
                books.total,
                untold.unwrap_or_default(),
            )
        });
        Self {
            name: host.setup.name(),
            compactions,
            oddities,
            by,
            total,
            told,
            untold,
            waited: host.waited.as_secs_f64(),
            longest: host.longest.as_secs_f64(),
            waited_told: waited_told as f64 / 1_000.0,
            grown: done.iter().filter(|done| done.after >= done.before).count(),
            messages: newest
                .map(|report| report.user_messages)
                .unwrap_or_default(),
            rules: newest.map(|report| report.rules).unwrap_or_default(),
        }
    }

    pub(super) fn by(&self, source: &str) -> UsageTotals {
        self.by.get(source).copied().unwrap_or_default()
    }

    pub(super) fn count(&self, by: Summarizer) -> usize {
        let count = self.compactions.get(&format!("{by:?}"));
        count.copied().unwrap_or(0)
    }

    pub(super) fn all(&self) -> usize {
        self.compactions.values().sum()
    }

    /// Requests for a summary, folds too.
    pub(super) fn summaries(&self) -> u64 {
        self.by("compact").requests + self.by("collapse").requests
    }
}

/// A row: its title, and its value for one mode.
type Row = (&'static str, fn(&Figures) -> String);

const ROWS: [Row; 17] = [
    ("compactions", |of| of.all().to_string()),
    ("by fork / plain / notes / fold / no model", |of| {
        let count = |by| of.count(by);
        format!(
            "{} / {} / {} / {} / {}",
            count(Summarizer::Fork),
            count(Summarizer::Plain),
            count(Summarizer::Notes),
            count(Summarizer::Fold),
            count(Summarizer::Local)
        )
    }),
    ("requests: turns", |of| of.by("sdk").requests.to_string()),
    ("requests: summaries", |of| {
        of.by("compact").requests.to_string()
    }),
    ("requests: folds", |of| {
        of.by("collapse").requests.to_string()
    }),
    ("requests: notes", |of| of.by("notes").requests.to_string()),
    ("prompt tokens, thousands", |of| {
        thousands(of.total.prompt_tokens())
    }),
    ("of these read from the cache", |of| {
        format!("{:.1} %", of.total.hit_rate * 100.0)
    }),
    ("tokens written to the cache, thousands", |of| {
        thousands(of.total.cache_write_5m_input_tokens + of.total.cache_write_1h_input_tokens)
    }),
    ("output tokens, thousands", |of| {
        thousands(of.total.output_tokens)
    }),
    ("cost: turns", |of| dollars(of.by("sdk").cost_usd)),
    ("cost: summaries and folds", |of| {
        dollars(of.by("compact").cost_usd + of.by("collapse").cost_usd)
    }),
    ("cost: notes", |of| dollars(of.by("notes").cost_usd)),
    ("cost in all", |of| dollars(of.total.cost_usd)),
    ("waited, seconds (longest)", |of| {
        format!("{:.1} ({:.1})", of.waited, of.longest)
    }),
    (
        "user's messages word for word / shortened / omitted",
        |of| {
            let of = of.messages;
            format!("{} / {} / {}", of.verbatim, of.shortened, of.omitted)
        },
    ),
    ("rules word for word", |of| {
        format!("{} of {}", of.rules.verbatim, of.rules.total)
    }),
];

/// All modes side by side.
pub(super) fn table(modes: &[Figures]) -> String {
    let mut text = String::from("| |");
    for of in modes {
        text.push_str(&format!(" {} |", of.name));
    }
    text.push_str(&format!("\n|---|{}\n", "---|".repeat(modes.len())));
    for (name, told) in ROWS {
        let cells: Vec<String> = modes.iter().map(told).collect();
        text.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
    }
    text
}

fn thousands(tokens: u64) -> String {
    format!("{:.0}", tokens as f64 / 1_000.0)
}

fn dollars(usd: Usd) -> String {
    format!("${:.2}", usd.to_f64())
}
