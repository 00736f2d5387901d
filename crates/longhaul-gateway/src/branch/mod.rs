//! Decides which conversation a request continues (N7), from its messages alone.
//!
//! Clients send their whole history each time. `hashed_message` defines when two messages are the same; a `chain` of
//! hashes runs over them; [`BranchIndex`] knows the chains seen so far and finds the branch that a request extends
//! (`placement`). `generational_cache` and `landmarks` make this cheap: a message whose bytes are known is not read
//! again, and a body whose beginning is known is not scanned again. [`BranchRecognizer`] combines them and makes a
//! [`RecognizedBody`]; a request is remembered only after a successful answer ([`PendingPlacement`]). `tenant` says who
//! owns a conversation, determined from the `credentials`; `group` is the client's own grouping, and only groups. `key`
//! makes the hashes unpredictable to outsiders. The only IO in this module is creating the tenants' secret.

mod chain;
mod credentials;
mod generational_cache;
mod group;
mod hashed_message;
mod ids;
mod index;
mod key;
mod landmarks;
mod member_breakpoints;
mod placement;
mod recognize;
mod recognized_body;
mod seal;
mod tenant;

pub use chain::HistoryChain;
pub use credentials::Credentials;
pub(crate) use generational_cache::GenerationalCache;
pub use group::ClientGroup;
pub use hashed_message::{HashedMessage, hash_message};
pub use ids::{BranchId, BranchIds, GatewaySessionId};
pub use index::BranchIndex;
pub use key::HistoryKey;
pub(crate) use landmarks::BodyBeginnings;
pub use placement::{BranchPlacement, BranchRelation, RestoredBranch};
pub(crate) use recognize::SharedBeginning;
pub use recognize::{BranchRecognizer, PendingPlacement, RecognitionRequest};
pub use recognized_body::RecognizedBody;
pub use seal::{Seal, SealKey};
pub use tenant::{Tenant, TenantError, Tenants};
