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

pub use answer::{Applied, RefusedSection, Unapplied, WhyRefused, apply};
pub use caps::{Caps, Excess, Over};
pub use document::{BrokenFrame, Notes, Section};
pub use guard::{Guard, Refusal, Refusals, Verdict};
pub use keep::{KeepWindow, Spoken, Weighed};
pub use plan::{NotesPlan, Planning, Reason, Replacement};
pub use progress::Progress;
pub use prompt::{Prompt, Way};
pub use settings::NotesSettings;
pub use shortened::{Shortened, shortened};
pub use template::{DEFAULT_TEMPLATE, Template};
pub use trigger::{Due, Ended, Run, Trigger, Wait};
