//! Compacted prefixes: found by the hashes of a request's messages, their texts held in memory while they are in use
//! (`loaded_prefixes`). A stored prefix is used only if its seal shows that it is unchanged.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longhaul_core::money::Usd;

use super::loaded_prefix::LoadedPrefix;
use super::loaded_prefixes::{LoadedPrefixes, PrefixKey, PrefixMap};
use super::writability::StoreWritability;
use crate::branch::{SealKey, Tenant};
use crate::memory::{MemoryBudget, MemoryShare};
use crate::store::{CompactedPrefix, PrefixStore, Sealable as _, StoreError};

/// The memory needed to know of one prefix, approximately.
const KNOWN_BYTES: usize = 64;
/// How long a request waits for a prefix to be stored.
const AT_ONCE: Duration = Duration::from_secs(2);

/// The compacted prefixes of all conversations.
pub(crate) struct CompactedPrefixes {
    store: Arc<dyn PrefixStore>,
    /// All prefixes, by the number of messages that they replace; `None` if only the store knows them.
    known: Option<Mutex<PrefixMap<PrefixKey, u32>>>,
    known_bytes: MemoryShare,
    at_hand: Arc<LoadedPrefixes>,
    seal: SealKey,
    writability: StoreWritability,
}

impl CompactedPrefixes {
    pub(crate) async fn open(
        store: Arc<dyn PrefixStore>,
        seal: SealKey,
        budget: &MemoryBudget,
    ) -> Result<Self, StoreError> {
        let known = store.index().await?;
        let known_bytes = budget.new_share();
        known_bytes.set(known.as_ref().map_or(0, Vec::len) * KNOWN_BYTES);
        let known = known.map(|all| {
            let all = all.into_iter();
            all.map(|(tenant, at, messages)| ((tenant, at), messages))
                .collect()
        });
        Ok(Self {
            store,
            known: known.map(Mutex::new),
            known_bytes,
            at_hand: Arc::new(LoadedPrefixes::new(budget)),
            seal,
            writability: StoreWritability::default(),
        })
    }

    /// Whether a prefix that is made now can be stored, as far as is known.
    pub(crate) async fn can_be_stored(&self) -> bool {
        self.writability.is_possible(&self.store).await
    }

    /// Whether the store accepts new prefixes.
    pub(crate) fn writability(&self) -> &StoreWritability {
        &self.writability
    }

    /// The prefixes in memory.
    pub(crate) fn at_hand(&self) -> &Arc<LoadedPrefixes> {
        &self.at_hand
    }

    /// The prefix that replaces most of a history, given the rolling hash after each of its messages.
    pub(crate) async fn find(
        &self,
        tenant: Tenant,
        hashes: &[u128],
    ) -> Result<Option<Arc<LoadedPrefix>>, StoreError> {
        let Some(known) = &self.known else {
            return Box::pin(self.ask(tenant, hashes)).await;
        };
        loop {
            let found = {
                let known = known.lock().unwrap_or_else(PoisonError::into_inner);
                let mut newest = hashes.iter().rev();
                if known.is_empty() {
                    None
                } else {
                    newest.find(|hash| known.contains_key(&(tenant, **hash)))
                }
            };
            let Some(at) = found.copied() else {
                return Ok(None);
            };
            if let Some(loaded) = self.at_hand.get(&(tenant, at)) {
                return Ok(Some(loaded));
            }
            if let Some(loaded) = Box::pin(self.stored(tenant, vec![at], 0)).await? {
                return Ok(Some(loaded));
            }
            // It is gone from the store; there may be an earlier one.
            self.forget(tenant, at);
        }
    }

    /// The best prefix in the store that is intact. A damaged one is deleted, and the next best is tried.
    async fn stored(
        &self,
        tenant: Tenant,
        hashes: Vec<u128>,
        least: u32,
    ) -> Result<Option<Arc<LoadedPrefix>>, StoreError> {
        loop {
            let Some(found) = self.store.find(tenant, hashes.clone(), least).await? else {
                return Ok(None);
            };
            let (line, at) = (found.stored.made.line, found.stored.at);
            if let Some(prefix) = found.open(&self.seal) {
                return Ok(Some(self.keep(prefix)));
            }
            tracing::warn!(%line, "a summary in the store is damaged; it is dropped, and the client's own messages are sent");
            self.forget(tenant, at);
            self.store.discard(tenant, at).await?;
        }
    }

