//! The model that the examples talk to: the provider's, if `ANTHROPIC_API_KEY` is set, and otherwise the simulator, which
//! needs no network and no key.

use std::error::Error;

use longhaul::{Client, ClientConfig, Dialect};
use longhaul_sim::model::agent::AgentBehavior;
use longhaul_sim::model::{SimModel, SimModelOptions};
use longhaul_sim::server::{SimServer, SimServerOptions};
use longhaul_sim::world::{World, WorldOptions};

/// The model that is asked.
pub(crate) const MODEL: &str = "claude-sonnet-4-6";

/// Returns a client, and the simulator if that is what it talks to. The simulator ends when it is dropped.
pub(crate) async fn connect() -> Result<(Client, Option<SimServer>), Box<dyn Error>> {
    // The examples are also run by the tests, which never ask a real provider.
    if std::env::var_os("ANTHROPIC_API_KEY").is_some() && !cfg!(test) {
        let config = ClientConfig::from_env(Dialect::Anthropic, |name| std::env::var(name).ok())?;
        return Ok((Client::new(config)?, None));
    }
    let model = SimModel::new(SimModelOptions {
        pace: AgentBehavior::obedient(),
        ..SimModelOptions::default()
    });
    let world = World::new(WorldOptions::new(1, Box::new(model)));
    let options = SimServerOptions::default();
    let server = SimServer::start("127.0.0.1:0".parse()?, world, options).await?;
    let config = ClientConfig::from_env(Dialect::Anthropic, |name| match name {
        "ANTHROPIC_BASE_URL" => Some(server.url()),
        "ANTHROPIC_API_KEY" => Some("the simulator takes any key".to_owned()),
        _ => None,
    })?;
    Ok((Client::new(config)?, Some(server)))
}
