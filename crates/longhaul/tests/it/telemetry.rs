//! Metrics, as a host's own provider sees them.

use std::collections::BTreeMap;

use opentelemetry::global;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};

use crate::session::house::{House, Talk};

#[tokio::test]
async fn e2_a_sessions_events_are_counted_by_the_hosts_own_meter_provider() {
    let exporter = InMemoryMetricExporter::default();
    let reader = PeriodicReader::builder(exporter.clone()).build();
    let provider = SdkMeterProvider::builder().with_reader(reader).build();
    global::set_meter_provider(provider.clone());

    let mut house = House::new("claude-sonnet-4-6", 12_000).await;
    let mut talk = Talk::new(3);
    for turn in 0..12 {
        house.exchange(&mut talk, turn).await;
    }
    provider.force_flush().unwrap();

    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for metrics in exporter.get_finished_metrics().unwrap() {
        for scope in metrics.scope_metrics() {
            for metric in scope.metrics() {
                if let AggregatedMetrics::U64(MetricData::Sum(sum)) = metric.data() {
                    let total = sum.data_points().map(|point| point.value()).sum();
                    sums.insert(metric.name().to_owned(), total);
                }
            }
        }
    }
    let told = house.told();
    // Other sessions of this process may be counted, too.
    assert!(sums["longhaul.compactions"] >= told.compactions as u64 && told.compactions > 0);
    assert!(sums["longhaul.tokens"] > 10_000, "{sums:?}");
    assert!(sums["longhaul.compaction.tokens_saved"] > 0);
}
