//! The model that answers: the provider that the environment names, or the offline model in this process.

use std::sync::Arc;

use longhaul::Model;
use longhaul_agent::agent::ModelOrigin;
use longhaul_agent::offline::{self, OfflineOptions, OfflineServer, WritingSpeed};
use longhaul_provider::{Client, ClientConfig, Dialect};

use crate::args::ChatArgs as Command;
use crate::failure::CliError;

/// The default model.
const MODEL: &str = "claude-sonnet-5-5";

/// Variables that configure access to a model.
const REACHED_BY: [&str; 3] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
];

/// The model that answers.
pub(super) struct ChatModel {
    pub(super) model: Arc<dyn Model>,
    pub(super) id: String,
    pub(super) origin: ModelOrigin,
    /// The offline model, which ends when this is dropped.
    pub(super) offline: Option<Arc<OfflineServer>>,
    /// A notice for the user.
    pub(super) notice: Option<&'static str>,
}

pub(super) async fn choose_model(
    command: &Command,
    configured: Option<&str>,
) -> Result<ChatModel, CliError> {
    let is_set = |name: &&str| variable(name).is_some_and(|value| !value.trim().is_empty());
    let wants_offline = command.offline || command.tour;
    if !wants_offline && REACHED_BY.iter().any(is_set) {
        let config = ClientConfig::from_env(Dialect::Anthropic, variable)?;
        let named = command.model.as_deref().or(configured);
        return Ok(ChatModel {
            model: Arc::new(Client::new(config)?),
            id: named.unwrap_or(MODEL).to_owned(),
            origin: match (&command.model, configured) {
                (Some(_), _) => ModelOrigin::Flag,
                (None, Some(_)) => ModelOrigin::Setting,
                (None, None) => ModelOrigin::Default,
            },
            offline: None,
            notice: None,
        });
    }
    if let Some(model) = command.model.clone().filter(|_| !wants_offline) {
        return Err(CliError::NoKeyForModel(model));
    }
    let options = OfflineOptions {
        speed: if command.print || !longhaul_agent::screen::is_seen() {
            WritingSpeed::Instant
        } else {
            WritingSpeed::HUMAN
        },
        // Ids of calls come from it, too, and must be new in a resumed session. A tour is always a new one, and the
        // same each time.
        seed: if command.tour { 1 } else { seed() },
    };
    let offline = offline::start(options).await.map_err(CliError::Runtime)?;
    Ok(ChatModel {
        model: Arc::new(Client::new(offline.client())?),
        id: offline::MODEL.to_owned(),
        origin: ModelOrigin::Only,
        offline: Some(Arc::new(offline)),
        notice: Some(if wants_offline {
            "A simulated model answers: nothing leaves this machine and nothing is billed."
        } else {
            "ANTHROPIC_API_KEY is not set, so a simulated model answers: nothing leaves this machine and nothing is billed."
        }),
    })
}

/// A seed that no other process had.
fn seed() -> u64 {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    let nanos = u64::try_from(now.as_nanos() % (1 << 60)).unwrap_or_default();
    nanos ^ (u64::from(std::process::id()) << 32)
}

/// The value of an environment variable.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
