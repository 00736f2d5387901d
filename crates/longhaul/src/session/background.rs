//! What goes on beside the conversation, as tasks: also while nobody drives the session. Dropping it ends them.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use longhaul_core::engine::{EffectFailure, EffectId, EffectOutcome};
use tokio::task::{AbortHandle, JoinSet};

/// What a task is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BackgroundWork {
    /// Notes are taken: they are worth waiting for even when the session ends.
    Notes,
    /// Something is prepared that only this session can use.
    Preparation,
}

/// Effects that nobody waits for.
#[derive(Debug, Default)]
pub(super) struct BackgroundEffects {
    tasks: JoinSet<(EffectId, EffectOutcome)>,
    running: Vec<(EffectId, BackgroundWork, AbortHandle)>,
}

impl BackgroundEffects {
    /// How much of it is under way.
    pub(super) fn count(&self) -> usize {
        self.running.len()
    }

    pub(super) fn has(&self, work: BackgroundWork) -> bool {
        self.running.iter().any(|(_, running, _)| *running == work)
    }

    /// Begins something. If it panics, it has failed.
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

    /// Ends it without an outcome.
    pub(super) fn cancel(&mut self, id: EffectId) {
        for (_, _, task) in self.running.iter().filter(|running| running.0 == id) {
            task.abort();
        }
        self.running.retain(|running| running.0 != id);
    }

    /// What has ended already, if anything has.
    pub(super) fn ended(&mut self) -> Option<(EffectId, EffectOutcome)> {
        loop {
            // An error is a task that was ended: nobody waits for it.
            if let Ok((id, outcome)) = self.tasks.try_join_next()?
                && self.forget(id)
            {
                return Some((id, outcome));
            }
        }
    }

    /// What ends next; never, if nothing is under way. Nothing is lost if this is dropped.
    pub(super) async fn next(&mut self) -> (EffectId, EffectOutcome) {
        loop {
            match self.tasks.join_next().await {
                Some(Ok((id, outcome))) if self.forget(id) => return (id, outcome),
                Some(_) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Whether it was still wanted.
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
