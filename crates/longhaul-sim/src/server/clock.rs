//! Tells the world what time it is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::options::TimeSource;
use crate::world::World;

/// Real time since the start, as far as the world was told of it. Advances by a client come on top.
#[derive(Debug)]
pub(super) struct WorldClock {
    time: TimeSource,
    started: Instant,
    told: AtomicU64,
}

impl WorldClock {
    pub(super) fn start(time: TimeSource) -> Self {
        Self {
            time,
            started: Instant::now(),
            told: AtomicU64::new(0),
        }
    }

    /// Lets pass in the world what passed outside. Holding the world means that nobody else tells it meanwhile.
    pub(super) fn catch_up(&self, world: &mut World) {
        if self.time == TimeSource::Virtual {
            return;
        }
        let passed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let told = self.told.swap(passed, Ordering::Relaxed);
        world.advance(passed.saturating_sub(told));
    }
}
