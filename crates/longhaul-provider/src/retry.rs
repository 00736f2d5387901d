//! Retry as data: a policy, and a pure function that decides whether to wait and how long.
//!
//! Nothing here sleeps or sends. [`RetryPolicy`] is for the client, before the first byte of a response has arrived: it
//! counts attempts and is soon done. [`RetryPatience`] is for a host that waits on behalf of a user and repeats whole
//! replies: it counts time.

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
        if !may_help(error) {
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
            Some(after) => RetryDecision::Wait(asked_wait(after, self.base, chance)),
            None => RetryDecision::Wait(own_wait(attempt, self.base, self.longest, chance)),
        }
    }
}

/// How long a request is repeated on behalf of somebody who waits for its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPatience {
    /// The time from the first failure to the beginning of the last attempt.
    pub total: Duration,
    /// The wait before the second attempt, doubled each time.
    pub base: Duration,
    /// The longest wait that is not asked for by the server.
    pub longest: Duration,
}

impl RetryPatience {
    /// Waits that begin with a second and grow to half a minute, for this long in all.
    pub fn lasting(total: Duration) -> Self {
        Self {
            total,
            base: Duration::from_secs(1),
            longest: Duration::from_secs(30),
        }
    }

    /// What to do after attempt number `attempt` (from 1) ended in `error`, this long after the first failure. The same
    /// arguments give the same decision; `seed` spreads the waits of many clients.
    ///
    /// A rate limit without a named wait is repeated, too: whoever waits can see it and can stop it.
    pub fn decide(
        &self,
        attempt: u32,
        since_first_failure: Duration,
        error: &Error,
        seed: u64,
    ) -> RetryDecision {
        if !may_help(error) {
            return RetryDecision::Stop(GiveUpReason::Final);
        }
        let left = self.total.saturating_sub(since_first_failure);
        if left.is_zero() {
            return RetryDecision::Stop(GiveUpReason::Exhausted);
        }
        let chance = fraction(seed, attempt);
        match error.class.after() {
            Some(after) if after > left => RetryDecision::Stop(GiveUpReason::TooLongAWait(after)),
            Some(after) => RetryDecision::Wait(asked_wait(after, self.base, chance)),
            // The last attempt is made when the time is up, not before.
            None => {
                RetryDecision::Wait(own_wait(attempt, self.base, self.longest, chance).min(left))
            }
        }
    }
}

/// The wait that the server asked for. It is never shorter, and a little longer, because all other clients got the same
/// answer.
fn asked_wait(after: Duration, base: Duration, chance: f64) -> Duration {
    after + after.min(base).mul_f64(chance)
}

/// A wait that doubles with each attempt.
fn own_wait(attempt: u32, base: Duration, longest: Duration, chance: f64) -> Duration {
    let doubled = base.saturating_mul(1 << attempt.saturating_sub(1).min(20));
    doubled.min(longest).mul_f64(1.0 - chance / 4.0)
}

/// Whether another attempt may succeed.
fn may_help(error: &Error) -> bool {
    match error.advice {
        Some(RetryAdvice::Retry) => !matches!(error.class, ErrorClass::Cancelled),
        Some(RetryAdvice::Stop) => false,
        None => is_passing(error.class),
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
        | ErrorClass::Cut
        | ErrorClass::Damaged => true,
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
