//! Guards (H6) that say where proactive compaction must not begin, whatever the switches say.
//!
//! A compaction that compacts itself would wait for itself, and one beside another owner of the window would undo that
//! owner's work.

use std::borrow::Cow;
use std::fmt;

/// The sender of a request: `repl_main_thread…`, `sdk`, `agent:…`, `compact`, `notes`, `collapse`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QuerySource(Cow<'static, str>);

impl QuerySource {
    /// The user's conversation in a terminal. Variants append to this name.
    pub const MAIN: QuerySource = QuerySource(Cow::Borrowed("repl_main_thread"));
    /// The conversation of a program that embeds the engine.
    pub const SDK: QuerySource = QuerySource(Cow::Borrowed("sdk"));
    /// The request that summarizes.
    pub const COMPACT: QuerySource = QuerySource(Cow::Borrowed("compact"));
    /// The agent that takes session notes.
    pub const NOTES: QuerySource = QuerySource(Cow::Borrowed("notes"));
    /// The agent that folds old rounds.
    pub(crate) const COLLAPSE: QuerySource = QuerySource(Cow::Borrowed("collapse"));

    /// Creates a source from its name.
    pub fn new(name: impl Into<Cow<'static, str>>) -> QuerySource {
        QuerySource(name.into())
    }

    /// Creates the source of a sub-agent of this kind.
    pub fn agent(kind: &str) -> QuerySource {
        QuerySource(Cow::Owned(format!("agent:{kind}")))
    }

    /// The name of the source.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the source is the main conversation, whose compaction resets what the main thread holds (C2).
    pub fn is_main(&self) -> bool {
        let mains = [QuerySource::MAIN, QuerySource::SDK];
        mains.iter().any(|main| self.0.starts_with(main.as_str()))
    }
}

impl fmt::Display for QuerySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The mechanism that keeps the window from overflowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WindowOwner {
    /// Compaction at a threshold, before a request.
    #[default]
    Proactive,
    /// Compaction after the provider rejects a request as too long.
    Reactive,
    /// Folding of old rounds, span by span (O6).
    Collapse,
}

/// Whether proactive compaction may begin here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProactiveGuard {
    /// Proactive compaction may begin.
    Clear,
    /// The request is itself a compaction.
    InsideCompaction,
    /// The request takes session notes.
    InsideNotes,
    /// The request folds old rounds.
    InsideCollapse,
    /// Reactive mode owns the window.
    ReactiveOwns,
    /// Collapse mode owns the window.
    CollapseOwns,
}

/// Judges a request by its sender and the window's owner.
pub fn guard(source: &QuerySource, owner: WindowOwner) -> ProactiveGuard {
    let inside = [
        (QuerySource::COMPACT, ProactiveGuard::InsideCompaction),
        (QuerySource::NOTES, ProactiveGuard::InsideNotes),
        (QuerySource::COLLAPSE, ProactiveGuard::InsideCollapse),
    ];
    if let Some((_, guard)) = inside.into_iter().find(|(name, _)| name == source) {
        return guard;
    }
    match owner {
        WindowOwner::Proactive => ProactiveGuard::Clear,
        WindowOwner::Reactive => ProactiveGuard::ReactiveOwns,
        WindowOwner::Collapse => ProactiveGuard::CollapseOwns,
    }
}
