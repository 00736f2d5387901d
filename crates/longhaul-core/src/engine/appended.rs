//! Adds lines that are on disk to the conversation and to its rendering.

use bytes::Bytes;

use super::Engine;
use super::live::LiveEntry;
use crate::message::Entry;
use crate::micro::CacheEditState;
use crate::prompt::{PrefixReason, PushOutcome};

impl Engine {
    /// Adds lines that are on disk to the conversation.
    pub(super) fn take(&mut self, lines: &[Bytes], offset: u64) {
        let mut offset = offset;
        for line in lines {
            // A line that was made here is readable. One that is not is on disk, and every reader reports it.
            if let Ok(entry) = Entry::read(line.clone()) {
                if let Some(assembly) = &mut self.assembly
                    && assembly.push(entry.view()) != PushOutcome::Pushed
                {
                    self.outdated.get_or_insert(PrefixReason::Cleared);
                }
                let kept = LiveEntry {
                    entry,
                    offset: Some(offset),
                };
                self.push_live(kept);
            }
            offset += line.len() as u64 + 1;
        }
        self.cached = CacheEditState::of(self.live.cache_edits());
    }

    /// Adds lines from [`RequestAssembly::entries_before_request`] that are on disk to the conversation.
    pub(super) fn take_ours(&mut self, lines: &[Bytes], offset: u64) {
        let mut offset = offset;
        if let Some(assembly) = &mut self.assembly {
            // A line that was made here is readable.
            let _ = assembly.persisted(lines);
        }
        for line in lines {
            if let Ok(entry) = Entry::read(line.clone()) {
                let kept = LiveEntry {
                    entry,
                    offset: Some(offset),
                };
                if kept.entry.facets().uuid.is_present() {
                    self.push_live(kept);
                }
            }
            offset += line.len() as u64 + 1;
        }
        self.cached = CacheEditState::of(self.live.cache_edits());
    }
}
