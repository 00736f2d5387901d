//! How things stand, for whoever looks while the agent works: a snapshot that is made anew with each turn.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul::Session;
use longhaul::session::Cancellation;
use longhaul_core::window::WindowStatus;

use super::event_sink::EventSink;
use super::gate::Gate;
use super::usage_log::{SessionUsageLog, UsagePurpose, UsageTotal};
use crate::event::{AgentEvent, AgentStatus, ApprovalMode};

/// A session as it was when somebody last looked.
#[derive(Debug, Clone)]
pub struct SessionSnapshot {
    /// The session.
    pub session_id: String,
    /// Its transcript.
    pub transcript: PathBuf,
    /// The model that is asked.
    pub model: String,
    /// The window.
    pub status: WindowStatus,
    /// What stands before the messages.
    pub head: PrefixTokenCounts,
}

/// About how many tokens stand before the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrefixTokenCounts {
    /// The system prompt.
    pub system: u64,
    /// The tools.
    pub tools: u64,
    /// Memory files and the like.
    pub context: u64,
}

impl PrefixTokenCounts {
    /// All of it.
    pub(crate) fn total(&self) -> u64 {
        self.system + self.tools + self.context
    }
}

/// What was last seen, and the books.
type Seen = Option<(SessionSnapshot, Arc<SessionUsageLog>)>;

/// Looks at an agent and stops it, while another task works with it.
#[derive(Clone)]
pub struct AgentHandle {
    pub(super) gate: Arc<dyn Gate>,
    pub(super) cancellation: Cancellation,
    pub(super) event_sink: EventSink,
    pub(super) seen: Arc<Mutex<Seen>>,
}

/// A session that can be looked at.
#[derive(Clone)]
pub(crate) struct ObservedSession {
    pub(crate) outlook: AgentHandle,
    pub(crate) session_id: String,
    pub(crate) transcript: PathBuf,
    pub(crate) model: String,
    pub(crate) account: Arc<SessionUsageLog>,
    pub(crate) head: PrefixTokenCounts,
}

impl ObservedSession {
    /// Takes down how things stand, and tells.
    pub(crate) fn tell(&self, session: &Session) {
        let look = SessionSnapshot {
            session_id: self.session_id.clone(),
            transcript: self.transcript.clone(),
            model: self.model.clone(),
            status: session.status(),
            head: self.head,
        };
        let glance = agent_status(&look, &self.account.spent(), self.outlook.gate.mode());
        *self.outlook.slot() = Some((look, self.account.clone()));
        self.outlook.event_sink.send(AgentEvent::Glance(glance));
    }
}

impl AgentHandle {
    /// What was last seen; none before a session is open.
    pub fn snapshot(&self) -> Option<SessionSnapshot> {
        self.slot().as_ref().map(|(look, _)| look.clone())
    }

    /// What was used for each purpose since the session was opened, and all of it together.
    pub fn spent(&self) -> (Vec<(UsagePurpose, UsageTotal)>, Option<UsageTotal>) {
        let account = self.slot().as_ref().map(|(_, account)| account.clone());
        match account {
            Some(account) => (account.parts(), Some(account.spent())),
            None => (Vec::new(), None),
        }
    }

    /// Stops what is going on; nothing happens if nothing does.
    pub fn stop(&self) {
        self.cancellation.cancel();
    }

    /// From now on this may run unasked.
    pub fn set_mode(&self, mode: ApprovalMode) {
        self.gate.set_mode(mode);
        let seen = self.slot().clone();
        if let Some((look, account)) = seen {
            let glance = agent_status(&look, &account.spent(), mode);
            self.event_sink.send(AgentEvent::Glance(glance));
        }
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The status line.
pub(crate) fn agent_status(
    look: &SessionSnapshot,
    spent: &UsageTotal,
    mode: ApprovalMode,
) -> AgentStatus {
    let usage = spent.usage.clone();
    AgentStatus {
        model: look.model.clone(),
        used: look.status.used,
        limit: look.status.limit,
        percent_left: u64::from(look.status.percent_left),
        level: look.status.level,
        cost: spent.cost,
        cache_hit_rate: (usage.prompt() > 0).then(|| usage.cache_hit_rate()),
        usage,
        mode,
    }
}
