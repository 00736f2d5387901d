//! The live view in memory, with everything that is tracked entry by entry: the count, the results that may be cleared,
//! the facts. The history is not walked again until a new view begins (T3).

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::discovered::DiscoveredTools;
use super::result_index::{IndexedResult, ResultIndex};
use crate::facts::Facts;
use crate::hash::{Map, Set};
use crate::message::{BlockKind, Entry, EntryBlock, EntryKind, EntryView, Id, Subtype};
use crate::micro::{ClearableTools, ToolResults};
use crate::rehydrate::ReadFiles;
use crate::rounds::ViewPiece;
use crate::summary::{ReadTools, kept_files};
use crate::tokens::{EntryStanding, Estimate, RoughEstimator, TokenLedger};

/// The tool that reads files.
const READ: &str = "Read";
/// How its result begins if nothing has changed since it was last read (W1).
const UNCHANGED: &str = "File unchanged since";

/// An entry and where its line begins in the transcript.
#[derive(Debug, Clone)]
pub struct LiveEntry {
    /// The entry.
    pub entry: Entry,
    /// The offset of the line. `None` if it is not on disk.
    pub offset: Option<u64>,
}

/// The conversation as the model sees it.
#[derive(Debug)]
pub struct LiveConversation {
    entries: Vec<LiveEntry>,
    preserved: Set<Id>,
    clearable: ClearableTools,
    ledger: TokenLedger,
    results: ToolResults,
    facts: Facts,
    cleared: Vec<Id>,
    /// Results that requests ask the provider to drop from its cache, in order.
    cache_edits: Vec<String>,
    /// Tokens that were left out in this way according to the newest reply.
    cache_deleted: u64,
    /// Whether the view begins with a summary that the provider signed.
    signed: bool,
    /// Tools that the model discovered, in order.
    discovered: DiscoveredTools,
    last_reply: Option<Timestamp>,
    /// Replies since the view began.
    replies: u64,
    /// Whether the newest reply ended because the window was full.
    window_exceeded: bool,
    newest: Option<String>,
    read_files: ReadFiles,
    /// Calls that read a file and have no result yet.
    reading: Map<Id, PathBuf>,
    /// Results that new ones may repeat (V8).
    index: ResultIndex,
}

impl LiveConversation {
    /// Begins a view: entries in the order in which the model sees them. `preserved` are those that a boundary kept:
    /// their measurements are stale.
    pub fn begin(
        entries: Vec<LiveEntry>,
        preserved: Set<Id>,
        clearable: ClearableTools,
        facts: Facts,
    ) -> Self {
        let mut live = Self {
            entries: Vec::with_capacity(entries.len()),
            preserved,
            results: ToolResults::new(clearable.clone()),
            clearable,
            ledger: TokenLedger::new(),
            facts,
            cleared: Vec::new(),
            cache_edits: Vec::new(),
            cache_deleted: 0,
            signed: false,
            discovered: DiscoveredTools::default(),
            last_reply: None,
            replies: 0,
            window_exceeded: false,
            newest: None,
            read_files: ReadFiles::default(),
            reading: Map::default(),
            index: ResultIndex::default(),
        };
        // The newest entry of the chain is the last in file order, which is not the last one shown in a view with kept
        // entries.
        let newest = entries
            .iter()
            .filter(|kept| kept.entry.facets().uuid.is_present())
            .max_by_key(|kept| kept.offset.unwrap_or(u64::MAX))
            .map(|kept| uuid_of(kept.entry.view()));
        live.note_restored(&entries);
        for kept in entries {
            live.push(kept);
        }
        live.newest = newest.or(live.newest);
        live
    }

    /// Adds an entry at the end.
    pub fn push(&mut self, kept: LiveEntry) {
        let entry = kept.entry.view();
        let standing = self.standing(entry);
        self.ledger.entry(entry, standing);
        self.results.push(entry);
        self.facts.push(entry);
        self.note_reads(entry);
        let reads = |block: &EntryBlock| read_by(entry, block);
        self.index.push(self.entries.len(), entry, reads);
        let facets = entry.facets;
        if facets.kind == EntryKind::System && facets.subtype == Subtype::MicrocompactBoundary {
            self.cleared.extend(entry.cleared());
            if standing == EntryStanding::Live {
                // A clearing begins a new rendering, which ends the deletions that were requested by reference.
                let edits = entry.cache_edits().unwrap_or_default();
                self.cache_edits = edits.into_iter().map(Cow::into_owned).collect();
            }
        }
        self.signed |= entry.is_signed_summary();
        self.discovered.push(entry);
        if facets.is_reply() && standing == EntryStanding::Live {
            self.last_reply = entry.timestamp().or(self.last_reply);
            self.replies += 1;
            self.window_exceeded = facets.flags.window_exceeded;
            let usage = facets.usage.as_deref();
            if let Some(deleted) = usage.and_then(|usage| usage.cache_deleted) {
                self.cache_deleted = deleted;
            }
        }
        if facets.uuid.is_present() {
            self.newest = Some(uuid_of(entry));
        }
        self.entries.push(kept);
    }

