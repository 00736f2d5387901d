//! Metrics and traces for a collector (E2), for long-running commands, and only if the environment names one.
//!
//! The variables are those of OpenTelemetry: OTEL_EXPORTER_OTLP_ENDPOINT, or one for metrics or traces alone,
//! OTEL_SERVICE_NAME, OTEL_EXPORTER_OTLP_HEADERS, OTEL_METRIC_EXPORT_INTERVAL, OTEL_SDK_DISABLED. Nothing is sent
//! anywhere without them.
//!
//! This is a crate of its own because of what it depends on: the exporter and its encoding take a tenth of the time in
//! which the command is compiled, and few people run a collector. The feature `otlp` has them (`otlp.rs`); without it
//! a collector that the environment names is answered with a warning (`without_otlp.rs`).

#[cfg(feature = "otlp")]
mod otlp;
#[cfg(not(feature = "otlp"))]
#[path = "without_otlp.rs"]
mod otlp;

use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

/// A layer that turns spans into traces.
pub type TraceLayer<S> = Box<dyn Layer<S> + Send + Sync>;

/// An export that has begun, as far as the environment asked for one.
pub struct TelemetryExport<S> {
    /// The layer that exports spans, if traces are wanted and can be sent.
    pub traces: Option<TraceLayer<S>>,
    /// What is wanted and cannot be sent, in sentences for the user.
    pub warnings: Vec<String>,
}

/// Starts exporting, if the environment asks for it: metrics by the global meter, and the layer that turns spans into
/// traces.
#[must_use]
pub fn start<S>() -> TelemetryExport<S>
where
    S: tracing::Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return TelemetryExport {
            traces: None,
            warnings: Vec::new(),
        };
    }
    otlp::start()
}

/// Sends the remaining data. Must not be called on a runtime.
pub fn finish() {
    otlp::finish();
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The endpoint for one kind of data, or for all.
fn endpoint(kind: &str) -> Option<String> {
    variable(&format!("OTEL_EXPORTER_OTLP_{kind}_ENDPOINT"))
        .or_else(|| variable("OTEL_EXPORTER_OTLP_ENDPOINT"))
}
