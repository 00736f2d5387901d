//! Gateways that share a store meet there: before a request is placed, what the others wrote of its conversation is
//! read, and when the upstream has taken it, before its answer is passed on, where its line stands now is written. So whoever
//! takes the next request of the conversation knows this one.
//!
//! A store that does not answer holds nothing up for long: each gateway then goes on with what it knows itself.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use crate::branch::{BranchRecognizer, Tenant};
use crate::store::{BranchRecord, PeerStore, StoreError, UsageLogRecord, UsageLogStore};

/// For how long a request waits for the store.
const PATIENCE: Duration = Duration::from_secs(2);
/// For how long a store that did not answer is not asked.
const REST: Duration = Duration::from_secs(5);
/// Keys that are remembered.
const MOST_ORGANISED: usize = 100_000;

/// See the module. Without peers it does nothing.
pub(crate) struct PeerSync {
    peers: Option<Arc<dyn PeerStore>>,
    store: Arc<dyn UsageLogStore>,
    rests_until: Arc<Mutex<Option<Instant>>>,
    /// Keys and their organisations that the others were told of.
    organised: Mutex<BTreeSet<(Tenant, Tenant)>>,
}

/// A key's own tenant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyTenant(pub(crate) Tenant);

/// A line that is being written.
#[derive(Debug)]
pub(crate) struct PendingPeerWrite(JoinHandle<()>);

impl PendingPeerWrite {
    /// When it is written, or cannot be.
    pub(crate) async fn done(self) {
        // If the task broke, it has said so.
        let _ = self.0.await;
    }
}

impl PeerSync {
    pub(crate) fn new(peers: Option<Arc<dyn PeerStore>>, store: Arc<dyn UsageLogStore>) -> Self {
        Self {
            peers,
            store,
            rests_until: Arc::default(),
            organised: Mutex::default(),
        }
    }

    fn open(&self) -> Option<&Arc<dyn PeerStore>> {
        let rests_until = *self
            .rests_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let open = rests_until.is_none_or(|until| until < Instant::now());
        // Others may have found out that it does not answer.
        (self.peers.as_ref()).filter(|peers| open && !peers.is_backing_off())
    }

    /// Learns what the others wrote of a key's conversation: `hashes` is the chain behind each of its messages.
    pub(crate) async fn catch_up(
        &self,
        recogniser: &BranchRecognizer,
        whose: (KeyTenant, Tenant),
        hashes: &[u128],
    ) {
        let Some(peers) = self.open() else {
            return;
        };
        let (KeyTenant(of_key), tenant) = whose;
        let asked = Box::pin(async {
            // Who does not know the key's organisation yet writes down what is the key's: it must go over first.
            if of_key != tenant && self.is_news(of_key, tenant) {
                let told = self
                    .store
                    .append(vec![UsageLogRecord::Tenant(of_key, tenant)]);
                told.await.inspect_err(|_| self.forget(of_key, tenant))?;
            }
            peers.branch_tips_at(tenant, hashes.to_vec()).await
        });
        match tokio::time::timeout(PATIENCE, asked).await {
            Ok(Ok(heads)) => recogniser.with_branches(|lines| lines.catch_up(&heads)),
            Ok(Err(StoreError::Resting)) => {}
            Ok(Err(error)) => back_off(&self.rests_until, &error.to_string()),
            Err(_) => {
                self.forget(of_key, tenant);
                back_off(&self.rests_until, "it did not answer in time");
            }
        }
    }

    /// Begins to write where a line stands, and whose it is: another gateway may not know yet which organisation the key
    /// belongs to. What this gives is waited for before the answer is passed on.
    pub(crate) fn publish(
        &self,
        KeyTenant(of_key): KeyTenant,
        line: &BranchRecord,
    ) -> Option<PendingPeerWrite> {
        self.open()?;
        let (store, tenant) = (Arc::clone(&self.store), line.tenant);
        // If that fails, the bookkeeper writes it too.
        let organised = of_key != tenant && self.is_news(of_key, tenant);
        let organised = organised.then_some(UsageLogRecord::Tenant(of_key, tenant));
        let batch: Vec<UsageLogRecord> = (organised.into_iter())
            .chain([UsageLogRecord::Line(line.clone())])
            .collect();
        let rests_until = Arc::clone(&self.rests_until);
        Some(PendingPeerWrite(tokio::spawn(async move {
            let written = store.append(batch);
            match tokio::time::timeout(PATIENCE, written).await {
                Ok(Ok(())) => {}
                // The bookkeeper writes it too, with more patience.
                Ok(Err(error)) => back_off(&rests_until, &error.to_string()),
                Err(_) => back_off(&rests_until, "it did not answer in time"),
            }
        })))
    }

    fn is_news(&self, of_key: Tenant, tenant: Tenant) -> bool {
        let mut organised = self
            .organised
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if organised.len() > MOST_ORGANISED {
            organised.clear();
        }
        organised.insert((of_key, tenant))
    }

    fn forget(&self, of_key: Tenant, tenant: Tenant) {
        let organised = self.organised.lock();
        organised
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&(of_key, tenant));
    }
}

fn back_off(rests_until: &Mutex<Option<Instant>>, error: &str) {
    tracing::warn!(error, "the shared store is not asked for a while");
    *rests_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + REST);
}
