//! Tells whoever looks that a session has changed. Nothing waits for those who look: who is too slow is told that it may
//! be any session.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};
use tokio_util::sync::CancellationToken;

use crate::branch::SessionId;

/// Changes that may wait for one who looks.
const WAITING: usize = 256;
/// How many may look at once.
const PLACES: usize = 256;
/// What changes within this time is told at once.
const GATHER: Duration = Duration::from_millis(100);

/// Where changes are told. Clones tell the same ones.
#[derive(Debug, Clone)]
pub struct SessionChanges {
    told: broadcast::Sender<SessionId>,
    places: Arc<Semaphore>,
    stop: CancellationToken,
}

impl SessionChanges {
    /// Nobody looks yet; when `stop` is cancelled, nobody does any more.
    pub fn new(stop: CancellationToken) -> Self {
        Self {
            told: broadcast::Sender::new(WAITING),
            places: Arc::new(Semaphore::new(PLACES)),
            stop,
        }
    }

    /// A session has changed.
    pub fn changed(&self, session: SessionId) {
        // Nobody may be looking.
        let _ = self.told.send(session);
    }

    /// Begins to look; none if too many do.
    pub fn follow(&self) -> Option<ChangeSubscription> {
        Some(ChangeSubscription {
            _place: Arc::clone(&self.places).try_acquire_owned().ok()?,
            coming: self.told.subscribe(),
            gathered: BTreeSet::new(),
            stop: self.stop.clone(),
        })
    }
}

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChange {
    /// These.
    Sessions(BTreeSet<SessionId>),
    /// So many that it may be any.
    Any,
}

/// One who looks.
#[derive(Debug)]
pub struct ChangeSubscription {
    coming: broadcast::Receiver<SessionId>,
    /// Not told yet.
    gathered: BTreeSet<SessionId>,
    stop: CancellationToken,
    _place: OwnedSemaphorePermit,
}

impl ChangeSubscription {
    /// Waits for changes; none when there will be no more. May be given up and called again.
    pub async fn next(&mut self) -> Option<SessionChange> {
        if self.gathered.is_empty() {
            let first = tokio::select! {
                () = self.stop.cancelled() => return None,
                first = self.coming.recv() => first,
            };
            match first {
                Ok(session) => self.gathered.insert(session),
                Err(RecvError::Lagged(_)) => return Some(SessionChange::Any),
                Err(RecvError::Closed) => return None,
            };
        }
        tokio::select! {
            () = self.stop.cancelled() => return None,
            () = tokio::time::sleep(GATHER) => {}
        }
        loop {
            match self.coming.try_recv() {
                Ok(session) => {
                    self.gathered.insert(session);
                }
                Err(TryRecvError::Lagged(_)) => {
                    self.gathered.clear();
                    return Some(SessionChange::Any);
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => {
                    return Some(SessionChange::Sessions(std::mem::take(&mut self.gathered)));
                }
            }
        }
    }
}
