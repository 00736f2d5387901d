//! What is stored for recall behind the gateway: the tool that a conversation is offered, and the rounds that the client
//! never saw. Both are found by the hash of the client's own history.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

use super::{Sealable, Sealed, StoreError};
use crate::branch::{Seal, SealKey, Tenant};

/// A record of recall. `recall/` reads and writes its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecallRecord {
    /// The tenant that owns the history.
    pub tenant: Tenant,
    /// The rolling hash after the last message of the request that it belongs to, as the client sends its messages.
    pub at: u128,
    /// Tells records for the same history apart: a client may ask the same again and get another reply.
    pub variant: u64,
    /// What is stored.
    pub text: Bytes,
    /// When it was stored.
    pub made: Timestamp,
}

impl Sealable for RecallRecord {
    fn seal(&self, key: &SealKey) -> Seal {
        let (at, variant) = (self.at.to_le_bytes(), self.variant.to_le_bytes());
        key.seal(&[b"recall", &at, &variant, &self.text])
    }
}

/// Stores what recall needs. In a store that several gateways share, each sees the records of the others. Readers check
/// the seal.
pub trait RecallStore: Send + Sync + 'static {
    /// Stores a record, and replaces the same variant for the same history. It is durable when this returns.
    fn put_recall(&self, record: Sealed<RecallRecord>) -> BoxFuture<'_, Result<(), StoreError>>;
    /// All records at these hashes, the newest first. Their use is noted, so that a purge leaves them.
    fn find_recall(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Vec<Sealed<RecallRecord>>, StoreError>>;
}
