//! Generates the session as a whole: its turns, the state between them, and the truth at the end.

use std::collections::BTreeSet;

use super::GeneratedSession;
use super::meter::UsageMeter;
use super::reply::ResponseWork;
use super::spec::{CompactionSchedule, Feature, SessionSpec, TranscriptRole};
use super::tools::{GeneratedTodo, SourceFile};
use super::transcript_builder::{SpeakerThread, TranscriptBuilder, WrittenLine};
use super::truth::{ExpectedUsage, Truth};
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

/// The state at the beginning of a turn, to be able to take the turn back.
struct TurnCheckpoint {
    last: Option<String>,
    live: usize,
    cuts: usize,
    meter: UsageMeter,
    anchor: Option<(usize, ExpectedUsage)>,
    results: usize,
    boundaries: (usize, usize),
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GeneratedTurn {
    Stands,
    TakenBack,
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

    /// Writes the whole session.
    pub(crate) fn run(mut self) -> GeneratedSession {
        self.opening();
        while self.truth.rounds < self.spec.rounds {
            self.turn();
        }
        self.finish()
    }

    /// Writes turns until the file has reached `bytes`, ignoring the requested number of rounds.
    pub(crate) fn run_to(mut self, bytes: usize) -> GeneratedSession {
        self.spec.rounds = usize::MAX;
        // The file must not end on a turn that was taken back: a reader could not know that nothing continues it.
        while self.turn() == GeneratedTurn::TakenBack || self.tape.out.len() < bytes {}
        self.finish()
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

    fn turn(&mut self) -> GeneratedTurn {
        self.pause();
        let mark = self.checkpoint();
        self.snapshot();
        self.prompt();
        let left = self.spec.rounds - self.truth.rounds;
        let planned = self.rng.skewed(1, 28).min(left).max(1);
        for _ in 1..planned {
            self.api_error();
            self.round(ResponseWork::Continue);
            self.maintain();
        }
        self.round(ResponseWork::Finish);
        self.end_of_turn();
        self.maintain();
        let more = self.truth.rounds < self.spec.rounds;
        if more
            && self.spec.has(Feature::Branches)
            && self.boundaries() == mark.boundaries
            && self.rng.percent(8)
        {
            self.take_back(mark);
            return GeneratedTurn::TakenBack;
        }
        GeneratedTurn::Stands
    }

    /// The pause before a prompt; now and then a long one.
    fn pause(&mut self) {
        let gap = self.spec.has(Feature::IdleGaps) && self.rng.percent(4);
        let ms = if gap {
            self.rng.between(61, 300) * 60_000
        } else {
            self.rng.skewed(4_000, 400_000)
        };
        self.tape.wait(ms);
    }

    /// Compacts or clears if it is time to.
    fn maintain(&mut self) {
        let due = match self.spec.compaction {
            CompactionSchedule::Never => false,
            CompactionSchedule::AtTokens(limit) => self.context >= limit,
            CompactionSchedule::EveryRounds(rounds) => self.rounds_since_boundary >= rounds.max(1),
        };
        if due {
            self.compact();
        } else if self.spec.has(Feature::Microcompact) && self.results.len() >= 40 {
            self.microcompact();
        }
    }

    fn checkpoint(&self) -> TurnCheckpoint {
        TurnCheckpoint {
            last: self.thread.last.clone(),
            live: self.live.len(),
            cuts: self.cuts.len(),
            meter: self.meter.clone(),
            anchor: self.truth.anchor,
            results: self.results.len(),
            boundaries: self.boundaries(),
        }
    }

    fn boundaries(&self) -> (usize, usize) {
        (self.truth.boundaries.len(), self.truth.clearings.len())
    }

    fn take_back(&mut self, mark: TurnCheckpoint) {
        self.thread.last = mark.last;
        self.live.truncate(mark.live);
        self.cuts.truncate(mark.cuts);
        self.meter = mark.meter;
        self.truth.anchor = mark.anchor;
        self.results.truncate(mark.results);
    }

    fn finish(mut self) -> GeneratedSession {
        self.truth.lines = self.tape.lines;
        self.truth.live = self.live.iter().map(|seen| seen.line).collect();
        self.truth.last_uuid = self.thread.last.unwrap_or_default();
        GeneratedSession {
            bytes: self.tape.out,
            truth: self.truth,
        }
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
