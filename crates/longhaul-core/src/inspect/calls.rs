//! Tool calls: how often, how heavy, about what, and which reads were repeated (T4, ruling 7).

use std::collections::BTreeMap;

use super::report::{DuplicateReads, LargeResult, ToolReport};
use crate::hash::{Map, Set};
use crate::json::{self, JsonCursor};
use crate::message::{BlockKind, EntryBlock, EntryView, Id};
use crate::tokens::{Estimate, RoughEstimator};
use crate::transcript::{ResolvedConversation, TranscriptTable};

/// How many of the largest results are listed.
const LARGEST: usize = 10;
/// A hint of what a call is about is cut to this many characters.
const HINT_LENGTH: usize = 120;
/// The tool whose repeated calls are duplicate reads.
const READ: &[u8] = b"Read";

/// The notes on a call, taken while its line is available.
#[derive(Debug, Default)]
struct CallNote {
    about: Option<Box<str>>,
    /// The path and range of a read: calls with equal ones read the same.
    read: Option<(Box<str>, Id)>,
}

/// Notes on all calls of a file.
#[derive(Debug, Default)]
pub(super) struct CallNotes {
    notes: Map<Id, CallNote>,
    /// The calls whose results were sent in a smaller form, and how many tokens less that was (V8).
    reduced: Map<Id, u64>,
}

impl CallNotes {
    /// Notes the calls of a line, and what of its results was sent.
    pub(super) fn note(&mut self, entry: EntryView<'_>) {
        self.reduced.extend(reduced(entry));
        let calls = entry
            .facets
            .blocks
            .iter()
            .filter(|block| block.kind == BlockKind::ToolUse);
        for block in calls {
            if let Some(call) = entry.block_id(block) {
                self.notes.entry(call).or_insert_with(|| note(entry, block));
            }
        }
    }

    pub(super) fn tools(
        &self,
        table: &TranscriptTable,
        conversation: &ResolvedConversation,
    ) -> BTreeMap<String, ToolReport> {
        let mut tools: BTreeMap<String, ToolReport> = BTreeMap::new();
        let mut tool_of: Map<Id, u32> = Map::default();
        for (block, _) in main_blocks(table, conversation) {
            if let (BlockKind::ToolUse, Some(tool)) = (block.kind, block.tool) {
                // A call that is stored twice counts once.
                if let Some(call) = block.call
                    && tool_of.insert(call, tool).is_some()
                {
                    continue;
                }
                let report = tools.entry(table.text(tool).to_owned()).or_default();
                report.calls += 1;
                report.request_tokens += block.weight.unpadded();
            }
        }
        for (call, result) in results(table, conversation) {
            let Some(tool) = tool_of.get(&call) else {
                continue;
            };
            let report = tools.entry(table.text(*tool).to_owned()).or_default();
            report.tokens += result.weight.unpadded();
            if let Some(saved) = self.reduced.get(&call) {
                report.reduced_results += 1;
                report.reduced_tokens += saved;
            }
        }
        tools
    }

    /// Reads of the same path and range beyond the first, among the calls that `counts` admits.
    pub(super) fn duplicate_reads(
        &self,
        table: &TranscriptTable,
        conversation: &ResolvedConversation,
        counts: impl Fn(Id) -> bool,
    ) -> DuplicateReads {
        let weights: Map<Id, Estimate> = results(table, conversation)
            .map(|(call, result)| (call, result.weight))
            .collect();
        let mut first: Set<(&str, Id)> = Set::default();
        let mut counted: Set<Id> = Set::default();
        let mut duplicates = DuplicateReads::default();
        for (block, _) in main_blocks(table, conversation) {
            let call = block.call.filter(|_| block.kind == BlockKind::ToolUse);
            let Some(call) = call.filter(|call| counts(*call) && counted.insert(*call)) else {
                continue;
            };
            let Some((path, range)) = self.notes.get(&call).and_then(|note| note.read.as_ref())
            else {
                continue;
            };
            if first.insert((path, *range)) {
                continue;
            }
            let tokens = weights.get(&call).copied().unwrap_or_default().unpadded();
            duplicates.count += 1;
            duplicates.tokens += tokens;
            let file = duplicates.files.entry(path.to_string()).or_default();
            file.count += 1;
            file.tokens += tokens;
        }
        duplicates
    }

