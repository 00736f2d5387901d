//! Tracks the results that may be cleared, oldest first. It follows the conversation entry by entry, so that a pass
//! costs as much as it clears, not as much as there is.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::ClearableTools;
use crate::hash::{Map, Set};
use crate::message::{
    BlockKind, EntryView, Id, ReductionChange, ReductionStanding, Sent, SentForm, Subtype,
};
use crate::tokens::{Estimate, RoughEstimator};

/// A result that may be cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClearableResult {
    /// The id of the call, as it is written.
    pub call: String,
    /// The name of the tool.
    pub tool: String,
    /// The estimated tokens that clearing the result saves.
    pub weight: Estimate,
}

/// A clearing that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedClearing {
    /// Why the results are cleared.
    pub reason: MicroClearingReason,
    /// The results, oldest first.
    pub results: Vec<ClearableResult>,
    /// The uuids of memory attachments that are cleared with them (U6).
    pub attachments: Vec<String>,
    /// The estimated tokens that the clearing saves (T2, not padded).
    pub saved: Estimate,
}

/// Why results are cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MicroClearingReason {
    /// The conversation was idle for so long that its cache is gone (U3).
    Idle,
    /// The window fills up (U5).
    Pressure,
    /// There are many results, and the provider can drop them from its cache (U4).
    Cached,
    /// Sending the results again has cost as much as clearing them (V3).
    Price,
}

impl MicroClearingReason {
    /// The reason's name on disk and in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Pressure => "pressure",
            Self::Cached => "cached",
            Self::Price => "price",
        }
    }
}

#[derive(Debug)]
struct MemoryAttachment {
    uuid: String,
    /// The memory file that it repeats.
    path: Option<PathBuf>,
    weight: Estimate,
    /// How many results came before the attachment.
    behind: u64,
}

/// Follows a conversation and knows which results may be cleared.
///
/// ```
/// use bytes::Bytes;
/// use longhaul_core::message::Entry;
/// use longhaul_core::micro::{ClearableTools, ToolResults};
///
/// let lines = [
///     r#"{"type":"assistant","uuid":"1","message":{"id":"a","role":"assistant","content":[
///         {"type":"tool_use","id":"t","name":"Read","input":{}}]}}"#,
///     r#"{"type":"user","uuid":"2","message":{"role":"user","content":[
///         {"type":"tool_result","tool_use_id":"t","content":"a long text"}]}}"#,
/// ];
/// let mut results = ToolResults::new(ClearableTools::default());
/// for line in lines {
///     results.push(Entry::read(Bytes::from(line))?.view());
/// }
/// assert_eq!(results.len(), 1, "results of Read can be fetched again, so they may be cleared");
/// # Ok::<(), longhaul_core::message::LineDamage>(())
/// ```
#[derive(Debug, Default)]
pub struct ToolResults {
    tools: ClearableTools,
    /// Calls of clearable tools that have no result yet: the id and the tool.
    open: Map<Id, String>,
    /// The results that may be cleared, oldest first.
    active: VecDeque<ClearableResult>,
    tokens: Estimate,
    /// The number of results so far, including cleared ones.
    seen: u64,
    memories: VecDeque<MemoryAttachment>,
    reductions: ReductionStanding,
    /// How much larger the originals of reduced results are (V8).
    growth: Map<Id, Estimate>,
}

impl ToolResults {
    /// Creates an empty tracker.
    pub fn new(tools: ClearableTools) -> Self {
        Self {
            tools,
            ..Self::default()
        }
    }

    /// Takes an entry of the conversation.
    pub fn push(&mut self, entry: EntryView<'_>) {
        let facets = entry.facets;
        let changes = self.reductions.entry(entry);
        match entry.sent() {
            Some(Sent::Reply) => self.calls(entry),
            Some(Sent::Input) => self.results(entry),
            Some(Sent::Attachment) if is_memory(entry) && facets.uuid.is_present() => {
                self.memories.push_back(MemoryAttachment {
                    uuid: entry.text(facets.uuid).into_owned(),
                    path: memory_path(entry),
                    weight: RoughEstimator.attachment(facets.attachment_units),
                    behind: self.seen,
                });
            }
            None if facets.subtype == Subtype::MicrocompactBoundary => {
                let gone = entry.cleared();
                self.forget(&gone);
                self.memories
                    .retain(|memory| !gone.contains(&Id::of(&memory.uuid)));
            }
            _ => {}
        }
        self.resize(&changes);
    }

    /// Weighs results whose form changed.
    fn resize(&mut self, changes: &[ReductionChange]) {
        for change in changes {
            let growth = self.growth.get(&change.call).copied().unwrap_or_default();
            let mut results = self.active.iter_mut();
            let Some(result) = results.find(|result| Id::of(&result.call) == change.call) else {
                continue;
            };
            match change.sent {
                SentForm::Original => {
                    result.weight += growth;
                    self.tokens += growth;
                }
                SentForm::Reduced => {
                    result.weight = result.weight.less(growth);
                    self.tokens = self.tokens.less(growth);
                }
            }
        }
    }

    /// Whether a result that is sent in a smaller form refers to the result of this call (V8): then nothing has replaced
    /// it.
    pub fn is_referred_to(&self, call: &str) -> bool {
        self.reductions.is_referred_to(Id::of(call))
    }

    /// How much is sent again as it came if these results are cleared, because it refers to them.
    pub(crate) fn growth_without(&self, gone: &[ClearableResult]) -> Estimate {
        if self.reductions.is_empty() {
            return Estimate::ZERO;
        }
        let gone: Vec<Id> = gone.iter().map(|result| Id::of(&result.call)).collect();
        let changes = self.reductions.clone().clear(&gone);
        let grown = changes
            .iter()
            .filter(|change| change.sent == SentForm::Original);
        let growth = grown.filter_map(|change| self.growth.get(&change.call).copied());
        growth.sum()
    }

