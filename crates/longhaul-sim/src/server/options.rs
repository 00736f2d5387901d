//! The options of a server.

use std::fmt;
use std::io::Write;

use crate::faults::FaultPlan;
use crate::faults::wire::EventPace;
use crate::world;

/// How the world's time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeSource {
    /// Time passes as in reality, plus any time that a client adds.
    #[default]
    Real,
    /// Time passes only when it is advanced.
    Virtual,
}

/// The options of a server. The default is fast, without faults and in real time.
pub struct SimServerOptions {
    /// The faults to inject.
    pub faults: FaultPlan,
    /// How fast replies are sent.
    pub pace: EventPace,
    /// How the world's time passes.
    pub time: TimeSource,
    /// The model that answers a chat completion with an unknown model.
    pub model: String,
    /// The seed for the ids of requests that never reach the world.
    pub seed: u64,
    /// The destination of the request log, with one JSON object per line. It never contains keys or texts.
    pub log: Option<Box<dyn Write + Send>>,
}

impl SimServerOptions {
    /// The model that answers by default.
    pub const MODEL: &'static str = "claude-opus-5-5";

    /// The matching reply speed of the world: replies take no virtual time except the delay of the first byte. So a
    /// cache entry can be read as soon as a client has seen the beginning of the reply that wrote it.
    pub fn world_pace(pace: EventPace) -> world::ReplySpeed {
        world::ReplySpeed {
            first_byte_ms: u64::try_from(pace.first_byte.as_millis()).unwrap_or(u64::MAX),
            prompt_per_second: u64::MAX,
            output_per_second: u64::MAX,
        }
    }
}

impl Default for SimServerOptions {
    fn default() -> Self {
        Self {
            faults: FaultPlan::default(),
            pace: EventPace::FAST,
            time: TimeSource::Real,
            model: Self::MODEL.to_owned(),
            seed: 0,
            log: None,
        }
    }
}

impl fmt::Debug for SimServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("faults", &self.faults)
            .field("pace", &self.pace)
            .field("time", &self.time)
            .field("model", &self.model)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
