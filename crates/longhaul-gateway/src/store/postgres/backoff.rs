//! A server that does not respond is left alone for a while, so that requests do not wait for it one after the other.
//!
//! The caller that notices has waited for it; for some seconds no other caller does. Then one caller probes the server,
//! and until it knows more, the others still do not wait.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::StoreError;

/// How long the server is left alone.
const REST: Duration = Duration::from_secs(5);
/// How long a caller waits for the server.
pub(super) const ASKING: Duration = Duration::from_secs(2);
/// A caller that gives up this late does so because of the server, not because its answer is no longer wanted.
const LATE: Duration = Duration::from_millis(1_900);

/// Tracks whether a server responds. Clones refer to the same server.
#[derive(Debug, Clone, Default)]
pub(super) struct StoreBackoff(Arc<Mutex<BackoffState>>);

#[derive(Debug, Default)]
struct BackoffState {
    until: Option<Instant>,
    /// Whether a caller probes the server; until its result is known, the others do not ask.
    is_asked: bool,
}

/// A call to the server in progress.
#[derive(Debug)]
pub(super) struct BackoffProbe {
    rest: StoreBackoff,
    began: Instant,
    is_first: bool,
    is_decided: bool,
}

impl StoreBackoff {
    fn state(&self) -> MutexGuard<'_, BackoffState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the server must not be asked now.
    pub(super) fn is_on(&self) -> bool {
        let state = self.state();
        state
            .until
            .is_some_and(|until| state.is_asked || Instant::now() < until)
    }

    /// Begins a call, unless the server is left alone.
    pub(super) fn ask(&self) -> Result<BackoffProbe, StoreError> {
        let mut state = self.state();
        let is_first = match state.until {
            None => false,
            Some(until) if state.is_asked || Instant::now() < until => {
                return Err(StoreError::Resting);
            }
            Some(_) => true,
        };
        state.is_asked = is_first;
        drop(state);
        Ok(BackoffProbe {
            rest: self.clone(),
            began: Instant::now(),
            is_first,
            is_decided: false,
        })
    }

    /// Learns from a result whether the server responds.
    pub(super) fn heard<T>(&self, of: &Result<T, StoreError>) {
        match of {
            Err(StoreError::NoAnswer(why)) => self.begin(why),
            _ => self.end(),
        }
    }

    fn begin(&self, why: &str) {
        let mut state = self.state();
        if state.until.is_none() {
            tracing::warn!(
                error = why,
                "the shared store does not answer and is left alone for a while"
            );
        }
        state.until = Some(Instant::now() + REST);
        state.is_asked = false;
    }

    fn end(&self) {
        let mut state = self.state();
        if state.until.take().is_some() {
            tracing::info!("the shared store answers again");
        }
        state.is_asked = false;
    }
}

impl BackoffProbe {
    /// Records the result of the call.
    pub(super) fn ended<T>(mut self, with: &Result<T, StoreError>) {
        self.is_decided = true;
        self.rest.heard(with);
    }
}

impl Drop for BackoffProbe {
    fn drop(&mut self) {
        if self.is_decided {
            return;
        }
        if self.began.elapsed() >= LATE {
            self.rest.begin("it did not answer in time");
        } else if self.is_first {
            // The probing caller is gone: let another one probe.
            self.rest.state().is_asked = false;
        }
    }
}
