//! Starts the simulator in this process, on the loopback interface, with the model that does as it is told.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use longhaul_provider::{Auth, ClientConfig, Dialect, Secret};
use longhaul_sim::faults::wire::EventPace;
use longhaul_sim::model::agent::AgentBehavior as Work;
use longhaul_sim::model::{self, SimModel};
use longhaul_sim::server::{self, SimServer};
use longhaul_sim::world::{self, World};

use super::MODEL;

/// Any key is accepted; this one says what it is for.
const KEY: &str = "offline";
/// The approximate number of tokens in one stream event.
const TOKENS_AN_EVENT: u64 = 6;
/// How long people wait for the first byte at human speed.
const FIRST_BYTE: Duration = Duration::from_millis(350);
/// The maximum time that a reply takes, however long it is.
const AT_MOST: Duration = Duration::from_secs(5);

/// How long a cache entry lives at most.
const LONGEST_LIFETIME_MS: u64 = 60 * 60 * 1_000;

/// How fast the model writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WritingSpeed {
    /// As fast as it goes; for tests and scripts.
    Instant,
    /// This many tokens a second, a little faster if a reply is very long.
    TokensPerSecond(u64),
}

impl WritingSpeed {
    /// A speed that people can follow.
    pub const HUMAN: Self = Self::TokensPerSecond(160);

    fn pace(self) -> EventPace {
        match self {
            Self::Instant => EventPace::FAST,
            Self::TokensPerSecond(tokens) => EventPace {
                first_byte: FIRST_BYTE,
                between: Duration::from_millis(1_000 * TOKENS_AN_EVENT / tokens.max(1)),
                at_most: Some(AT_MOST),
            },
        }
    }
}

/// How the offline model is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfflineOptions {
    /// The seed of all randomness: the same seed and the same requests give the same replies.
    pub seed: u64,
    /// How fast the model writes.
    pub speed: WritingSpeed,
}

impl Default for OfflineOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            speed: WritingSpeed::HUMAN,
        }
    }
}

/// The offline model's server. Dropping it ends the server; as a [`SessionListener`](crate::agent::SessionListener) it
/// keeps its cache beside the session.
#[derive(Debug)]
pub struct OfflineServer {
    server: SimServer,
}

/// The simulator's model that answers: it does what the user literally asks for and changes nothing else.
pub fn model(seed: u64) -> SimModel {
    SimModel::new(model::SimModelOptions {
        seed,
        pace: Work::obedient(),
        ..model::SimModelOptions::default()
    })
}

/// Starts the server on a free port that only this machine can reach. It uses the real time.
pub async fn start(options: OfflineOptions) -> io::Result<OfflineServer> {
    let pace = options.speed.pace();
    let mut world = World::new(world::WorldOptions {
        pace: server::SimServerOptions::world_pace(pace),
        ..world::WorldOptions::new(options.seed, Box::new(model(options.seed)))
    });
    // Cache entries of earlier processes were used before now, an hour ago at most.
    world.advance(LONGEST_LIFETIME_MS);
    let serving = server::SimServerOptions {
        pace,
        model: MODEL.to_owned(),
        seed: options.seed,
        ..server::SimServerOptions::default()
    };
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = SimServer::start(listen, world, serving).await?;
    Ok(OfflineServer { server })
}

impl OfflineServer {
    /// The address that the server listens on.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// What a client needs to connect to the server. No proxy and no key of the user is involved.
    pub fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new(Dialect::Anthropic);
        config.base_url = Secret::new(self.url());
        config.auth = Auth::ApiKey(Secret::new(KEY));
        config
    }

    /// The simulator's server with its usage log and its state.
    pub fn server(&self) -> &SimServer {
        &self.server
    }

    /// Lets the current reply finish, and stops the server.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}
