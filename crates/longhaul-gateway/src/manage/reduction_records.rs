//! What is stored of results that are sent in a smaller form (V8): the form, found by the hash of the client's history up
//! to the message that holds the result. It is durable before it is first sent, so every later request, a restarted
//! gateway and others on the same store send the same bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use longhaul_core::xxh3::xxh3_64;
use longhaul_provider::Dialect;
use serde::{Deserialize, Serialize};

use crate::branch::{GenerationalCache, SealKey, Tenant};
use crate::memory::{MemoryBudget, MemoryShare};
use crate::store::{RecallRecord, RecallStore, Sealable as _, StoreError};

/// How many messages are remembered.
const MESSAGES: usize = 100_000;
/// Bytes of texts that are held in memory, in each of two generations.
const BYTES: usize = 16 << 20;
/// The memory that one message takes besides its texts, approximately.
const A_MESSAGE: usize = 96;
/// How long a request waits for the store.
const AT_ONCE: Duration = Duration::from_secs(2);

/// A result in the form in which it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredReduction {
    /// The id of the call.
    pub(super) call: String,
    /// The call whose result the text refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refers_to: Option<String>,
    /// The text that is sent.
    pub(super) text: String,
}

/// The text of a record. Records of recall in the same table have another name.
#[derive(Serialize, Deserialize)]
struct ReductionsText {
    reduced: Vec<StoredReduction>,
}

/// The results of one message that are sent in a smaller form.
pub(super) type MessageReductions = Arc<[StoredReduction]>;

/// The reduced results of all conversations.
pub(super) struct ReductionRecords {
    store: Arc<dyn RecallStore>,
    seal: SealKey,
    /// Messages that were seen, those without a reduced result included.
    known: Mutex<GenerationalCache<(Tenant, u128), MessageReductions>>,
    held: MemoryShare,
}

impl ReductionRecords {
    pub(super) fn new(store: Arc<dyn RecallStore>, seal: SealKey, budget: &MemoryBudget) -> Self {
        Self {
            store,
            seal,
            known: Mutex::new(GenerationalCache::within(MESSAGES, BYTES)),
            held: budget.new_share(),
        }
    }

    /// What is known of a message; `None` if it was not seen before.
    pub(super) fn known(&self, tenant: Tenant, at: u128) -> Option<MessageReductions> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(tenant, at))
    }

    /// Remembers what is sent for a message.
    pub(super) fn keep(&self, tenant: Tenant, at: u128, reduced: MessageReductions) {
        let texts: usize = reduced.iter().map(|one| one.text.len() + A_MESSAGE).sum();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.put_weighing((tenant, at), reduced, A_MESSAGE + texts);
        self.held.set(known.bytes());
    }

    /// What is stored of these messages.
    pub(super) async fn stored(
        &self,
        tenant: Tenant,
        dialect: Dialect,
        at: Vec<u128>,
    ) -> Result<HashMap<u128, MessageReductions>, StoreError> {
        let mut stored = HashMap::new();
        for sealed in self.store.find_recall(tenant, at).await? {
            // A record that was changed is as good as lost.
            let Some(record) = sealed.open(&self.seal) else {
                tracing::warn!(
                    "a record of a reduced result was changed in the store and is not used"
                );
                continue;
            };
            if record.variant != variant(dialect) {
                continue;
            }
            if let Ok(text) = serde_json::from_slice::<ReductionsText>(&record.text) {
                stored.insert(record.at, text.reduced.into());
            }
        }
        Ok(stored)
    }

    /// Stores what is sent for a message. It is durable when this returns.
    pub(super) async fn put(
        &self,
        tenant: Tenant,
        dialect: Dialect,
        at: u128,
        reduced: &[StoredReduction],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let text = ReductionsText {
            reduced: reduced.to_vec(),
        };
        let text =
            serde_json::to_vec(&text).map_err(|error| StoreError::Failed(error.to_string()))?;
        let record = RecallRecord {
            tenant,
            at,
            variant: variant(dialect),
            text: text.into(),
            made: now,
        };
        let put = self.store.put_recall(record.sealed(&self.seal));
        let put = tokio::time::timeout(AT_ONCE, put).await;
        put.unwrap_or_else(|_| Err(StoreError::NoAnswer("it took too long".to_owned())))
    }
}

/// Tells these records apart from those of recall, and histories of both APIs.
fn variant(dialect: Dialect) -> u64 {
    xxh3_64(match dialect {
        Dialect::Anthropic => &b"reduced results of messages"[..],
        Dialect::OpenAi => b"reduced results of chat completions",
    })
}
