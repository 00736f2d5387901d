//! What a compaction resets (C1). The list is here and nowhere else.
//!
//! | what | reset by |
//! |---|---|
//! | results that may be cleared, cache edits, deletions, what the provider cleared | this module |
//! | the rendering of the conversation, the files that were read | this module |
//! | the cache watch's baseline (D4), the tracking of turns (O4), the growth of the window (X5) | this module |
//! | nested memory files that were loaded | this module: what is in view says which those are |
//! | memory files, prompt sections, user context | the host, before the commit: it makes the head anew for [`Effect::Gather`] |
//! | what tools hold of the content of files, approvals for the session | the host, on [`Event::Compacted`]: [`HostReset`] |
//!
//! The names of skills that were announced are kept on purpose. Checks of shell commands are never kept beyond their call,
//! so there is nothing to reset.
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
    /// What the conversation's tools know of the content of files, except for the files that were put back (R7).
    FileContents,
    /// What the user approved for the session alone. The rules of settings and flags stay.
    Approvals,
}

impl HostState {
    /// What ends with a compaction of this conversation. A sub-agent's ends nothing of the main thread (C2).
    fn ended_by(source: &QuerySource) -> &'static [Self] {
        if source.is_main() {
            &[Self::FileContents, Self::Approvals]
        } else {
            &[Self::FileContents]
        }
    }
}

/// What the host resets on its side when it hears of a compaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostReset {
    /// What is reset.
    pub states: &'static [HostState],
    /// The files whose text was put back into the window: what tools know of them still holds.
    pub restored: Vec<PathBuf>,
}

impl HostReset {
    /// Whether the host is to reset this.
    pub fn includes(&self, state: HostState) -> bool {
        self.states.contains(&state)
    }
}

/// What takes the place of the conversation that was compacted.
pub(super) struct NewConversation {
    pub(super) live: LiveConversation,
    /// Its rendering; none where heads are not written.
    pub(super) assembly: Option<RequestAssembly>,
    pub(super) head: RequestPrefix,
    /// A head that the host still wants from the next compaction on.
    pub(super) next_head: Option<RequestPrefix>,
    /// The files whose text was put back, the newest first.
    pub(super) restored: Vec<PathBuf>,
    /// The id of the turn that begins with it.
    pub(super) turn: String,
}

impl Engine {
    /// Goes on with the new conversation and resets what belonged to the old one. What the host is to do is returned.
    pub(super) fn reset_after_compaction(
        &mut self,
        new: NewConversation,
        now: Timestamp,
    ) -> HostReset {
        self.live = new.live;
        self.live.read_files_mut().compacted(&new.restored, now);
        self.head_count = known_prefix_count(&self.live, &self.config);
        self.assembly = new.assembly;
        self.head = new.head;
        self.next_head = new.next_head;
        self.outdated = None;
        // The cache watch tells renderings apart by this number.
        self.generation += 1;
        self.watched_head = None;
        self.watch.compacted(self.config.source.as_str());
        self.cached = CacheEditState::of(self.live.cache_edits());
        self.deletion = Default::default();
        self.native = ProviderClearing::default();
        self.tracking.compacted(new.turn.clone());
        self.turn.id = new.turn;
        // One attempt a turn (O3).
        self.turn.tried = true;
        self.drop_prepared();
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
