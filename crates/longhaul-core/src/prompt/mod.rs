//! What is sent (A, B): the head of a request, cache marks, and the body put together from frozen bytes.
//!
//! The head's `system` is made of sections: [`Registry`] keeps their texts, [`SystemPrompt`] turns them into blocks with
//! cache markers. What stands before the first message is a [`UserContext`]; where its memory files come from is told
//! by [`memory`]. Texts that a model reads are files of their own under `fragments/`.

mod assemble;
mod frame;
mod head;
mod latched;
mod marks;
mod parameters;
mod replay;
mod stripping;
mod synthetic;
mod tool_order;
mod agent;
mod blocks;
mod cut;
mod fragment;
pub mod memory;
mod memory_part;
mod registry;
mod section;
mod share;
mod standard;
mod ttl;
mod user_context;
mod values;

pub use assemble::{Assembled, Assembly, Beginning, NotReady, RequestKind, Taken};
pub use head::{HeadReason, RequestHead, UnreadableHead};
pub use latched::Latched;
pub use marks::{CacheWrite, MOST_MARKERS, Marks};
pub use parameters::{Body, OnMismatch, ParameterError, Parameters, Think};
pub use replay::{Placed, Replay, Standing};
pub use stripping::Predecessor;
pub use synthetic::Birth;
pub use tool_order::{OrderedTools, order_tools};
pub use ttl::{CacheSettings, Route, Ttl, TtlPolicy};
pub use agent::{AGENT_PREFIX, agent_registry, agent_sections};
pub use blocks::{BlockRole, CacheScope, Scopes, Sending, SystemBlock, SystemPrompt, ToolSharing};
pub use registry::{Cause, Change, NameTaken, Registry};
pub use section::{Lifetime, NoReason, Reason, Section, Zone};
pub use standard::Standard;
pub use ttl::Ttl;
pub use user_context::{ContextBudget, ContextSources, Cut, Selection, UserContext};
pub use values::{
    Budgets, Environment, Git, Guidance, History, HostValues, MemoryPrompt, OutputStyle, Presence,
    ServerInstructions, WorkTree,
};
