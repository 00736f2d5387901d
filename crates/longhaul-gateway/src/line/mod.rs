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
mod group;
mod ids;
mod key;
mod landmarks;
mod lines;
mod memo;
mod recognise;
mod seal;
mod spoken;
mod tenant;

pub use chain::Chain;
pub use credentials::Credentials;
pub use group::Group;
pub use ids::{Ids, LineId, SessionId};
pub use key::HistoryKey;
pub use landmarks::Landmark;
pub(crate) use landmarks::Starts;
pub use lines::{Lines, Placed, Relation, Restored};
pub use memo::Generations;
pub(crate) use recognise::Shared;
pub use recognise::{Pending, Recognised, Recogniser, Request};
pub use seal::{Seal, SealKey};
pub use spoken::{Spoken, spoken};
pub use tenant::{Tenant, TenantError, Tenants};
