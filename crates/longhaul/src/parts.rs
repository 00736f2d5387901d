//! The parts of the engine that an agent with a loop of its own can use, by topic: chosen types of `longhaul-core`,
//! `longhaul-store` and `longhaul-provider`.

/// The engine: it decides what happens next and does no IO. [`Session`](crate::Session) drives one; a host that wants to
/// perform its effects itself drives it directly.
pub mod engine {
    pub use longhaul_core::engine::{
        CacheEditSupport, CallFailure, CallResult, CompactFailure, CompactRequest, CompactionHook,
        CompactionPhase, CompactionSuccess, Effect, EffectFailure, EffectFailureKind, EffectId,
        EffectOutcome, Engine, EngineConfig, EngineInput, EngineResume, EntryAudience, Event,
        GatheredContext, HookOutcome, HostReset, HostState, LiveConversation, LiveEntry,
        ModelReply, ModelRequest, NewEntry, NotesConfig, NotesEvent, NotesOnDisk, NotesRun,
        NotesRunOutcome, OnModelFailure, Pivot, PrefixChangeTime, PrefixRecording,
        PreparationEvent, PreviewedSummary, ReplyDelivery, ReplyEnding, SessionIdentity,
        Summarizer, SummaryModel, SummaryReply, SummaryTiming, ToolOutput, Urgency, UuidSequence,
    };
    pub use longhaul_core::summary::PivotDirection;
}

/// What to do before a request: the thresholds of a window, clearing, and the decision to compact.
pub mod planning {
    pub use longhaul_core::micro::{
        CacheState, ClearableResult, ClearableTools, MicroClearingReason, MicroLimits,
        MicroSituation, MicroStep, PlannedClearing, PressureOwner, ToolResults, choose,
    };
    pub use longhaul_core::plan::{
        Breaker, NextStep, PlanSituation, Recompaction, RequestRefusal, SummaryWay, next,
    };
    pub use longhaul_core::rounds::{PieceKind, Rounds, ViewPiece, drop_oldest};
    pub use longhaul_core::window::{
        AutoCompact, Percent, ProactiveGuard, QuerySource, WindowError, WindowInput, WindowLevel,
        WindowOwner, WindowSettings, WindowStatus,
    };
}

/// Summaries: asking a model for one, reading it, making one without a model, the facts that each must keep, and what
/// was lost.
pub mod summary {
    pub use longhaul_core::facts::{
        AuditInput, AuditedSummary, FactsBudget, FileAction, LastError, RuleKind, TodoFact,
        TouchedFile, UserMessage, UserRule, audit,
    };
    pub use longhaul_core::facts::{Facts, PhraseListError, Vocabulary};
    pub use longhaul_core::local_summary::summarize as summarize_locally;
    pub use longhaul_core::report::{
        FileLoss, LossReport, OriginalsLocation, ResultLoss, RuleLoss, SummaryOrigin, TodoLoss,
        UserMessageLoss, ViewTokens,
    };
    pub use longhaul_core::summary::{
        CompactionScope, PivotDirection, Summary, SummaryFailure, SummaryInstructions,
        SummaryPromptVariant, SummaryReplyText, SummaryStop, prompt, read, safe_cut,
    };
}

/// Requests that hit the prompt cache: the request prefix, the growing messages, and where cache breakpoints are.
pub mod request {
    pub use longhaul_core::models::EffortLevel;
    pub use longhaul_core::prompt::{
        AssembledRequest, CacheWrite, LatchedSettings, MessageBreakpoints, NewEntryStamp,
        OnPrefixMismatch, ParameterError, PrefixReason, PriorRendering, PushOutcome,
        RenderingStart, RequestAssembly, RequestKind, RequestNotReady, RequestParameters,
        RequestPrefix, SystemBlock, SystemPrompt, ThinkingChoice, Ttl, order_tools,
    };
}

/// The cache watch, which says why a request did not hit the prompt cache.
pub mod cache {
    pub use longhaul_core::cache::{
        CacheBreakDetector, CacheFinding, CacheFindingKind, CacheMeasurement, CacheMissCause,
        CacheVerdict, ChangeCertainty, HostModes, RequestChange, RequestFingerprint, WatchedCallId,
    };
}

/// Token counts, models and prices.
pub mod tokens {
    pub use longhaul_core::message::{Iteration, IterationKind, Usage};
    pub use longhaul_core::models::{
        ModelFileError, ModelSpec, ModelTable, Prices, ResolvedModel, TokenPrices, Tokenizer,
    };
    pub use longhaul_core::money::Usd;
    pub use longhaul_core::tokens::{
        ContextSize, Estimate, MeasuredTokens, RoughEstimator, TokenLedger,
    };
}

/// Transcripts: their entries, and the conversation that they hold.
pub mod transcript {
    pub use longhaul_core::message::{
        BlockKind, Entry, EntryBlock, EntryFacets, EntryKind, EntryView, Id, LineDamage, Subtype,
    };
    pub use longhaul_core::transcript::{
        LiveView, ResolvedConversation, TranscriptProblem, TranscriptProblemKind, TranscriptTable,
    };
    pub use longhaul_store::{
        AppendError, Lease, LeaseError, LoadedContent, LoadedLine, LoadedTranscript, ReadError,
        ResumedConversation, SessionInUse, TranscriptWriter, fork, load, resume, resume_lines,
    };
}

/// The archive, which finds what left the window, and the recall tool that the model may call.
#[cfg(feature = "sqlite")]
pub mod archive {
    pub use longhaul_store::archive::tool::{
        NAME as RECALL_TOOL_NAME, answer as answer_recall, recall_tool,
    };
    pub use longhaul_store::archive::{
        Archive, ArchiveError, ArchiveItemKind, ArchiveRecord, SearchHit, SearchResults,
        SearchScope, ViewPresence,
    };
}

/// What goes back into the window after a compaction, for a [`Workspace`](crate::Workspace) of one's own.
pub mod rehydration {
    pub use longhaul_core::rehydrate::{
        AgentState, BackgroundAgent, FileText, InvokedSkill, ReadFile, ReadFiles, RestoreInput,
        RestoreSourceResult, TodoListItem,
    };
}

/// The client for model APIs, and what it returns.
pub mod provider {
    pub use longhaul_provider::{
        AppliedEdit, Auth, BlockCompleteness, ClientConfig, ClientConfigError, ClientTimeouts,
        Dialect, Error, ErrorClass, Proxy, Reply, ReplyBlock, ReplyBlockKind, ReplyBuilder,
        ReplyNotice, Secret, StopReason, StreamEvent, ToolCall, ToolInputError,
    };
    #[cfg(feature = "http")]
    pub use longhaul_provider::{Certificates, Client, ReplyStream, Request, RequestBody};
}
