//! Session notes as they are kept: a text, and which history it covers. Found like rewrites, by the hashes of a request's
//! messages. Each version stays for those who branch off behind it, until it is purged.

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use longhaul_core::money::Usd;

use super::{Sealed, StoreError};
use crate::branch::{LineId, SessionId, Tenant};

/// The notes of a history, as of one message.
#[derive(Debug, Clone, PartialEq)]
pub struct NotesRecord {
    /// Whose.
    pub tenant: Tenant,
    /// The rolling hash behind the last message that they cover.
    pub at: u128,
    /// How many messages those are.
    pub messages: u32,
    /// Tokens in the window when they were taken.
    pub tokens: u64,
    /// The notes.
    pub text: String,
    /// In which session they were taken.
    pub session: SessionId,
    /// On which line.
    pub line: LineId,
    /// When.
    pub made: Timestamp,
    /// What asking for them cost, attempts in vain since the last ones included, where prices are known.
    pub cost: Option<Usd>,
}

/// Keeps notes. With a store that several gateways share, each sees what the others put. Whoever takes something from it
/// looks at the seal.
pub trait NotesStore: Send + Sync + 'static {
    /// Puts notes; those for the same history are replaced. Durable when this returns.
    fn put_notes(&self, notes: Sealed<NotesRecord>) -> BoxFuture<'_, Result<(), StoreError>>;
    /// Of the notes at these hashes those that cover the most messages.
    fn find_notes(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
    ) -> BoxFuture<'_, Result<Option<Sealed<NotesRecord>>, StoreError>>;
    /// Deletes the notes for a history.
    fn discard_notes(&self, tenant: Tenant, at: u128) -> BoxFuture<'_, Result<(), StoreError>>;
}
