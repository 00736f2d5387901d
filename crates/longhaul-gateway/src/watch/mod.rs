//! The usage log and the cache watch, off the path of requests.
//!
//! Events go through a bounded queue ([`UsageLogQueue`]) to one thread (`usage_log`): requests with only those bytes
//! that the watch has not seen (`watched_request`), responses with the usage that the upstream reported (`usage`) and why they failed (`call_error`). The
//! thread lets the core's cache watch compare requests (`session_watch`, `fingerprint`), calculates the cost of calls
//! and writes them to the store in batches; subscribers then learn which sessions changed (`changes`). When the queue
//! is full, records are dropped and counted: requests never wait for the usage log.

mod call_error;
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

pub use call_error::CallError;
pub(crate) use call_error::{ErrorDetail, kind_of_told, without_secrets};
pub(crate) use changes::{ChangeSubscription, SessionChange, SessionChanges};
pub use metrics::{Metrics, NotesResult, RefusalClass};
pub(crate) use usage::plain;
pub use usage::{BufferedResponse, ResponseReading, ResponseUsage, UsageCompleteness, UsageTap};
pub(crate) use usage_log::UsageLogWriter;
pub use usage_log::{CompletedCall, OwnRequest, SentRequest, UsageLogQueue};
pub use watched_request::WatchedRequest;
