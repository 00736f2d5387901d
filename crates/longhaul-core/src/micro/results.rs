//! The results that may be cleared, oldest first. Follows the conversation entry by entry, so that a pass costs what it
//! clears and not what there is.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::ClearableTools;
use crate::hash::{Map, Set};
use crate::message::{BlockKind, EntryView, Id, Sent, Subtype};
use crate::tokens::{Estimate, Estimator};

/// A result that may be cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClearableResult {
    /// The id of the call, as it is written.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What clearing it saves.
    pub weight: Estimate,
}

/// What is to be cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedClearing {
    /// Why.
    pub reason: MicroClearingReason,
    /// The results, oldest first.
    pub results: Vec<ClearableResult>,
    /// Memory attachments that go with them, as uuids (U6).
    pub attachments: Vec<String>,
    /// What it saves (T2, not padded).
    pub saved: Estimate,
}

/// Why results are cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MicroClearingReason {
    /// The conversation rested for so long that its cache is gone (U3).
    Idle,
    /// The window fills up (U5).
    Pressure,
    /// There are many, and the provider can drop them from its cache (U4).
    Cached,
}

impl MicroClearingReason {
    /// Its name on disk and in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Pressure => "pressure",
            Self::Cached => "cached",
        }
    }
}

#[derive(Debug)]
struct MemoryAttachment {
    uuid: String,
    /// The memory file that it repeats.
    path: Option<PathBuf>,
    weight: Estimate,
    /// How many results had come before it.
    behind: u64,
}

/// Follows a conversation and knows which results may be cleared.
#[derive(Debug, Default)]
pub struct ToolResults {
    tools: ClearableTools,
    /// Calls of clearable tools that have no result yet: the id and the tool.
    open: Map<Id, String>,
    /// Oldest first.
    active: VecDeque<ClearableResult>,
    tokens: Estimate,
    /// Results that ever came.
    seen: u64,
    memories: VecDeque<MemoryAttachment>,
}

impl ToolResults {
    /// Nothing yet.
    pub fn new(tools: ClearableTools) -> Self {
        Self {
            tools,
            ..Self::default()
        }
    }

    /// Takes an entry of the conversation.
    pub fn push(&mut self, entry: EntryView<'_>, estimator: &impl Estimator) {
        let facets = entry.facets;
        match entry.sent() {
            Some(Sent::Reply) => self.calls(entry),
            Some(Sent::Input) => self.results(entry, estimator),
            Some(Sent::Attachment) if is_memory(entry) && facets.uuid.is_present() => {
                self.memories.push_back(MemoryAttachment {
                    uuid: entry.text(facets.uuid).into_owned(),
                    path: memory_path(entry),
                    weight: estimator.attachment(facets.attachment_units),
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

    fn results(&mut self, entry: EntryView<'_>, estimator: &impl Estimator) {
        let blocks = &entry.facets.blocks;
        for (index, block) in blocks.iter().enumerate() {
            if block.kind != BlockKind::ToolResult || block.inner {
                continue;
            }
            // A second result of the same call is not there to be cleared: the first is what was sent.
            let Some(tool) = entry.block_id(block).and_then(|id| self.open.remove(&id)) else {
                continue;
            };
            let weight = estimator.block(block, &blocks[index + 1..]);
            self.tokens += weight;
            self.seen += 1;
            self.active.push_back(ClearableResult {
                call: entry.text(block.id).into_owned(),
                tool,
                weight,
            });
        }
    }

    /// How many results may be cleared.
    pub fn len(&self) -> usize {
        self.active.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// What they weigh together.
    pub fn tokens(&self) -> Estimate {
        self.tokens
    }

    /// Results that came since the beginning, cleared ones too.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The results, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &ClearableResult> {
        self.active.iter()
    }

    /// Whether an attachment that repeats this memory file is there and was not cleared.
    pub fn holds_memory(&self, path: &Path) -> bool {
        let mut paths = self
            .memories
            .iter()
            .filter_map(|memory| memory.path.as_ref());
        paths.any(|known| known == path)
    }

    /// Forgets results that were cleared. Cleared ones are mostly the oldest, so this looks no further than it must.
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

    /// What clearing the oldest `count` results is.
    pub(super) fn oldest(&self, count: usize, reason: MicroClearingReason) -> PlannedClearing {
        let results: Vec<ClearableResult> = self.active.iter().take(count).cloned().collect();
        let kept = (self.active.len() - results.len()) as u64;
        let before = self.seen - kept;
        let memories = self.memories.iter();
        let old: Vec<&MemoryAttachment> = memories
            .take_while(|memory| memory.behind < before)
            .collect();
        let saved = results.iter().map(|result| result.weight).sum::<Estimate>()
            + old.iter().map(|memory| memory.weight).sum();
        PlannedClearing {
            reason,
            results,
            attachments: old.iter().map(|memory| memory.uuid.clone()).collect(),
            saved,
        }
    }
}

/// The file that an attachment repeats, where it names one.
fn memory_path(entry: EntryView<'_>) -> Option<PathBuf> {
    let path = entry.object(entry.facets.attachment).string("path")?;
    Some(path.into_owned().into())
}

/// Attachments that repeat memory files: the files are still there.
fn is_memory(entry: EntryView<'_>) -> bool {
    const MEMORIES: [&str; 3] = ["nested_memory", "relevant_memories", "memory"];
    entry
        .object(entry.facets.attachment)
        .string("type")
        .is_some_and(|name| MEMORIES.contains(&&*name))
}
