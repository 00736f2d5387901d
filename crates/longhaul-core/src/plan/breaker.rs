//! The circuit breaker (O2): after a few failures in a row no model is asked for a summary any more.

/// The number of failures in a row that open the breaker.
const FAILURES: u32 = 3;

/// Whether automatic compaction may ask a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaker {
    /// A model may be asked.
    Closed,
    /// Compaction failed too often: only ways without a model are left, and the user may try by hand.
    Open,
}

/// What a failure did to the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BreakerChange {
    /// This failure opened the breaker: the user is told, once.
    Now,
    /// The breaker did not change.
    No,
}

/// Counts failures in a row, and opens after a few of them.
///
/// A user who can ask for a compaction by hand closes it that way. Where nobody can, [`CircuitBreaker::went_without`] lets a
/// model be tried again after a while.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CircuitBreaker {
    failures: u32,
    /// How often something was done without a model since it opened.
    without: u32,
}

impl CircuitBreaker {
    /// The state of the breaker.
    pub(crate) fn state(self) -> Breaker {
        if self.failures < FAILURES {
            Breaker::Closed
        } else {
            Breaker::Open
        }
    }

    /// Notes that a model was asked and wrote nothing usable. A cancellation by the user is not a failure.
    pub(crate) fn failed(&mut self) -> BreakerChange {
        self.failures = self.failures.saturating_add(1);
        if self.failures == FAILURES {
            BreakerChange::Now
        } else {
            BreakerChange::No
        }
    }

    /// Closes the breaker.
    pub(crate) fn close(&mut self) {
        *self = Self::default();
    }

    /// Notes that something was done without a model. After `most` times an open breaker is half open: a model is tried
    /// once more, and one more failure opens the breaker again.
    pub(crate) fn went_without(&mut self, most: u32) {
        if self.state() == Breaker::Closed {
            return;
        }
        self.without += 1;
        if self.without >= most {
            (self.without, self.failures) = (0, FAILURES - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o2_three_failures_in_a_row_open_the_breaker_and_say_so_once() {
        let mut breaker = CircuitBreaker::default();
        assert_eq!([breaker.failed(), breaker.failed()], [BreakerChange::No; 2]);
        assert_eq!(breaker.state(), Breaker::Closed);
        assert_eq!(breaker.failed(), BreakerChange::Now);
        assert_eq!(breaker.state(), Breaker::Open);
        assert_eq!(breaker.failed(), BreakerChange::No, "told once");
        breaker.close();
        assert_eq!(breaker.state(), Breaker::Closed);
        assert_eq!(breaker.failed(), BreakerChange::No);
    }

    #[test]
    fn o2_an_open_breaker_is_half_open_after_a_while_without_a_model() {
        let mut breaker = CircuitBreaker::default();
        breaker.went_without(2);
        for _ in 0..FAILURES {
            breaker.failed();
        }
        breaker.went_without(2);
        assert_eq!(
            breaker.state(),
            Breaker::Open,
            "what came before counts not"
        );
        breaker.went_without(2);
        assert_eq!(breaker.state(), Breaker::Closed);
        assert_eq!(breaker.failed(), BreakerChange::Now);
        assert_eq!(breaker.state(), Breaker::Open);
    }
}
