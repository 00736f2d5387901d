//! The entries of a file, reduced to the facts that form a conversation: about a hundred bytes each, whatever their
//! size.

use jiff::Timestamp;

use crate::hash::Map;
use crate::json;
use crate::message::{BlockKind, EntryFlags, EntryKind, EntryView, Id, Sent, Subtype, Usage};
use crate::report::{LossReport, SummaryOrigin};
use crate::tokens::{Estimate, RoughEstimator};

/// One entry of a transcript.
#[derive(Debug, Clone)]
pub struct TranscriptRow {
    /// The line in the file, from 1; in a table of a tail, counted from the tail's start.
    pub line: u64,
    /// The offset in the file at which the line starts.
    pub offset: u64,
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The subtype, for a system entry.
    pub subtype: Subtype,
    /// The boolean facets.
    pub flags: EntryFlags,
    /// The uuid of the entry.
    pub uuid: Option<Id>,
    /// The uuid of the previous entry.
    pub parent: Option<Id>,
    /// The time at which the entry was written.
    pub timestamp: Option<Timestamp>,
    /// The id of the API message that the entry is part of.
    pub message: Option<Id>,
    /// The index of the model's name, for [`TranscriptTable::text`].
    pub model: Option<u32>,
    /// The estimate for the attachment, if the entry is one that the model sees.
    pub attachment: Option<Estimate>,
    first_block: u32,
    block_count: u32,
    usage: Option<u32>,
}

impl TranscriptRow {
    /// Whether this is a line of a model's reply, rather than a record of an error or an entry written by the host.
    pub fn is_reply(&self) -> bool {
        Sent::is_reply(self.kind, self.flags)
    }

    /// Returns how the model sees the entry, or `None` if the model does not see it (Z1).
    pub fn sent(&self) -> Option<Sent> {
        Sent::of(self.kind, self.flags, || self.attachment.is_some())
    }

    /// Whether the model sees the entry.
    pub fn is_sent(&self) -> bool {
        self.sent().is_some()
    }
}

/// One content block of an entry. Blocks inside a tool result are folded into it.
#[derive(Debug, Clone, Copy)]
pub struct BlockRow {
    /// The kind of the block.
    pub kind: BlockKind,
    /// Whether the block is text that is only white space.
    pub blank: bool,
    /// Whether the block is a result that is marked as an error.
    pub is_error: bool,
    /// The call that the block makes or answers.
    pub call: Option<Id>,
    /// The index of the called tool's name, for [`TranscriptTable::text`].
    pub tool: Option<u32>,
    /// The estimated weight of the block.
    pub weight: Estimate,
}

/// A boundary's metadata, read immediately: the bytes may be gone when the table is resolved.
#[derive(Debug, Clone, Default)]
pub struct BoundaryNote {
    /// The row of the boundary.
    pub row: u32,
    /// `trigger`: manual or auto.
    pub trigger: Option<String>,
    /// `preTokens`.
    pub pre_tokens: Option<u64>,
    /// `tokensSaved` of a microcompact boundary.
    pub tokens_saved: Option<u64>,
    /// `messagesSummarized`.
    pub messages_summarized: Option<u64>,
    /// The uuid as written.
    pub uuid: String,
    /// The time at which the boundary was written.
    pub timestamp: Option<Timestamp>,
    /// The previous entry in the conversation that was replaced (`logicalParentUuid`).
    pub logical_parent: Option<Id>,
    /// `preservedSegment`: head, anchor, tail.
    pub segment: Option<[Option<Id>; 3]>,
    /// `preservedMessages.uuids`.
    pub preserved: Option<Vec<Id>>,
    /// `preservedMessages.anchorUuid`.
    pub preserved_anchor: Option<Id>,
    /// `compactedToolIds` and `clearedAttachmentUUIDs` of a microcompact boundary.
    pub cleared: Vec<Id>,
    /// `cacheEdits` of a microcompact boundary: it clears nothing, and the provider is asked to drop these results
    /// (U4).
    pub cache_edits: Option<Vec<Id>>,
    /// `boundaryUuid` of an undo: the boundary that it takes back.
    pub undoes: Option<Id>,
    /// `thinkingStrippedThrough`: reasoning up to and including this entry is not sent again (N2).
    pub thinking_stripped_through: Option<Id>,
    /// `report`: the loss report (ruling 15).
    pub report: Option<Box<LossReport>>,
    /// `made`: the origin of the summary and its cost.
    pub made: Option<Box<SummaryOrigin>>,
    /// `folds`: the number of spans that the summary consists of (O6).
    pub folds: Option<u64>,
}

