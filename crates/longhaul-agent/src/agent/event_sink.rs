//! How an agent tells what happens: events on a channel, and the session's own through an observer.

use std::sync::Arc;

use longhaul::session::Observer;
use longhaul_core::engine::{Event, HostState};
use longhaul_provider::StreamEvent;
use tokio::sync::mpsc::UnboundedSender;

use super::gate::Gate;
use super::usage_log::{EventOrigin, SessionUsageLog};
use crate::event::AgentEvent;

/// Tells whoever listens that something happened.
pub type Tell = Arc<dyn Fn(AgentEvent) + Send + Sync>;

/// Tells whoever listens; if nobody does, nothing is lost but the telling.
#[derive(Debug, Clone)]
pub(crate) struct EventSink(UnboundedSender<AgentEvent>);

impl EventSink {
    pub(crate) fn new(events: UnboundedSender<AgentEvent>) -> Self {
        Self(events)
    }

    pub(crate) fn send(&self, event: AgentEvent) {
        // A listener that went away wants to hear nothing.
        let _ = self.0.send(event);
    }

    /// The same for tools.
    pub(crate) fn shared(&self) -> Tell {
        let teller = self.clone();
        Arc::new(move |event| teller.send(event))
    }

    pub(crate) fn notice(&self, sentence: impl Into<String>) {
        self.send(AgentEvent::Notice(sentence.into()));
    }
}

/// Hears the main conversation.
pub(crate) struct MainObserver {
    pub(crate) event_sink: EventSink,
    pub(crate) account: Arc<SessionUsageLog>,
    /// Tools that must know of it.
    pub(crate) heard: Arc<dyn Fn(&Event) + Send + Sync>,
    /// What the user approved of for the session ends with a compaction.
    pub(crate) gate: Arc<dyn Gate>,
}

impl Observer for MainObserver {
    fn event(&self, event: &Event) {
        self.account.event(event, EventOrigin::Main);
        (self.heard)(event);
        if let Event::Compacted(done) = event
            && done.reset.includes(HostState::Approvals)
            && let approvals @ 1.. = self.gate.forget_approvals()
        {
            self.event_sink.notice(match approvals {
                1 => "The conversation was compacted: what you allowed for this session is asked for again.".to_owned(),
                many => format!("The conversation was compacted: the {many} rules that you allowed for this session are asked for again."),
            });
        }
        self.event_sink.send(AgentEvent::Engine(event.clone()));
    }

    fn stream(&self, event: &StreamEvent) {
        let told = match event {
            StreamEvent::Text { text, .. } => AgentEvent::Text(text.clone()),
            StreamEvent::Thinking { text, .. } => AgentEvent::Thinking(text.clone()),
            StreamEvent::Restarted => AgentEvent::Restarted,
            _ => return,
        };
        self.event_sink.send(told);
    }

    fn summarizing(&self, characters: usize) {
        self.event_sink.send(AgentEvent::Summarising(characters));
    }
}

/// Hears a sub-agent's conversation: only what it costs, and its compactions (C2: nothing of the main one is touched).
pub(crate) struct SubAgentObserver {
    pub(crate) account: Arc<SessionUsageLog>,
    pub(crate) heard: Arc<dyn Fn(&Event) + Send + Sync>,
    pub(crate) progress: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Observer for SubAgentObserver {
    fn event(&self, event: &Event) {
        self.account.event(event, EventOrigin::SubAgent);
        (self.heard)(event);
        if let Event::Compacted(done) = event {
            let line = format!("compacted: {} to {} tokens", done.before, done.after);
            (self.progress)(&line);
        }
    }
}
