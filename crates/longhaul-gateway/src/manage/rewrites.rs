//! Rewrites at hand: found by the hashes of a request's messages, their texts kept in memory while they are in use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use foldhash::fast::RandomState;
use longhaul_core::json;
use longhaul_core::money::Usd;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::weight;
use crate::line::Tenant;
use crate::store::{Rewrite, Shelf, StoreError};

/// Bytes of texts kept in memory, in each of two generations.
const BYTES: usize = 32 << 20;

type Key = (Tenant, u128);
type Map<K, V> = HashMap<K, V, RandomState>;

/// A rewrite, and what the cache watch sees of it.
#[derive(Debug)]
pub(crate) struct Shelved {
    pub(crate) rewrite: Rewrite,
    /// Each element that is sent, with the hash of its bytes.
    pub(crate) elements: Vec<(u128, Bytes)>,
}

impl Shelved {
    pub(super) fn new(rewrite: Rewrite) -> Self {
        let elements = elements_of(&rewrite.text)
            .into_iter()
            .map(|element| (xxh3_128_with_seed(&element, 0), element))
            .collect();
        Self { rewrite, elements }
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

#[derive(Default)]
struct AtHand {
    newer: Map<Key, Arc<Shelved>>,
    older: Map<Key, Arc<Shelved>>,
    bytes: usize,
}

impl AtHand {
    fn get(&mut self, key: &Key) -> Option<Arc<Shelved>> {
        if let Some(found) = self.newer.get(key) {
            return Some(Arc::clone(found));
        }
        let found = self.older.remove(key)?;
        self.put(*key, Arc::clone(&found));
        Some(found)
    }

    fn put(&mut self, key: Key, shelved: Arc<Shelved>) {
        if self.bytes > BYTES {
            self.older = std::mem::take(&mut self.newer);
            self.bytes = 0;
        }
        let rewrite = &shelved.rewrite;
        self.bytes += 2 * rewrite.text.len() + rewrite.lines.len();
        self.newer.insert(key, shelved);
    }
}

/// See the module.
pub(crate) struct Rewrites {
    shelf: Arc<dyn Shelf>,
    /// All there are, by how many messages they stand for; none if only the store can tell.
    known: Option<Mutex<Map<Key, u32>>>,
    at_hand: Mutex<AtHand>,
}

impl Rewrites {
    pub(crate) async fn open(shelf: Arc<dyn Shelf>) -> Result<Self, StoreError> {
        let known = shelf.index().await?;
        let known = known.map(|all| {
            let all = all.into_iter();
            all.map(|(tenant, at, messages)| ((tenant, at), messages))
                .collect()
        });
        Ok(Self {
            shelf,
            known: known.map(Mutex::new),
            at_hand: Mutex::default(),
        })
    }

    /// The rewrite that stands for most of a history, given by the rolling hash behind each of its messages.
    pub(crate) async fn find(
        &self,
        tenant: Tenant,
        hashes: &[u128],
    ) -> Result<Option<Arc<Shelved>>, StoreError> {
        let Some(known) = &self.known else {
            return Box::pin(self.ask(tenant, hashes)).await;
        };
        let found = {
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            let mut newest = hashes.iter().rev();
            match known.is_empty() {
                true => None,
                false => newest.find(|hash| known.contains_key(&(tenant, **hash))),
            }
        };
        let Some(at) = found.copied() else {
            return Ok(None);
        };
        if let Some(shelved) = self.at_hand().get(&(tenant, at)) {
            return Ok(Some(shelved));
        }
        let stored = self.shelf.find(tenant, vec![at], 0).await?;
        Ok(stored.map(|rewrite| self.keep(rewrite)))
    }

    /// Others may have put a better one than is at hand.
    async fn ask(
        &self,
        tenant: Tenant,
        hashes: &[u128],
    ) -> Result<Option<Arc<Shelved>>, StoreError> {
        let mine = {
            let mut at_hand = self.at_hand();
            let mut newest = hashes.iter().rev();
            newest.find_map(|hash| at_hand.get(&(tenant, *hash)))
        };
        let least = mine.as_ref().map_or(0, |mine| mine.rewrite.messages);
        let others = self.shelf.find(tenant, hashes.to_vec(), least).await;
        match others {
            Ok(Some(rewrite)) => Ok(Some(self.keep(rewrite))),
            Ok(None) => Ok(mine),
            // What is at hand was durable once, and still stands for what it stood for.
            Err(error) if mine.is_some() => {
                tracing::warn!(%error, "the store cannot be asked for newer summaries");
                Ok(mine)
            }
            Err(error) => Err(error),
        }
    }

    /// Makes a rewrite durable, and then known.
    pub(crate) async fn put(&self, rewrite: Rewrite) -> Result<Arc<Shelved>, StoreError> {
        self.shelf.put(rewrite.clone()).await?;
        Ok(self.keep(rewrite))
    }

    /// Whether nobody else puts any.
    pub(crate) fn are_all_known(&self) -> bool {
        self.known.is_some()
    }

    /// Adds to what a rewrite has cost. Gives whether that is written down.
    pub(crate) async fn charge(&self, base: &Shelved, cost: Usd) -> bool {
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

    fn keep(&self, rewrite: Rewrite) -> Arc<Shelved> {
        let key = (rewrite.tenant, rewrite.at);
        if let Some(known) = &self.known {
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(key, rewrite.messages);
        }
        let shelved = Arc::new(Shelved::new(rewrite));
        self.at_hand().put(key, Arc::clone(&shelved));
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
        let mut at_hand = self.at_hand();
        let AtHand { newer, older, .. } = &mut *at_hand;
        for texts in [newer, older] {
            let moved: Vec<Key> = (texts.keys())
                .filter(|(tenant, _)| *tenant == from)
                .copied()
                .collect();
            for key in moved {
                if let Some(shelved) = texts.remove(&key) {
                    texts.insert((to, key.1), shelved);
                }
            }
        }
    }

    fn at_hand(&self) -> std::sync::MutexGuard<'_, AtHand> {
        self.at_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The store behind.
    pub(crate) fn shelf(&self) -> &Arc<dyn Shelf> {
        &self.shelf
    }
}
