//! How a host stops what a session waits for: one value, all the way from the host to the request.
//!
//! A token that was cancelled stays cancelled, so somebody has to put a fresh one in its place. Where the host brings its
//! own [`Cancellation`] that is the host alone: a stop that comes between two calls of the session (tools run, hooks run)
//! holds until the host begins something new. Where it does not, the session does so once a stop has ended a call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longhaul_provider::CancellationToken;

/// Stops what sessions wait for. Clones share one token.
///
/// A child of the token ([`CancellationToken::child_token`]) is for work that may be stopped alone, without whatever else
/// the user waits for: a call of a tool, an agent in the background.
#[derive(Debug, Clone, Default)]
pub struct Cancellation {
    token: Arc<Mutex<CancellationToken>>,
    renewed_by: RenewedBy,
}

/// Who replaces a token that was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum RenewedBy {
    #[default]
    Host,
    Session,
}

impl From<CancellationToken> for Cancellation {
    /// Stops when this token is cancelled, which the host may have given to others, too.
    fn from(token: CancellationToken) -> Self {
        Self {
            token: Arc::new(Mutex::new(token)),
            renewed_by: RenewedBy::Host,
        }
    }
}

impl Cancellation {
    /// A session's own, for a host that brought none.
    pub(super) fn of_session() -> Self {
        Self {
            renewed_by: RenewedBy::Session,
            ..Self::default()
        }
    }

    /// Stops what is going on, and what begins before it is renewed.
    pub fn cancel(&self) {
        self.slot().cancel();
    }

    /// The token that counts now.
    pub fn token(&self) -> CancellationToken {
        self.slot().clone()
    }

    /// The token for what comes next: a cancelled one is replaced.
    pub fn renew(&self) -> CancellationToken {
        let mut slot = self.slot();
        if slot.is_cancelled() {
            *slot = CancellationToken::new();
        }
        slot.clone()
    }

    /// A stop has ended a call of the session.
    pub(super) fn ended_a_call(&self) {
        if self.renewed_by == RenewedBy::Session {
            self.renew();
        }
    }

    fn slot(&self) -> MutexGuard<'_, CancellationToken> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
