//! How an agent reports what happens: as events on a channel, and the session's own events through an observer.

use std::sync::Arc;

use longhaul::session::{Observer, RetryWait};
use longhaul_core::engine::{Event, HostState};
use longhaul_core::figures::grouped;
use longhaul_provider::StreamEvent;
use tokio::sync::mpsc::UnboundedSender;

use super::usage_log::{EventOrigin, SessionUsageLog};
use crate::event::AgentEvent;
use crate::permission::Gate;
use crate::retry_words;

/// Sends an event to the listener.
pub type EventCallback = Arc<dyn Fn(AgentEvent) + Send + Sync>;

/// Sends events to the listener. Without a listener, events are dropped.
#[derive(Debug, Clone)]
pub(crate) struct EventSink(UnboundedSender<AgentEvent>);

impl EventSink {
    pub(crate) fn new(events: UnboundedSender<AgentEvent>) -> Self {
        Self(events)
    }

    pub(crate) fn send(&self, event: AgentEvent) {
        // A listener that is gone needs no events.
        let _ = self.0.send(event);
    }

    /// The sink as a function that tools can share.
    pub(crate) fn shared(&self) -> EventCallback {
        let teller = self.clone();
        Arc::new(move |event| teller.send(event))
    }

    pub(crate) fn notice(&self, sentence: impl Into<String>) {
        self.send(AgentEvent::Notice(sentence.into()));
    }
}

/// Observes the main conversation.
pub(crate) struct MainObserver {
    pub(crate) event_sink: EventSink,
    pub(crate) account: Arc<SessionUsageLog>,
    /// Passes the event on to the tools that depend on it.
    pub(crate) heard: Arc<dyn Fn(&Event) + Send + Sync>,
    /// Drops the session's approvals after a compaction.
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
                1 => "The conversation was compacted: what you allowed for this session needs your approval again.".to_owned(),
                many => format!("The conversation was compacted: the {} rules that you allowed for this session need your approval again.", grouped(many as u64)),
            });
        }
        self.event_sink.send(AgentEvent::Engine(event.clone()));
    }

    fn stream(&self, event: &StreamEvent) {
        let told = match event {
            StreamEvent::Text { text, .. } => AgentEvent::Text(text.clone()),
            StreamEvent::Thinking { text, .. } => AgentEvent::Thinking(text.clone()),
            StreamEvent::Restarted => AgentEvent::Restarted,
            _ => AgentEvent::Arriving,
        };
        self.event_sink.send(told);
    }

    fn retrying(&self, wait: &RetryWait) {
        self.event_sink.send(AgentEvent::Retrying(wait.clone()));
    }

    fn summarizing(&self, characters: usize) {
        self.event_sink.send(AgentEvent::Summarizing(characters));
    }
}

/// Observes a sub-agent's conversation: only its cost and its compactions (C2: nothing of the main conversation is
/// touched).
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
            let (before, after) = (grouped(done.before), grouped(done.after));
            let line = format!("compacted: {before} to {after} tokens");
            (self.progress)(&line);
        }
    }

    fn retrying(&self, wait: &RetryWait) {
        (self.progress)(&retry_words::line(wait, wait.wait));
    }
}
