//! Notifies subscribers that a session has changed. Nothing waits for subscribers: one that is too slow learns that any
//! session may have changed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};
use tokio_util::sync::CancellationToken;

use crate::branch::GatewaySessionId;

/// How many changes may wait for one subscriber.
const WAITING: usize = 256;
/// How many subscribers there may be at once.
const PLACES: usize = 256;
/// Changes within this time are reported together.
const GATHER: Duration = Duration::from_millis(100);

/// The source of changes. Clones share their subscribers.
#[derive(Debug, Clone)]
pub(crate) struct SessionChanges {
    told: broadcast::Sender<GatewaySessionId>,
    places: Arc<Semaphore>,
    stop: CancellationToken,
}

impl SessionChanges {
    /// A source without subscribers; when `stop` is cancelled, all subscriptions end.
    pub(crate) fn new(stop: CancellationToken) -> Self {
        Self {
            told: broadcast::Sender::new(WAITING),
            places: Arc::new(Semaphore::new(PLACES)),
            stop,
        }
    }

    /// Reports that a session has changed.
    pub(crate) fn changed(&self, session: GatewaySessionId) {
        // There may be no subscriber.
        let _ = self.told.send(session);
    }

    /// Subscribes to changes; `None` if there are too many subscribers.
    pub(crate) fn follow(&self) -> Option<ChangeSubscription> {
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
pub(crate) enum SessionChange {
    /// These sessions have changed.
    Sessions(BTreeSet<GatewaySessionId>),
    /// So many have changed that it may be any session.
    Any,
}

/// A subscription to changes.
#[derive(Debug)]
pub(crate) struct ChangeSubscription {
    coming: broadcast::Receiver<GatewaySessionId>,
    /// Changes that are not reported yet.
    gathered: BTreeSet<GatewaySessionId>,
    stop: CancellationToken,
    _place: OwnedSemaphorePermit,
}

impl ChangeSubscription {
    /// Waits for changes; `None` when there will be no more. This is cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<SessionChange> {
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
