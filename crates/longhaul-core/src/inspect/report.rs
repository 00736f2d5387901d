//! The report: one object, documented field by field, the same for people and programs. `docs/inspect-json.md` is its
//! reference for programs.

use super::economy::EconomyReport;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::message::{Id, Usage};
use crate::report::{LossReport, SummaryOrigin};
use crate::transcript::TranscriptProblem;
use crate::window::WindowLevel;

/// Everything that `inspect` reports about one file.
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
    /// The measurement of the newest usable reply; 0 if none is in view.
    pub measured: u64,
    /// Tokens cleared since the measurement; subtracted in `estimated`.
    pub cleared: u64,
    /// The likely size of the window, by a count that learns from measurements. No threshold is compared with it.
    /// `None` as long as nothing was measured: then the size of the request prefix is not known.
    pub calibrated: Option<CalibratedReport>,
    /// The model's window.
    pub window: WindowReport,
    /// The limits in tokens, and how near they are.
    pub thresholds: Thresholds,
    /// `ok`, `warning`, `auto_compact` or `blocking`.
    pub level: WindowLevel,
    /// The parts of the live view, in estimated tokens.
    pub categories: Categories,
    /// The tools of the main conversation, by name, for the whole file.
    pub tools: BTreeMap<String, ToolReport>,
    /// Compactions of the main conversation.
    pub boundaries: Vec<BoundaryReport>,
    /// Clearings of tool results (micro-compactions) of the main conversation.
    pub clearings: Vec<ClearingReport>,
    /// Billed tokens of the main conversation, whole file, once per response.
    pub usage: UsageReport,
    /// cache_read ÷ (input + cache_read + cache_write), 0 to 1.
    pub cache_hit_rate: f64,
    /// The cost of the main conversation; a lower bound if `partial_outputs` is not 0.
    pub cost_usd: f64,
    /// Responses of the main conversation whose recorded output is clearly incomplete: their cost is a lower bound.
    pub partial_outputs: u64,
    /// The cost of session notes, which is not in `usage` and `cost_usd`.
    pub notes: NotesReport,
    /// Replies that were billed and not used, which are not in `usage` and `cost_usd`.
    pub lost_replies: LostRepliesReport,
    /// Responses that read clearly less from the cache than before, in the main conversation, whole file.
    pub cache_breaks: Vec<CacheBreak>,
    /// The totals of the cache breaks.
    pub cache_break_totals: CacheBreakTotals,
    /// Files read again, main conversation, whole file.
    pub duplicate_reads: DuplicateReads,
    /// Conversations that the file holds before the current one: they are in neither the view nor the facts.
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
    /// Assumptions of the report: an unknown model's window, a missing price.
    pub assumptions: Vec<String>,
    /// The problems of the file, by line.
    pub problems: Vec<TranscriptProblem>,
}

impl InspectionReport {
    /// The decisions by price, in no particular order.
    pub fn economy(&self) -> impl Iterator<Item = &EconomyReport> {
        let compactions = self
            .boundaries
            .iter()
            .filter_map(|one| one.economy.as_ref());
        let clearings = self.clearings.iter().filter_map(|one| one.economy.as_ref());
        compactions.chain(clearings)
    }

    /// The recorded cost of summaries, notes and lost replies besides the conversation. `None` if nothing is recorded.
    pub fn cost_beside(&self) -> Option<f64> {
        let made = self.boundaries.iter().filter_map(|one| one.made.as_ref());
        let summaries: Vec<f64> = made.filter_map(|made| made.cost_usd).collect();
        let any = self.notes.runs + self.lost_replies.replies > 0 || !summaries.is_empty();
        any.then(|| {
            self.notes.cost_usd + self.lost_replies.cost_usd + summaries.iter().sum::<f64>()
        })
    }

