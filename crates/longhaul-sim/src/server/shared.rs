//! State shared by all connections: the world, its clock, the pending faults, and counts of what is in progress.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio_util::task::TaskTracker;

use super::clock::WorldClock;
use super::lock::lock;
use super::log::RequestLog;
use super::options::{SimServerOptions, TimeSource};
use super::rate::RateUsage;
use crate::faults::wire::EventPace;
use crate::faults::{FaultPlan, FaultSpecError, InjectedFault};
use crate::reply::ApiIds;
use crate::world::World;

/// Makes these ids differ from those of the world, which come from the same seed.
const OUTSIDE: u64 = 0x0075_7369_6465;

pub(super) struct SimServerState {
    world: Mutex<World>,
    clock: WorldClock,
    faults: Mutex<FaultQueue>,
    ids: Mutex<ApiIds>,
    pub(super) rate: Mutex<RateUsage>,
    pub(super) log: RequestLog,
    pub(super) pace: EventPace,
    pub(super) time: TimeSource,
    pub(super) model: String,
    pub(super) connections: TaskTracker,
    pub(super) replies: InFlightGauge,
}

/// The pending faults, and the number of requests so far.
#[derive(Debug, Default)]
struct FaultQueue {
    plan: FaultPlan,
    made: u64,
    struck: u64,
}

/// The faults as the control API shows them.
#[derive(Debug, serde::Serialize)]
pub(super) struct FaultStatus {
    requests: u64,
    struck: u64,
    pending: Vec<String>,
}

impl SimServerState {
    pub(super) fn new(world: World, options: SimServerOptions) -> Self {
        Self {
            world: Mutex::new(world),
            clock: WorldClock::start(options.time),
            faults: Mutex::new(FaultQueue {
                plan: options.faults,
                ..FaultQueue::default()
            }),
            ids: Mutex::new(ApiIds::new(options.seed ^ OUTSIDE)),
            rate: Mutex::default(),
            log: RequestLog::new(options.log),
            pace: options.pace,
            time: options.time,
            model: options.model,
            connections: TaskTracker::new(),
            replies: InFlightGauge::default(),
        }
    }

    /// Gives access to the world, after bringing its time up to date.
    pub(super) fn with_world<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        let mut world = lock(&self.world);
        self.clock.catch_up(&mut world);
        look(&mut world)
    }

    /// Numbers a model call and returns its fault, if any.
    pub(super) fn next_fault(&self) -> Option<InjectedFault> {
        let mut faults = lock(&self.faults);
        faults.made += 1;
        let fault = faults.plan.decide(faults.made);
        faults.struck += u64::from(fault.is_some());
        fault
    }

    pub(super) fn inject(&self, spec: &str) -> Result<(), FaultSpecError> {
        let mut faults = lock(&self.faults);
        let made = faults.made;
        faults.plan.inject(spec, made)
    }

    pub(super) fn clear_faults(&self) {
        lock(&self.faults).plan.clear();
    }

    pub(super) fn faults_now(&self) -> FaultStatus {
        let faults = lock(&self.faults);
        FaultStatus {
            requests: faults.made,
            struck: faults.struck,
            pending: faults.plan.pending(faults.made),
        }
    }

    /// An id for a request that never reaches the world.
    pub(super) fn request_id(&self) -> String {
        lock(&self.ids).request()
    }
}

impl fmt::Debug for SimServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// Counts what is in progress.
#[derive(Debug, Clone, Default)]
pub(super) struct InFlightGauge(Arc<AtomicUsize>);

impl InFlightGauge {
    pub(super) fn enter(&self) -> InFlightGuard {
        self.0.fetch_add(1, Ordering::Relaxed);
        InFlightGuard(self.clone())
    }

    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts as one until it is dropped.
#[derive(Debug)]
pub(super) struct InFlightGuard(InFlightGauge);

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
