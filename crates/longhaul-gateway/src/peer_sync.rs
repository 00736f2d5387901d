//! Synchronizes gateways that share a store: before a request is placed, the gateway reads what the others wrote of its
//! conversation; when the upstream has accepted it, and before its response is passed on, the gateway writes the new
//! tip of its branch. So the gateway that gets the next request of the conversation knows this one.
//!
//! A store that does not respond delays nothing for long: each gateway then continues with what it knows itself.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use crate::branch::{BranchRecognizer, Tenant};
use crate::store::{BranchRecord, PeerStore, StoreError, UsageLogRecord, UsageLogStore};

/// How long a request waits for the store.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a store that did not respond is not asked.
const REST: Duration = Duration::from_secs(5);
/// How many keys are remembered.
const MOST_ORGANIZED: usize = 100_000;

/// Synchronizes gateways that share a store. Without peers it does nothing.
pub(crate) struct PeerSync {
    peers: Option<Arc<dyn PeerStore>>,
    store: Arc<dyn UsageLogStore>,
    rests_until: Arc<Mutex<Option<Instant>>>,
    /// Keys and their organizations that the others know of.
    organized: Mutex<BTreeSet<(Tenant, Tenant)>>,
}

/// A key's own tenant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyTenant(pub(crate) Tenant);

/// A branch that is being written.
#[derive(Debug)]
pub(crate) struct PendingPeerWrite(JoinHandle<()>);

impl PendingPeerWrite {
    /// Waits until the branch is written, or the attempt has failed.
    pub(crate) async fn done(self) {
        // If the task panicked, that was reported already.
        let _ = self.0.await;
    }
}

impl PeerSync {
    pub(crate) fn new(peers: Option<Arc<dyn PeerStore>>, store: Arc<dyn UsageLogStore>) -> Self {
        Self {
            peers,
            store,
            rests_until: Arc::default(),
            organized: Mutex::default(),
        }
    }

    fn open(&self) -> Option<&Arc<dyn PeerStore>> {
        let rests_until = *self
            .rests_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let open = rests_until.is_none_or(|until| until < Instant::now());
        // Other code may have noticed that the store does not respond.
        (self.peers.as_ref()).filter(|peers| open && !peers.is_backing_off())
    }

    /// Learns what the others wrote of a key's conversation: `hashes` has the chain after each of its messages.
    pub(crate) async fn catch_up(
        &self,
        recognizer: &BranchRecognizer,
        whose: (KeyTenant, Tenant),
        hashes: &[u128],
    ) {
        let Some(peers) = self.open() else {
            return;
        };
        let (KeyTenant(of_key), tenant) = whose;
        let asked = Box::pin(async {
            // A gateway that does not know the key's organization yet records branches for the key: they must move over
            // first.
            if of_key != tenant && self.is_news(of_key, tenant) {
                let told = self
                    .store
                    .append(vec![UsageLogRecord::Tenant(of_key, tenant)]);
                told.await.inspect_err(|_| self.forget(of_key, tenant))?;
            }
            peers.branch_tips_at(tenant, hashes.to_vec()).await
        });
        match tokio::time::timeout(PATIENCE, asked).await {
            Ok(Ok(heads)) => recognizer.with_branches(|lines| lines.catch_up(&heads)),
            Ok(Err(StoreError::Resting)) => {}
            Ok(Err(error)) => back_off(&self.rests_until, &error.to_string()),
            Err(_) => {
                self.forget(of_key, tenant);
                back_off(&self.rests_until, "it did not answer in time");
            }
        }
    }

    /// Begins to write the tip and the tenant of a branch: another gateway may not know yet which organization the key
    /// belongs to. The caller waits for the returned value before the response is passed on.
    pub(crate) fn publish(
        &self,
        KeyTenant(of_key): KeyTenant,
        line: &BranchRecord,
    ) -> Option<PendingPeerWrite> {
        self.open()?;
        let (store, tenant) = (Arc::clone(&self.store), line.tenant);
        // If that fails, the usage log writer writes it too.
        let organized = of_key != tenant && self.is_news(of_key, tenant);
        let organized = organized.then_some(UsageLogRecord::Tenant(of_key, tenant));
        let batch: Vec<UsageLogRecord> = (organized.into_iter())
            .chain([UsageLogRecord::Line(line.clone())])
            .collect();
        let rests_until = Arc::clone(&self.rests_until);
        Some(PendingPeerWrite(tokio::spawn(async move {
            let written = store.append(batch);
            match tokio::time::timeout(PATIENCE, written).await {
                Ok(Ok(())) => {}
                // The usage log writer writes it too, with more patience.
                Ok(Err(error)) => back_off(&rests_until, &error.to_string()),
                Err(_) => back_off(&rests_until, "it did not answer in time"),
            }
        })))
    }

    fn is_news(&self, of_key: Tenant, tenant: Tenant) -> bool {
        let mut organized = self
            .organized
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if organized.len() > MOST_ORGANIZED {
            organized.clear();
        }
        organized.insert((of_key, tenant))
    }

    fn forget(&self, of_key: Tenant, tenant: Tenant) {
        let organized = self.organized.lock();
        organized
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&(of_key, tenant));
    }
}

fn back_off(rests_until: &Mutex<Option<Instant>>, error: &str) {
    tracing::warn!(error, "the shared store is not asked for a while");
    *rests_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + REST);
}
