//! The counters as OpenTelemetry metrics (E2). Names begin with `longhaul.gateway.`.
//!
//! Counters are read when the host's provider collects; without a provider nothing is read. Durations are recorded as
//! they occur, because the provider calculates their distribution.

use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;

use super::family::{MetricFamily, MetricKind, MetricValue};
use super::metrics::{BOUNDS, Metrics};

impl Metrics {
    /// Publishes the counters through a meter, from now on.
    pub fn publish(self: &Arc<Self>, meter: &Meter) {
        for family in self.families() {
            self.publish_family(meter, &family);
        }
        let duration = meter
            .f64_histogram("longhaul.gateway.request_duration")
            .with_unit("s")
            .with_description("From the head of a request to the end of its answer.")
            .with_boundaries(BOUNDS.map(|bound| bound as f64 / 1_000.0).to_vec())
            .build();
        // Durations are published once; a second meter gets only the counters.
        let _ = self.told.set(duration);
    }

    fn publish_family(self: &Arc<Self>, meter: &Meter, family: &MetricFamily) {
        let full = format!("longhaul.gateway.{}", family.name);
        let metrics = Arc::clone(self);
        let name = family.name;
        let now = move || {
            let mut families = metrics.families().into_iter();
            let found = families.find(|family| family.name == name);
            found.map(|family| family.samples).unwrap_or_default()
        };
        let number = family.samples.first().map(|sample| sample.number);
        // The provider keeps the instruments that it needs.
        match (family.kind, number) {
            (MetricKind::Counter, Some(MetricValue::Amount(_))) => {
                let instrument = meter.f64_observable_counter(full);
                let observe = instrument
                    .with_description(family.help)
                    .with_callback(move |to| {
                        for sample in now() {
                            if let MetricValue::Amount(amount) = sample.number {
                                to.observe(amount, &labels(&sample.labels));
                            }
                        }
                    });
                observe.build();
            }
            (MetricKind::Gauge, _) => {
                let instrument = meter.i64_observable_up_down_counter(full);
                let observe = instrument
                    .with_description(family.help)
                    .with_callback(move |to| {
                        for sample in now() {
                            if let MetricValue::Level(level) = sample.number {
                                to.observe(level, &labels(&sample.labels));
                            }
                        }
                    });
                observe.build();
            }
            // A family without samples is registered, too: it may get some later.
            (MetricKind::Counter, _) => {
                let instrument = meter.u64_observable_counter(full);
                let observe = instrument
                    .with_description(family.help)
                    .with_callback(move |to| {
                        for sample in now() {
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
