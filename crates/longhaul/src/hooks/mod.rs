//! Hooks: what a user wants run before and after a compaction, when a session starts, around tools (K1).
//!
//! [`HookSettings`] reads them from settings files in Claude Code's shape, [`CommandHooks`] runs them as processes,
//! [`HookSet`] joins them with hooks written in Rust. A call gives an [`Outcome`], never an error: whatever a hook
//! does, the compaction it belongs to goes on (K2). When hooks run is decided by whoever calls.
//!
//! ```no_run
//! use longhaul::hooks::{
//!     CommandHooks, Common, HookCall, HookEvent, HookInput, HookSettings, HookSet, Hooks, Trigger,
//! };
//!
//! # async fn example() {
//! let settings = HookSettings::load(["settings.json"]);
//! for notice in &settings.notices {
//!     eprintln!("{notice}");
//! }
//! let hooks = HookSet::new().with_commands(CommandHooks::new(settings, "."));
//! let event = HookEvent::PreCompact { trigger: Trigger::Manual, custom_instructions: None };
//! let outcome = hooks.run(&HookCall::new(HookInput { common: Common::default(), event })).await;
//! if let Some(reason) = &outcome.blocked {
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
