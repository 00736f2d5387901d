//! The report: one object, documented field by field, the same for people and programs. `docs/inspect-json.md` is its
//! reference for programs.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::message::{Id, Usage};
use crate::report::{LossReport, SummaryOrigin};
use crate::transcript::TranscriptProblem;
use crate::window::WindowLevel;

/// Everything `inspect` says about one file.
#[derive(Debug, Clone, Serialize)]
pub struct InspectionReport {
    /// Session id of the newest entry that has one.
    pub session_id: Option<String>,
    /// Intact lines of any kind.
    pub entries: u64,
    /// API messages of the live view.
    pub messages: u64,
    /// Model responses of the main conversation, whole file.
    pub rounds: u64,
    /// Tokens in the window: `measured` + `estimated`.
    pub context_tokens: u64,
    /// The change since the measurement, estimated. Negative if more was cleared than added.
    pub estimated: i64,
    /// What the newest usable reply measured; 0 if none is in view.
    pub measured: u64,
    /// Tokens cleared since the measurement; subtracted in `estimated`.
    pub cleared: u64,
    /// The model's window.
    pub window: WindowReport,
    /// The limits in tokens, and how near they are.
    pub thresholds: Thresholds,
    /// `ok`, `warning`, `auto_compact` or `blocking`.
    pub level: WindowLevel,
    /// What the live view consists of, in estimated tokens.
    pub categories: Categories,
    /// By tool, main conversation, whole file.
    pub tools: BTreeMap<String, ToolReport>,
    /// Compactions of the main conversation.
    pub boundaries: Vec<BoundaryReport>,
    /// Clearings of tool results (micro-compactions) of the main conversation.
    pub clearings: Vec<ClearingReport>,
    /// Billed tokens of the main conversation, whole file, once per response.
    pub usage: UsageReport,
    /// cache_read ÷ (input + cache_read + cache_write), 0 to 1.
    pub cache_hit_rate: f64,
    /// What the main conversation cost: at least that much if `partial_outputs` is not 0.
    pub cost_usd: f64,
    /// Responses of the main conversation whose recorded output is plainly only a part: their cost is a lower bound.
    pub partial_outputs: u64,
    /// What taking session notes cost: not in `usage` and `cost_usd`.
    pub notes: NotesReport,
    /// Where clearly less was read from the cache than before, main conversation, whole file.
    pub cache_breaks: Vec<CacheBreak>,
    /// Their sums.
    pub cache_break_totals: CacheBreakTotals,
    /// Files read again, main conversation, whole file.
    pub duplicate_reads: DuplicateReads,
    /// Conversations that the file holds before the one that goes on: in neither view nor facts.
    pub earlier_conversations: Vec<EarlierConversation>,
    /// All responses of the file, sub-agents' included, so that a folder can count each once.
    #[serde(skip)]
    pub billed: Vec<BilledResponse>,
    /// The sub-agents' share, where it is in the same file.
    pub sidechains: Sidechains,
    /// The ten largest tool results of the main conversation, largest first.
    pub largest_results: Vec<LargeResult>,
    /// The responses of the main conversation, in order.
    pub turns: Vec<TurnReport>,
    /// What was assumed: an unknown model's window, a missing price.
    pub assumptions: Vec<String>,
    /// What is wrong with the file, by line.
    pub problems: Vec<TranscriptProblem>,
}

impl InspectionReport {
    /// What summaries and notes cost beside the conversation, as far as it is recorded; none if nothing is.
    pub fn cost_beside(&self) -> Option<f64> {
        let made = self.boundaries.iter().filter_map(|one| one.made.as_ref());
        let summaries: Vec<f64> = made.filter_map(|made| made.cost_usd).collect();
        let any = self.notes.runs > 0 || !summaries.is_empty();
        any.then(|| self.notes.cost_usd + summaries.iter().sum::<f64>())
    }
}

/// The model's window.
#[derive(Debug, Clone, Serialize)]
pub struct WindowReport {
    /// The model of the newest reply, as recorded.
    pub model: Option<String>,
    /// Its context size in tokens, after any cap.
    pub size: u64,
    /// The most it can write in one reply.
    pub max_output: u64,
    /// The size less the room kept for a reply.
    pub effective: u64,
}

/// The limits in tokens.
#[derive(Debug, Clone, Serialize)]
pub struct Thresholds {
    /// What `percent_left` is measured against.
    pub limit: u64,
    /// From here on the user is warned.
    pub warning: u64,
    /// The same point, shown as an error.
    pub error: u64,
    /// From here on the conversation is compacted by itself.
    pub auto_compact: u64,
    /// Whether it is: automatic compaction may be switched off.
    pub auto_compact_enabled: bool,
    /// From here on input is refused.
    pub blocking: u64,
    /// Percent of the limit still free.
    pub percent_left: u8,
}

