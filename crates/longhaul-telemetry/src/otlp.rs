//! The export over OTLP, by OpenTelemetry's own SDK.

use std::sync::OnceLock;
use std::time::Duration;

use longhaul_provider::Certificates;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{
    MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::Layer as _;
use tracing_subscriber::registry::LookupSpan;

use super::{TelemetryExport, endpoint, variable};

/// How long to wait for a collector.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Default)]
struct TelemetryProviders {
    metrics: Option<SdkMeterProvider>,
    traces: Option<SdkTracerProvider>,
}

static STARTED: OnceLock<TelemetryProviders> = OnceLock::new();

pub(super) fn start<S>() -> TelemetryExport<S>
where
    S: tracing::Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
{
    let mut warnings = Vec::new();
    let service = variable("OTEL_SERVICE_NAME").unwrap_or_else(|| "longhaul".to_owned());
    let resource = Resource::builder().with_service_name(service).build();
    let mut started = TelemetryProviders::default();
    if let Some(endpoint) = endpoint("METRICS") {
        match metric_exporter(&endpoint) {
            Ok(exporter) => {
                let provider = SdkMeterProvider::builder()
                    .with_reader(PeriodicReader::builder(exporter).build())
                    .with_resource(resource.clone())
                    .build();
                opentelemetry::global::set_meter_provider(provider.clone());
                started.metrics = Some(provider);
            }
            Err(why) => warnings.push(format!("metrics cannot be sent: {why}")),
        }
    }
    if let Some(endpoint) = endpoint("TRACES") {
        match span_exporter(&endpoint) {
            Ok(exporter) => {
                let provider = SdkTracerProvider::builder()
                    .with_batch_exporter(exporter)
                    .with_resource(resource)
                    .build();
                started.traces = Some(provider);
            }
            Err(why) => warnings.push(format!("traces cannot be sent: {why}")),
        }
    }
    let traces = started.traces.as_ref().map(|provider| {
        // The code location and the thread of a span are not exported.
        tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("longhaul"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .boxed()
    });
    // Started once, by `main` of the command.
    let _ = STARTED.set(started);
    TelemetryExport { traces, warnings }
}

pub(super) fn finish() {
    let Some(started) = STARTED.get() else {
        return;
    };
    // A collector that cannot be reached is not a reason to fail.
    if let Some(metrics) = &started.metrics {
        let _ = metrics.shutdown_with_timeout(PATIENCE);
    }
    if let Some(traces) = &started.traces {
        let _ = traces.shutdown_with_timeout(PATIENCE);
    }
}

fn metric_exporter(endpoint: &str) -> Result<MetricExporter, String> {
    MetricExporter::builder()
        .with_http()
        .with_http_client(client(endpoint)?)
        .with_protocol(Protocol::HttpBinary)
        .build()
        .map_err(|error| error.to_string())
}

fn span_exporter(endpoint: &str) -> Result<SpanExporter, String> {
    SpanExporter::builder()
        .with_http()
        .with_http_client(client(endpoint)?)
        .with_protocol(Protocol::HttpBinary)
        .build()
        .map_err(|error| error.to_string())
}

/// A client with a thread of its own, because exporters block.
fn client(endpoint: &str) -> Result<reqwest::blocking::Client, String> {
    let certificates = if endpoint.starts_with("https:") {
        Certificates::OfTheSystem
    } else {
        Certificates::None
    };
    let tls = certificates.config().map_err(|error| error.to_string())?;
    reqwest::blocking::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .timeout(PATIENCE)
        .no_proxy()
        .build()
        .map_err(|error| longhaul_provider::chain(&error))
}