/// The rows of a file in file order, with their blocks, usages and boundary metadata beside them.
///
/// ```
/// use longhaul_core::message::LineScanner;
/// use longhaul_core::transcript::{ResolvedConversation, TranscriptTable};
///
/// let lines = [
///     r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"Fix it"}}"#,
///     r#"{"type":"assistant","uuid":"u2","parentUuid":"u1","message":{"role":"assistant","content":[]}}"#,
///     // The user went back and said something else: the reply is no longer part of the conversation.
///     r#"{"type":"user","uuid":"u3","parentUuid":"u1","message":{"role":"user","content":"Wait"}}"#,
/// ];
/// let mut table = TranscriptTable::default();
/// let mut scanner = LineScanner::default();
/// let mut offset = 0;
/// for (number, line) in (1..).zip(lines) {
///     let facets = scanner.scan(line.as_bytes())?;
///     table.push(number, offset, facets.view(line.as_bytes()));
///     offset += line.len() as u64 + 1;
/// }
/// let mut problems = Vec::new();
/// let conversation = ResolvedConversation::resolve(&table, &mut problems);
/// assert_eq!(conversation.view().rows, [0, 2]);
/// assert!(problems.is_empty());
/// # Ok::<(), longhaul_core::message::LineDamage>(())
/// ```
#[derive(Debug, Default)]
pub struct TranscriptTable {
    rows: Vec<TranscriptRow>,
    blocks: Vec<BlockRow>,
    usages: Vec<Usage>,
    boundaries: Vec<BoundaryNote>,
    /// The records of decisions by price, as JSON, by the row of their boundary.
    economy: Vec<(u32, Box<[u8]>)>,
    names: Vec<String>,
    name_index: Map<String, u32>,
    /// Results that are sent in a smaller form: the result that it refers to, and how much larger the original is (V8).
    references: Map<Id, (Id, Estimate)>,
}

impl TranscriptTable {
    /// Adds an entry. Rows are added in file order.
    pub fn push(&mut self, line: u64, offset: u64, entry: EntryView<'_>) {
        let facets = entry.facets;
        let first_block = self.blocks.len() as u32;
        self.push_blocks(entry);
        let usage = facets.usage.as_deref().map(|usage| {
            self.usages.push(usage.clone());
            self.usages.len() as u32 - 1
        });
        if facets.kind == EntryKind::System && facets.subtype != Subtype::Other {
            let note = boundary_note(self.rows.len() as u32, entry);
            self.boundaries.push(note);
            let economy = entry.object(facets.metadata).get("economy");
            let economy = economy.filter(|json| json.len() <= LONGEST_ECONOMY);
            let row = self.rows.len() as u32;
            self.economy.extend(economy.map(|json| (row, json.into())));
        }
        let model = facets.model.is_present().then(|| {
            let model = entry.text(facets.model);
            self.name(&model)
        });
        self.rows.push(TranscriptRow {
            line,
            offset,
            kind: facets.kind,
            subtype: facets.subtype,
            flags: facets.flags,
            uuid: entry.uuid(),
            parent: entry.parent(),
            timestamp: entry.timestamp(),
            message: entry.message_id(),
            model,
            attachment: entry
                .visible_attachment()
                .map(|_| RoughEstimator.attachment(facets.attachment_units)),
            first_block,
            block_count: self.blocks.len() as u32 - first_block,
            usage,
        });
    }

    fn push_blocks(&mut self, entry: EntryView<'_>) {
        let blocks = &entry.facets.blocks;
        let reductions = entry.reductions();
        for (index, block) in blocks.iter().enumerate().filter(|(_, block)| !block.inner) {
            let tool = (block.kind == BlockKind::ToolUse && block.name.is_present()).then(|| {
                let name = entry.text(block.name);
                self.name(&name)
            });
            let is_call = matches!(block.kind, BlockKind::ToolUse | BlockKind::ToolResult);
            if let Some(reduced) = reductions
                .iter()
                .find(|one| entry.block_id(block) == Some(one.call))
                && block.kind == BlockKind::ToolResult
                && let Some(base) = reduced.base
            {
                let original = RoughEstimator.original_result(entry, index);
                let growth = original.less(RoughEstimator.block(block, &[]));
                self.references.insert(reduced.call, (base, growth));
            }
            self.blocks.push(BlockRow {
                kind: block.kind,
                blank: block.blank,
                is_error: block.is_error,
                call: entry.block_id(block).filter(|_| is_call),
                tool,
                weight: RoughEstimator.block(block, &blocks[index + 1..]),
            });
        }
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(index) = self.name_index.get(name) {
            return *index;
        }
        let index = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.name_index.insert(name.to_owned(), index);
        index
    }

    /// All rows, in file order.
    pub fn rows(&self) -> &[TranscriptRow] {
        &self.rows
    }

    /// A row's content blocks.
    pub fn blocks(&self, row: &TranscriptRow) -> &[BlockRow] {
        let first = row.first_block as usize;
        &self.blocks[first..first + row.block_count as usize]
    }

