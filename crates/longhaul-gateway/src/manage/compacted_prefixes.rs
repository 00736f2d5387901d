//! Rewrites: found by the hashes of a request's messages, their texts kept in memory while they are in use (`at_hand`). What
//! comes from the store is used only if its seal says that it is as it was.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use longhaul_core::json;
use longhaul_core::money::Usd;
use longhaul_core::xxh3::xxh3_128_with_seed;

use super::loaded_prefixes::{Key, LoadedPrefixes, Map};
use super::weight;
use super::writability::StoreWritability;
use crate::branch::{SealKey, Tenant};
use crate::memory::{MemoryBudget, MemoryShare};
use crate::store::{CompactedPrefix, PrefixStore, Sealable as _, StoreError};

/// What it takes in memory to know of one, about.
const KNOWN_BYTES: usize = 64;
/// For how long a request waits for one to be kept.
const AT_ONCE: Duration = Duration::from_secs(2);

/// A rewrite, and what the cache watch sees of it.
#[derive(Debug)]
pub(crate) struct LoadedPrefix {
    pub(crate) rewrite: CompactedPrefix,
    /// Each element that is sent, with the hash of its bytes.
    pub(crate) elements: Arc<[(u128, Bytes)]>,
    /// Tells its bytes from others that stand for the same history.
    pub(crate) bytes_hash: u128,
}

impl LoadedPrefix {
    pub(super) fn new(rewrite: CompactedPrefix) -> Self {
        let bytes_hash = xxh3_128_with_seed(&rewrite.text, 0);
        let elements = elements_of(&rewrite.text)
            .into_iter()
            .map(|element| (xxh3_128_with_seed(&element, 0), element))
            .collect();
        Self {
            rewrite,
            elements,
            bytes_hash,
        }
    }

    /// Tells it from other beginnings of the same history.
    pub(crate) fn beginning(&self) -> u128 {
        self.rewrite.at
    }

    /// The count of what is sent for it.
    pub(super) fn weight(&self) -> u64 {
        let elements = self.elements.iter();
        elements.map(|(_, element)| weight::element(element)).sum()
    }

    /// The elements that stand for what was summed up.
    pub(crate) fn summary(&self) -> Vec<Bytes> {
        elements_of(
            self.rewrite
                .text
                .get(..self.rewrite.summary)
                .unwrap_or_default(),
        )
    }
}

/// Elements with commas between them, one by one.
fn elements_of(text: &[u8]) -> Vec<Bytes> {
    let list = Bytes::from([b"[", text, b"]"].concat());
    let items = json::items(&list).into_iter().flatten();
    items.map(|item| list.slice_ref(item)).collect()
}

/// See the module.
pub(crate) struct CompactedPrefixes {
    shelf: Arc<dyn PrefixStore>,
    /// All there are, by how many messages they stand for; none if only the store can tell.
    known: Option<Mutex<Map<Key, u32>>>,
    known_bytes: MemoryShare,
    at_hand: Arc<LoadedPrefixes>,
    seal: SealKey,
    keeping: StoreWritability,
}

impl CompactedPrefixes {
    pub(crate) async fn open(
        shelf: Arc<dyn PrefixStore>,
        seal: SealKey,
        budget: &MemoryBudget,
    ) -> Result<Self, StoreError> {
        let known = shelf.index().await?;
        let known_bytes = budget.new_share();
        known_bytes.set(known.as_ref().map_or(0, Vec::len) * KNOWN_BYTES);
        let known = known.map(|all| {
            let all = all.into_iter();
            all.map(|(tenant, at, messages)| ((tenant, at), messages))
                .collect()
        });
        Ok(Self {
            shelf,
            known: known.map(Mutex::new),
            known_bytes,
            at_hand: Arc::new(LoadedPrefixes::new(budget)),
            seal,
            keeping: StoreWritability::default(),
        })
    }

    /// Whether one that is made now can be kept, as far as is known.
    pub(crate) async fn can_be_stored(&self) -> bool {
        self.keeping.is_possible(&self.shelf).await
    }

    /// Whether what is made of conversations is kept.
    pub(crate) fn keeping(&self) -> &StoreWritability {
        &self.keeping
    }

    /// What is in memory of them.
    pub(crate) fn at_hand(&self) -> &Arc<LoadedPrefixes> {
        &self.at_hand
    }

