//! Finds the sources of a local summary in one pass over the entries' facets. No text is read here.

use std::collections::{BTreeMap, VecDeque};

use crate::facts::excerpt::ToolResultBlock;
use crate::hash::{Map, Set};
use crate::message::{BlockKind, EntryBlock, EntryKind, EntryView, Id};
use crate::tokens::{Estimate, RoughEstimator};

/// How many of the assistant's texts are remembered from the beginning and from the end.
const FIRST_TEXTS: usize = 2;
const LAST_TEXTS: usize = 8;

/// A text block of an entry.
pub(super) type TextBlock<'a> = (EntryView<'a>, &'a EntryBlock);

/// A call and its result.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallWithResult<'a> {
    pub(super) entry: EntryView<'a>,
    pub(super) block: &'a EntryBlock,
    pub(super) result: Option<ToolResultBlock<'a>>,
}

impl<'a> CallWithResult<'a> {
    /// The raw name of the tool.
    pub(super) fn tool(&self) -> &'a [u8] {
        self.block.name.of(self.entry.line)
    }

    pub(super) fn failed(&self) -> bool {
        self.result.is_some_and(|result| result.block.is_error)
    }
}

/// The entries of a view, sorted by what a summary needs them for.
#[derive(Debug, Default)]
pub(super) struct GatheredView<'a> {
    pub(super) first_texts: Vec<TextBlock<'a>>,
    pub(super) last_texts: VecDeque<TextBlock<'a>>,
    pub(super) calls: Vec<CallWithResult<'a>>,
    /// How often each tool was called, by its raw name.
    pub(super) tools: BTreeMap<&'a [u8], usize>,
    /// The summary that this view begins with, as a JSON string.
    pub(super) earlier: Option<&'a [u8]>,
    /// Whether that summary is the provider's own, in which case the summary message after it only adds to it.
    by_provider: bool,
    /// The inputs that came after that summary.
    pub(super) inputs: Set<Id>,
    /// The size of the view.
    pub(super) size: Estimate,
}

impl<'a> GatheredView<'a> {
    pub(super) fn of(entries: impl IntoIterator<Item = EntryView<'a>>) -> Self {
        let mut gathered = Self::default();
        let mut open: Map<Id, usize> = Map::default();
        for entry in entries {
            let facets = entry.facets;
            match facets.kind {
                EntryKind::User => gathered.input(entry, &mut open),
                EntryKind::Assistant if facets.is_reply() => gathered.reply(entry, &mut open),
                EntryKind::Attachment => {
                    gathered.size += RoughEstimator.attachment(facets.attachment_units)
                }
                _ => {}
            }
        }
        gathered
    }

    /// Returns the assistant's remembered texts, in order.
    pub(super) fn texts(&self) -> Vec<&TextBlock<'a>> {
        self.first_texts.iter().chain(&self.last_texts).collect()
    }

    fn input(&mut self, entry: EntryView<'a>, open: &mut Map<Id, usize>) {
        if entry.facets.flags.compact_summary {
            self.inputs.clear()
        } else {
            self.inputs.extend(entry.uuid())
        }
        let blocks = &entry.facets.blocks;
        for (at, block) in blocks.iter().enumerate().filter(|(_, block)| !block.inner) {
            self.size += RoughEstimator.block(block, &blocks[at + 1..]);
            let is_summary = block.kind == BlockKind::Text && entry.facets.flags.compact_summary;
            if is_summary && !std::mem::take(&mut self.by_provider) {
                self.earlier = Some(block.body.of(entry.line));
            }
        }
        for answer in ToolResultBlock::all(entry) {
            if let Some(call) = answer.call().and_then(|id| open.remove(&id)) {
                self.calls[call].result = Some(answer);
            }
        }
    }

    fn reply(&mut self, entry: EntryView<'a>, open: &mut Map<Id, usize>) {
        if entry.compaction_text().is_some() {
            let first = entry.facets.blocks.first();
            self.earlier = first.and_then(|block| entry.object(block.span).get("content"));
            self.by_provider = true;
        }
        for block in &entry.facets.blocks {
            self.size += RoughEstimator.block(block, &[]);
            match block.kind {
                BlockKind::Text if !block.blank && self.first_texts.len() < FIRST_TEXTS => {
                    self.first_texts.push((entry, block));
                }
                BlockKind::Text if !block.blank => {
                    if self.last_texts.len() == LAST_TEXTS {
                        self.last_texts.pop_front();
                    }
                    self.last_texts.push_back((entry, block));
                }
                BlockKind::ToolUse => {
                    if let Some(id) = entry.block_id(block) {
                        open.insert(id, self.calls.len());
                    }
                    self.calls.push(CallWithResult {
                        entry,
                        block,
                        result: None,
                    });
                    let name = block.name.of(entry.line);
                    *self.tools.entry(name).or_default() += 1;
                }
                _ => {}
            }
        }
    }
}
