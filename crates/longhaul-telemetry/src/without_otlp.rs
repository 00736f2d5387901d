//! What a build without the feature `otlp` does: it says that it cannot send anything.

use super::{TelemetryExport, endpoint};

pub(super) fn start<S>() -> TelemetryExport<S> {
    let is_wanted = endpoint("METRICS").or_else(|| endpoint("TRACES")).is_some();
    let warnings = is_wanted.then(|| {
        "metrics and traces are not sent: this build has no OpenTelemetry (packages have it; `--features otel` builds it)"
            .to_owned()
    });
    TelemetryExport {
        traces: None,
        warnings: warnings.into_iter().collect(),
    }
}

pub(super) fn finish() {}
