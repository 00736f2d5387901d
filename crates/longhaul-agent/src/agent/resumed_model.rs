//! The model that a resumed session goes on with: its own, as its cache and its signed thinking belong to that, unless the
//! user names another one for this start.

use longhaul::hooks::StartSource;
use longhaul_store::newest_model;

use super::agent_spec::ModelOrigin;
use super::start::ChosenSession;
use crate::simulated_model::MODEL;

/// The model of a session, and what the user should know about it.
pub(super) struct ModelForSession {
    pub(super) model: String,
    pub(super) notice: Option<String>,
}

impl ModelOrigin {
    /// The model for a session, where the agent would begin a new one with `given`.
    pub(super) fn model_for(self, session: &ChosenSession, given: &str) -> ModelForSession {
        let unchanged = || ModelForSession {
            model: given.to_owned(),
            notice: None,
        };
        let Some(own) = own_model(session).filter(|own| own != given) else {
            return unchanged();
        };
        match self {
            Self::Only => unchanged(),
            Self::Flag => ModelForSession {
                notice: Some(format!(
                    "This session was held with {own} and goes on with {given}, as --model says: the conversation is written to the cache anew."
                )),
                ..unchanged()
            },
            Self::Setting => ModelForSession {
                notice: Some(format!(
                    "This session goes on with {own}, the model that it was held with. The settings name {given}: --model or /model changes to it, which writes the conversation to the cache anew."
                )),
                model: own,
            },
            Self::Default => ModelForSession {
                model: own,
                notice: None,
            },
        }
    }
}

/// The model that a session was held with, if it can go on with that. A file that cannot be read is reported when it is
/// opened.
fn own_model(session: &ChosenSession) -> Option<String> {
    let own = newest_model(&session.transcript).ok()??;
    let can_go_on = match session.source {
        StartSource::Resume => true,
        // Of another program it is not known whose models it speaks to.
        StartSource::Fork => own.starts_with("claude"),
        _ => false,
    };
    // A name in angle brackets is that of no model: a program wrote the reply itself.
    (can_go_on && !own.starts_with('<') && own != MODEL).then_some(own)
}
