//! The form in which the counters are passed to Prometheus and OpenTelemetry.

/// How a metric behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetricKind {
    /// It only increases.
    Counter,
    /// It increases and decreases.
    Gauge,
}

/// The value of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MetricValue {
    Count(u64),
    Level(i64),
    Amount(f64),
}

impl std::fmt::Display for MetricValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Level(level) => level.fmt(f),
            Self::Amount(amount) => amount.fmt(f),
        }
    }
}

/// A value with the labels that distinguish it from others of its family.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MetricSample {
    pub(super) labels: Vec<(&'static str, &'static str)>,
    pub(super) number: MetricValue,
}

impl MetricSample {
    pub(super) fn of<const N: usize>(
        labels: [(&'static str, &'static str); N],
        number: MetricValue,
    ) -> Self {
        Self {
            labels: labels.to_vec(),
            number,
        }
    }

    pub(super) fn plain(number: MetricValue) -> Self {
        Self::of([], number)
    }
}

/// The values of one metric name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MetricFamily {
    /// The name without prefix and suffix.
    pub(super) name: &'static str,
    pub(super) kind: MetricKind,
    pub(super) help: &'static str,
    pub(super) samples: Vec<MetricSample>,
}