/// What the live view consists of, in unpadded estimates (T4).
#[derive(Debug, Clone, Default, Serialize)]
pub struct Categories {
    /// User messages other than tool results; a compaction's summary is one of them.
    pub human_messages: u64,
    /// Of which: summaries of compactions.
    pub summaries: u64,
    /// Text and reasoning of the model.
    pub assistant_messages: u64,
    /// Tool calls.
    pub tool_requests: u64,
    /// Tool results that have not been cleared.
    pub tool_results: u64,
    /// The same by tool.
    pub tool_results_by_tool: BTreeMap<String, u64>,
    /// How many tool results of the view take no room any more: they were cleared, or deleted from the provider's cache.
    pub cleared_results: u64,
    /// Attachments that have not been cleared.
    pub attachments: u64,
    /// The system prompt, where the file records it.
    pub system_prompt: u64,
    /// Tool definitions, where the file records them.
    pub tools: u64,
    /// Memory files, where the file records them.
    pub memory_files: u64,
    /// Of the tool results: reads of a file that is in the view already.
    pub duplicate_reads: u64,
    /// What the measurement holds beyond all this: the system prompt and tools of a file that does not record them,
    /// and the error of the estimates.
    pub unattributed: u64,
}

/// One tool's share.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct ToolReport {
    /// How often it was called.
    pub calls: u64,
    /// Tokens of its results.
    pub tokens: u64,
    /// Tokens of its calls.
    pub request_tokens: u64,
}

/// A compaction.
#[derive(Debug, Clone, Serialize)]
pub struct BoundaryReport {
    /// Its line.
    pub line: u64,
    /// The boundary's uuid.
    pub uuid: String,
    /// When.
    pub timestamp: Option<Timestamp>,
    /// `manual` or `auto`.
    pub trigger: Option<String>,
    /// Tokens before it, as recorded.
    pub pre_tokens: Option<u64>,
    /// Messages summarised, as recorded.
    pub messages_summarized: Option<u64>,
    /// What it replaced.
    pub replaced: ReplacedPart,
    /// Entries before it that the model still sees.
    pub preserved: u64,
    /// Estimated tokens of the summary.
    pub summary_tokens: u64,
    /// How many spans its summary consists of, if old rounds were folded (O6).
    pub folds: Option<u64>,
    /// How its summary came about, as recorded.
    pub made: Option<SummaryOriginReport>,
    /// What it lost, as recorded: ours record it.
    pub report: Option<LossReport>,
}

/// How a summary came about.
#[derive(Debug, Clone, Serialize)]
pub struct SummaryOriginReport {
    /// `fork`, `plain`, `local`, `approved`, `provider`, `notes` or `fold`.
    pub by: Option<String>,
    /// Whether it was prepared before it was needed.
    pub ahead: bool,
    /// How long a turn waited for it.
    pub waited_ms: Option<u64>,
    /// How long it took.
    pub took_ms: Option<u64>,
    /// What it cost.
    pub cost_usd: Option<f64>,
    /// The tokens billed for it.
    pub usage: Option<UsageReport>,
}

impl From<&SummaryOrigin> for SummaryOriginReport {
    fn from(made: &SummaryOrigin) -> Self {
        Self {
            by: made.by.clone(),
            ahead: made.ahead,
            waited_ms: made.waited_ms,
            took_ms: made.took_ms,
            cost_usd: made.cost_usd,
            usage: made.usage.as_ref().map(UsageReport::from),
        }
    }
}

/// Runs of the agent that takes session notes.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct NotesReport {
    /// How many.
    pub runs: u64,
    /// Their billed tokens.
    pub usage: UsageReport,
    /// What they cost, as far as it is recorded.
    pub cost_usd: f64,
}

/// What a compaction took out of the view.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct ReplacedPart {
    /// User and assistant entries and attachments.
    pub entries: u64,
    /// Their estimated tokens.
    pub tokens: u64,
}

/// A clearing of tool results.
#[derive(Debug, Clone, Serialize)]
pub struct ClearingReport {
    /// Its line.
    pub line: u64,
    /// When.
    pub timestamp: Option<Timestamp>,
    /// `manual` or `auto`.
    pub trigger: Option<String>,
    /// Tokens before it, as recorded.
    pub pre_tokens: Option<u64>,
    /// Tokens saved: as the next reply measured it where the provider says so, else as recorded.
    pub tokens_saved: Option<u64>,
    /// How many results it cleared.
    pub results: u64,
    /// How they were cleared.
    pub way: ClearingWay,
}

