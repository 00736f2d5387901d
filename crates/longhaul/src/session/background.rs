//! Background work of a session, as tasks: they run even while nobody drives the session. Dropping this ends them.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use longhaul_core::engine::{EffectFailure, EffectId, EffectOutcome};
use tokio::task::{AbortHandle, JoinSet};

/// What a task is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BackgroundWork {
    /// The task takes notes, which are worth waiting for even when the session ends.
    Notes,
    /// The task prepares something that only this session can use.
    Preparation,
}

/// Effects that nobody waits for.
#[derive(Debug, Default)]
pub(super) struct BackgroundEffects {
    tasks: JoinSet<(EffectId, EffectOutcome)>,
    running: Vec<(EffectId, BackgroundWork, AbortHandle)>,
}

impl BackgroundEffects {
    /// The number of running tasks.
    pub(super) fn count(&self) -> usize {
        self.running.len()
    }

    pub(super) fn has(&self, work: BackgroundWork) -> bool {
        self.running.iter().any(|(_, running, _)| *running == work)
    }

    /// Starts a task. A task that panics counts as failed.
    pub(super) fn begin(
        &mut self,
        id: EffectId,
        work: BackgroundWork,
        outcome: impl Future<Output = EffectOutcome> + Send + 'static,
    ) {
        let task = async move {
            let ended = AssertUnwindSafe(outcome).catch_unwind().await;
            (id, ended.unwrap_or_else(|_| panicked()))
        };
        let handle = self.tasks.spawn(task);
        self.running.push((id, work, handle));
    }

    /// Ends a task without an outcome.
    pub(super) fn cancel(&mut self, id: EffectId) {
        for (_, _, task) in self.running.iter().filter(|running| running.0 == id) {
            task.abort();
        }
        self.running.retain(|running| running.0 != id);
    }

    /// The outcome of a task that has already ended, if there is one.
    pub(super) fn ended(&mut self) -> Option<(EffectId, EffectOutcome)> {
        loop {
            // An error means that the task was ended: nobody waits for it.
            if let Ok((id, outcome)) = self.tasks.try_join_next()?
                && self.forget(id)
            {
                return Some((id, outcome));
            }
        }
    }

    /// Waits for the next outcome; for ever, if no task is running. Nothing is lost if this future is dropped.
    pub(super) async fn next(&mut self) -> (EffectId, EffectOutcome) {
        loop {
            match self.tasks.join_next().await {
                Some(Ok((id, outcome))) if self.forget(id) => return (id, outcome),
                Some(_) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Forgets a task. Returns whether it was still wanted.
    fn forget(&mut self, id: EffectId) -> bool {
        let before = self.running.len();
        self.running.retain(|running| running.0 != id);
        self.running.len() < before
    }
}

fn panicked() -> EffectOutcome {
    EffectOutcome::Failed(EffectFailure::other(
        "it ended in a panic, which is a bug: please report it",
    ))
}
