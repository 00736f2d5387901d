//! The kinds of change that are injected, one per run, each with the cause that must be named.

mod messages;
mod settings;
mod system;
mod time;
mod tools;

use longhaul_core::cache::{CacheMissCause, RequestChange};

use super::session::Session;

/// Models that are served, ignore missing thinking, and have a small and a large cache minimum.
pub(crate) const MODELS: [&str; 7] = [
    "claude-opus-5",
    "claude-opus-4-8",
    "claude-opus-5-5",
    "claude-fable-5",
    "claude-sonnet-5",
    "claude-haiku-4-5",
    "claude-sonnet-4-5",
];
const SYSTEM_ROLE: [&str; 3] = ["claude-opus-5", "claude-opus-4-8", "claude-fable-5"];
const BUDGETED: [&str; 2] = ["claude-haiku-4-5", "claude-sonnet-4-5"];
const ADAPTIVE: [&str; 2] = ["claude-opus-5", "claude-opus-4-8"];

/// The expected result.
#[derive(Clone, Copy)]
pub(crate) enum Expected {
    /// A break whose cause and words satisfy this.
    Break(fn(&CacheMissCause, &str) -> bool),
    /// No alarm, because the change was intended.
    Quiet,
}

/// One kind of injected change.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) models: &'static [&'static str],
    /// Before the first turn.
    pub(crate) prepare: fn(&mut Session),
    /// Before the turn that is judged.
    pub(crate) inject: fn(&mut Session),
    pub(crate) expected: Expected,
    /// How the simulator's own diagnosis begins, where there is one.
    pub(crate) diagnosis: Option<&'static str>,
}

fn kind(
    name: &'static str,
    diagnosis: Option<&'static str>,
    inject: fn(&mut Session),
    right: fn(&CacheMissCause, &str) -> bool,
) -> Kind {
    Kind {
        name,
        models: &MODELS,
        prepare: |_| {},
        inject,
        expected: Expected::Break(right),
        diagnosis,
    }
}

fn is(cause: &CacheMissCause, right: impl Fn(&RequestChange) -> bool) -> bool {
    matches!(cause, CacheMissCause::Changed(change) if right(change))
}

const TOOLS: Option<&str> = Some("tools_changed");
const SYSTEM: Option<&str> = Some("system_changed");
const MESSAGES: Option<&str> = Some("messages_changed");
const MODEL: Option<&str> = Some("model_changed");

pub(crate) fn all() -> Vec<Kind> {
    [
        tools::kinds(),
        system::kinds(),
        settings::kinds(),
        messages::kinds(),
        time::kinds(),
    ]
    .concat()
}

impl Kind {
    fn on(self, models: &'static [&'static str]) -> Self {
        Self { models, ..self }
    }

    fn prepared(self, prepare: fn(&mut Session)) -> Self {
        Self { prepare, ..self }
    }
}
