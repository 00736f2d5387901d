//! Session notes (S): a file that a forked agent maintains during the work, so that a compaction needs no model call.
//!
//! This module has no side effects. `document` reads and writes the file's text, `template` defines its initial text,
//! `trigger` decides when it is updated, `prompt/` writes the request for that, `guard` and `answer` limit what the
//! answer may change, `caps` limits its size, `progress` records how far it reaches, and `plan` decides what a
//! compaction by notes keeps. The shell runs the agent and writes the file; `longhaul-store` knows its path.

mod answer;
mod caps;
mod document;
mod fence;
mod guard;
mod keep;
mod plan;
mod progress;
mod prompt;
mod settings;
mod shortened;
mod template;
mod trigger;

pub use answer::{AppliedAnswer, RefusedSection, SectionRefusal, UnusableAnswer, apply};
pub use caps::{CapExcess, NotesCaps, NotesExcess};
pub use document::{BrokenNotesFrame, NotesSection, SessionNotes};
pub use guard::{NotesCallRefusal, NotesCallVerdict, NotesGuard, NotesRefusalCounts};
pub use keep::{EntryWords, KeepWindow, WeighedEntry};
pub use plan::{NotesPlan, NotesPlanInput, NotesReplacement, NotesSkipReason};
pub use progress::NotesProgress;
pub use prompt::{NotesEditWay, NotesPrompt};
pub use settings::NotesSettings;
pub use shortened::{ShortenedNotes, shortened};
pub use template::{DEFAULT_TEMPLATE, NotesTemplate};
pub use trigger::{NotesDue, NotesRunEnd, NotesRunId, NotesTrigger, NotesWait};