    /// Everything that the file records as billed: the conversation, sub-agents in the same file, summaries, notes and
    /// lost replies.
    pub fn billed_usage(&self) -> Usage {
        let made = self.boundaries.iter().filter_map(|one| one.made.as_ref());
        let parts = made.filter_map(|made| made.usage.as_ref()).chain([
            &self.usage,
            &self.sidechains.usage,
            &self.notes.usage,
            &self.lost_replies.usage,
        ]);
        let mut sum = Usage::default();
        for part in parts {
            sum.add(&Usage::from(part));
        }
        sum
    }
}

/// The likely size of the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CalibratedReport {
    /// The tokens: the measurement, and a calibrated estimate of what changed since.
    pub tokens: u64,
    /// In nine of ten cases, the provider's count differs by at most this; 0 if all of it was measured.
    pub bound: u64,
    /// The provider's tokens for each token of the fixed model, as learned in this file.
    pub scale: f64,
    /// How many measurements the scale is based on.
    pub observations: u64,
}

/// The model's window.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct WindowReport {
    /// The model of the newest reply, as recorded.
    pub model: Option<String>,
    /// The context size in tokens, after any cap.
    pub size: u64,
    /// The most tokens of one reply.
    pub max_output: u64,
    /// The size minus the room kept for a reply.
    pub effective: u64,
}

/// The limits in tokens.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Thresholds {
    /// The limit that `percent_left` refers to.
    pub limit: u64,
    /// From this level on, the user is warned.
    pub warning: u64,
    /// The level of the warning, shown as an error.
    pub error: u64,
    /// From this level on, the conversation is compacted automatically.
    pub auto_compact: u64,
    /// Whether automatic compaction is switched on.
    pub auto_compact_enabled: bool,
    /// From this level on, input is refused.
    pub blocking: u64,
    /// Percent of the limit still free.
    pub percent_left: u8,
}

/// The parts of the live view, in unpadded estimates (T4).
#[derive(Debug, Clone, Default, Serialize)]
pub struct Categories {
    /// User messages other than tool results; a compaction's summary is one of them.
    pub human_messages: u64,
    /// The part of `human_messages` that is summaries of compactions.
    pub summaries: u64,
    /// Text and reasoning of the model.
    pub assistant_messages: u64,
    /// Tool calls.
    pub tool_requests: u64,
    /// Tool results that have not been cleared.
    pub tool_results: u64,
    /// Tool results that have not been cleared, by tool.
    pub tool_results_by_tool: BTreeMap<String, u64>,
    /// How many tool results of the view no longer take up room: they were cleared, or deleted from the provider's
    /// cache.
    pub cleared_results: u64,
    /// Attachments that have not been cleared.
    pub attachments: u64,
    /// The system prompt, where the file records it.
    pub system_prompt: u64,
    /// Tool definitions, where the file records them.
    pub tools: u64,
    /// Memory files, where the file records them.
    pub memory_files: u64,
    /// The part of `tool_results` that reads a file that is in the view already.
    pub duplicate_reads: u64,
    /// The part of the measurement that no category explains: the system prompt and tools of a file that does not
    /// record them, and the error of the estimates.
    pub unattributed: u64,
}

/// One tool's share.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[non_exhaustive]
pub struct ToolReport {
    /// How often the tool was called.
    pub calls: u64,
    /// Tokens of the tool's results, as they were first sent.
    pub tokens: u64,
    /// Tokens of the tool's calls.
    pub request_tokens: u64,
    /// How many of the results were sent in a smaller form than they came in (V8).
    pub reduced_results: u64,
    /// How many tokens less that was.
    pub reduced_tokens: u64,
}

