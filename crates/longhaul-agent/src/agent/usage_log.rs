//! The usage and cost of a session by purpose: replies, summaries, notes, sub-agents, searches.

use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::engine::Event;
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use longhaul_core::window::QuerySource;
use tokio::sync::watch;

use super::earlier_usage::EarlierUsage;

/// The usage log of a session, shared with its sub-agents.
#[derive(Debug, Default)]
pub(crate) struct SessionUsageLog {
    by_purpose: Mutex<[UsageTally; UsagePurpose::ALL.len()]>,
    /// How many readings of the earlier usage are in progress.
    readings: watch::Sender<usize>,
}

/// A reading of the earlier usage, which is over when this is dropped, whether it succeeded or not.
#[derive(Debug)]
pub(crate) struct EarlierUsageReading(Arc<SessionUsageLog>);

impl Drop for EarlierUsageReading {
    fn drop(&mut self) {
        self.0.readings.send_modify(|readings| *readings -= 1);
    }
}

#[derive(Debug, Clone, Default)]
struct UsageTally {
    usage: Usage,
    cost: Usd,
    unpriced: bool,
    used: bool,
    at_least: bool,
}

/// What usage was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsagePurpose {
    /// Replies to the user.
    Replies,
    /// Work of sub-agents, including their summaries.
    SubAgents,
    /// Searches of the web.
    WebSearches,
    /// Summaries of the conversation.
    Summaries,
    /// Notes on the session.
    Notes,
    /// Everything before the session was resumed, as far as its transcript says.
    Earlier,
}

impl UsagePurpose {
    /// All purposes.
    pub const ALL: [Self; 6] = [
        Self::Replies,
        Self::SubAgents,
        Self::WebSearches,
        Self::Summaries,
        Self::Notes,
        Self::Earlier,
    ];

    /// What requests from this source are for.
    fn of(source: &QuerySource) -> Self {
        match source.as_str() {
            "notes" => Self::Notes,
            "compact" | "collapse" => Self::Summaries,
            _ => Self::Replies,
        }
    }

    /// The purpose in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Replies => "replies",
            Self::SubAgents => "sub-agents",
            Self::WebSearches => "web searches",
            Self::Summaries => "summaries",
            Self::Notes => "notes",
            Self::Earlier => "before it was resumed",
        }
    }
}

/// Whose event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventOrigin {
    Main,
    SubAgent,
    WebSearch,
}

/// The usage so far.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageTotal {
    /// Tokens by class.
    pub usage: Usage,
    /// The cost of the tokens; `None` if a price is not known.
    pub cost: Option<Usd>,
    /// Whether it may be more: not everything that the model wrote is known where a reply broke off or was stopped.
    pub at_least: bool,
}

impl SessionUsageLog {
    /// Records the usage that an event reports.
    pub(crate) fn event(&self, event: &Event, whose: EventOrigin) {
        let purpose = |own| match whose {
            EventOrigin::Main => own,
            EventOrigin::SubAgent => UsagePurpose::SubAgents,
            EventOrigin::WebSearch => UsagePurpose::WebSearches,
        };
        match event {
            // A withheld reply is billed as well.
            Event::Replied { usage, cost, .. } | Event::Withheld { usage, cost } => {
                self.add(purpose(UsagePurpose::Replies), Some(usage), *cost);
            }
            Event::ReplyLost {
                source,
                usage,
                cost,
            } => {
                let purpose = purpose(UsagePurpose::of(source));
                self.add(purpose, Some(usage), *cost);
                self.tallies()[purpose as usize].at_least = true;
            }
            Event::Compacted(done) => {
                self.add(
                    purpose(UsagePurpose::Summaries),
                    done.usage.as_ref(),
                    done.cost,
                );
            }
            Event::NotesTaken(notes) if notes.taken.requests > 0 => {
                let usage = Some(&notes.taken.usage);
                self.add(purpose(UsagePurpose::Notes), usage, notes.cost);
            }
            Event::Preview(preview) => {
                let purpose = purpose(UsagePurpose::Summaries);
                self.add(purpose, preview.usage.as_ref(), preview.cost);
            }
            _ => {}
        }
    }

    fn add(&self, purpose: UsagePurpose, usage: Option<&Usage>, cost: Option<Usd>) {
        // A summary without a model has no usage.
        let Some(usage) = usage else { return };
        let mut all = self.tallies();
        let books = &mut all[purpose as usize];
        books.used = true;
        books.usage.add_billed(usage);
        match cost {
            Some(cost) => books.cost += cost,
            None => books.unpriced = true,
        }
    }

    /// Says that what the session had used is being read, until the result is dropped.
    pub(crate) fn begin_reading_earlier(self: &Arc<Self>) -> EarlierUsageReading {
        self.readings.send_modify(|readings| *readings += 1);
        EarlierUsageReading(self.clone())
    }

    /// Waits until nothing is read any more of what the session had used.
    pub(crate) async fn earlier_is_read(&self) {
        // It cannot fail: the log has the sender.
        let _ = (self.readings.subscribe())
            .wait_for(|readings| *readings == 0)
            .await;
    }

    /// Records what the session had used when it was resumed, in place of what was recorded before.
    pub(crate) fn earlier(&self, earlier: EarlierUsage) {
        self.tallies()[UsagePurpose::Earlier as usize] = UsageTally {
            used: earlier.usage != Usage::default(),
            usage: earlier.usage,
            cost: earlier.cost,
            unpriced: false,
            at_least: earlier.at_least,
        };
    }

    /// The total of the session, including what it had used when it was resumed.
    pub(crate) fn spent(&self) -> UsageTotal {
        self.sum(|_| true)
    }

    /// The total since the session was opened.
    pub(crate) fn spent_since_opened(&self) -> UsageTotal {
        self.sum(|purpose| purpose != UsagePurpose::Earlier)
    }

    fn sum(&self, counts: impl Fn(UsagePurpose) -> bool) -> UsageTotal {
        let all = self.tallies();
        let mut sum = UsageTally::default();
        let parts = UsagePurpose::ALL.into_iter().zip(all.iter());
        for (_, books) in parts.filter(|(purpose, _)| counts(*purpose)) {
            sum.usage.add(&books.usage);
            sum.cost += books.cost;
            sum.unpriced |= books.unpriced;
            sum.at_least |= books.at_least;
        }
        sum.spent()
    }

    /// The usage for each purpose that has any.
    pub(crate) fn parts(&self) -> Vec<(UsagePurpose, UsageTotal)> {
        let all = self.tallies();
        let parts = UsagePurpose::ALL.into_iter().zip(all.iter());
        let parts = parts.filter(|(_, books)| books.used);
        parts
            .map(|(purpose, books)| (purpose, books.spent()))
            .collect()
    }

    fn tallies(&self) -> std::sync::MutexGuard<'_, [UsageTally; UsagePurpose::ALL.len()]> {
        self.by_purpose
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl UsageTally {
    fn spent(&self) -> UsageTotal {
        UsageTotal {
            usage: self.usage.clone(),
            cost: (!self.unpriced).then_some(self.cost),
            at_least: self.at_least,
        }
    }
}
