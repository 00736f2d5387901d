//! What is sent (A, B): the head of a request, cache marks, and the body put together from frozen bytes.
//!
//! The head's `system` is made of sections: [`Registry`] keeps their texts, [`SystemPrompt`] turns them into blocks with
//! cache markers. What stands before the first message is a [`UserContext`]; where its memory files come from is told
//! by [`memory`]. Texts that a model reads are files of their own under `fragments/`.
//! [`RequestHead`] is what stands before the messages, decided once ([`Latched`], [`Parameters`], [`order_tools`],
//! [`TtlPolicy`]) and kept as an entry; [`Assembly`] is one head and one rendering and makes requests of them;
//! [`Replay`] takes both up again from a file.

mod agent;
mod assemble;
mod blocks;
mod fork;
mod fragment;
mod frame;
mod head;
mod latched;
mod marks;
pub mod memory;
mod memory_part;
mod nested_memory;
mod parameters;
mod registry;
mod replay;
mod request;
mod section;
mod share;
mod standard;
mod stripping;
mod synthetic;
mod tool_order;
mod tool_output;
mod ttl;
mod user_context;
mod values;

pub use agent::{AGENT_PREFIX, agent_registry};
pub use assemble::{Assembly, Beginning, Taken};
pub use blocks::{BlockRole, CacheScope, Scopes, Sending, SystemBlock, SystemPrompt, ToolSharing};
pub use fork::Fork;
pub use head::{HeadReason, RequestHead, UnreadableHead};
pub use latched::Latched;
pub use marks::{CacheWrite, MOST_MARKERS, Marks};
pub use nested_memory::nested_memory;
pub use parameters::{Body, OnMismatch, ParameterError, Parameters, Think};
pub use registry::{Cause, Change, NameTaken, Registry};
pub use replay::{Placed, Replay, Standing};
pub use request::{Assembled, NotReady, RequestKind};
pub use section::{Lifetime, NoReason, Reason, Section, Zone};
pub use standard::Standard;
pub use stripping::Predecessor;
pub use synthetic::Birth;
pub use tool_order::{OrderedTools, order_tools};
pub use tool_output::ToolOutput;
pub use ttl::{CacheSettings, Ttl, TtlPolicy};
pub use user_context::{ContextBudget, ContextSources, Cut, Selection, UserContext};
pub use values::{
    Budgets, Environment, Git, Guidance, History, HostValues, MemoryPrompt, OutputStyle, Presence,
    ServerInstructions, WorkTree,
};
