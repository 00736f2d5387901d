//! Remembers compactions across turns (O2, O4): failures, and how often a conversation is compacted again.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use super::breaker::{Breaker, BreakerChange, CircuitBreaker};
use crate::message::EntryView;

/// One compaction and its relation to the previous one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recompaction {
    /// The id of the turn that begins with the compaction.
    pub turn: String,
    /// Whether the conversation was already compacted in this session.
    pub in_chain: bool,
    /// The turns since the previous compaction; `None` if there was none.
    pub turns_since: Option<u64>,
    /// The id of the turn that began with the previous compaction.
    pub previous_turn: Option<String>,
    /// The threshold that was reached.
    pub threshold: u64,
    /// Who sent the request.
    pub source: String,
}

impl Recompaction {
    /// Returns the JSON that is written on the boundary.
    pub fn to_boundary(&self) -> Value {
        json!({
            "turnId": self.turn,
            "previousTurnId": self.previous_turn,
            "inChain": self.in_chain,
            "turnsSince": self.turns_since,
            "threshold": self.threshold,
            "source": self.source,
        })
    }

    /// Returns the turn that began with a boundary's compaction, if the boundary records it.
    pub(crate) fn turn_of(boundary: EntryView<'_>) -> Option<String> {
        let metadata = boundary.object(boundary.facets.metadata);
        let recorded = metadata.object("recompaction")?;
        recorded.string("turnId").map(Cow::into_owned)
    }
}

/// The facts remembered across turns.
#[derive(Debug, Clone, Default)]
pub(crate) struct CompactionTracking {
    compacted: bool,
    /// The turn of the last compaction, and the number of turns since.
    last_turn: Option<String>,
    turns: u64,
    breaker: CircuitBreaker,
}

impl CompactionTracking {
    /// Records that a turn begins.
    pub(crate) fn turn(&mut self) {
        self.turns += 1;
    }

    /// Returns the current state of the breaker.
    pub(crate) fn breaker(&self) -> Breaker {
        self.breaker.state()
    }

    /// Records that an automatic attempt failed. A cancellation by the user is not a failure and is not recorded here.
    pub(crate) fn failed(&mut self) -> BreakerChange {
        self.breaker.failed()
    }

    /// Returns how a compaction that is made now relates to the previous one. `turn` is the id of the turn that begins
    /// with it.
    pub(crate) fn next(&self, turn: &str, threshold: u64, source: &str) -> Recompaction {
        Recompaction {
            turn: turn.to_owned(),
            in_chain: self.compacted,
            turns_since: self.compacted.then_some(self.turns),
            previous_turn: self.last_turn.clone(),
            threshold,
            source: source.to_owned(),
        }
    }

    /// Records a compaction, however it was made: the counters and the failures start again.
    pub(crate) fn compacted(&mut self, turn: String) {
        *self = Self {
            compacted: true,
            last_turn: Some(turn),
            turns: 0,
            breaker: CircuitBreaker::default(),
        };
    }

    /// Restores the tracking of a resumed conversation from its transcript: its newest compaction, and the turns since.
    pub(crate) fn resumed(turn: Option<String>, turns: u64) -> Self {
        Self {
            compacted: true,
            last_turn: turn,
            turns,
            breaker: CircuitBreaker::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o2_a_success_closes_the_breaker() {
        let mut tracking = CompactionTracking::default();
        for _ in 0..3 {
            tracking.failed();
        }
        tracking.compacted("t1".into());
        assert_eq!(tracking.breaker(), Breaker::Closed);
        assert_eq!(tracking.failed(), BreakerChange::No);
    }

    #[test]
    fn o4_a_recompaction_tells_how_it_relates_to_the_one_before() {
        let mut tracking = CompactionTracking::default();
        tracking.turn();
        let first = tracking.next("t1", 167_000, "sdk");
        assert_eq!(
            (first.in_chain, first.turns_since, first.previous_turn),
            (false, None, None)
        );
        tracking.compacted(first.turn);
        tracking.turn();
        tracking.turn();
        let second = tracking.next("t3", 167_000, "sdk");
        assert_eq!((second.in_chain, second.turns_since), (true, Some(2)));
        assert_eq!(second.previous_turn.as_deref(), Some("t1"));
        tracking.compacted(second.turn);
        let third = tracking.next("t3b", 167_000, "sdk");
        assert_eq!(third.turns_since, Some(0), "the counter began anew");
    }
}
