//! Keeps the world's clock in step with real time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::options::TimeSource;
use crate::world::World;

/// The real time since the start, as far as the world has followed it. Time that a client adds comes on top.
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

    /// Advances the world by the time that has passed outside. The caller holds the world, so nobody else advances it
    /// meanwhile.
    pub(super) fn catch_up(&self, world: &mut World) {
        if self.time == TimeSource::Virtual {
            return;
        }
        let passed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let told = self.told.swap(passed, Ordering::Relaxed);
        world.advance(passed.saturating_sub(told));
    }
}
