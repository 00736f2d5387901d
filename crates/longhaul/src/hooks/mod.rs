//! Hooks: commands that the user wants to run before and after a compaction, when a session starts, and around tools
//! (K1).
//!
//! [`HookSettings`] reads them from settings files in Claude Code's format, [`CommandHooks`] runs them as processes,
//! [`HookSet`] joins them with hooks written in Rust. A call returns a [`HookResponse`], never an error: whatever a
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
mod capture;
mod command;
mod event;
pub mod fake;
mod interpret;
mod matcher;
mod name;
mod notice;
mod outcome;
mod output;
mod overflow;
mod process;
mod reader;
mod run;
mod set;
mod settings;
mod words;

pub use call::{HookFuture, HookInvocation, Hooks};
pub use command::{HookCommand, HookLaunch};
pub use event::{HookCommon, HookEffort, HookEvent, HookInput};
pub use matcher::HookMatcher;
pub use name::HookEventName;
pub use notice::{HookNotice, HookNoticeKind};
pub use outcome::{HookError, HookFailure, HookPermission, HookReason, HookResponse};
pub use run::{CommandHooks, HookShell};
pub use set::HookSet;
pub use settings::{HookSettings, ListedHook};
pub use tokio_util::sync::CancellationToken;
pub use words::{CompactionTrigger, EndReason, LoadReason, MemoryType, StartSource};
