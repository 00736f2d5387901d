//! The agent's state for callers that ask while it works: a snapshot that is taken anew with each turn.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul::session::Cancellation;
use longhaul::{EconomyPolicy, Session};
use longhaul_core::window::WindowStatus;

use super::event_sink::EventSink;
use super::usage_log::{SessionUsageLog, UsagePurpose, UsageTotal};
use crate::effort::{EffortSetting, SharedEffort};
use crate::event::{AgentEvent, AgentStatus, ApprovalMode};
use crate::permission::Gate;
use crate::simulated_model::ModelBackend;

/// The state of a session when the last snapshot was taken.
#[derive(Debug, Clone)]
pub struct SessionSnapshot {
    /// The session's id.
    pub session_id: String,
    /// The session's transcript.
    pub transcript: PathBuf,
    /// The model that receives the requests.
    pub model: String,
    /// Who answers the requests.
    pub backend: ModelBackend,
    /// The state of the context window.
    pub status: WindowStatus,
    /// The token counts of the request prefix.
    pub prefix: PrefixTokenCounts,
    /// Which actions are decided by price.
    pub economy: EconomyPolicy,
    /// How hard the model thinks.
    pub effort: EffortSetting,
}

/// The approximate token counts of the request prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrefixTokenCounts {
    /// Tokens of the system prompt.
    pub system: u64,
    /// Tokens of the tool definitions.
    pub tools: u64,
    /// Tokens of memory files and other user context.
    pub context: u64,
}

impl PrefixTokenCounts {
    /// The sum of all parts.
    pub(crate) fn total(&self) -> u64 {
        self.system + self.tools + self.context
    }
}

/// The last snapshot, and the usage log.
type LastSnapshot = Option<(SessionSnapshot, Arc<SessionUsageLog>)>;

/// Reads the state of an agent, and stops the agent, while another task works with it.
#[derive(Clone)]
pub struct AgentHandle {
    pub(super) gate: Arc<dyn Gate>,
    pub(super) backend: ModelBackend,
    pub(super) cancellation: Cancellation,
    pub(super) event_sink: EventSink,
    pub(super) seen: Arc<Mutex<LastSnapshot>>,
}

/// A session whose snapshots an [`AgentHandle`] can read.
#[derive(Clone)]
pub(crate) struct ObservedSession {
    pub(crate) outlook: AgentHandle,
    pub(crate) session_id: String,
    pub(crate) transcript: PathBuf,
    pub(crate) model: String,
    pub(crate) account: Arc<SessionUsageLog>,
    pub(crate) head: PrefixTokenCounts,
    pub(crate) effort: SharedEffort,
}

impl ObservedSession {
    /// Takes a snapshot and sends the status event.
    pub(crate) fn tell(&self, session: &Session) {
        let look = SessionSnapshot {
            session_id: self.session_id.clone(),
            transcript: self.transcript.clone(),
            model: self.model.clone(),
            backend: self.outlook.backend,
            status: session.status(),
            prefix: self.head,
            economy: session.economy(),
            effort: self.effort.get(),
        };
        let glance = agent_status(&look, &self.account.spent(), self.outlook.gate.mode());
        *self.outlook.slot() = Some((look, self.account.clone()));
        self.outlook.event_sink.send(AgentEvent::Glance(glance));
    }
}

impl AgentHandle {
    /// The last snapshot; none before a session is open.
    pub fn snapshot(&self) -> Option<SessionSnapshot> {
        self.slot().as_ref().map(|(look, _)| look.clone())
    }

    /// The usage for each purpose since the session was opened, and the total.
    pub fn spent(&self) -> (Vec<(UsagePurpose, UsageTotal)>, Option<UsageTotal>) {
        let account = self.slot().as_ref().map(|(_, account)| account.clone());
        match account {
            Some(account) => (account.parts(), Some(account.spent())),
            None => (Vec::new(), None),
        }
    }

    /// Waits until it is known what a resumed session had used before; until then, [`Self::spent`] lacks it.
    pub(crate) async fn earlier_usage_is_read(&self) {
        let account = self.slot().as_ref().map(|(_, account)| account.clone());
        if let Some(account) = account {
            account.earlier_is_read().await;
        }
    }

    /// Stops the work in progress; does nothing when the agent is idle.
    pub fn stop(&self) {
        self.cancellation.cancel();
    }

    /// Sets which calls may run without asking from now on.
    pub fn set_mode(&self, mode: ApprovalMode) {
        self.gate.set_mode(mode);
        let seen = self.slot().clone();
        if let Some((look, account)) = seen {
            let glance = agent_status(&look, &account.spent(), mode);
            self.event_sink.send(AgentEvent::Glance(glance));
        }
    }

    /// Sends the status again, because something of it has become known.
    pub(crate) fn refresh(&self) {
        let seen = self.slot().clone();
        if let Some((look, account)) = seen {
            let glance = agent_status(&look, &account.spent(), self.gate.mode());
            self.event_sink.send(AgentEvent::Glance(glance));
        }
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, LastSnapshot> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Builds the status line.
pub(crate) fn agent_status(
    look: &SessionSnapshot,
    spent: &UsageTotal,
    mode: ApprovalMode,
) -> AgentStatus {
    let usage = spent.usage.clone();
    AgentStatus {
        model: look.model.clone(),
        backend: look.backend,
        used: look.status.used,
        limit: look.status.limit,
        prefix: look.prefix.total(),
        percent_left: u64::from(look.status.percent_left),
        level: look.status.level,
        cost: spent.cost,
        cache_hit_rate: (usage.prompt() > 0).then(|| usage.cache_hit_rate()),
        usage,
        mode,
        effort: look.effort,
    }
}
