//! The books and the cache watch, kept off the path of requests.
//!
//! What happens is handed over through a bounded queue ([`Desk`]) to one thread (`keeper`): requests with no more of their
//! bytes than the watch has not seen (`seen`), answers with what the upstream measured (`usage`). It lets the core's cache
//! watch compare requests (`watching`, `fingerprint`), puts a price on calls and writes them to the store in batches; whoever looks is
//! told then which sessions changed (`changes`). When the queue is full, entries are dropped and counted: requests never wait
//! for the books.

mod changes;
mod chat;
mod family;
mod fingerprint;
mod keeper;
mod metrics;
mod packed;
mod prometheus;
mod seen;
mod telemetry;
mod usage;
mod watching;

pub use changes::{Change, Changes, Following};
pub use keeper::{Desk, Done, Keeper, Sent};
pub use metrics::{Metrics, NotesResult, Refused};
pub use seen::ToWatch;
pub use usage::{Extent, Kept, Measured, Tap, plain};
