//! The best schedule in hindsight: what the same actions would have cost at best for somebody who knew how the session
//! goes on.
//!
//! The family. *Clearing*: before any request but the first, all removable results from any one on. *Summaries*: before
//! any request but the first, in the shape that a replay gives them. `clearing.rs` finds the best clearings by
//! dynamic programming over pairs of a first result and a time, `summaries.rs` the best boundaries on top of it.
//!
//! What is found is a lower bound of the best in two places: the results that stay on a cold cache are counted with
//! those that were cleared before, and where the window is small, a stretch without a summary is allowed if it fits with
//! everything cleared, whether or not it is. Thinking is priced as if it were not bound to what comes before it. Conversations
//! of more than [`MOST_POINTS`] requests or results are searched on a grid of so many, which can miss the very best.

mod clearing;
mod summaries;

use super::priced::PricedConversation;
use super::simulation::ScriptedAction;
use crate::money::Usd;

/// The most points in time, and the most results, at which the search may act.
pub(super) const MOST_POINTS: usize = 400;

/// The actions among which the best schedule is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HindsightKind {
    /// Clearing; a summary only where the window would otherwise be full.
    Clear,
    /// Clearing and summaries.
    Full,
}

/// A schedule and its bill.
#[derive(Debug, Clone, Default)]
pub struct HindsightSchedule {
    /// What is billed for prompts and summaries.
    pub prompt_side: Usd,
    /// What is done, by time.
    pub actions: Vec<ScriptedAction>,
}

/// Finds the best schedules of a conversation: of clearing, and of clearing and summaries.
pub fn best_in_hindsight(
    conversation: &PricedConversation,
) -> [(HindsightKind, HindsightSchedule); 2] {
    let clearing = clearing::BestClearings::of(conversation);
    let stretches = summaries::stretches(conversation, &clearing);
    [HindsightKind::Clear, HindsightKind::Full].map(|kind| {
        (
            kind,
            summaries::best(conversation, &clearing, &stretches, kind),
        )
    })
}

/// At most [`MOST_POINTS`] of the numbers below `count`, evenly spread.
fn grid(count: usize) -> Vec<usize> {
    let points = count.min(MOST_POINTS);
    (0..points).map(|point| point * count / points).collect()
}
