//! Notices of what was started before there was anybody to tell: they wait until there is.

use std::sync::{Mutex, PoisonError};

use crate::agent::Tell;
use crate::event::AgentEvent;

/// Takes notices, and rings them when it can.
#[derive(Default)]
pub(super) struct Notifications(Mutex<NotificationState>);

#[derive(Default)]
struct NotificationState {
    tell: Option<Tell>,
    waiting: Vec<String>,
}

impl Notifications {
    pub(super) fn notice(&self, sentence: String) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match state.tell.clone() {
            Some(tell) => {
                drop(state);
                tell(AgentEvent::Notice(sentence));
            }
            None => state.waiting.push(sentence),
        }
    }

    /// From now on notices go here; those that waited at once.
    pub(super) fn deliver_to(&self, tell: &Tell) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.tell = Some(tell.clone());
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for sentence in waiting {
            tell(AgentEvent::Notice(sentence));
        }
    }
}
