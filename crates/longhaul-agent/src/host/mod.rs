//! An agent behind a screen: what the user wants is done one thing after the other by a task that owns the agent, and what
//! he looks at is answered meanwhile, from the transcript and from how things last stood.
//!
//! `work.rs` is the task, `looks.rs` answers who only looks, `transcript.rs` reads the conversation for people, `tour.rs` shows a
//! newcomer around.

mod commands;
mod looks;
mod tour;
mod transcript;
mod work;

use std::sync::Arc;

use longhaul::Boxed;
use longhaul_core::models::ModelTable;
use longhaul_store::Env;
use tokio::sync::{mpsc, watch};

pub use commands::{Carried, TextCommands};
pub use tour::{Pace, show_around};

use crate::agent::{Agent, Outlook};
use crate::event::Mode;
use crate::screen::{Ask, Host};
use crate::workplace::Workplace;
use looks::Looks;

/// An agent behind a screen. Clones speak to the same agent.
#[derive(Clone)]
pub struct AgentHost {
    asks: mpsc::UnboundedSender<work::Job>,
    looks: Arc<Looks>,
    outlook: Outlook,
    ended: watch::Receiver<bool>,
}

impl AgentHost {
    /// Gives an agent a task of its own.
    pub fn start(agent: Agent, workplace: Arc<Workplace>, env: Env, models: ModelTable) -> Self {
        let (asks, jobs) = mpsc::unbounded_channel();
        let (end, ended) = watch::channel(false);
        let outlook = agent.outlook();
        let looks = Looks {
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
            looks: Arc::new(looks),
            outlook,
            ended,
        }
    }

    /// How things last stood.
    pub fn outlook(&self) -> &Outlook {
        &self.outlook
    }
}

impl Host for AgentHost {
    fn ask(&self, ask: Ask) {
        if let Some(ask) = self.looks.take(ask) {
            // A reply that is dropped counts as a refusal.
            let _ = self.asks.send(work::Job::Ask(ask));
        }
    }

    fn cancel(&self) {
        self.outlook.stop();
    }

    fn set_mode(&self, mode: Mode) {
        self.outlook.set_mode(mode);
    }

    fn finish(&self) -> Boxed<'_, ()> {
        Box::pin(async {
            let mut ended = self.ended.clone();
            if self.asks.send(work::Job::Close).is_ok() {
                // An error is a task that is gone.
                let _ = ended.wait_for(|ended| *ended).await;
            }
        })
    }
}
