//! Starts the simulator in this process, on the loopback, with the model that does as it is told.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use longhaul_provider::{Auth, ClientConfig, Dialect, Secret};
use longhaul_sim::faults::wire::Pace;
use longhaul_sim::model::agent::Pace as Work;
use longhaul_sim::model::{self, SimModel};
use longhaul_sim::server::{self, Server};
use longhaul_sim::world::{self, World};

use super::MODEL;

/// Any key is good; this one tells what it is for.
const KEY: &str = "offline";
/// About how many tokens an event of a stream holds.
const TOKENS_AN_EVENT: u64 = 6;
/// How long a human waits before something comes.
const FIRST_BYTE: Duration = Duration::from_millis(350);
/// How long a reply takes at most, however much it says.
const AT_MOST: Duration = Duration::from_secs(5);

/// How fast the model writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speed {
    /// As fast as it goes; for tests and scripts.
    Instant,
    /// So many tokens a second, a little faster where a reply is very long.
    TokensPerSecond(u64),
}

impl Speed {
    /// One that people can follow.
    pub const HUMAN: Self = Self::TokensPerSecond(160);

    fn pace(self) -> Pace {
        match self {
            Self::Instant => Pace::FAST,
            Self::TokensPerSecond(tokens) => Pace {
                first_byte: FIRST_BYTE,
                between: Duration::from_millis(1_000 * TOKENS_AN_EVENT / tokens.max(1)),
                at_most: Some(AT_MOST),
            },
        }
    }
}

/// How the offline model is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Where all chance comes from: the same seed and the same requests give the same replies.
    pub seed: u64,
    /// How fast it writes.
    pub speed: Speed,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            speed: Speed::HUMAN,
        }
    }
}

/// The offline model, listening. Dropping it ends it; its cache ends with it, so it is kept over a resume.
#[derive(Debug)]
pub struct Offline {
    server: Server,
}

/// Who answers: the simulator's model, which does what the user asks for in so many words and changes nothing else.
pub fn model(seed: u64) -> SimModel {
    SimModel::new(model::Options {
        seed,
        pace: Work::obedient(),
        ..model::Options::default()
    })
}

/// Starts it on a free port that only this machine reaches. Time passes there as it does here.
pub async fn start(options: Options) -> io::Result<Offline> {
    let pace = options.speed.pace();
    let world = World::new(world::Options {
        pace: server::Options::world_pace(pace),
        ..world::Options::new(options.seed, Box::new(model(options.seed)))
    });
    let serving = server::Options {
        pace,
        model: MODEL.to_owned(),
        seed: options.seed,
        ..server::Options::default()
    };
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::start(listen, world, serving).await?;
    Ok(Offline { server })
}

impl Offline {
    /// Where it listens.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// What a client needs to talk to it. No proxy and no key of the user's is involved.
    pub fn client(&self) -> ClientConfig {
        ClientConfig {
            base_url: Secret::new(self.url()),
            auth: Auth::ApiKey(Secret::new(KEY)),
            ..ClientConfig::new(Dialect::Anthropic)
        }
    }

    /// The server: its books, its world.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Lets a reply under way finish, and ends it.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}
