//! Who writes the summary: the provider that the environment names, or no model.

use std::sync::Arc;

use longhaul::recorded::{RecordedTranscript, SummaryProvider};
use longhaul_core::config::Config;
use longhaul_provider::{Client, ClientConfig, Dialect};

use crate::args::CompactArgs as Command;
use crate::failure::{CliError, tell};

/// Variables that configure access to a model.
const REACHED_BY: [&str; 3] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
];

pub(super) fn summary_provider(
    command: &Command,
    recording: &RecordedTranscript,
    config: &Config,
) -> Result<Option<SummaryProvider>, CliError> {
    if command.local || command.summary.is_some() {
        return Ok(None);
    }
    let variable = |name: &str| std::env::var(name).ok();
    let is_set = |name: &&str| variable(name).is_some_and(|value| !value.trim().is_empty());
    if !REACHED_BY.iter().any(is_set) {
        if command.model.is_some() {
            return Err(CliError::NoKey);
        }
        tell("No model is asked: ANTHROPIC_API_KEY is not set.");
        return Ok(None);
    }
    let named = command.model.clone().or(config.summary_model.clone());
    let named = named.or_else(|| recording.model());
    let Some(id) = named.or_else(|| config.model.clone()) else {
        tell("No model is asked: the transcript names none; --model does.");
        return Ok(None);
    };
    let client = Client::new(ClientConfig::from_env(Dialect::Anthropic, variable)?)?;
    Ok(Some(SummaryProvider {
        model: Arc::new(client),
        id: Some(id),
    }))
}