/// A compaction.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct BoundaryReport {
    /// The line of the boundary.
    pub line: u64,
    /// The boundary's uuid.
    pub uuid: String,
    /// When the compaction was made.
    pub timestamp: Option<Timestamp>,
    /// `manual` or `auto`.
    pub trigger: Option<String>,
    /// Tokens before the compaction, as recorded.
    pub pre_tokens: Option<u64>,
    /// Messages summarized, as recorded.
    pub messages_summarized: Option<u64>,
    /// The part that the compaction replaced.
    pub replaced: ReplacedPart,
    /// Entries before the compaction that the model still sees.
    pub preserved: u64,
    /// Estimated tokens of the summary.
    pub summary_tokens: u64,
    /// How many spans the summary consists of, if old rounds were folded (O6).
    pub folds: Option<u64>,
    /// How the summary was made, as recorded.
    pub made: Option<SummaryOriginReport>,
    /// The loss report, which our own compactions record.
    pub report: Option<LossReport>,
    /// The decision, if the compaction was made because it pays.
    pub economy: Option<EconomyReport>,
}

/// How a summary was made.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SummaryOriginReport {
    /// `fork`, `plain`, `local`, `approved`, `provider`, `notes` or `fold`.
    pub by: Option<String>,
    /// Whether it was prepared before it was needed.
    pub ahead: bool,
    /// How long a turn waited for it.
    pub waited_ms: Option<u64>,
    /// How long it took to write the summary.
    pub took_ms: Option<u64>,
    /// What the summary cost.
    pub cost_usd: Option<f64>,
    /// The tokens billed for the summary.
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

impl From<&UsageReport> for Usage {
    fn from(report: &UsageReport) -> Self {
        Self {
            input: report.input,
            cache_read: report.cache_read,
            cache_write_5m: report.cache_write_5m,
            cache_write_1h: report.cache_write_1h,
            output: report.output,
            web_searches: report.web_searches,
            ..Self::default()
        }
    }
}

/// Replies that were billed and not used: they broke off or were stopped, or a compaction that came to nothing had asked
/// for them.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[non_exhaustive]
pub struct LostRepliesReport {
    /// The number of records.
    pub replies: u64,
    /// The billed tokens; the output is at least this.
    pub usage: UsageReport,
    /// The cost of that, as far as it is recorded.
    pub cost_usd: f64,
}

/// Runs of the agent that takes session notes.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[non_exhaustive]
pub struct NotesReport {
    /// The number of runs.
    pub runs: u64,
    /// The billed tokens of the runs.
    pub usage: UsageReport,
    /// The cost of the runs, as far as it is recorded.
    pub cost_usd: f64,
}

/// The part of the view that a compaction removed.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[non_exhaustive]
pub struct ReplacedPart {
    /// User and assistant entries and attachments.
    pub entries: u64,
    /// Estimated tokens of these entries.
    pub tokens: u64,
}

/// A clearing of tool results.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ClearingReport {
    /// The line of the clearing.
    pub line: u64,
    /// When the clearing was made.
    pub timestamp: Option<Timestamp>,
    /// `manual` or `auto`.
    pub trigger: Option<String>,
    /// Tokens before the clearing, as recorded.
    pub pre_tokens: Option<u64>,
    /// Tokens saved: as measured by the next reply where the provider reports it, else as recorded.
    pub tokens_saved: Option<u64>,
    /// How many results were cleared.
    pub results: u64,
    /// How the results were cleared.
    pub way: ClearingWay,
    /// The decision, if the results were cleared because that pays.
    pub economy: Option<EconomyReport>,
}

/// How results are cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClearingWay {
    /// A marker is sent in place of the results.
    Replaced,
    /// The results are sent as before, and the provider is asked to leave them out of its cache (U4).
    CacheEdits,
}

/// Billed tokens by price class.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[non_exhaustive]
pub struct UsageReport {
    /// Prompt tokens outside the cache.
    pub input: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Tokens written to the cache for an hour.
    pub cache_write_1h: u64,
    /// Tokens written by the model.
    pub output: u64,
    /// Searches of the web that the provider ran.
    pub web_searches: u64,
}

impl From<&Usage> for UsageReport {
    fn from(usage: &Usage) -> Self {
        Self {
            input: usage.input,
            cache_read: usage.cache_read,
            cache_write_5m: usage.cache_write_5m,
            cache_write_1h: usage.cache_write_1h,
            output: usage.output,
            web_searches: usage.web_searches,
        }
    }
}

