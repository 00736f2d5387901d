//! Who answers: the provider that the environment names, or a simulated model in this process.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use longhaul::Model;
use longhaul_provider::{Client, ClientConfig, Dialect};
use longhaul_sim::model::{Options as ModelOptions, SimModel};
use longhaul_sim::server::{Options, Server};
use longhaul_sim::world::{self, World};

use crate::args::Chat as Command;
use crate::failure::{Failure, tell};

/// The model where nobody names one.
const MODEL: &str = "claude-sonnet-5-5";

/// Variables that say how a model can be reached.
const REACHED_BY: [&str; 3] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
];

/// Who answers.
pub(super) struct Answering {
    pub(super) model: Arc<dyn Model>,
    pub(super) id: String,
    /// The simulated model, which ends when this is dropped.
    pub(super) offline: Option<Server>,
}

pub(super) async fn answering(
    command: &Command,
    configured: Option<&str>,
) -> Result<Answering, Failure> {
    let variable = |name: &str| std::env::var(name).ok();
    let is_set = |name: &&str| variable(name).is_some_and(|value| !value.trim().is_empty());
    let named = command.model.as_deref().or(configured);
    let id = named.unwrap_or(MODEL).to_owned();
    if !command.offline && REACHED_BY.iter().any(is_set) {
        let config = ClientConfig::from_env(Dialect::Anthropic, variable)?;
        return Ok(Answering {
            model: Arc::new(Client::new(config)?),
            id,
            offline: None,
        });
    }
    if !command.offline && command.model.is_some() {
        return Err(Failure::NoKey);
    }
    tell(match command.offline {
        true => "A simulated model answers: nothing leaves this machine and nothing is billed.",
        false => {
            "ANTHROPIC_API_KEY is not set, so a simulated model answers: nothing leaves this machine and nothing is billed."
        }
    });
    let server = simulated().await.map_err(Failure::Runtime)?;
    let url = server.url();
    let config = ClientConfig::from_env(Dialect::Anthropic, |name| match name {
        "ANTHROPIC_BASE_URL" => Some(url.clone()),
        "ANTHROPIC_API_KEY" => Some("none".to_owned()),
        _ => None,
    })?;
    Ok(Answering {
        model: Arc::new(Client::new(config)?),
        id: MODEL.to_owned(),
        offline: Some(server),
    })
}

async fn simulated() -> std::io::Result<Server> {
    let options = Options::default();
    let world = World::new(world::Options {
        pace: Options::world_pace(options.pace),
        ..world::Options::new(1, Box::new(SimModel::new(ModelOptions::default())))
    });
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Server::start(listen, world, options).await
}
