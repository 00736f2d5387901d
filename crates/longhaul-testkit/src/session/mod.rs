//! Transcripts of sessions that never happened, in the on-disk shape of Claude Code, from a seed.
//!
//! [`SessionSpec`] says what a session is to hold; [`SessionSpec::generate`] gives its bytes together with the
//! [`Truth`] about them: what a reader should find. The same spec gives the same bytes on every machine and in every
//! version of this crate's dependencies. Damage is not made here (see [`crate::damage`]), nor are files too large
//! for memory (see [`crate::big`]).
//!
//! Rooms: `spec` what is asked for · `generator` the turns · `reply` one model response · `tools` their calls
//! and answers · `noise` lines beside the conversation · `agents` sub-agents · `compaction` boundaries · `meter` usage ·
//! `tape` lines and their chain.

mod agents;
mod compaction;
mod generator;
mod meter;
mod noise;
mod prompts;
mod reply;
mod spec;
mod tools;
mod transcript_builder;
mod truth;

pub use spec::{CacheTtl, CompactionSchedule, Feature, KeptRounds, SessionSpec, TranscriptRole};
pub use truth::{ExpectedBoundary, ExpectedClearing, ExpectedUsage, Truth};

pub(crate) use generator::Generator;

/// A generated transcript and what is true of it.
#[derive(Clone, Debug)]
pub struct GeneratedSession {
    /// The file's bytes: JSON lines, each ended by `\n`.
    pub bytes: Vec<u8>,
    /// What a reader should find in them.
    pub truth: Truth,
}
