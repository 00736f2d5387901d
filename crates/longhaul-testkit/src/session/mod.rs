//! Generates transcripts of sessions that never happened, in the on-disk format of Claude Code, from a seed.
//!
//! [`SessionSpec`] describes a session; [`SessionSpec::generate`] returns its bytes together with the [`Truth`] about
//! them: what a reader should find. The same spec gives the same bytes on every machine and in every version of this
//! crate's dependencies. Damage is not made here (see [`crate::damage`]), and neither are files too large for memory
//! (see [`crate::big`]).
//!
//! Modules: `spec` is the description; `generator` is the state between turns, and `turns` writes them; `reply` writes
//! one model response; `tools` their calls and answers, on a made-up `project`; `noise` lines outside the conversation;
//! `agents` sub-agents; `compaction` boundaries; `meter` usage; `transcript_builder` lines and their chain.

mod agents;
mod compaction;
mod generator;
mod meter;
mod noise;
mod project;
mod prompts;
mod reply;
mod spec;
mod tools;
mod transcript_builder;
mod truth;
mod turns;

pub use spec::{CacheTtl, CompactionSchedule, Feature, KeptRounds, SessionSpec, TranscriptRole};
pub use truth::{ExpectedBoundary, ExpectedClearing, ExpectedUsage, Truth};

pub(crate) use generator::Generator;

/// A generated transcript and the truth about it.
#[derive(Clone, Debug)]
pub struct GeneratedSession {
    /// The bytes of the file: JSON lines, each ending in `\n`.
    pub bytes: Vec<u8>,
    /// What a reader should find in the file.
    pub truth: Truth,
}