    /// Whether an entry was kept through a compaction.
    pub(super) fn standing(&self, entry: EntryView<'_>) -> EntryStanding {
        if entry.uuid().is_some_and(|id| self.preserved.contains(&id)) {
            EntryStanding::Preserved
        } else {
            EntryStanding::Live
        }
    }

    /// The entries in view order.
    pub fn entries(&self) -> &[LiveEntry] {
        &self.entries
    }

    /// The entries as views.
    pub fn views(&self) -> impl Iterator<Item = EntryView<'_>> + Clone {
        self.entries.iter().map(|kept| kept.entry.view())
    }

    /// The pieces that determine where the view may be cut.
    pub fn pieces(&self) -> Vec<ViewPiece> {
        self.views().map(ViewPiece::of_view).collect()
    }

    /// The estimates of the entries, in order. What was cleared weighs nothing any more.
    pub fn weights(&self) -> Vec<Estimate> {
        let cleared: Set<Id> = self.cleared.iter().copied().collect();
        let seen = |entry: EntryView<'_>| match entry.sent() {
            Some(_) => weight(entry, &cleared),
            None => Estimate::ZERO,
        };
        self.views().map(seen).collect()
    }

    /// The estimated size of everything that is sent: the sum of [`LiveConversation::weights`]. The size of the window is
    /// better taken from [`LiveConversation::ledger`], which knows what was measured.
    pub fn weight(&self) -> Estimate {
        self.weights().into_iter().sum()
    }

    /// The files whose content these entries show (P4).
    pub(super) fn files_shown(&self, entries: std::ops::Range<usize>) -> Vec<PathBuf> {
        let entries = self.entries[entries].iter().map(|kept| kept.entry.view());
        let tools = ReadTools {
            names: &[READ],
            unchanged: UNCHANGED,
            cleared: &self.cleared,
        };
        let shown = kept_files(entries, tools);
        shown.into_iter().map(PathBuf::from).collect()
    }

    /// The files that were read, the newest last; see [`ReadFiles`].
    pub fn read_files(&self) -> &ReadFiles {
        &self.read_files
    }

    pub(super) fn read_files_mut(&mut self) -> &mut ReadFiles {
        &mut self.read_files
    }

    /// Records the files that the view's boundary restored, so that the next compaction knows of them, also in a
    /// resumed session. They were read before anything that is kept after the summary.
    fn note_restored(&mut self, entries: &[LiveEntry]) {
        let is_kept = |entry: &EntryView<'_>| self.standing(*entry) == EntryStanding::Preserved;
        let views = entries.iter().map(|kept| kept.entry.view());
        let is_summary = |entry: &EntryView<'_>| entry.facets.flags.compact_summary;
        let mut from_summary = views.clone().skip_while(|entry| !is_summary(entry));
        let first_kept = from_summary.find(is_kept);
        let first_kept = first_kept.and_then(|entry| entry.timestamp());
        let is_boundary = |entry: &EntryView<'_>| {
            let facets = entry.facets;
            facets.kind == EntryKind::System && facets.subtype == Subtype::CompactBoundary
        };
        // Other programs write the attachments before the summary.
        let own = views.skip_while(|entry| !is_boundary(entry)).skip(1);
        let own = own.filter(|entry| !is_kept(entry) && !is_summary(entry));
        let restored = own.take_while(|entry| {
            entry.facets.kind == EntryKind::Attachment || entry.is_signed_summary()
        });
        let restored = restored.filter_map(|entry| {
            let at = entry.timestamp()?;
            Some((file_of(entry)?, first_kept.map_or(at, |kept| at.min(kept))))
        });
        let restored: Vec<(PathBuf, Timestamp)> = restored.collect();
        // The newest comes first.
        for (path, at) in restored.into_iter().rev() {
            self.read_files.read(path, at);
        }
    }

    /// Records which files the model was shown.
    fn note_reads(&mut self, entry: EntryView<'_>) {
        for block in entry.facets.blocks.iter().filter(|block| !block.inner) {
            let Some(id) = entry.block_id(block) else {
                continue;
            };
            match block.kind {
                BlockKind::ToolUse => {
                    let path = read_by(entry, block);
                    self.reading.extend(path.map(|path| (id, path)));
                }
                BlockKind::ToolResult => {
                    let path = self.reading.remove(&id);
                    if let (Some(path), Some(at)) = (path, entry.timestamp())
                        && !block.is_error
                        && !is_stub(block.body.of(entry.line))
                    {
                        self.read_files.read(path, at);
                    }
                }
                _ => {}
            }
        }
    }

    /// Results that new ones may repeat.
    pub(super) fn result_index(&self) -> &ResultIndex {
        &self.index
    }

    /// The content of a result in view, as raw JSON.
    pub(super) fn content_of(&self, result: &IndexedResult) -> Option<&[u8]> {
        let entry = self.entries.get(result.entry)?.entry.view();
        let block = entry.facets.blocks.get(result.block)?;
        Some(block.body.of(entry.line))
    }

    /// The token count of the conversation.
    pub fn ledger(&self) -> &TokenLedger {
        &self.ledger
    }

    /// Results that may be cleared.
    pub fn results(&self) -> &ToolResults {
        &self.results
    }

    /// The facts that must not be lost.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Results that were cleared in this view.
    pub fn cleared(&self) -> &[Id] {
        &self.cleared
    }

    /// The calls whose results requests ask the provider to drop from its cache (U4), as recorded in the transcript.
    pub fn cache_edits(&self) -> &[String] {
        &self.cache_edits
    }

    /// Tokens that were left out of the cached prompt on request, according to the newest reply.
    pub(super) fn cache_deleted(&self) -> u64 {
        self.cache_deleted
    }

    /// Whether the view begins with a summary that the provider signed (N3).
    pub(crate) fn is_signed(&self) -> bool {
        self.signed
    }

    /// Names of the tools that the model discovered, in order (R5).
    pub fn discovered_tools(&self) -> &[String] {
        self.discovered.names()
    }

    /// When the last reply came.
    pub fn last_reply(&self) -> Option<Timestamp> {
        self.last_reply
    }

    /// Lines of replies since the view began.
    pub(super) fn replies(&self) -> u64 {
        self.replies
    }

    /// Whether the newest reply ended because the window was full: the next request must be smaller (O3).
    pub(super) fn window_exceeded(&self) -> bool {
        self.window_exceeded
    }

    /// The boundary of the compaction that the view begins with, if there is one.
    pub(super) fn boundary(&self) -> Option<EntryView<'_>> {
        let mut views = self.views();
        views.find(|entry| entry.facets.subtype == Subtype::CompactBoundary)
    }

    /// Whether a memory file is in view as an attachment that was not cleared.
    pub fn holds_memory(&self, path: &Path) -> bool {
        self.results.holds_memory(path)
    }

    /// The uuid of the newest entry, which is the parent of the next one.
    pub fn newest(&self) -> Option<&str> {
        self.newest.as_deref()
    }

    /// The tools whose results may be cleared.
    pub fn clearable(&self) -> &ClearableTools {
        &self.clearable
    }
}

