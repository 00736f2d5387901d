//! The effects that a turn or a compaction waits for. They make progress only while the session is driven, and the
//! session keeps them, so that a host that stops driving loses nothing.

use std::task::Poll;

use longhaul_core::engine::{EffectId, EffectOutcome};
use longhaul_provider::Reply;

use crate::model::Boxed;

/// The result of an effect.
#[derive(Debug)]
pub(super) struct EffectResult {
    /// The outcome for the engine.
    pub(super) outcome: EffectOutcome,
    /// The reply for the host.
    pub(super) reply: Option<Box<Reply>>,
}

impl From<EffectOutcome> for EffectResult {
    fn from(outcome: EffectOutcome) -> Self {
        Self {
            outcome,
            reply: None,
        }
    }
}

/// Effects that are awaited.
#[derive(Default)]
pub(super) struct ForegroundEffects {
    running: Vec<(EffectId, Boxed<'static, EffectResult>)>,
}

impl ForegroundEffects {
    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    pub(super) fn begin(&mut self, id: EffectId, work: Boxed<'static, EffectResult>) {
        self.running.push((id, work));
    }

    /// Ends an effect without an outcome.
    pub(super) fn cancel(&mut self, id: EffectId) {
        self.running.retain(|(running, _)| *running != id);
    }

    /// Ends all effects; returns which they were.
    pub(super) fn give_up(&mut self) -> Vec<EffectId> {
        self.running.drain(..).map(|(id, _)| id).collect()
    }

    /// Waits for the next result; for ever, if nothing is running. Nothing is lost if this future is dropped.
    pub(super) async fn next(&mut self) -> (EffectId, EffectResult) {
        std::future::poll_fn(|context| {
            let mut running = self.running.iter_mut().enumerate();
            let ended = running.find_map(|(at, (_, work))| match work.as_mut().poll(context) {
                Poll::Ready(brought) => Some((at, brought)),
                Poll::Pending => None,
            });
            match ended {
                Some((at, brought)) => Poll::Ready((self.running.remove(at).0, brought)),
                None => Poll::Pending,
            }
        })
        .await
    }
}