    /// For a result that is sent in a smaller form: the result that it refers to, and how much larger the original is.
    pub(crate) fn reference(&self, call: Id) -> Option<(Id, Estimate)> {
        self.references.get(&call).copied()
    }

    /// A row's usage.
    pub fn usage(&self, row: &TranscriptRow) -> Option<&Usage> {
        row.usage.map(|index| &self.usages[index as usize])
    }

    /// The metadata of all boundaries, full and micro, and of undos, in file order.
    pub fn boundaries(&self) -> &[BoundaryNote] {
        &self.boundaries
    }

    /// The boundaries of ours that no summary follows: writing them was cut short. What a compaction writes is one unit
    /// (Y7), so such a boundary does not count. Another program's boundary counts in any case.
    pub(super) fn incomplete_compactions(&self) -> impl Iterator<Item = &BoundaryNote> {
        let is_full = |row: u32| self.rows[row as usize].subtype == Subtype::CompactBoundary;
        let is_incomplete = move |note: &&BoundaryNote| {
            let after = &self.rows[note.row as usize + 1..];
            let mut after = after
                .iter()
                .take_while(|row| row.subtype != Subtype::CompactBoundary);
            let is_ours = note.report.is_some() && note.folds.is_none();
            is_full(note.row) && is_ours && !after.any(|row| row.flags.compact_summary)
        };
        self.boundaries.iter().filter(is_incomplete)
    }

    /// The metadata of one boundary.
    pub fn boundary(&self, row: u32) -> Option<&BoundaryNote> {
        let at = self.boundaries.binary_search_by_key(&row, |note| note.row);
        at.ok().map(|at| &self.boundaries[at])
    }

    /// The record of the decision by price that led to a boundary, as JSON (V6).
    pub(crate) fn economy(&self, row: u32) -> Option<&[u8]> {
        let at = self.economy.binary_search_by_key(&row, |(row, _)| *row);
        at.ok().map(|at| &*self.economy[at].1)
    }

    /// Returns the text for a name index.
    pub fn text(&self, name: u32) -> &str {
        &self.names[name as usize]
    }

    /// The estimate for what a model wrote in a row for others to read: texts and calls.
    pub(crate) fn output_weight(&self, row: &TranscriptRow) -> Estimate {
        let blocks = self.blocks(row).iter();
        let spoken = blocks.filter(|block| block.kind.is_visible_output());
        spoken.map(|block| block.weight).sum()
    }

    /// The estimate for everything in a row that the model sees.
    pub fn weight(&self, row: &TranscriptRow) -> Estimate {
        self.blocks(row)
            .iter()
            .map(|block| block.weight)
            .sum::<Estimate>()
            + row.attachment.unwrap_or_default()
    }
}

/// A longer record of a decision by price was not written by us and is not kept.
const LONGEST_ECONOMY: usize = 4_096;

/// Returns the number of spans that a boundary's folds represent; `None` if it has no folds.
pub(super) fn fold_count(metadata: json::ObjectReader<'_>) -> Option<u64> {
    let folds = metadata.object("folds")?;
    folds.count("version").filter(|version| *version > 0)?;
    let spans = json::items(folds.get("spans")?)?;
    (!spans.is_empty()).then_some(spans.len() as u64)
}

fn boundary_note(row: u32, entry: EntryView<'_>) -> BoundaryNote {
    let metadata = entry.object(entry.facets.metadata);
    let segment = metadata.object("preservedSegment").map(|segment| {
        ["headUuid", "anchorUuid", "tailUuid"]
            .map(|key| segment.string(key).map(|uuid| Id::of(&uuid)))
    });
    let messages = metadata.object("preservedMessages");
    let ids = |texts: Vec<_>| {
        texts
            .iter()
            .map(|text: &std::borrow::Cow<'_, str>| Id::of(text))
            .collect()
    };
    let id = |key| metadata.string(key).map(|uuid| Id::of(&uuid));
    BoundaryNote {
        row,
        undoes: id("boundaryUuid"),
        thinking_stripped_through: id("thinkingStrippedThrough"),
        report: LossReport::of_boundary(entry).map(Box::new),
        made: SummaryOrigin::of_boundary(entry).map(Box::new),
        folds: fold_count(metadata),
        trigger: metadata.string("trigger").map(Into::into),
        pre_tokens: metadata.count("preTokens"),
        tokens_saved: metadata.count("tokensSaved"),
        messages_summarized: metadata.count("messagesSummarized"),
        uuid: entry.text(entry.facets.uuid).into_owned(),
        timestamp: entry.timestamp(),
        logical_parent: entry.logical_parent(),
        segment,
        preserved: messages
            .and_then(|messages| messages.strings("uuids"))
            .map(ids),
        preserved_anchor: messages
            .and_then(|messages| messages.string("anchorUuid"))
            .map(|uuid| Id::of(&uuid)),
        cache_edits: metadata.strings("cacheEdits").map(ids),
        cleared: entry.cleared(),
    }
}