/// Whether a result only says that the file is unchanged (W1).
fn is_stub(content: &[u8]) -> bool {
    let text = content.strip_prefix(b"\"");
    text.is_some_and(|text| text.starts_with(UNCHANGED.as_bytes()))
}

/// The file that an attachment shows.
fn file_of(entry: EntryView<'_>) -> Option<PathBuf> {
    let attachment = entry.visible_attachment()?;
    let is_file = attachment.string("type").is_some_and(|kind| kind == "file");
    let path = attachment.string("filename").filter(|_| is_file)?;
    Some(path.into_owned().into())
}

/// The file that a call reads.
fn read_by(entry: EntryView<'_>, block: &EntryBlock) -> Option<PathBuf> {
    let reads = block.kind == BlockKind::ToolUse && block.name.of(entry.line) == READ.as_bytes();
    let path = entry.object(block.body).string("file_path");
    path.filter(|_| reads).map(|path| path.into_owned().into())
}

fn uuid_of(entry: EntryView<'_>) -> String {
    entry.text(entry.facets.uuid).into_owned()
}

/// The estimate of an entry without what was cleared of it.
fn weight(entry: EntryView<'_>, cleared: &Set<Id>) -> Estimate {
    let is_cleared = |id: Option<Id>| id.is_some_and(|id| cleared.contains(&id));
    if is_cleared(entry.uuid()) {
        return Estimate::ZERO;
    }
    let blocks = &entry.facets.blocks;
    let own = blocks.iter().enumerate().filter(|(_, block)| {
        let is_result = block.kind == BlockKind::ToolResult;
        !(block.inner || is_result && is_cleared(entry.block_id(block)))
    });
    let content: Estimate = own
        .map(|(index, block)| RoughEstimator.block(block, &blocks[index + 1..]))
        .sum();
    content + RoughEstimator.attachment(entry.facets.attachment_units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t1_u2_what_was_cleared_weighs_nothing_any_more() {
        let long = "a line of the output\n".repeat(200);
        let lines = [
            r#"{"type":"user","uuid":"a","message":{"role":"user","content":"Look."}}"#.to_owned(),
            r#"{"type":"assistant","uuid":"b","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]}}"#.to_owned(),
            serde_json::json!({"type": "user", "uuid": "c", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": long}]}})
            .to_string(),
            r#"{"type":"system","subtype":"microcompact_boundary","uuid":"d","microcompactMetadata":{"compactedToolIds":["t"]}}"#.to_owned(),
        ];
        let kept = lines.map(|line| LiveEntry {
            entry: Entry::read(line.into()).unwrap(),
            offset: None,
        });
        let begun = |count: usize| {
            let entries = kept[..count].to_vec();
            let clearable = ClearableTools::default();
            LiveConversation::begin(entries, Set::default(), clearable, Facts::default())
        };
        let before = begun(3).weights();
        assert!(before[2] > Estimate::ZERO);
        let live = begun(4);
        assert_eq!(live.weights()[..2], before[..2]);
        assert_eq!(live.weights()[2], Estimate::ZERO);
        assert_eq!(live.weight(), live.ledger().whole());
    }
}
