//! Generates the session as a whole: its turns, and the truth at the end.

use super::GeneratedSession;
use super::generator::Generator;
use super::meter::UsageMeter;
use super::reply::ResponseWork;
use super::spec::{CompactionSchedule, Feature, SessionSpec};
use super::truth::ExpectedUsage;

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

impl SessionSpec {
    /// Generates the transcript and the truth about it.
    #[must_use]
    pub fn generate(&self) -> GeneratedSession {
        Generator::new(self.clone()).run()
    }

    /// Generates the transcript alone.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.generate().bytes
    }
}

impl Generator {
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
}
