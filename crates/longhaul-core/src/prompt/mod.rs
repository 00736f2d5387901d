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
mod breakpoints;
mod fork;
mod fragment;
mod frame;
mod latched;
pub mod memory;
mod memory_part;
mod nested_memory;
mod parameters;
mod registry;
mod replay;
mod request;
mod request_prefix;
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
pub use assemble::{PushOutcome, RenderingStart, RequestAssembly};
pub use blocks::{
    BlockRole, CacheScope, CacheScopeSupport, SystemBlock, SystemPrompt, SystemPromptOptions,
    ToolSharing,
};
pub use breakpoints::{CacheWrite, MOST_MARKERS, MessageBreakpoints};
pub use fork::ConversationFork;
pub use latched::LatchedSettings;
pub use nested_memory::nested_memory;
pub use parameters::{
    OnPrefixMismatch, ParameterError, ParameterFields, RequestParameters, ThinkingChoice,
};
pub use registry::{NameTaken, SectionChange, SectionChangeCause, SectionRegistry};
pub use replay::{PlacedEntry, PrefixValidity, RenderingReplay};
pub use request::{AssembledRequest, RequestKind, RequestNotReady};
pub use request_prefix::{PrefixReason, RequestPrefix, UnreadablePrefix};
pub use section::{EveryTurnReason, MissingReason, PromptSection, SectionLifetime, SectionZone};
pub use standard::StandardSection;
pub use stripping::PriorRendering;
pub use synthetic::NewEntryStamp;
pub use tool_order::{OrderedTools, order_tools};
pub use tool_output::ToolOutput;
pub use ttl::{CacheSettings, Ttl, TtlPolicy};
pub use user_context::{
    ContextBudget, ContextSources, EditorSelection, TruncatedSource, UserContext,
};
pub use values::{
    Environment, GitState, HistoryAccess, HostValues, MemoryPrompt, OutputStyle,
    ServerInstructions, SessionBudgets, ToolGuidance, UserPresence, WorkTree,
};
