//! Everything that is sent (A, B): the request prefix, cache breakpoints, and the body assembled from frozen bytes.
//!
//! The prefix's `system` is made of sections: [`SectionRegistry`] keeps their texts, [`SystemPrompt`] turns them into
//! blocks with cache breakpoints. The text before the first message is a [`UserContext`]; [`memory`] finds its memory
//! files. Texts that a model reads are separate files under `fragments/`. A [`RequestPrefix`] is decided once
//! ([`LatchedSettings`], [`RequestParameters`], [`order_tools`], [`TtlPolicy`]) and kept as an entry. A
//! [`RequestAssembly`] makes requests from one prefix and one rendering; [`RenderingReplay`] resumes both from a file.

mod agent;
mod assemble;
mod blocks;
mod breakpoints;
mod changed_part;
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
mod thinking_switch;
mod tool_order;
mod tool_output;
mod truncated_source;
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
pub use thinking_switch::ThinkingSwitch;
pub use tool_order::{OrderedTools, order_tools};
pub use tool_output::ToolOutput;
pub use truncated_source::TruncatedSource;
pub use ttl::{CacheSettings, Ttl, TtlPolicy};
pub use user_context::{ContextBudget, ContextSources, EditorSelection, UserContext};
pub use values::{
    Environment, GitState, HistoryAccess, HostValues, MemoryPrompt, OutputStyle,
    ServerInstructions, SessionBudgets, ToolGuidance, UserPresence, WorkTree,
};
