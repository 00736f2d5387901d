//! Prometheus and OpenTelemetry get the same counters.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use longhaul_gateway::branch::{BranchId, BranchRelation};
use longhaul_gateway::policy::RequestPolicy;
use longhaul_gateway::store::CompactedPrefixKind;
use longhaul_gateway::watch::{Metrics, RefusalClass};
use opentelemetry::metrics::MeterProvider;
use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};

fn something_happened(metrics: &Metrics) {
    for millis in [3, 700, 2_000_000] {
        let took = Duration::from_millis(millis);
        metrics.answered(200, Some(RequestPolicy::Manage), took);
    }
    metrics.answered(503, None, Duration::from_millis(1));
    metrics.refused(RefusalClass::Busy);
    metrics.in_flight(5);
    metrics.in_flight(-2);
    let usage = Usage {
        input: 7,
        cache_read: 4_000,
        output: 11,
        ..Usage::default()
    };
    metrics.used(&usage, Some(Usd::from_pico(2_500_000_000_000)));
    metrics.found("system");
    metrics.found("system");
    metrics.found("expired_5m");
    metrics.compacted(CompactedPrefixKind::ALL[0]);
    metrics.dropped();
    metrics.placed(BranchRelation::New);
    metrics.placed(BranchRelation::Extends(3));
    metrics.placed(BranchRelation::Branches(BranchId(1), 2));
}

/// Name and labels as Prometheus writes them.
fn named<'l>(name: &str, labels: impl Iterator<Item = &'l KeyValue>) -> String {
    let mut labels: Vec<String> = labels
        .map(|label| match &label.value {
            Value::String(value) => format!("{}=\"{value}\"", label.key),
            other => panic!("{other:?}"),
        })
        .collect();
    labels.sort();
    if labels.is_empty() {
        name.to_owned()
    } else {
        format!("{name}{{{}}}", labels.join(","))
    }
}

#[test]
fn e2_prometheus_and_open_telemetry_are_told_the_same() {
    let exporter = InMemoryMetricExporter::default();
    let reader = PeriodicReader::builder(exporter.clone()).build();
    let provider = SdkMeterProvider::builder().with_reader(reader).build();
    let metrics = Arc::new(Metrics::default());
    metrics.publish(&provider.meter("longhaul.gateway"));
    something_happened(&metrics);
    provider.force_flush().unwrap();

    let mut told: BTreeMap<String, f64> = BTreeMap::new();
    let mut durations = (0, 0.0, Vec::new());
    for collected in exporter.get_finished_metrics().unwrap() {
        for metric in collected.scope_metrics().flat_map(|scope| scope.metrics()) {
            let name = metric.name().replace("longhaul.gateway.", "longhaul_");
            match metric.data() {
                AggregatedMetrics::U64(MetricData::Sum(sum)) => {
                    for point in sum.data_points() {
                        let name = named(&format!("{name}_total"), point.attributes());
                        told.insert(name, point.value() as f64);
                    }
                }
                AggregatedMetrics::F64(MetricData::Sum(sum)) => {
                    for point in sum.data_points() {
                        let name = named(&format!("{name}_total"), point.attributes());
                        told.insert(name, point.value());
                    }
                }
                AggregatedMetrics::I64(MetricData::Sum(sum)) => {
                    for point in sum.data_points() {
                        told.insert(named(&name, point.attributes()), point.value() as f64);
                    }
                }
                AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
                    for point in histogram.data_points() {
                        durations.0 += point.count();
                        durations.1 += point.sum();
                        durations.2 = point.bounds().collect();
                    }
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    let text = metrics.text();
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let (histogram, counters): (Vec<&str>, Vec<&str>) =
        samples.partition(|line| line.contains("duration"));
    let written: BTreeMap<String, f64> = counters
        .iter()
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        })
        .collect();
    assert_eq!(written, told);
    assert_eq!(told["longhaul_requests_in_flight"], 3.0);
    assert_eq!(
        told["longhaul_requests_total{policy=\"manage\",status=\"2xx\"}"],
        3.0
    );
    assert_eq!(told["longhaul_cache_findings_total{cause=\"system\"}"], 2.0);
    assert_eq!(told["longhaul_cost_usd_total"], 2.5);
    let (count, sum, bounds) = durations;
    assert_eq!((count, bounds.len()), (4, 10));
    assert!(histogram.contains(&"longhaul_request_duration_seconds_count 4"));
    assert!(histogram.contains(&&*format!("longhaul_request_duration_seconds_sum {sum}")));
    assert!(histogram.contains(&"longhaul_request_duration_seconds_bucket{le=\"1\"} 3"));
}