    fn forget(&self, tenant: Tenant, at: u128) {
        if let Some(known) = &self.known {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            known.remove(&(tenant, at));
            self.known_bytes.set(known.len() * KNOWN_BYTES);
        }
        self.at_hand.forget(&(tenant, at));
    }

    /// Asks the store for a better prefix than the loaded one; another gateway may have added it.
    async fn ask(
        &self,
        tenant: Tenant,
        hashes: &[u128],
    ) -> Result<Option<Arc<LoadedPrefix>>, StoreError> {
        let mut newest = hashes.iter().rev();
        let mine = newest.find_map(|hash| self.at_hand.get(&(tenant, *hash)));
        let least = mine.as_ref().map_or(0, |mine| mine.prefix.messages);
        let others = self.stored(tenant, hashes.to_vec(), least).await;
        match others {
            Ok(Some(others)) => Ok(Some(others)),
            Ok(None) => Ok(mine),
            Err(StoreError::Resting) if mine.is_some() => Ok(mine),
            // The loaded prefix was durable once, and still replaces the same history.
            Err(error) if mine.is_some() => {
                tracing::warn!(%error, "the store cannot be asked for newer summaries");
                Ok(mine)
            }
            Err(error) => Err(error),
        }
    }

    /// Makes a prefix durable, and then known.
    pub(crate) async fn put(
        &self,
        prefix: CompactedPrefix,
    ) -> Result<Arc<LoadedPrefix>, StoreError> {
        let sealed = prefix.as_stored().sealed(&self.seal);
        match self.store.put(sealed).await {
            Ok(()) => {
                self.writability.kept();
                Ok(self.keep(prefix))
            }
            Err(error) => {
                self.writability.not_kept();
                Err(error)
            }
        }
    }

    /// Like [`CompactedPrefixes::put`], while a request waits: it does not wait for long, and not at all if the store
    /// does not respond.
    pub(crate) async fn put_at_once(
        &self,
        prefix: CompactedPrefix,
    ) -> Result<Arc<LoadedPrefix>, StoreError> {
        if self.store.is_backing_off() {
            return Err(StoreError::Resting);
        }
        let put = tokio::time::timeout(AT_ONCE, self.put(prefix)).await;
        put.unwrap_or_else(|_| Err(StoreError::NoAnswer("it took too long".to_owned())))
    }

    /// Whether this gateway is the only one that adds prefixes.
    pub(crate) fn are_all_known(&self) -> bool {
        self.known.is_some()
    }

    /// Adds to the cost of a prefix. Returns whether that is recorded.
    pub(crate) async fn charge(&self, base: &LoadedPrefix, cost: Usd) -> bool {
        let (tenant, at) = (base.prefix.tenant, base.prefix.at);
        let newest = self.at_hand().get(&(tenant, at));
        let mut prefix = newest.map_or_else(|| base.prefix.clone(), |it| it.prefix.clone());
        let made = &mut prefix.made;
        made.cost = Some(made.cost.map_or(cost, |before| before + cost));
        let put = self.put(prefix).await;
        put.inspect_err(|error| tracing::warn!(%error, "the cost of a summary cannot be recorded"))
            .is_ok()
    }

    fn keep(&self, prefix: CompactedPrefix) -> Arc<LoadedPrefix> {
        let key = (prefix.tenant, prefix.at);
        if let Some(known) = &self.known {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(key, prefix.messages);
            self.known_bytes.set(known.len() * KNOWN_BYTES);
        }
        self.keep_loaded(prefix)
    }

    /// Keeps a prefix in memory that is stored already.
    pub(crate) fn keep_loaded(&self, prefix: CompactedPrefix) -> Arc<LoadedPrefix> {
        let key = (prefix.tenant, prefix.at);
        let loaded = Arc::new(LoadedPrefix::new(prefix));
        self.at_hand.put(key, Arc::clone(&loaded));
        loaded
    }

    /// Moves the prefixes of one tenant to another, when the two turn out to be the same.
    pub(crate) fn adopt(&self, from: Tenant, to: Tenant) {
        if let Some(known) = &self.known {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            let moved: Vec<(u128, u32)> = (known.iter())
                .filter(|((tenant, _), _)| *tenant == from)
                .map(|((_, at), messages)| (*at, *messages))
                .collect();
            for (at, messages) in moved {
                known.remove(&(from, at));
                known.insert((to, at), messages);
            }
        }
        self.at_hand.adopt(from, to);
    }

    /// The underlying store.
    pub(crate) fn store(&self) -> &Arc<dyn PrefixStore> {
        &self.store
    }
}
