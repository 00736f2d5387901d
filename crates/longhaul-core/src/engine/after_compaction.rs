//! The state that a compaction resets (C1). This is the only place with that list.
//!
//! | what | reset by |
//! |---|---|
//! | results that may be cleared, cache edits, deletions, the provider's own clearing | this module |
//! | the rendering of the conversation | this module |
//! | the cache-break detector's baseline (D4), the tracking of turns (O4), the window growth (X5) | this module |
//! | nested memory files that were loaded, files that were read (R7) | this module: the view tells which ones |
//! | memory files, prompt sections, user context | the host, which builds a new request prefix for [`Effect::Gather`] |
//! | the tools' knowledge of file contents, session approvals | the host, on [`Event::Compacted`]: [`HostReset`] |
//!
//! The names of announced skills are kept on purpose. Checks of shell commands never outlive their call, so there is
//! nothing to reset.
//!
//! [`Effect::Gather`]: super::Effect::Gather
//! [`Event::Compacted`]: super::Event::Compacted

use std::path::PathBuf;

use jiff::Timestamp;

use super::live::LiveConversation;
use super::{Engine, known_prefix_count};
use crate::micro::CacheEditState;
use crate::micro::native::ProviderClearing;
use crate::prompt::{RequestAssembly, RequestPrefix};
use crate::window::QuerySource;

/// Something that a host holds for a conversation and that a compaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostState {
    /// The tools' knowledge of file contents, except for the files that were restored (R7).
    FileContents,
    /// The user's approvals for this session only. The rules of settings and flags stay.
    Approvals,
}

impl HostState {
    /// The state that ends with a compaction of this conversation. A sub-agent's compaction ends nothing of the main
    /// thread (C2).
    fn ended_by(source: &QuerySource) -> &'static [Self] {
        if source.is_main() {
            &[Self::FileContents, Self::Approvals]
        } else {
            &[Self::FileContents]
        }
    }
}

/// The state that the host resets on its side after a compaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostReset {
    /// The kinds of state to reset.
    pub states: &'static [HostState],
    /// The files whose text was restored: the tools' knowledge of them is still valid.
    pub restored: Vec<PathBuf>,
}

impl HostReset {
    /// Whether the host must reset this state.
    pub fn includes(&self, state: HostState) -> bool {
        self.states.contains(&state)
    }
}

/// The conversation that replaces the compacted one.
pub(super) struct NewConversation {
    pub(super) live: LiveConversation,
    /// The rendering. `None` where request prefixes are not written.
    pub(super) assembly: Option<RequestAssembly>,
    pub(super) prefix: RequestPrefix,
    /// A request prefix that the host wants from the next compaction on.
    pub(super) next_prefix: Option<RequestPrefix>,
    /// The files whose text was restored, the newest first.
    pub(super) restored: Vec<PathBuf>,
    /// The id of the turn that begins with the new conversation.
    pub(super) turn: String,
}

impl Engine {
    /// Switches to the new conversation and resets the state of the old one. Returns what the host has to reset.
    pub(super) fn reset_after_compaction(
        &mut self,
        new: NewConversation,
        now: Timestamp,
    ) -> HostReset {
        self.live = new.live;
        self.prefix_count = known_prefix_count(&self.live, &self.config);
        self.assembly = new.assembly;
        self.prefix = new.prefix;
        self.next_prefix = new.next_prefix;
        self.outdated = None;
        self.price_new_view();
        // The cache-break detector tells renderings apart by this number.
        self.generation += 1;
        self.watched_prefix = None;
        self.watch.compacted(self.config.source.as_str());
        self.cached = CacheEditState::of(self.live.cache_edits());
        self.deletion = Default::default();
        self.native = ProviderClearing::default();
        self.tracking.compacted(new.turn.clone());
        self.turn.id = new.turn;
        // There is one attempt per turn (O3).
        self.turn.tried = true;
        self.drop_prepared(now);
        self.growth.shrunk();
        self.rest_after_compaction();
        let used = self.used();
        if let Some(taking) = &mut self.notes {
            taking.shrunk_to(used);
        }
        HostReset {
            states: HostState::ended_by(&self.config.source),
            restored: new.restored,
        }
    }
}