/// A cache break, detected by usage alone.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CacheBreak {
    /// The line where the response begins.
    pub line: u64,
    /// Tokens read from the cache by the response before it.
    pub from: u64,
    /// Tokens read from the cache by this response.
    pub to: u64,
    /// The difference between the two.
    pub lost_tokens: u64,
    /// `model`, `rewind`, `shorter_prompt`, `expired_5m`, `expired_1h` or `unknown`.
    pub cause: &'static str,
    /// Seconds between the two requests, where both have a time.
    pub idle_seconds: Option<i64>,
    /// The cost of writing again what could have been read, if the model's prices are known.
    pub cost_usd: Option<f64>,
}

/// The totals of all cache breaks.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[non_exhaustive]
pub struct CacheBreakTotals {
    /// The number of breaks.
    pub breaks: u64,
    /// The number of lost tokens.
    pub lost_tokens: u64,
    /// The cost of the breaks; breaks of models without known prices are left out.
    pub cost_usd: f64,
}

/// Files read again with the same range.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct DuplicateReads {
    /// Reads beyond the first of the same path and range.
    pub count: u64,
    /// Tokens of the repeated results.
    pub tokens: u64,
    /// The repeated reads by path.
    pub files: BTreeMap<String, DuplicateRead>,
}

/// One file's repeated reads.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[non_exhaustive]
pub struct DuplicateRead {
    /// Reads beyond the first.
    pub count: u64,
    /// Tokens of the repeated results.
    pub tokens: u64,
}

/// A conversation before the current one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EarlierConversation {
    /// The line where the conversation begins.
    pub line: u64,
    /// The last line of the conversation.
    pub through: u64,
    /// The number of entries.
    pub entries: u64,
    /// The number of entries that are messages of users and models.
    pub messages: u64,
}

/// A response and its price.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BilledResponse {
    /// The message id, if the response has one.
    pub message: Option<Id>,
    /// The cost of the response; 0 if its model's prices are not known.
    pub cost_usd: f64,
    /// Whether the recorded output is clearly incomplete.
    pub is_partial: bool,
}

/// The sub-agents' share of the file.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct Sidechains {
    /// Entries of sub-agents.
    pub entries: u64,
    /// Responses of sub-agents.
    pub rounds: u64,
    /// Billed tokens of sub-agents.
    pub usage: UsageReport,
    /// The share of the sub-agents' prompts that was read from the cache.
    pub cache_hit_rate: f64,
    /// The cost of the sub-agents.
    pub cost_usd: f64,
    /// Responses of sub-agents whose recorded output is clearly incomplete.
    pub partial_outputs: u64,
}

/// A large tool result.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct LargeResult {
    /// The line of the result.
    pub line: u64,
    /// The tool that was called.
    pub tool: Option<String>,
    /// What the call was about: a path, a command, a pattern.
    pub about: Option<String>,
    /// The estimated tokens of the result.
    pub tokens: u64,
    /// Whether the result is in the live view and not cleared.
    pub in_view: bool,
    /// Whether the result was sent in a smaller form than it came in (V8).
    pub reduced: bool,
}

/// One response.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TurnReport {
    /// The line where the response begins.
    pub line: u64,
    /// When the response was written.
    pub timestamp: Option<Timestamp>,
    /// The model that responded.
    pub model: Option<String>,
    /// Tokens in the window when the response ended; 0 if it has no usage.
    pub context_tokens: u64,
    /// Billed tokens, as recorded.
    pub usage: UsageReport,
    /// Whether the recorded output is clearly incomplete.
    pub output_is_partial: bool,
    /// The share of the prompt that was read from the cache.
    pub cache_hit_rate: f64,
    /// The cost of the response, if its model's prices are known.
    pub cost_usd: Option<f64>,
}
