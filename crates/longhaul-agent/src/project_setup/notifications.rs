//! Notices from things that were started before there was a listener: they wait until there is one.

use std::sync::{Mutex, PoisonError};

use crate::agent::EventCallback;
use crate::event::AgentEvent;

/// Takes notices, and delivers them as soon as it can.
#[derive(Default)]
pub(super) struct Notifications(Mutex<NotificationState>);

#[derive(Default)]
struct NotificationState {
    tell: Option<EventCallback>,
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

    /// What can be typed has changed. Without a listener nobody has asked for it yet.
    pub(super) fn offer_changed(&self) {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tell = state.tell.clone();
        drop(state);
        if let Some(tell) = tell {
            tell(AgentEvent::OfferChanged);
        }
    }

    /// Sends notices here from now on, beginning with those that waited.
    pub(super) fn deliver_to(&self, tell: &EventCallback) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.tell = Some(tell.clone());
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for sentence in waiting {
            tell(AgentEvent::Notice(sentence));
        }
    }
}
