//! Hooks: commands that the user wants to run before and after a compaction, when a session starts, and around tools
//! (K1).
//!
//! `HookSettings` reads them from settings files in Claude Code's format and `CommandHooks` runs them as processes (both
//! with the feature `hooks`); [`HookSet`] joins them with hooks written in Rust. A call returns a [`HookResponse`], never an error: whatever a
//! hook does, the compaction it belongs to continues (K2). The caller decides when hooks run.
//!
//! ```no_run
//! use longhaul::hooks::{
//!     CommandHooks, CompactionTrigger, HookCommon, HookEvent, HookInput, HookInvocation, HookSet, HookSettings, Hooks,
//! };
//!
//! # async fn example() {
//! let settings = HookSettings::load(["settings.json"]);
//! for notice in &settings.notices {
//!     eprintln!("{notice}");
//! }
//! let hooks = HookSet::new().with_commands(CommandHooks::new(settings, "."));
//! let event = HookEvent::PreCompact { trigger: CompactionTrigger::Manual, custom_instructions: None };
//! let input = HookInput { common: HookCommon::default(), event };
//! let response = hooks.run(&HookInvocation::new(input)).await;
//! if let Some(reason) = &response.blocked {
//!     eprintln!("not compacted: {}", reason.text);
//! }
//! # }
//! ```

mod call;
#[cfg(feature = "hooks")]
mod commands;
mod event;
pub mod fake;
mod name;
mod outcome;
mod overflow;
mod set;
mod words;

pub use call::{HookFuture, HookInvocation, Hooks};
#[cfg(feature = "hooks")]
pub use commands::{
    CommandHooks, HookCommand, HookLaunch, HookMatcher, HookNotice, HookNoticeKind, HookSettings,
    HookShell, ListedHook,
};
pub use event::{HookCommon, HookEffort, HookEvent, HookInput};
pub use name::HookEventName;
pub use outcome::{HookError, HookFailure, HookPermission, HookReason, HookResponse};
pub use set::HookSet;
pub use tokio_util::sync::CancellationToken;
pub use words::{
    CompactionTrigger, EndReason, LoadReason, MemoryType, NotificationType, StartSource,
};
