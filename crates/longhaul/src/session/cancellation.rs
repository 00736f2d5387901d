//! How a host stops what a session waits for: one value that goes all the way from the host to the request.
//!
//! A cancelled token stays cancelled, so somebody has to replace it. A host that supplies its own [`Cancellation`] is
//! the only one to do so: a stop that comes between two calls of the session (while tools or hooks run) applies until
//! the host begins something new. Otherwise the session replaces the token once a stop has ended a call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longhaul_provider::CancellationToken;

/// Stops what sessions wait for. Clones share one token.
///
/// A child of the token ([`CancellationToken::child_token`]) is for work that may be stopped alone, without everything
/// else that the user waits for: a tool call, or a background agent.
#[derive(Debug, Clone, Default)]
pub struct Cancellation {
    token: Arc<Mutex<CancellationToken>>,
    renewed_by: RenewedBy,
}

/// Who replaces a cancelled token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum RenewedBy {
    #[default]
    Host,
    Session,
}

impl From<CancellationToken> for Cancellation {
    /// Stops when this token is cancelled, which the host may also have given to others.
    fn from(token: CancellationToken) -> Self {
        Self {
            token: Arc::new(Mutex::new(token)),
            renewed_by: RenewedBy::Host,
        }
    }
}

impl Cancellation {
    /// A session's own cancellation, for a host that supplies none.
    pub(super) fn of_session() -> Self {
        Self {
            renewed_by: RenewedBy::Session,
            ..Self::default()
        }
    }

    /// Stops current work, and any work that begins before the token is renewed.
    pub fn cancel(&self) {
        self.slot().cancel();
    }

    /// The current token.
    pub fn token(&self) -> CancellationToken {
        self.slot().clone()
    }

    /// The token for new work: a cancelled one is replaced.
    pub fn renew(&self) -> CancellationToken {
        let mut slot = self.slot();
        if slot.is_cancelled() {
            *slot = CancellationToken::new();
        }
        slot.clone()
    }

    /// Records that a stop has ended a call of the session.
    pub(super) fn ended_a_call(&self) {
        if self.renewed_by == RenewedBy::Session {
            self.renew();
        }
    }

    fn slot(&self) -> MutexGuard<'_, CancellationToken> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
