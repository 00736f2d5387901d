//! The state of a session that is being generated. `turns.rs` writes its turns.

use std::collections::BTreeSet;

use super::meter::UsageMeter;
use super::project::{GeneratedTodo, SourceFile};
use super::spec::{Feature, SessionSpec, TranscriptRole};
use super::transcript_builder::{SpeakerThread, TranscriptBuilder, WrittenLine};
use super::truth::Truth;
use crate::ids;
use crate::rng::Rng;
use crate::words::Letters;

/// Writes one session, turn by turn.
#[derive(Debug)]
pub(crate) struct Generator {
    pub(super) spec: SessionSpec,
    pub(super) rng: Rng,
    pub(super) letters: Letters,
    pub(super) tape: TranscriptBuilder,
    pub(super) thread: SpeakerThread,
    pub(super) meter: UsageMeter,
    pub(super) truth: Truth,
    /// The nesting depth of sub-agents; 0 is what the truth calls main.
    pub(super) depth: usize,
    /// The live view in the order the model sees it.
    pub(super) live: Vec<WrittenLine>,
    /// The index in `live` where the lines written after the last boundary begin.
    pub(super) fresh: usize,
    /// Indexes into `live` at which a response or a prompt begins: the safe cuts.
    pub(super) cuts: Vec<usize>,
    pub(super) rounds_since_boundary: usize,
    /// The context after the newest response.
    pub(super) context: u64,
    /// The context before the newest compaction.
    pub(super) pre_tokens: u64,
    pub(super) files: Vec<SourceFile>,
    /// The reads so far: file, offset, limit.
    pub(super) reads: Vec<(usize, usize, usize)>,
    pub(super) seen_reads: BTreeSet<(usize, usize, usize)>,
    pub(super) todos: Vec<GeneratedTodo>,
    /// Clearable results since the last boundary: tool id and tokens.
    pub(super) results: Vec<(String, u64)>,
}

impl Generator {
    /// Creates a generator that has not written anything yet.
    pub(crate) fn new(spec: SessionSpec) -> Self {
        let mut rng = Rng::new(spec.seed);
        let tape = TranscriptBuilder::new(&mut rng);
        let meter = UsageMeter::new(&mut rng, spec.cache_ttl, 18_000, 34_000);
        let agent = (spec.role == TranscriptRole::SubAgent).then(|| ids::agent(&mut rng));
        let truth = Truth {
            session_id: tape.session_id.clone(),
            ..Truth::default()
        };
        let letters = if spec.has(Feature::NonAscii) {
            Letters::Any
        } else {
            Letters::Ascii
        };
        Self {
            spec,
            rng,
            letters,
            tape,
            thread: SpeakerThread { agent, last: None },
            meter,
            truth,
            depth: 0,
            live: Vec::new(),
            fresh: 0,
            cuts: Vec::new(),
            rounds_since_boundary: 0,
            context: 0,
            pre_tokens: 0,
            files: Vec::new(),
            reads: Vec::new(),
            seen_reads: BTreeSet::new(),
            todos: Vec::new(),
            results: Vec::new(),
        }
    }

    /// Writes the lines before the first prompt.
    pub(super) fn opening(&mut self) {
        self.titles();
        self.session_start_hooks();
    }

    /// The id of the session, which all its lines carry.
    pub(crate) fn session_id(&self) -> &str {
        &self.tape.session_id
    }

    /// Makes this generator write lines of another generator's session.
    pub(crate) fn join_session(&mut self, id: &str) {
        id.clone_into(&mut self.tape.session_id);
        id.clone_into(&mut self.truth.session_id);
    }

    /// Gives the first line a parent outside the lines generated here.
    pub(crate) fn continue_from(&mut self, uuid: &str) {
        self.thread.last = Some(uuid.to_owned());
    }

    /// Begins with a compact boundary over the earlier conversation.
    pub(crate) fn begin_with_boundary(&mut self, pre_tokens: u64) {
        self.context = pre_tokens;
        self.compact();
    }

    /// Records that a line which reaches the model was written.
    pub(super) fn see(&mut self, written: WrittenLine) {
        if self.depth == 0 {
            self.live.push(written);
        }
    }

    /// Records that a prompt or a response begins here.
    pub(super) fn cut(&mut self) {
        if self.depth == 0 {
            self.cuts.push(self.live.len());
        }
    }
}
