//! The terms of a replay: which models, which window, which cache lifetime.

use std::sync::Arc;

use crate::models::{ModelSpec, ModelTable, Tokenizer};
use crate::prompt::Ttl;
use crate::window::WindowSettings;

use super::session::SessionRecording;

/// A size of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayWindow {
    /// Each model's own.
    Own,
    /// At most this many tokens, whatever the model's own is.
    Tokens(u64),
}

/// Who decides in a replayed session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplayedHost {
    /// A session, which knows what each of its requests was billed, and sets its own cache breakpoints.
    #[default]
    Session,
    /// A gateway between the client and the provider: each reply stands for one reading (V9), and after the first action
    /// the cache is found at the breakpoint that the gateway keeps before the oldest result, or where one of the latest
    /// requests ended.
    Gateway,
}

/// What a session is replayed with.
#[derive(Debug, Clone)]
pub struct ReplayTerms {
    /// The model of each of the session's model names.
    pub specs: Vec<Arc<ModelSpec>>,
    /// The recorded models, to which recorded sizes belong.
    pub recorded: Vec<Arc<ModelSpec>>,
    /// The cache lifetime.
    pub ttl: Ttl,
    /// The window.
    pub window: ReplayWindow,
    /// Other settings of the thresholds.
    pub settings: WindowSettings,
    /// Who decides.
    pub host: ReplayedHost,
}

impl ReplayTerms {
    /// Returns the terms of a session: its own models and lifetime, unless others are given.
    pub fn of(
        session: &SessionRecording,
        models: &ModelTable,
        model: Option<&str>,
        ttl: Option<Ttl>,
    ) -> Self {
        let resolve = |name: &String| models.resolve(name).spec;
        let recorded: Vec<Arc<ModelSpec>> = session.models.iter().map(resolve).collect();
        let specs = match model {
            Some(model) => vec![models.resolve(model).spec; recorded.len()],
            None => recorded.clone(),
        };
        Self {
            specs,
            recorded,
            ttl: ttl.unwrap_or(session.ttl),
            window: ReplayWindow::Own,
            settings: WindowSettings::default(),
            host: ReplayedHost::Session,
        }
    }

    /// The same terms with this host.
    #[must_use]
    pub fn decided_by(self, host: ReplayedHost) -> Self {
        Self { host, ..self }
    }

    /// The same terms with another window.
    #[must_use]
    pub fn in_window(&self, window: ReplayWindow) -> Self {
        Self {
            window,
            ..self.clone()
        }
    }

    /// The names of models whose prices are not known.
    pub fn unpriced(&self) -> Vec<&str> {
        let unpriced = self.specs.iter().filter(|spec| spec.prices.is_none());
        let mut names: Vec<&str> = unpriced.map(|spec| spec.id.as_str()).collect();
        names.dedup();
        names
    }

    /// What a recorded size is for the model that is replayed: the newer tokenizer makes about 30% more tokens of the
    /// same text.
    pub(super) fn resized(&self, model: usize, tokens: u64) -> u64 {
        match (self.recorded[model].tokenizer, self.specs[model].tokenizer) {
            (Tokenizer::Old, Tokenizer::New) => tokens * 13 / 10,
            (Tokenizer::New, Tokenizer::Old) => tokens * 10 / 13,
            _ => tokens,
        }
    }
}