    fn calls(&mut self, entry: EntryView<'_>) {
        let blocks = entry.facets.blocks.iter();
        for block in blocks.filter(|block| block.kind == BlockKind::ToolUse && !block.inner) {
            let tool = entry.text(block.name);
            if let Some(id) = entry.block_id(block)
                && self.tools.contains(&tool)
            {
                self.open.insert(id, tool.into_owned());
            }
        }
    }

    fn results(&mut self, entry: EntryView<'_>) {
        let blocks = &entry.facets.blocks;
        for (index, block) in blocks.iter().enumerate() {
            if block.kind != BlockKind::ToolResult || block.inner {
                continue;
            }
            // A second result of the same call cannot be cleared: only the first was sent.
            let Some(tool) = entry.block_id(block).and_then(|id| self.open.remove(&id)) else {
                continue;
            };
            let weight = RoughEstimator.block(block, &blocks[index + 1..]);
            if let Some(call) = entry.block_id(block)
                && self.reductions.form(call).is_some()
                && entry.reductions().iter().any(|one| one.call == call)
            {
                let growth = RoughEstimator.original_result(entry, index).less(weight);
                self.growth.insert(call, growth);
            }
            self.tokens += weight;
            self.seen += 1;
            self.active.push_back(ClearableResult {
                call: entry.text(block.id).into_owned(),
                tool,
                weight,
            });
        }
    }

    /// The number of results that may be cleared.
    pub fn len(&self) -> usize {
        self.active.len()
    }

    /// Whether no result may be cleared.
    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// The total weight of the results that may be cleared.
    pub fn tokens(&self) -> Estimate {
        self.tokens
    }

    /// The number of results since the beginning, including cleared ones.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The results that may be cleared, oldest first.
    pub fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = &ClearableResult> + ExactSizeIterator + Clone {
        self.active.iter()
    }

    /// Whether an attachment that repeats this memory file is present and was not cleared.
    pub fn holds_memory(&self, path: &Path) -> bool {
        let mut paths = self
            .memories
            .iter()
            .filter_map(|memory| memory.path.as_ref());
        paths.any(|known| known == path)
    }

    /// Forgets results that were cleared. These are mostly the oldest, so the search stops as soon as it can.
    fn forget(&mut self, ids: &[Id]) {
        let mut gone: Set<Id> = ids.iter().copied().collect();
        self.open.retain(|id, _| !gone.contains(id));
        let tokens = &mut self.tokens;
        while let Some(oldest) = self.active.front() {
            if !gone.remove(&Id::of(&oldest.call)) {
                break;
            }
            *tokens = tokens.less(oldest.weight);
            self.active.pop_front();
        }
        if !gone.is_empty() {
            self.active.retain(|result| {
                let stays = !gone.contains(&Id::of(&result.call));
                if !stays {
                    *tokens = tokens.less(result.weight);
                }
                stays
            });
        }
    }

    /// Plans to clear these results, and the memory attachments between them.
    pub(crate) fn chosen(&self, calls: &Set<Id>, reason: MicroClearingReason) -> PlannedClearing {
        let is_chosen = |result: &&ClearableResult| calls.contains(&Id::of(&result.call));
        let results: Vec<ClearableResult> = self.iter().filter(is_chosen).cloned().collect();
        let before = |at: usize| self.seen.saturating_sub((self.active.len() - at) as u64);
        let first = self.iter().position(|result| is_chosen(&result));
        let last = self.iter().rposition(|result| is_chosen(&result));
        let between = first
            .zip(last)
            .map(|(first, last)| before(first)..before(last));
        let memories = self.memories.iter().filter(|memory| {
            let between = between.as_ref();
            between.is_some_and(|between| {
                memory.behind > between.start && memory.behind <= between.end
            })
        });
        let old: Vec<&MemoryAttachment> = memories.collect();
        let saved = results.iter().map(|result| result.weight).sum::<Estimate>()
            + old.iter().map(|memory| memory.weight).sum();
        PlannedClearing {
            reason,
            results,
            attachments: old.iter().map(|memory| memory.uuid.clone()).collect(),
            saved,
        }
    }

    /// Plans to clear the oldest `count` results.
    pub(super) fn oldest(&self, count: usize, reason: MicroClearingReason) -> PlannedClearing {
        let results: Vec<ClearableResult> = self.active.iter().take(count).cloned().collect();
        let kept = (self.active.len() - results.len()) as u64;
        let before = self.seen - kept;
        let memories = self.memories.iter();
        let old: Vec<&MemoryAttachment> = memories
            .take_while(|memory| memory.behind < before)
            .collect();
        let cleared = results.iter().map(|result| result.weight).sum::<Estimate>();
        let saved = cleared.less(self.growth_without(&results))
            + old.iter().map(|memory| memory.weight).sum();
        PlannedClearing {
            reason,
            results,
            attachments: old.iter().map(|memory| memory.uuid.clone()).collect(),
            saved,
        }
    }
}

/// Returns the file that an attachment repeats, if it names one.
fn memory_path(entry: EntryView<'_>) -> Option<PathBuf> {
    let path = entry.object(entry.facets.attachment).string("path")?;
    Some(path.into_owned().into())
}

/// Whether an attachment repeats memory files. It may be cleared because the files still exist.
fn is_memory(entry: EntryView<'_>) -> bool {
    const MEMORIES: [&str; 3] = ["nested_memory", "relevant_memories", "memory"];
    entry
        .object(entry.facets.attachment)
        .string("type")
        .is_some_and(|name| MEMORIES.contains(&&*name))
}
