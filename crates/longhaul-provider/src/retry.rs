//! Retry as data: a policy, and a pure function that decides whether to wait and how long.
//!
//! Nothing here sleeps or sends. The client asks before the first byte of a response has arrived; a host that wants to
//! repeat a request whose reply broke off asks the same function.

use std::time::Duration;

use crate::error::{AwaitedStep, Error, ErrorClass, RetryAdvice};

/// How often and how patiently to retry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The total number of attempts, the first included.
    pub attempts: u32,
    /// The total number of attempts at a rate limit for which the server names no wait: it may be a spending cap, and
    /// no number of attempts helps against that.
    pub attempts_at_silent_rate_limit: u32,
    /// The total number of attempts if the server let the time for the first byte pass: each is long, and may be
    /// billed.
    pub attempts_at_timeout: u32,
    /// The wait before the second attempt, doubled each time.
    pub base: Duration,
    /// The longest wait that the policy itself chooses.
    pub longest: Duration,
    /// The longest wait that a server may ask for; a longer one ends the attempts, so that the caller can decide.
    pub longest_asked: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 5,
            attempts_at_silent_rate_limit: 2,
            attempts_at_timeout: 2,
            base: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            longest_asked: Duration::from_secs(120),
        }
    }
}

/// What to do after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    /// Retry after this wait.
    Wait(Duration),
    /// Give up.
    Stop(GiveUpReason),
}

/// Why to give up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GiveUpReason {
    /// The same request would fail the same way.
    Final,
    /// All attempts are used up.
    Exhausted,
    /// The server asks for a longer wait than the policy allows.
    TooLongAWait(Duration),
}

impl RetryPolicy {
    /// A policy that never retries.
    pub fn never() -> Self {
        Self {
            attempts: 1,
            ..Self::default()
        }
    }

    /// What to do after attempt number `attempt` (from 1) ended in `error`. The same arguments give the same decision;
    /// `seed` spreads the waits of many clients.
    pub fn decide(&self, attempt: u32, error: &Error, seed: u64) -> RetryDecision {
        let may_help = match error.advice {
            Some(RetryAdvice::Retry) => !matches!(error.class, ErrorClass::Cancelled),
            Some(RetryAdvice::Stop) => false,
            None => is_passing(error.class),
        };
        if !may_help {
            return RetryDecision::Stop(GiveUpReason::Final);
        }
        let attempts = match error.class {
            ErrorClass::RateLimited { after: None } => {
                self.attempts.min(self.attempts_at_silent_rate_limit)
            }
            ErrorClass::Timeout(AwaitedStep::FirstByte) => {
                self.attempts.min(self.attempts_at_timeout)
            }
            _ => self.attempts,
        };
        if attempt >= attempts {
            return RetryDecision::Stop(GiveUpReason::Exhausted);
        }
        let chance = fraction(seed, attempt);
        match error.class.after() {
            Some(after) if after > self.longest_asked => {
                RetryDecision::Stop(GiveUpReason::TooLongAWait(after))
            }
            // Never earlier than asked, and a little later, because all other clients got the same answer.
            Some(after) => RetryDecision::Wait(after + after.min(self.base).mul_f64(chance)),
            None => {
                let doubled = self
                    .base
                    .saturating_mul(1 << attempt.saturating_sub(1).min(20));
                RetryDecision::Wait(doubled.min(self.longest).mul_f64(1.0 - chance / 4.0))
            }
        }
    }
}

/// Whether the same request may succeed later.
fn is_passing(class: ErrorClass) -> bool {
    match class {
        ErrorClass::Retry { .. }
        | ErrorClass::Overloaded { .. }
        | ErrorClass::RateLimited { .. }
        | ErrorClass::Server { .. }
        | ErrorClass::Timeout(_)
        | ErrorClass::Cut => true,
        ErrorClass::TooLong(_)
        | ErrorClass::Auth
        | ErrorClass::Billing
        | ErrorClass::NotFound
        | ErrorClass::TooLarge
        | ErrorClass::Invalid
        | ErrorClass::Cancelled
        | ErrorClass::Malformed => false,
    }
}

/// A number in [0, 1) that depends only on seed and attempt (SplitMix64).
fn fraction(seed: u64, attempt: u32) -> f64 {
    let mut z = seed.wrapping_add(u64::from(attempt).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 11) as f64 / (1u64 << 53) as f64
}
