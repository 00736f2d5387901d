//! Connects an agent to a screen: a task that owns the agent runs the user's requests one after the other, and
//! read-only queries are answered in the meantime, from the transcript and from the last snapshot.
//!
//! `work.rs` is the task, `mentions.rs` adds to a prompt what it mentions, `read_only_queries.rs` answers read-only queries, `transcript.rs` reads the conversation for
//! people (`attachment_line.rs` what goes with a message, `call_line.rs` calls), `rewinding.rs` plans rewinds and restores files, `session_pages.rs` writes pages of text, `idle.rs` notices that the user is away, `tour.rs` drives the tour for newcomers.

mod attachment_line;
mod call_line;
mod commands;
mod idle;
mod mentions;
mod read_only_queries;
mod recorded_outcome;
mod rewinding;
mod session_pages;
mod tour;
mod transcript;
mod work;

use std::sync::Arc;

use longhaul::Boxed;
use longhaul_core::models::ModelTable;
use longhaul_store::Env;
use tokio::sync::{mpsc, watch};

pub(crate) use commands::CommandOutcome;
pub use commands::TextCommands;
pub use tour::{TourPace, run_tour};

use crate::agent::{Agent, AgentHandle};
use crate::event::ApprovalMode;
use crate::project_setup::ProjectSetup;
use crate::screen::{HostRequest, ScreenHost};
use idle::{IdleWatch, LastTouch};
use read_only_queries::ReadOnlyQueries;

/// The host of an agent for a screen. Clones refer to the same agent.
#[derive(Clone)]
pub struct AgentHost {
    asks: mpsc::UnboundedSender<work::HostJob>,
    queries: Arc<ReadOnlyQueries>,
    outlook: AgentHandle,
    ended: watch::Receiver<bool>,
    touched: LastTouch,
}

impl AgentHost {
    /// Starts a task that owns the agent.
    pub fn start(agent: Agent, workplace: Arc<ProjectSetup>, env: Env, models: ModelTable) -> Self {
        let (asks, jobs) = mpsc::unbounded_channel();
        let (end, ended) = watch::channel(false);
        let outlook = agent.handle();
        let looks = ReadOnlyQueries {
            outlook: outlook.clone(),
            cwd: agent.place().cwd.clone(),
            workplace: workplace.clone(),
            config: agent.config().clone(),
            env,
            models,
        };
        let touched = LastTouch::now();
        let idle = IdleWatch::new(touched.clone(), workplace.project.idle_after);
        tokio::spawn(async move {
            work::work(agent, &workplace, jobs, idle).await;
            // A host that is gone does not need to know.
            let _ = end.send(true);
        });
        Self {
            asks,
            queries: Arc::new(looks),
            outlook,
            ended,
            touched,
        }
    }

    /// The handle to the agent's last snapshot.
    pub fn outlook(&self) -> &AgentHandle {
        &self.outlook
    }
}

impl ScreenHost for AgentHost {
    fn ask(&self, ask: HostRequest) {
        if let Some(ask) = self.queries.take(ask) {
            // If this fails, the reply is dropped, which counts as a refusal.
            let _ = self.asks.send(work::HostJob::Ask(ask));
        }
    }

    fn cancel(&self) {
        self.outlook.stop();
    }

    fn set_mode(&self, mode: ApprovalMode) {
        self.outlook.set_mode(mode);
    }

    fn touched(&self) {
        self.touched.touch();
    }

    fn finish(&self) -> Boxed<'_, ()> {
        Box::pin(async {
            let mut ended = self.ended.clone();
            if self.asks.send(work::HostJob::Close).is_ok() {
                // An error means that the task has ended.
                let _ = ended.wait_for(|ended| *ended).await;
            }
        })
    }
}
