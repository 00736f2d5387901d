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
mod metrics;
mod packed;
mod prometheus;
mod session_watch;
mod telemetry;
mod usage;
mod usage_log;
mod watched_request;

pub use changes::{ChangeSubscription, SessionChange, SessionChanges};
pub use metrics::{Metrics, NotesResult, RefusalClass};
pub use usage::{BufferedResponse, ResponseUsage, UsageCompleteness, UsageTap, plain};
pub use usage_log::{CompletedCall, SentRequest, UsageLogQueue, UsageLogWriter};
pub use watched_request::WatchedRequest;
