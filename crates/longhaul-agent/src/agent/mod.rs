//! The loop: a prompt, the model's turns, the calls they make, until there is nothing more to do.
//!
//! [`AgentBuilder`] builds an [`Agent`]; `opening.rs` opens it on a session, and `session.rs` opens sessions.
//! `conversation_loop.rs` is the loop, for sub-agents too; `tool_executor.rs` takes the calls of a reply,
//! `call_approval.rs` decides whether one may run, and `call_run.rs` runs it; `request_prefix.rs` builds the request
//! prefix and `rehydrate.rs` gathers what goes back into the window after a compaction, with the files that
//! `restore.rs` reads again; `assembly/` builds everything around the conversations of sessions and those of
//! sub-agents, and `switch.rs` changes sessions; `session_listener.rs` tells others about them. Events are reported as
//! [`AgentEvent`](crate::event::AgentEvent)s.

mod advice;
pub(crate) mod agent_handle;
pub(crate) mod agent_spec;
mod assembly;
mod builder;
mod call_approval;
mod call_run;
pub(crate) mod conversation_loop;
mod detail;
mod earlier_usage;
mod error;
pub(crate) mod event_sink;
pub(crate) mod hook_runner;
pub(crate) mod host_environment;
mod late_tool_arrivals;
mod late_tools;
mod listing;
mod nested_calls;
pub(crate) mod nested_memory;
mod notification;
mod opening;
mod own_command;
pub(crate) mod rehydrate;
pub(crate) mod request_prefix;
pub(crate) mod requested_call;
pub(crate) mod restore;
mod resumed_model;
mod resuming;
mod running;
mod session;
mod session_listener;
mod sources;
mod start;
mod sub_agents;
mod switch;
pub(crate) mod tool_executor;
mod turn_rules;
pub(crate) mod usage_log;
mod user_answers;
mod user_command;
mod user_prompt;
mod web_search;
mod words;

pub use crate::agent_kind::AgentKind;
pub use agent_handle::{AgentHandle, PrefixTokenCounts, SessionSnapshot};
pub use agent_spec::{ConversationRole, ConversationTools, ModelOrigin, ToolProvisionFn};
pub use builder::AgentBuilder;
pub use error::AgentError;
pub use event_sink::EventCallback;
pub use listing::{ListedSession, list};
pub use request_prefix::PrefixBuildError;
pub use resuming::{CopyPolicy, InUseChoice, InUsePolicy, ResumeOptions};
pub use running::Agent;
pub use session_listener::SessionListener;
pub use sources::{SourceFn, ToolStateSources};
pub use start::SessionChoice;
pub use usage_log::{UsagePurpose, UsageTotal};
pub use user_prompt::UserPrompt;
pub(crate) use words::is_interrupt_marker;
