//! The counters as text for Prometheus. Names begin with `longhaul_`.

use std::fmt::Write;

use super::family::MetricKind;
use super::metrics::{BOUNDS, Metrics};

impl Metrics {
    /// The text format of Prometheus.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let header = |out: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(
                out,
                "# HELP longhaul_{name} {help}\n# TYPE longhaul_{name} {kind}"
            );
        };
        for family in self.families() {
            let (name, kind) = match family.kind {
                MetricKind::Counter => (format!("{}_total", family.name), "counter"),
                MetricKind::Gauge => (family.name.to_owned(), "gauge"),
            };
            header(&mut out, &name, kind, family.help);
            for sample in family.samples {
                let labels = sample.labels.iter();
                let labels: Vec<String> = labels
                    .map(|(label, value)| format!("{label}=\"{value}\""))
                    .collect();
                let labels = if labels.is_empty() {
                    String::new()
                } else {
                    format!("{{{}}}", labels.join(","))
                };
                let _ = writeln!(out, "longhaul_{name}{labels} {}", sample.number);
            }
        }
        let name = "request_duration_seconds";
        let help = "From the headers of a request to the end of its answer.";
        header(&mut out, name, "histogram", help);
        let (counts, sum) = self.durations();
        let bounds = BOUNDS.map(|bound| (bound as f64 / 1_000.0).to_string());
        let bounds = bounds.into_iter().chain(["+Inf".to_owned()]);
        let mut below = 0;
        for (bound, count) in bounds.zip(counts) {
            below += count;
            let _ = writeln!(out, "longhaul_{name}_bucket{{le=\"{bound}\"}} {below}");
        }
        let sum = sum as f64 / 1_000.0;
        let _ = writeln!(
            out,
            "longhaul_{name}_sum {sum}\nlonghaul_{name}_count {below}"
        );
        out
    }
}
