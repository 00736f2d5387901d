//! Decides when the notes are updated (S2), never twice at once.
//!
//! The trigger is informed of events and asked whether it is time; the shell starts the agent.

use jiff::{SignedDuration, Timestamp};

use super::NotesSettings;
use crate::window::WindowScale;

/// The age from which a run is considered lost.
const STALE: SignedDuration = SignedDuration::from_secs(60);

/// The maximum time that a compaction waits for a run.
const LONGEST_WAIT: SignedDuration = SignedDuration::from_secs(15);

/// Follows a conversation and decides when its notes are due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesTrigger {
    start: u64,
    growth: u64,
    calls: u64,
    /// The tokens in the window when the last run began; `None` before the first run.
    last: Option<u64>,
    calls_since: u64,
    last_turn: LastTurn,
    running: Option<(NotesRunId, Timestamp)>,
    runs: u64,
}

/// What the newest response did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastTurn {
    Called,
    OnlySpoke,
}

/// The id of one run of the agent. It identifies results of a run that was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotesRunId(u64);

/// Whether notes are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesDue {
    /// Notes are due now.
    Now,
    /// Too little was said since the last notes.
    TooLittleNew,
    /// Enough was said, but the model is in the middle of a short piece of work.
    MidWork,
    /// Notes are being taken.
    Running,
}

/// How a run ended, from the trigger's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesRunEnd {
    /// The run was the current one.
    Current,
    /// The run had been given up or replaced: its result must be dropped.
    Superseded,
}

/// Whether a compaction waits for notes that are being taken (S6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotesWait {
    /// There is nothing to wait for, or the run is stale.
    No,
    /// The compaction waits until the run ends, but no longer than this.
    Until(Timestamp),
}

impl NotesTrigger {
    /// Creates a trigger for a conversation in a window of this scale. `last` is the size of the window when notes were
    /// last taken, as recorded with them.
    pub fn new(settings: NotesSettings, scale: WindowScale, last: Option<u64>) -> Self {
        Self {
            start: scale.apply(settings.start_tokens),
            growth: scale.apply(settings.growth_tokens),
            calls: settings.tool_calls,
            last,
            calls_since: 0,
            last_turn: LastTurn::OnlySpoke,
            running: None,
            runs: 0,
        }
    }

    /// Records that the model answered with this many tool calls.
    pub fn responded(&mut self, calls: u64) {
        self.calls_since = self.calls_since.saturating_add(calls);
        self.last_turn = match calls {
            0 => LastTurn::OnlySpoke,
            _ => LastTurn::Called,
        };
    }

    /// Records that the window was made smaller, or holds another conversation: growth counts from here.
    pub fn shrunk_to(&mut self, tokens: u64) {
        self.last = self.last.map(|last| last.min(tokens));
    }

    /// Decides whether notes are due, with this many tokens in the window.
    pub fn due(&self, tokens: u64, now: Timestamp) -> NotesDue {
        if self.running_since(now).is_some() {
            return NotesDue::Running;
        }
        let Some(last) = self.last else {
            return if tokens >= self.start {
                NotesDue::Now
            } else {
                NotesDue::TooLittleNew
            };
        };
        if tokens.saturating_sub(last) < self.growth {
            return NotesDue::TooLittleNew;
        }
        if self.calls_since >= self.calls || self.last_turn == LastTurn::OnlySpoke {
            NotesDue::Now
        } else {
            NotesDue::MidWork
        }
    }

    /// Begins a run if notes are due. A stale run is given up.
    pub fn begin(&mut self, tokens: u64, now: Timestamp) -> Option<NotesRunId> {
        if self.due(tokens, now) != NotesDue::Now {
            return None;
        }
        self.runs += 1;
        let run = NotesRunId(self.runs);
        self.running = Some((run, now));
        self.last = Some(tokens);
        self.calls_since = 0;
        Some(run)
    }

    /// Records that a run ended, whether it succeeded or not. A failed run is not retried before the window has grown
    /// again.
    pub fn ended(&mut self, run: NotesRunId) -> NotesRunEnd {
        match self.running {
            Some((current, _)) if current == run => {
                self.running = None;
                NotesRunEnd::Current
            }
            _ => NotesRunEnd::Superseded,
        }
    }

    /// Decides whether a compaction that begins now waits. It is asked once for each compaction: the time is counted
    /// from here.
    pub fn wait(&self, now: Timestamp) -> NotesWait {
        let Some(since) = self.running_since(now) else {
            return NotesWait::No;
        };
        let (longest, stale) = (now.checked_add(LONGEST_WAIT), since.checked_add(STALE));
        match (longest, stale) {
            (Ok(longest), Ok(stale)) => NotesWait::Until(longest.min(stale)),
            _ => NotesWait::No,
        }
    }

    /// Returns when the current run began, if it is not stale. If the clock was set back, the run counts as stale, too:
    /// otherwise a compaction would wait until the clock catches up.
    fn running_since(&self, now: Timestamp) -> Option<Timestamp> {
        let (_, since) = self.running?;
        (now.duration_since(since).abs() < STALE).then_some(since)
    }
}
