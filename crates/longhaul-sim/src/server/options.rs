//! How a server is made.

use std::fmt;
use std::io::Write;

use crate::faults::FaultPlan;
use crate::faults::wire::EventPace;
use crate::world;

/// Whose time the world keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeSource {
    /// Time passes as outside, and by what it is advanced.
    #[default]
    Real,
    /// Time passes only when it is advanced.
    Virtual,
}

/// How a server behaves. The default is fast, faultless and in real time.
pub struct SimServerOptions {
    /// What goes wrong.
    pub faults: FaultPlan,
    /// How fast replies go out.
    pub pace: EventPace,
    /// Whose time the world keeps.
    pub time: TimeSource,
    /// The model that answers a chat completion whose model is not known here.
    pub model: String,
    /// Where ids of requests come from that never reach the world.
    pub seed: u64,
    /// Gets one JSON object a line for every request. Never holds keys or texts.
    pub log: Option<Box<dyn Write + Send>>,
}

impl SimServerOptions {
    /// The model that answers if none is chosen.
    pub const MODEL: &'static str = "claude-opus-5-5";

    /// A pace of the world that fits: replies take no time of its clock but what the first byte is held back. So an
    /// entry of the cache can be read as soon as a client has seen the reply that wrote it begin.
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
