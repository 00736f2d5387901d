//! The description of a session to generate.

/// One kind of line or behavior that can be switched on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// Thinking blocks with signatures, on lines of their own.
    Thinking,
    /// Several calls in one response, some with results written between them.
    ParallelCalls,
    /// The `toolUseResult` copy of every result, including `structuredPatch` and `originalFile`.
    ToolUseResult,
    /// `hook_progress` lines around every call: more than half of the lines in files that have them.
    HookProgress,
    /// `bash_progress` lines of slow commands.
    BashProgress,
    /// `agent_progress` lines: whole messages, with ids and usage, nested inside a progress line.
    AgentProgress,
    /// `file-history-snapshot` lines, which have no uuid.
    Snapshots,
    /// `stop_hook_summary` and `turn_duration` lines.
    SystemLines,
    /// Attachment lines.
    Attachments,
    /// Sub-agents' lines inside the main file.
    Sidechains,
    /// Pictures in prompts and in results.
    Images,
    /// Meta messages and wrappers of local commands.
    Meta,
    /// The same path and range read again.
    DuplicateReads,
    /// Characters outside ASCII.
    NonAscii,
    /// Calls that fail.
    ToolErrors,
    /// Replies that are API errors: model `<synthetic>`, zero usage.
    ApiErrors,
    /// `queue-operation` lines, which have no uuid.
    QueueOperations,
    /// `summary` title lines at the beginning of the file.
    Titles,
    /// `microcompact_boundary` lines.
    Microcompact,
    /// Turns that were taken back: branches of the chain that nothing continues.
    Branches,
    /// Pauses of more than an hour between turns.
    IdleGaps,
    /// Early lines of some responses with a partial output count; the last line has the full one.
    PartialUsage,
}

impl Feature {
    /// Every feature.
    pub const ALL: [Self; 22] = [
        Self::Thinking,
        Self::ParallelCalls,
        Self::ToolUseResult,
        Self::HookProgress,
        Self::BashProgress,
        Self::AgentProgress,
        Self::Snapshots,
        Self::SystemLines,
        Self::Attachments,
        Self::Sidechains,
        Self::Images,
        Self::Meta,
        Self::DuplicateReads,
        Self::NonAscii,
        Self::ToolErrors,
        Self::ApiErrors,
        Self::QueueOperations,
        Self::Titles,
        Self::Microcompact,
        Self::Branches,
        Self::IdleGaps,
        Self::PartialUsage,
    ];

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// When the conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionSchedule {
    /// The conversation is never compacted.
    Never,
    /// It is compacted when the context has reached this many tokens; real sessions compact near 167,000.
    AtTokens(u64),
    /// It is compacted after every so many rounds, for small files with many boundaries.
    EveryRounds(usize),
}

/// What a compaction keeps verbatim, and how its boundary records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptRounds {
    /// It keeps nothing: there are only the boundary and the summary.
    Nothing,
    /// It keeps the newest rounds; `preservedSegment` is anchored at the summary.
    AfterSummary,
    /// It keeps the oldest rounds since the previous boundary; `preservedSegment` is anchored at the boundary itself.
    AfterBoundary,
    /// It keeps some of the newest rounds; `preservedMessages.uuids` lists them, and the segment next to it spans more.
    Listed,
}

/// The lifetime of prompt cache writes; it decides which half of `cache_creation` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheTtl {
    /// Five minutes.
    FiveMinutes,
    /// One hour.
    OneHour,
}

/// Whose transcript it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptRole {
    /// The main conversation.
    Main,
    /// A sub-agent's own file, in which every line is a sidechain line.
    SubAgent,
}

/// The description of a session to generate. `new` gives one like the real files; the methods change it.
#[derive(Clone, Debug)]
pub struct SessionSpec {
    pub(super) seed: u64,
    pub(super) rounds: usize,
    pub(super) features: u32,
    pub(super) compaction: CompactionSchedule,
    pub(super) kept: KeptRounds,
    pub(super) cache_ttl: CacheTtl,
    pub(super) role: TranscriptRole,
    pub(super) model: String,
}

impl SessionSpec {
    /// A main session of `rounds` model responses with every feature, compacted at 167,000 tokens, keeping nothing.
    #[must_use]
    pub fn new(seed: u64, rounds: usize) -> Self {
        Self {
            seed,
            rounds,
            features: Feature::ALL
                .iter()
                .fold(0, |set, feature| set | feature.bit()),
            compaction: CompactionSchedule::AtTokens(167_000),
            kept: KeptRounds::Nothing,
            cache_ttl: CacheTtl::FiveMinutes,
            role: TranscriptRole::Main,
            model: String::from("claude-sonnet-4-5-20250929"),
        }
    }

    /// Switches every feature and compaction off: prompts, replies, one call at a time.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.features = 0;
        self.compaction = CompactionSchedule::Never;
        self
    }

    /// Switches a feature on.
    #[must_use]
    pub fn with(mut self, feature: Feature) -> Self {
        self.features |= feature.bit();
        self
    }

    /// Switches a feature off.
    #[must_use]
    pub fn without(mut self, feature: Feature) -> Self {
        self.features &= !feature.bit();
        self
    }

    /// Whether a feature is on.
    #[must_use]
    pub fn has(&self, feature: Feature) -> bool {
        self.features & feature.bit() != 0
    }

    /// Sets when to compact.
    #[must_use]
    pub fn compaction(mut self, compaction: CompactionSchedule) -> Self {
        self.compaction = compaction;
        self
    }

    /// Sets what a compaction keeps.
    #[must_use]
    pub fn kept(mut self, kept: KeptRounds) -> Self {
        self.kept = kept;
        self
    }

    /// Sets the lifetime of cache writes.
    #[must_use]
    pub fn cache_ttl(mut self, ttl: CacheTtl) -> Self {
        self.cache_ttl = ttl;
        self
    }

    /// Sets whose transcript it is. A sub-agent's has no compaction, snapshots, branches or sub-agents of its own.
    #[must_use]
    pub fn role(mut self, role: TranscriptRole) -> Self {
        self.role = role;
        if role == TranscriptRole::SubAgent {
            self.compaction = CompactionSchedule::Never;
            for feature in [
                Feature::Snapshots,
                Feature::Sidechains,
                Feature::AgentProgress,
                Feature::Branches,
                Feature::Titles,
                Feature::QueueOperations,
                Feature::Microcompact,
            ] {
                self = self.without(feature);
            }
        }
        self
    }

    /// Sets the model named on replies.
    #[must_use]
    pub fn model(mut self, model: &str) -> Self {
        self.model = model.to_owned();
        self
    }
}
