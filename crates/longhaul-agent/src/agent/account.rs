//! What a session has used and cost: its own replies, its summaries, its sub-agents.

use std::sync::{Mutex, PoisonError};

use longhaul_core::engine::Event;
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;

/// The books of a session, shared with its sub-agents.
#[derive(Debug, Default)]
pub(crate) struct Account(Mutex<Books>);

#[derive(Debug, Clone, Default)]
struct Books {
    usage: Usage,
    cost: Usd,
    unpriced: bool,
}

/// What was used so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    /// Tokens by class.
    pub usage: Usage,
    /// What they cost; none if a price is not known.
    pub cost: Option<Usd>,
}

impl Account {
    /// Notes what an event tells of money.
    pub(crate) fn event(&self, event: &Event) {
        match event {
            Event::Replied { usage, cost, .. } => self.add(Some(usage), *cost),
            Event::Compacted(done) => self.add(done.usage.as_ref(), done.cost),
            Event::Preview(preview) => {
                let mut books = self.books();
                books.cost += preview.cost.unwrap_or(Usd::ZERO);
            }
            _ => {}
        }
    }

    fn add(&self, usage: Option<&Usage>, cost: Option<Usd>) {
        // A summary without a model used nothing.
        let Some(usage) = usage else { return };
        let mut books = self.books();
        for step in usage.billed() {
            books.usage.add(step);
        }
        match cost {
            Some(cost) => books.cost += cost,
            None => books.unpriced = true,
        }
    }

    pub(crate) fn spent(&self) -> Spent {
        let books = self.books().clone();
        Spent {
            usage: books.usage,
            cost: (!books.unpriced).then_some(books.cost),
        }
    }

    fn books(&self) -> std::sync::MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
