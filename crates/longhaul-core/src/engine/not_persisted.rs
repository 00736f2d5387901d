//! How a host's call ends when its lines cannot be written. Nothing is lost: the lines are kept for the next attempt, or made
//! again.

use super::compaction_in_progress::{AfterCompaction, CompactionCause};
use super::event::{CompactFailure, Event};
use super::input::EffectFailure;
use super::result::CallFailure;
use super::{AfterPersist, Engine};

impl Engine {
    /// Keeps lines that could not be written. Nothing is lost: they go first at the next attempt.
    pub(super) fn not_persisted(&mut self, then: AfterPersist, failed: &EffectFailure) {
        let message = failed.message.clone();
        let not_persisted = CallFailure::NotPersisted(message.clone());
        let not_compacted =
            CallFailure::NotCompacted(CompactFailure::NotPersisted, message.clone());
        // The failure of the host's call. None if the call does not wait for these lines.
        let failure = match then {
            AfterPersist::Rest(lines) => {
                self.unwritten = lines;
                None
            }
            AfterPersist::Added(lines, _)
            | AfterPersist::CaughtUp(lines)
            | AfterPersist::Replied(lines, _) => {
                self.unwritten = lines;
                Some(not_persisted)
            }
            AfterPersist::Finished(lines, after) => {
                self.unwritten = lines;
                match after {
                    // The compaction itself is on disk.
                    AfterCompaction::Rest => {
                        self.finish_compaction();
                        None
                    }
                    AfterCompaction::GoOn => Some(not_persisted),
                }
            }
            AfterPersist::Compact(lines, _) => {
                self.unwritten = lines;
                self.compact_failed(&message);
                Some(not_compacted)
            }
            // They are made again with the next attempt.
            AfterPersist::Cleared(_) | AfterPersist::Send(_) => Some(not_persisted),
            AfterPersist::Summarize(_, compaction) => {
                self.notify(Event::Phase(None));
                self.compact_failed(&message);
                Some(match compaction.cause {
                    CompactionCause::Manual => not_compacted,
                    _ => not_persisted,
                })
            }
            AfterPersist::Committed(commit) => {
                self.notify(Event::Phase(None));
                self.compact_failed(&message);
                Some(match commit.cause() {
                    CompactionCause::Manual => not_compacted,
                    _ => not_persisted,
                })
            }
        };
        self.notify(Event::NotPersisted { message });
        if let Some(failure) = failure {
            self.fail_call(failure);
        }
    }

    fn compact_failed(&mut self, message: &str) {
        self.notify(Event::CompactFailed {
            kind: CompactFailure::NotPersisted,
            message: message.to_owned(),
        });
    }
}
