//! Publishes the gateway's counters as OpenTelemetry metrics (E2). The names of the metrics begin with
//! `longhaul.gateway.`.
//!
//! Counters are read when the host's OpenTelemetry provider collects metrics; without a provider, nothing is read. Each
//! duration is recorded when a request ends, because the provider calculates the distribution.

use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;

use super::family::{MetricFamily, MetricKind, MetricValue};
use super::metrics::{BOUNDS, Metrics};

impl Metrics {
    /// Publishes the counters and the durations of requests through an OpenTelemetry meter, from now on.
    pub fn publish(self: &Arc<Self>, meter: &Meter) {
        for family in self.families() {
            self.publish_family(meter, &family);
        }
        let duration = meter
            .f64_histogram("longhaul.gateway.request_duration")
            .with_unit("s")
            .with_description("From the headers of a request to the end of its answer.")
            .with_boundaries(BOUNDS.map(|bound| bound as f64 / 1_000.0).to_vec())
            .build();
        // Durations go to the first meter only; a second meter gets only the counters.
        let _ = self.told.set(duration);
    }

    fn publish_family(self: &Arc<Self>, meter: &Meter, family: &MetricFamily) {
        let full_name = format!("longhaul.gateway.{}", family.name);
        let metrics = Arc::clone(self);
        let name = family.name;
        let current_samples = move || {
            let mut families = metrics.families().into_iter();
            let found = families.find(|family| family.name == name);
            found.map(|family| family.samples).unwrap_or_default()
        };
        let number = family.samples.first().map(|sample| sample.number);
        // The provider keeps the callbacks, so the instruments need not be kept here.
        match (family.kind, number) {
            (MetricKind::Counter, Some(MetricValue::Amount(_))) => {
                let instrument = meter.f64_observable_counter(full_name);
                let observe = instrument
                    .with_description(family.help)
                    .with_callback(move |to| {
                        for sample in current_samples() {
                            if let MetricValue::Amount(amount) = sample.number {
                                to.observe(amount, &labels(&sample.labels));
                            }
                        }
                    });
                observe.build();
            }
            (MetricKind::Gauge, _) => {
                let instrument = meter.i64_observable_up_down_counter(full_name);
                let observe = instrument
                    .with_description(family.help)
                    .with_callback(move |to| {
                        for sample in current_samples() {
                            if let MetricValue::Level(level) = sample.number {
                                to.observe(level, &labels(&sample.labels));
                            }
                        }
                    });
                observe.build();
            }
            // A family that has no samples yet is registered too, because it may get some later.
            (MetricKind::Counter, _) => {
                let instrument = meter.u64_observable_counter(full_name);
                let observe = instrument
                    .with_description(family.help)
                    .with_callback(move |to| {
                        for sample in current_samples() {
                            if let MetricValue::Count(count) = sample.number {
                                to.observe(count, &labels(&sample.labels));
                            }
                        }
                    });
                observe.build();
            }
        }
    }
}

fn labels(labels: &[(&'static str, &'static str)]) -> Vec<KeyValue> {
    let labels = labels.iter();
    labels
        .map(|(label, value)| KeyValue::new(*label, *value))
        .collect()
}
