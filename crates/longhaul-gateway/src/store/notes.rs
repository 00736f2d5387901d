//! Session notes as they are stored: a text, and the history that it covers. They are found like compacted prefixes, by
//! the hashes of a request's messages. Each version stays for branches that fork off after it, until it is purged.

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use longhaul_core::money::Usd;

use super::{Sealable, Sealed, StoreError};
use crate::branch::{BranchId, GatewaySessionId, Seal, SealKey, Tenant};

/// The notes of a history, as of one message.
#[derive(Debug, Clone, PartialEq)]
pub struct NotesRecord {
    /// The tenant that owns the history.
    pub tenant: Tenant,
    /// The rolling hash after the last message that they cover.
    pub at: u128,
    /// How many messages they cover.
    pub messages: u32,
    /// Tokens in the window when they were taken.
    pub tokens: u64,
    /// The notes.
    pub text: String,
    /// The session in which they were taken.
    pub session: GatewaySessionId,
    /// The branch on which they were taken.
    pub line: BranchId,
    /// When they were taken.
    pub made: Timestamp,
    /// The cost of requesting them, failed attempts since the previous notes included, if prices are known.
    pub cost: Option<Usd>,
}

impl Sealable for NotesRecord {
    fn seal(&self, key: &SealKey) -> Seal {
        let (at, messages) = (self.at.to_le_bytes(), self.messages.to_le_bytes());
        let tokens = self.tokens.to_le_bytes();
        key.seal(&[b"notes", &at, &messages, &tokens, self.text.as_bytes()])
    }
}

/// Stores notes. In a store that several gateways share, each sees the notes of the others. Readers check the seal.
pub trait NotesStore: Send + Sync + 'static {
    /// Stores notes, and replaces those for the same history. They are durable when this returns.
    fn put_notes(&self, notes: Sealed<NotesRecord>) -> BoxFuture<'_, Result<(), StoreError>>;
    /// Of the notes at these hashes, those that cover the most messages.
    fn find_notes(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Option<Sealed<NotesRecord>>, StoreError>>;
    /// Deletes the notes for a history.
    fn discard_notes(&self, tenant: Tenant, at: u128) -> BoxFuture<'_, Result<(), StoreError>>;
}