    /// The rewrite that stands for most of a history, given by the rolling hash behind each of its messages.
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
            if let Some(shelved) = self.at_hand.get(&(tenant, at)) {
                return Ok(Some(shelved));
            }
            if let Some(shelved) = Box::pin(self.stored(tenant, vec![at], 0)).await? {
                return Ok(Some(shelved));
            }
            // It is gone from the store: perhaps there is an earlier one.
            self.forget(tenant, at);
        }
    }

    /// The best that the store has, if it is intact. One that is damaged is deleted, and the next best looked for.
    async fn stored(
        &self,
        tenant: Tenant,
        hashes: Vec<u128>,
        least: u32,
    ) -> Result<Option<Arc<LoadedPrefix>>, StoreError> {
        loop {
            let Some(found) = self.shelf.find(tenant, hashes.clone(), least).await? else {
                return Ok(None);
            };
            let (line, at) = (found.stored.made.line, found.stored.at);
            if let Some(rewrite) = found.open(&self.seal) {
                return Ok(Some(self.keep(rewrite)));
            }
            tracing::warn!(%line, "a summary in the store is damaged; it is dropped, and the client's own messages are sent");
            self.forget(tenant, at);
            self.shelf.discard(tenant, at).await?;
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

    /// Others may have put a better one than is at hand.
    async fn ask(
        &self,
        tenant: Tenant,
        hashes: &[u128],
    ) -> Result<Option<Arc<LoadedPrefix>>, StoreError> {
        let mut newest = hashes.iter().rev();
        let mine = newest.find_map(|hash| self.at_hand.get(&(tenant, *hash)));
        let least = mine.as_ref().map_or(0, |mine| mine.rewrite.messages);
        let others = self.stored(tenant, hashes.to_vec(), least).await;
        match others {
            Ok(Some(others)) => Ok(Some(others)),
            Ok(None) => Ok(mine),
            Err(StoreError::Resting) if mine.is_some() => Ok(mine),
            // What is at hand was durable once, and still stands for what it stood for.
            Err(error) if mine.is_some() => {
                tracing::warn!(%error, "the store cannot be asked for newer summaries");
                Ok(mine)
            }
            Err(error) => Err(error),
        }
    }

    /// Makes a rewrite durable, and then known.
    pub(crate) async fn put(
        &self,
        rewrite: CompactedPrefix,
    ) -> Result<Arc<LoadedPrefix>, StoreError> {
        let sealed = rewrite.clone().sealed(&self.seal);
        match self.shelf.put(sealed).await {
            Ok(()) => {
                self.keeping.kept();
                Ok(self.keep(rewrite))
            }
            Err(error) => {
                self.keeping.not_kept();
                Err(error)
            }
        }
    }

    /// The same while a request waits: not for long, and not at all where the store does not answer.
    pub(crate) async fn put_at_once(
        &self,
        rewrite: CompactedPrefix,
    ) -> Result<Arc<LoadedPrefix>, StoreError> {
        if self.shelf.is_backing_off() {
            return Err(StoreError::Resting);
        }
        let put = tokio::time::timeout(AT_ONCE, self.put(rewrite)).await;
        put.unwrap_or_else(|_| Err(StoreError::NoAnswer("it took too long".to_owned())))
    }

    /// Whether nobody else puts any.
    pub(crate) fn are_all_known(&self) -> bool {
        self.known.is_some()
    }

    /// Adds to what a rewrite has cost. Gives whether that is written down.
    pub(crate) async fn charge(&self, base: &LoadedPrefix, cost: Usd) -> bool {
        let (tenant, at) = (base.rewrite.tenant, base.rewrite.at);
        let newest = self.at_hand().get(&(tenant, at));
        let mut rewrite = newest.map_or_else(|| base.rewrite.clone(), |it| it.rewrite.clone());
        let made = &mut rewrite.made;
        made.cost = Some(made.cost.map_or(cost, |before| before + cost));
        let put = self.put(rewrite).await;
        put.inspect_err(
            |error| tracing::warn!(%error, "what a summary costs cannot be written down"),
        )
        .is_ok()
    }

    fn keep(&self, rewrite: CompactedPrefix) -> Arc<LoadedPrefix> {
        let key = (rewrite.tenant, rewrite.at);
        if let Some(known) = &self.known {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(key, rewrite.messages);
            self.known_bytes.set(known.len() * KNOWN_BYTES);
        }
        let shelved = Arc::new(LoadedPrefix::new(rewrite));
        self.at_hand.put(key, Arc::clone(&shelved));
        shelved
    }

    /// A tenant turned out to be another: its rewrites go over to that.
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

    /// The store behind.
    pub(crate) fn shelf(&self) -> &Arc<dyn PrefixStore> {
        &self.shelf
    }
}