    pub(super) fn largest(
        &self,
        table: &TranscriptTable,
        conversation: &ResolvedConversation,
        in_view: &Set<Id>,
    ) -> Vec<LargeResult> {
        let tools: Map<Id, u32> = main_blocks(table, conversation)
            .filter(|(block, _)| block.kind == BlockKind::ToolUse)
            .filter_map(|(block, _)| block.call.zip(block.tool))
            .collect();
        let mut all: Vec<_> = results(table, conversation).collect();
        all.sort_by_key(|(_, result)| (std::cmp::Reverse(result.weight), result.line));
        all.truncate(LARGEST);
        all.into_iter()
            .map(|(call, result)| LargeResult {
                line: result.line,
                tool: tools.get(&call).map(|tool| table.text(*tool).to_owned()),
                about: self
                    .notes
                    .get(&call)
                    .and_then(|note| note.about.as_deref().map(str::to_owned)),
                tokens: result.weight.unpadded(),
                in_view: in_view.contains(&call),
                reduced: self.reduced.contains_key(&call),
            })
            .collect()
    }
}

/// The results of a line that were sent in a smaller form, and how many tokens less that was.
fn reduced(entry: EntryView<'_>) -> Vec<(Id, u64)> {
    let blocks = &entry.facets.blocks;
    let saved = entry.reductions().into_iter().filter_map(|reduced| {
        let is_its = |block: &EntryBlock| {
            block.kind == BlockKind::ToolResult && entry.block_id(block) == Some(reduced.call)
        };
        let at = blocks.iter().position(is_its)?;
        let sent = RoughEstimator.block(&blocks[at], &blocks[at + 1..]);
        let came = RoughEstimator.original_result(entry, at);
        let saved = came.unpadded().saturating_sub(sent.unpadded());
        Some((reduced.call, saved))
    });
    saved.collect()
}

struct ResultRow {
    weight: Estimate,
    line: u64,
}

/// The results of the main conversation; if a call has several, the first one.
fn results<'a>(
    table: &'a TranscriptTable,
    conversation: &'a ResolvedConversation,
) -> impl Iterator<Item = (Id, ResultRow)> + 'a {
    let mut seen: Set<Id> = Set::default();
    main_blocks(table, conversation).filter_map(move |(block, line)| {
        let call = block.call.filter(|_| block.kind == BlockKind::ToolResult)?;
        let weight = block.weight;
        seen.insert(call)
            .then_some((call, ResultRow { weight, line }))
    })
}

fn main_blocks<'a>(
    table: &'a TranscriptTable,
    conversation: &'a ResolvedConversation,
) -> impl Iterator<Item = (&'a crate::transcript::BlockRow, u64)> {
    (0..)
        .zip(table.rows())
        .filter(|(at, _)| conversation.is_main(*at))
        .flat_map(|(_, row)| table.blocks(row).iter().map(|block| (block, row.line)))
}

fn note(entry: EntryView<'_>, block: &EntryBlock) -> CallNote {
    let mut about = None;
    let mut path = None;
    // Offset, limit and pages as they were written.
    let mut range: [&[u8]; 3] = [b""; 3];
    let mut input = JsonCursor::new(block.body.of(entry.line));
    let walked = input.object(|input, key| {
        let value = input.raw()?;
        let text = || json::content(value);
        match key {
            b"offset" => range[0] = value,
            b"limit" => range[1] = value,
            b"pages" => range[2] = value,
            b"file_path" => {
                path = text().map(json::decode);
                about = path.clone();
            }
            b"command" | b"pattern" | b"url" | b"query" | b"path" | b"notebook_path"
            | b"description"
                if about.is_none() =>
            {
                about = text().map(json::decode);
            }
            _ => {}
        }
        Ok(())
    });
    if walked.is_err() {
        return CallNote::default();
    }
    let is_read = block.name.of(entry.line) == READ;
    let read = path.filter(|_| is_read).map(|path| {
        let range: Vec<_> = range
            .iter()
            .map(|part| String::from_utf8_lossy(part))
            .collect();
        (path.into_owned().into(), Id::of(&range.join(",")))
    });
    let about = about.map(|about| {
        let line: String = about.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().take(HINT_LENGTH).collect::<String>().into()
    });
    CallNote { about, read }
}
