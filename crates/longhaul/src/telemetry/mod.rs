//! The telemetry of a session (E2): log lines (`log.rs`) and metrics (`metrics.rs`). Both are made from the engine's
//! events and need no server. The metrics are in the feature `otel`.

mod log;
#[cfg(feature = "otel")]
mod metrics;

use longhaul_core::engine::Event;

/// Records an event of the engine in the log and in the metrics.
pub(crate) fn record(event: &Event) {
    log::record(event);
    #[cfg(feature = "otel")]
    metrics::record(event);
}
