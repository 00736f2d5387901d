//! What is remembered of compactions across turns (O2, O4): the circuit breaker, and how often a conversation is
//! compacted again.

use serde::Serialize;

/// After so many failures in a row nothing more is tried by itself.
const FAILURES: u32 = 3;

/// One compaction as it relates to the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recompaction {
    /// The conversation was compacted before in this session.
    pub in_chain: bool,
    /// Turns since the last one; none if there was none.
    pub turns_since: Option<u64>,
    /// The turn in which the last one happened.
    pub previous_turn: Option<String>,
    /// The threshold that was reached.
    pub threshold: u64,
    /// Who sent the request.
    pub source: String,
}

/// Whether automatic compaction may ask a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaker {
    /// It may.
    Closed,
    /// It failed too often: only ways without a model are left, and the user may try by hand.
    Open,
}

/// Whether a compaction shows that asking a model works again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummedUp {
    /// A model wrote the summary, or the user approved one: the breaker closes.
    ByModel,
    /// No model was asked, or none answered: the breaker stays as it is.
    WithoutModel,
}

/// What a failure did to the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tripped {
    /// It was this one: the user is told, once.
    Now,
    /// Nothing changed.
    No,
}

/// What is remembered across turns.
#[derive(Debug, Clone, Default)]
pub struct Tracking {
    compacted: bool,
    /// The turn of the last compaction, and turns since.
    last_turn: Option<String>,
    turns: u64,
    failures: u32,
}

impl Tracking {
    /// A turn begins.
    pub fn turn(&mut self) {
        self.turns += 1;
    }

    /// The breaker now.
    pub fn breaker(&self) -> Breaker {
        match self.failures >= FAILURES {
            true => Breaker::Open,
            false => Breaker::Closed,
        }
    }

    /// An automatic attempt failed. A cancel by the user is not a failure and is not told here.
    pub fn failed(&mut self) -> Tripped {
        self.failures = self.failures.saturating_add(1);
        match self.failures == FAILURES {
            true => Tripped::Now,
            false => Tripped::No,
        }
    }

    /// A compaction succeeded in a turn: the counters begin anew. Gives how it relates to the one before.
    pub fn compacted(
        &mut self,
        turn: String,
        threshold: u64,
        source: &str,
        summed_up: SummedUp,
    ) -> Recompaction {
        let record = Recompaction {
            in_chain: self.compacted,
            turns_since: self.compacted.then_some(self.turns),
            previous_turn: self.last_turn.take(),
            threshold,
            source: source.to_owned(),
        };
        *self = Self {
            compacted: true,
            last_turn: Some(turn),
            turns: 0,
            failures: match summed_up {
                SummedUp::ByModel => 0,
                SummedUp::WithoutModel => self.failures,
            },
        };
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o2_three_failures_in_a_row_open_the_breaker_and_say_so_once() {
        let mut tracking = Tracking::default();
        assert_eq!([tracking.failed(), tracking.failed()], [Tripped::No; 2]);
        assert_eq!(tracking.breaker(), Breaker::Closed);
        assert_eq!(tracking.failed(), Tripped::Now);
        assert_eq!(tracking.breaker(), Breaker::Open);
        assert_eq!(tracking.failed(), Tripped::No, "told once");
    }

    #[test]
    fn o2_a_success_closes_the_breaker() {
        let mut tracking = Tracking::default();
        for _ in 0..3 {
            tracking.failed();
        }
        tracking.compacted("t1".into(), 167_000, "sdk", SummedUp::ByModel);
        assert_eq!(tracking.breaker(), Breaker::Closed);
        assert_eq!(tracking.failed(), Tripped::No);
    }

    #[test]
    fn o2_a_summary_without_a_model_does_not_close_the_breaker() {
        let mut tracking = Tracking::default();
        for _ in 0..3 {
            tracking.failed();
        }
        tracking.compacted("t1".into(), 167_000, "sdk", SummedUp::WithoutModel);
        assert_eq!(tracking.breaker(), Breaker::Open);
        assert_eq!(tracking.failed(), Tripped::No, "told once");
    }

    #[test]
    fn o4_a_recompaction_tells_how_it_relates_to_the_one_before() {
        let mut tracking = Tracking::default();
        tracking.turn();
        let first = tracking.compacted("t1".into(), 167_000, "sdk", SummedUp::ByModel);
        assert_eq!(
            (first.in_chain, first.turns_since, first.previous_turn),
            (false, None, None)
        );
        tracking.turn();
        tracking.turn();
        let second = tracking.compacted("t3".into(), 167_000, "sdk", SummedUp::ByModel);
        assert_eq!((second.in_chain, second.turns_since), (true, Some(2)));
        assert_eq!(second.previous_turn.as_deref(), Some("t1"));
        let third = tracking.compacted("t3b".into(), 167_000, "sdk", SummedUp::ByModel);
        assert_eq!(third.turns_since, Some(0), "the counter began anew");
    }
}
