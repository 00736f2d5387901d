//! How an agent tells what happens: events on a channel, and the session's own through an observer.

use std::sync::Arc;

use longhaul::session::Observer;
use longhaul_core::engine::{Event, HostState};
use longhaul_provider::StreamEvent;
use tokio::sync::mpsc::UnboundedSender;

use super::account::{Account, Whose};
use super::gate::Gate;
use crate::event::AgentEvent;

/// Tells whoever listens that something happened.
pub type Tell = Arc<dyn Fn(AgentEvent) + Send + Sync>;

/// Tells whoever listens; if nobody does, nothing is lost but the telling.
#[derive(Debug, Clone)]
pub(crate) struct Teller(UnboundedSender<AgentEvent>);

impl Teller {
    pub(crate) fn new(events: UnboundedSender<AgentEvent>) -> Self {
        Self(events)
    }

    pub(crate) fn tell(&self, event: AgentEvent) {
        // A listener that went away wants to hear nothing.
        let _ = self.0.send(event);
    }

    /// The same for tools.
    pub(crate) fn shared(&self) -> Tell {
        let teller = self.clone();
        Arc::new(move |event| teller.tell(event))
    }

    pub(crate) fn notice(&self, sentence: impl Into<String>) {
        self.tell(AgentEvent::Notice(sentence.into()));
    }
}

/// Hears the main conversation.
pub(crate) struct MainWatcher {
    pub(crate) teller: Teller,
    pub(crate) account: Arc<Account>,
    /// Tools that must know of it.
    pub(crate) heard: Arc<dyn Fn(&Event) + Send + Sync>,
    /// What the user approved of for the session ends with a compaction.
    pub(crate) gate: Arc<dyn Gate>,
}

impl Observer for MainWatcher {
    fn event(&self, event: &Event) {
        self.account.event(event, Whose::Main);
        (self.heard)(event);
        if let Event::Compacted(done) = event
            && done.reset.includes(HostState::Approvals)
            && let approvals @ 1.. = self.gate.forget_approvals()
        {
            self.teller.notice(match approvals {
                1 => "The conversation was compacted: what you allowed for this session is asked for again.".to_owned(),
                many => format!("The conversation was compacted: the {many} rules that you allowed for this session are asked for again."),
            });
        }
        self.teller.tell(AgentEvent::Engine(event.clone()));
    }

    fn stream(&self, event: &StreamEvent) {
        let told = match event {
            StreamEvent::Text { text, .. } => AgentEvent::Text(text.clone()),
            StreamEvent::Thinking { text, .. } => AgentEvent::Thinking(text.clone()),
            StreamEvent::Restarted => AgentEvent::Restarted,
            _ => return,
        };
        self.teller.tell(told);
    }

    fn summarising(&self, characters: usize) {
        self.teller.tell(AgentEvent::Summarising(characters));
    }
}

/// Hears a sub-agent's conversation: only what it costs, and its compactions (C2: nothing of the main one is touched).
pub(crate) struct SubWatcher {
    pub(crate) account: Arc<Account>,
    pub(crate) heard: Arc<dyn Fn(&Event) + Send + Sync>,
    pub(crate) progress: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Observer for SubWatcher {
    fn event(&self, event: &Event) {
        self.account.event(event, Whose::SubAgent);
        (self.heard)(event);
        if let Event::Compacted(done) = event {
            let line = format!("compacted: {} to {} tokens", done.before, done.after);
            (self.progress)(&line);
        }
    }
}
