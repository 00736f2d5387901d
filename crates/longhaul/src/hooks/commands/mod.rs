//! Hooks from settings files, run as processes (the feature `hooks`).
//!
//! `reader.rs` reads them, `settings.rs`, `command.rs` and `matcher.rs` are what was read, `notice.rs` what was ignored;
//! `run.rs` runs the commands of an event, `process.rs` and `capture.rs` one of them; `interpret.rs`, `output.rs` and
//! `text_target.rs` read its answer.

mod capture;
mod command;
mod interpret;
mod matcher;
mod notice;
mod output;
mod process;
mod reader;
mod run;
mod settings;
mod text_target;

use super::{call, event, name, outcome, overflow, set};

pub use command::{HookCommand, HookLaunch};
pub use matcher::HookMatcher;
pub use notice::{HookNotice, HookNoticeKind};
pub use run::{CommandHooks, HookShell};
pub use settings::{HookSettings, ListedHook};
