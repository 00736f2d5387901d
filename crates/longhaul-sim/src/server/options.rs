//! How a server is made.

use std::fmt;
use std::io::Write;

use crate::faults::Plan;
use crate::faults::wire::Pace;
use crate::world;

/// Whose time the world keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Time {
    /// Time passes as outside, and by what it is advanced.
    #[default]
    Real,
    /// Time passes only when it is advanced.
    Virtual,
}

/// How a server behaves. The default is fast, faultless and in real time.
pub struct Options {
    /// What goes wrong.
    pub faults: Plan,
    /// How fast replies go out.
    pub pace: Pace,
    /// Whose time the world keeps.
    pub time: Time,
    /// The model that answers a chat completion whose model is not known here.
    pub model: String,
    /// Where ids of requests come from that never reach the world.
    pub seed: u64,
    /// Gets one JSON object a line for every request. Never holds keys or texts.
    pub log: Option<Box<dyn Write + Send>>,
}

impl Options {
    /// The model that answers if none is chosen.
    pub const MODEL: &'static str = "claude-opus-5-5";

    /// A pace of the world that fits: replies take no time of its clock but what the first byte is held back. So an
    /// entry of the cache can be read as soon as a client has seen the reply that wrote it begin.
    pub fn world_pace(pace: Pace) -> world::Pace {
        world::Pace {
            first_byte_ms: u64::try_from(pace.first_byte.as_millis()).unwrap_or(u64::MAX),
            prompt_per_second: u64::MAX,
            output_per_second: u64::MAX,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            faults: Plan::default(),
            pace: Pace::FAST,
            time: Time::Real,
            model: Self::MODEL.to_owned(),
            seed: 0,
            log: None,
        }
    }
}

impl fmt::Debug for Options {
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
