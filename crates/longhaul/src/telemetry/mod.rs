//! What a session reports about itself (E2): log lines (`log.rs`) and metrics (`metrics.rs`). Both are made from the
//! engine's events and need no server.

mod log;
mod metrics;

use longhaul_core::engine::Event;

/// Records an event.
pub(crate) fn record(event: &Event) {
    log::record(event);
    metrics::record(event);
}
