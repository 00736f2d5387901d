//! Which conversation a request goes on (N7), decided by its own messages alone.
//!
//! Clients send their whole history each time. `spoken` says when two messages are the same; a `chain` of hashes runs over them;
//! [`Lines`] knows the chains seen so far and finds the line that a request extends. `memo` and `landmarks` make it cheap: a
//! message whose bytes are known is not read again, and a body whose beginning is known is not scanned again.
//! [`Recogniser`] brings them together; a request is remembered only when it was answered well ([`Pending`]). Whose
//! conversations they are: `tenant`, told by `credentials`; what a client says belongs together: `group`, which only groups.
//! `key` is what makes the hashes nobody else's. Nothing here is IO but the making of a tenant's secret.

mod chain;
mod credentials;
mod generational_cache;
mod group;
mod hashed_message;
mod ids;
mod index;
mod key;
mod landmarks;
mod recognize;
mod seal;
mod tenant;

pub use chain::HistoryChain;
pub use credentials::Credentials;
pub use generational_cache::GenerationalCache;
pub use group::ClientGroup;
pub use hashed_message::{HashedMessage, hash_message};
pub use ids::{BranchIds, LineId, SessionId};
pub use index::{BranchIndex, BranchPlacement, BranchRelation, RestoredBranch};
pub use key::HistoryKey;
pub(crate) use landmarks::BodyBeginnings;
pub use landmarks::Landmark;
pub(crate) use recognize::SharedBeginning;
pub use recognize::{BranchRecognizer, PendingPlacement, RecognitionRequest, RecognizedBody};
pub use seal::{Seal, SealKey};
pub use tenant::{Tenant, TenantError, Tenants};
