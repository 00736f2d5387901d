//! Log lines on stderr (E2): `tracing` spans and events of all crates, selected by a filter, without any server. If the
//! environment names a collector, spans go there too (the crate `longhaul-telemetry`).

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use longhaul_core::config::Config;

use crate::failure::{CliError, warn};

/// Whether a command exports telemetry to a collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ExportPolicy {
    /// It never does, because it ends quickly.
    #[default]
    Never,
    /// It does if the environment names a collector.
    IfAsked,
}

/// Where log lines may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LogLinePolicy {
    /// They may be written to stderr, whatever that is.
    #[default]
    Always,
    /// They are not written to a terminal, where they would break the screen, unless the user asks for them.
    NotOnScreen,
}

/// Starts logging. `LONGHAUL_LOG_FORMAT=json` makes each line a JSON object.
pub(crate) fn start(
    filter: &str,
    lines: LogLinePolicy,
    exporting: ExportPolicy,
) -> Result<(), CliError> {
    let is_screen = lines == LogLinePolicy::NotOnScreen && anstream::stderr().is_terminal();
    let is_asked_for = filter != Config::default().log;
    let filter = if is_screen && !is_asked_for {
        "off"
    } else {
        filter
    };
    let chosen = EnvFilter::try_new(filter).map_err(|error| CliError::LogFilter {
        filter: filter.to_owned(),
        reason: error.to_string(),
    })?;
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(anstream::stderr().is_terminal())
        .with_span_events(FmtSpan::CLOSE);
    let as_json = std::env::var_os("LONGHAUL_LOG_FORMAT").is_some_and(|format| format == "json");
    let lines = if as_json {
        lines.json().with_filter(chosen).boxed()
    } else {
        lines.with_filter(chosen).boxed()
    };
    // Started once, by `main`; a second start, which tests may cause, changes nothing.
    let _ = tracing_subscriber::registry()
        .with(
            vec![lines]
                .into_iter()
                .chain(traces(exporting))
                .collect::<Vec<_>>(),
        )
        .try_init();
    Ok(())
}

/// The layer that exports to a collector: our own spans, however little is logged.
fn traces(exporting: ExportPolicy) -> Option<Box<dyn Layer<Registry> + Send + Sync>> {
    if exporting == ExportPolicy::Never {
        return None;
    }
    let ours = [
        "longhaul",
        "longhaul_agent",
        "longhaul_core",
        "longhaul_gateway",
    ];
    let ours = ours.map(|name| (name, LevelFilter::INFO));
    let export = longhaul_telemetry::start();
    for warning in &export.warnings {
        warn(warning);
    }
    Some(export.traces?.with_filter(Targets::from_iter(ours)).boxed())
}
