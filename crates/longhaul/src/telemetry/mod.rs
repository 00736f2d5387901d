//! The telemetry of a session (E2): log lines (`log.rs`) and metrics (`metrics.rs`). Both are made from the engine's
//! events and need no server.

mod log;
mod metrics;

use longhaul_core::engine::Event;

/// Records an event of the engine in the log and in the metrics.
pub(crate) fn record(event: &Event) {
    log::record(event);
    metrics::record(event);
}
