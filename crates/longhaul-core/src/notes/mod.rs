//! Session notes (S): a file that a forked agent keeps while the work goes on, so that a compaction needs no model call.
//!
//! Pure pieces only. `document` reads and writes the file, `template` says what it begins as, `trigger` when it is brought
//! up to date, `prompt/` what is asked for then, `guard` and `answer` what the answer may change, `caps` how large it may
//! grow, `progress` how far it reaches, `plan` what a compaction by it keeps. Running the agent and writing the file are
//! the shell's; where the file lies is in `longhaul-store`.

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