/// How results are cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClearingWay {
    /// A marker is sent in their place.
    Replaced,
    /// They are sent as before, and the provider is asked to leave them out of its cache (U4).
    CacheEdits,
}

/// Billed tokens by price class.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct UsageReport {
    /// Prompt tokens outside the cache.
    pub input: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Written to the cache for an hour.
    pub cache_write_1h: u64,
    /// Written by the model.
    pub output: u64,
}

impl From<&Usage> for UsageReport {
    fn from(usage: &Usage) -> Self {
        Self {
            input: usage.input,
            cache_read: usage.cache_read,
            cache_write_5m: usage.cache_write_5m,
            cache_write_1h: usage.cache_write_1h,
            output: usage.output,
        }
    }
}

/// A cache break, told by usage alone.
#[derive(Debug, Clone, Serialize)]
pub struct CacheBreak {
    /// The line where the response begins.
    pub line: u64,
    /// Tokens read from the cache by the response before it.
    pub from: u64,
    /// Tokens read by this one.
    pub to: u64,
    /// The difference.
    pub lost_tokens: u64,
    /// `model`, `rewind`, `shorter_prompt`, `expired_5m`, `expired_1h` or `unknown`.
    pub cause: &'static str,
    /// Seconds between the two requests, where both have a time.
    pub idle_seconds: Option<i64>,
    /// What it cost to write again what could have been read, if the model's prices are known.
    pub cost_usd: Option<f64>,
}

/// The sums over all cache breaks.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct CacheBreakTotals {
    /// How many.
    pub breaks: u64,
    /// Tokens lost.
    pub lost_tokens: u64,
    /// What they cost; breaks of models without known prices are left out.
    pub cost_usd: f64,
}

/// Files read again with the same range.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DuplicateReads {
    /// Reads beyond the first of the same path and range.
    pub count: u64,
    /// Tokens of their results.
    pub tokens: u64,
    /// By path.
    pub files: BTreeMap<String, DuplicateRead>,
}

/// One file's repeated reads.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct DuplicateRead {
    /// Reads beyond the first.
    pub count: u64,
    /// Tokens of their results.
    pub tokens: u64,
}

/// A conversation before the one that goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct EarlierConversation {
    /// The line where it begins.
    pub line: u64,
    /// Its last line.
    pub through: u64,
    /// Its entries.
    pub entries: u64,
    /// Of these, lines of users and models.
    pub messages: u64,
}

/// A response and its price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BilledResponse {
    /// The message id; none if it has none.
    pub message: Option<Id>,
    /// What it cost; 0 if its model's prices are not known.
    pub cost_usd: f64,
    /// Whether its recorded output is plainly only a part.
    pub is_partial: bool,
}

/// The sub-agents' share of the file.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Sidechains {
    /// Their entries.
    pub entries: u64,
    /// Their responses.
    pub rounds: u64,
    /// Their billed tokens.
    pub usage: UsageReport,
    /// Their share of prompts read from the cache.
    pub cache_hit_rate: f64,
    /// What they cost.
    pub cost_usd: f64,
    /// Their responses whose recorded output is plainly only a part.
    pub partial_outputs: u64,
}

/// A large tool result.
#[derive(Debug, Clone, Serialize)]
pub struct LargeResult {
    /// Its line.
    pub line: u64,
    /// The tool.
    pub tool: Option<String>,
    /// What the call was about: a path, a command, a pattern.
    pub about: Option<String>,
    /// Its estimated tokens.
    pub tokens: u64,
    /// Whether it is in the live view, not cleared.
    pub in_view: bool,
}

/// One response.
#[derive(Debug, Clone, Serialize)]
pub struct TurnReport {
    /// The line where it begins.
    pub line: u64,
    /// When.
    pub timestamp: Option<Timestamp>,
    /// The model.
    pub model: Option<String>,
    /// Tokens in the window when it ended; 0 if it has no usage.
    pub context_tokens: u64,
    /// Billed tokens, as recorded.
    pub usage: UsageReport,
    /// Whether the recorded output is plainly only a part of what was written.
    pub output_is_partial: bool,
    /// Share of its prompt read from the cache.
    pub cache_hit_rate: f64,
    /// What it cost, if its model's prices are known.
    pub cost_usd: Option<f64>,
}
