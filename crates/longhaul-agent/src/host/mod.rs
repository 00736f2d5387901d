//! An agent behind a screen: what the user wants is done one thing after the other by a task that owns the agent, and what
//! he looks at is answered meanwhile, from the transcript and from how things last stood.
//!
//! `work.rs` is the task, `looks.rs` answers who only looks, `transcript.rs` reads the conversation for people, `tour.rs` shows a
//! newcomer around.

mod commands;
mod read_only_queries;
mod tour;
mod transcript;
mod work;

use std::sync::Arc;

use longhaul::Boxed;
use longhaul_core::models::ModelTable;
use longhaul_store::Env;
use tokio::sync::{mpsc, watch};

pub use commands::{CommandOutcome, TextCommands};
pub use tour::{TourPace, run_tour};

use crate::agent::{Agent, AgentHandle};
use crate::event::ApprovalMode;
use crate::project_setup::ProjectSetup;
use crate::screen::{HostRequest, ScreenHost};
use read_only_queries::ReadOnlyQueries;

/// An agent behind a screen. Clones speak to the same agent.
#[derive(Clone)]
pub struct AgentHost {
    asks: mpsc::UnboundedSender<work::HostJob>,
    queries: Arc<ReadOnlyQueries>,
    outlook: AgentHandle,
    ended: watch::Receiver<bool>,
}

impl AgentHost {
    /// Gives an agent a task of its own.
    pub fn start(agent: Agent, workplace: Arc<ProjectSetup>, env: Env, models: ModelTable) -> Self {
        let (asks, jobs) = mpsc::unbounded_channel();
        let (end, ended) = watch::channel(false);
        let outlook = agent.handle();
        let looks = ReadOnlyQueries {
            outlook: outlook.clone(),
            cwd: agent.place().cwd.clone(),
            workplace: workplace.clone(),
            env,
            models,
        };
        tokio::spawn(async move {
            work::work(agent, &workplace, jobs).await;
            // A host that is gone needs no news.
            let _ = end.send(true);
        });
        Self {
            asks,
            queries: Arc::new(looks),
            outlook,
            ended,
        }
    }

    /// How things last stood.
    pub fn outlook(&self) -> &AgentHandle {
        &self.outlook
    }
}

impl ScreenHost for AgentHost {
    fn ask(&self, ask: HostRequest) {
        if let Some(ask) = self.queries.take(ask) {
            // A reply that is dropped counts as a refusal.
            let _ = self.asks.send(work::HostJob::Ask(ask));
        }
    }

    fn cancel(&self) {
        self.outlook.stop();
    }

    fn set_mode(&self, mode: ApprovalMode) {
        self.outlook.set_mode(mode);
    }

    fn finish(&self) -> Boxed<'_, ()> {
        Box::pin(async {
            let mut ended = self.ended.clone();
            if self.asks.send(work::HostJob::Close).is_ok() {
                // An error is a task that is gone.
                let _ = ended.wait_for(|ended| *ended).await;
            }
        })
    }
}
