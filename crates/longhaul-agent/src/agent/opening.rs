//! Opens an agent on its first session. `session.rs` opens the session itself, `switch.rs` the next ones.

use std::sync::Arc;

use longhaul::session::Cancellation;

use super::agent_handle::AgentHandle;
use super::agent_spec::{AgentSpec, OpeningHooks};
use super::assembly::Shared;
use super::error::AgentError;
use super::event_sink::EventSink;
use super::host_environment::HostEnvironment;
use super::resumed_model::ModelForSession;
use super::resuming::ResumeOptions;
use super::running::Agent;
use super::session::CrossSessionState;
use super::start::SessionChoice;
use crate::effort::SharedEffort;

impl Agent {
    /// Opens an agent.
    pub(crate) async fn open(
        recipe: Arc<AgentSpec>,
        model: String,
        start: SessionChoice,
        resuming: ResumeOptions,
        event_sink: EventSink,
    ) -> Result<Self, AgentError> {
        let settled = resuming.settle(&recipe, &start).await?;
        let ModelForSession { model, notice } = recipe.model_origin.model_for(&settled, &model);
        let surroundings = HostEnvironment::of(&recipe.cwd, recipe.shell.as_deref()).await;
        let cancellation = Cancellation::default();
        let lasting = CrossSessionState {
            handle: AgentHandle {
                gate: recipe.gate.clone(),
                backend: recipe.backend,
                cancellation: cancellation.clone(),
                event_sink: event_sink.clone(),
                seen: Arc::default(),
            },
            shared: Shared {
                effort: SharedEffort::of(recipe.effort),
                recipe,
                event_sink,
                asking: Arc::default(),
                surroundings,
            },
            cancellation,
        };
        let mut opened = lasting.open(settled, &model, Arc::default())?;
        if lasting.shared.recipe.opening_hooks == OpeningHooks::Awaited {
            lasting.run_opening_hooks(&mut opened).await;
        }
        if let Some(notice) = notice {
            lasting.shared.event_sink.notice(notice);
        }
        Ok(Self::of(lasting, opened, model))
    }
}
