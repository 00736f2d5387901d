//! Log lines on stderr (E2): `tracing` spans and events of all crates, chosen by a filter, without any server.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::failure::Failure;

/// Starts logging. `LONGHAUL_LOG_FORMAT=json` makes each line a JSON object.
pub(crate) fn start(filter: &str) -> Result<(), Failure> {
    let chosen = EnvFilter::try_new(filter).map_err(|error| Failure::LogFilter {
        filter: filter.to_owned(),
        reason: error.to_string(),
    })?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(chosen)
        .with_writer(std::io::stderr)
        .with_ansi(anstream::stderr().is_terminal())
        .with_span_events(FmtSpan::CLOSE);
    let as_json = std::env::var_os("LONGHAUL_LOG_FORMAT").is_some_and(|format| format == "json");
    // Started once, by `main`; a second start, which tests may cause, changes nothing.
    let _ = if as_json {
        lines.json().try_init()
    } else {
        lines.try_init()
    };
    Ok(())
}
