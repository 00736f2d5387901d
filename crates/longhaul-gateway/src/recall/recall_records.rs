//! What recall keeps in the store: the tool of each conversation, and hidden rounds.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use longhaul_provider::Dialect;

use super::hidden_rounds::{HiddenRounds, StoredApi, StoredRecall};
use super::latched_tool::LatchedTool;
use crate::body::BodyRole;
use crate::branch::{RecognizedBody, SealKey, Tenant};
use crate::store::{RecallRecord, RecallStore, Sealable, StoreError};

/// The records of all conversations.
pub(crate) struct RecallRecords {
    store: Arc<dyn RecallStore>,
    seal: SealKey,
}

impl std::fmt::Debug for RecallRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecallRecords").finish_non_exhaustive()
    }
}

/// What is stored about a request's history.
#[derive(Default)]
pub(super) struct StoredHistory {
    pub(super) tool: Option<LatchedTool>,
    pub(super) rounds: HashMap<u128, Vec<HiddenRounds>>,
}

impl RecallRecords {
    pub(super) fn new(store: Arc<dyn RecallStore>, seal: SealKey) -> Self {
        Self { store, seal }
    }

    /// Stores what the client did not see of a reply to the request whose history has this hash.
    pub(super) async fn put_rounds(
        &self,
        tenant: Tenant,
        at: u128,
        dialect: Dialect,
        rounds: &HiddenRounds,
    ) -> Result<(), StoreError> {
        let record = StoredRecall::Rounds(dialect.into(), rounds.clone());
        self.put(tenant, at, &record).await
    }

    pub(super) async fn put(
        &self,
        tenant: Tenant,
        at: u128,
        what: &StoredRecall,
    ) -> Result<(), StoreError> {
        let text =
            serde_json::to_vec(what).map_err(|error| StoreError::Failed(error.to_string()))?;
        let record = RecallRecord {
            tenant,
            at,
            variant: what.variant(),
            text: text.into(),
            made: Timestamp::now(),
        };
        self.store.put_recall(record.sealed(&self.seal)).await
    }

    /// What is stored about the history of a request whose conversation began with this hash.
    pub(super) async fn stored(
        &self,
        tenant: Tenant,
        dialect: Dialect,
        root: u128,
        recognized: &RecognizedBody,
    ) -> Result<StoredHistory, StoreError> {
        let replies = recognized.roles.iter().enumerate().skip(1);
        let replies = replies.filter(|(_, role)| **role == BodyRole::Assistant);
        let before = replies.filter_map(|(at, _)| recognized.hashes.get(at - 1));
        let mut hashes: Vec<u128> = before.copied().chain([root]).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let api = StoredApi::from(dialect);
        let mut stored = StoredHistory::default();
        for sealed in self.store.find_recall(tenant, hashes).await? {
            // A record that was changed is as good as lost.
            let Some(record) = sealed.open(&self.seal) else {
                tracing::warn!("a record of recall was changed in the store and is not used");
                continue;
            };
            match serde_json::from_slice(&record.text) {
                Ok(StoredRecall::Tool(of, tool)) if of == api && record.at == root => {
                    stored.tool = Some(tool);
                }
                Ok(StoredRecall::Rounds(of, rounds)) if of == api => {
                    stored.rounds.entry(record.at).or_default().push(rounds);
                }
                _ => {}
            }
        }
        Ok(stored)
    }
}
