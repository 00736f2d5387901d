//! A server that does not answer is left alone for a while, so that requests do not wait for it one after the other.
//!
//! Whoever finds out waited for it; for some seconds nobody else does. Then one asks again, and until that one knows more
//! the others still do not wait.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::StoreError;

/// For how long it is not asked.
const REST: Duration = Duration::from_secs(5);
/// For how long whoever asks waits.
pub(super) const ASKING: Duration = Duration::from_secs(2);
/// Who gives up so late gives up because of the server, not because nobody wants the answer any more.
const LATE: Duration = Duration::from_millis(1_900);

/// See the module. Clones are of the same server.
#[derive(Debug, Clone, Default)]
pub(super) struct StoreBackoff(Arc<Mutex<BackoffState>>);

#[derive(Debug, Default)]
struct BackoffState {
    until: Option<Instant>,
    /// Somebody asks again, the others wait for what comes of it.
    is_asked: bool,
}

/// Somebody asks.
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

    /// Whether it is not to be asked now.
    pub(super) fn is_on(&self) -> bool {
        let state = self.state();
        state
            .until
            .is_some_and(|until| state.is_asked || Instant::now() < until)
    }

    /// Begins to ask, unless it is left alone.
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

    /// What came of something tells whether the server answers.
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
    /// What came of it.
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
            // Whoever asked is gone: let another.
            self.rest.state().is_asked = false;
        }
    }
}
