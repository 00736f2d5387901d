//! When the notes are brought up to date (S2), never twice at once.
//!
//! It is told what happens and asked whether it is time; starting the agent is the shell's.

use jiff::{SignedDuration, Timestamp};

use super::NotesSettings;
use crate::window::WindowScale;

/// A run this old will not come back.
const STALE: SignedDuration = SignedDuration::from_secs(60);

/// The longest that a compaction waits for a run.
const LONGEST_WAIT: SignedDuration = SignedDuration::from_secs(15);

/// Follows a conversation and says when its notes are due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesTrigger {
    start: u64,
    growth: u64,
    calls: u64,
    /// Tokens in the window when the last run began; none before the first.
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

/// One run of the agent. What a run that was given up brings back is told by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotesRunId(u64);

/// Whether notes are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesDue {
    /// They are.
    Now,
    /// Too little has been said for that.
    TooLittleNew,
    /// Enough has been said, but the model is in the middle of something short.
    MidWork,
    /// They are being taken.
    Running,
}

/// How a run ended, as the trigger sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesRunEnd {
    /// It was the current one.
    Current,
    /// It had been given up or replaced: what it brings is to be dropped.
    Superseded,
}

/// Whether a compaction waits for notes that are being taken (S6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesWait {
    /// There is nothing to wait for, or it is stale.
    No,
    /// Until the run ends, but no longer than this.
    Until(Timestamp),
}

impl NotesTrigger {
    /// For a conversation in a window of this scale. `last` is the size of the window when notes were last taken, as
    /// kept with them, if they were.
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

    /// The model answered with so many tool calls.
    pub fn responded(&mut self, calls: u64) {
        self.calls_since = self.calls_since.saturating_add(calls);
        self.last_turn = match calls {
            0 => LastTurn::OnlySpoke,
            _ => LastTurn::Called,
        };
    }

    /// The window was made smaller, or another conversation is in it: growth counts from here.
    pub fn shrunk_to(&mut self, tokens: u64) {
        self.last = self.last.map(|last| last.min(tokens));
    }

    /// Whether it is time, with so many tokens in the window.
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

    /// Begins a run if it is time. One that was running and is stale is given up.
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

    /// A run ended, well or not. One that failed is not tried again before the window has grown once more.
    pub fn ended(&mut self, run: NotesRunId) -> NotesRunEnd {
        match self.running {
            Some((current, _)) if current == run => {
                self.running = None;
                NotesRunEnd::Current
            }
            _ => NotesRunEnd::Superseded,
        }
    }

    /// Whether a compaction that begins now waits. Asked once for each: the time is counted from here.
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

    /// When the run began that is under way and not stale. A clock that was set back makes it stale, too: else it would
    /// be waited for until the clock is there again.
    fn running_since(&self, now: Timestamp) -> Option<Timestamp> {
        let (_, since) = self.running?;
        (now.duration_since(since).abs() < STALE).then_some(since)
    }
}
