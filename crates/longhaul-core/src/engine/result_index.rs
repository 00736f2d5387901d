//! Finds results in view that a new result repeats (V8): the same content, or the same file read before.
//!
//! It follows the view entry by entry. A result is remembered by its place; its text stays in its entry.

use std::path::{Path, PathBuf};

use crate::hash::Map;
use crate::message::{BlockKind, EntryView, Id, ReductionStanding};
use crate::reduce::text_of_content;
use crate::xxh3::xxh3_128;

/// A result in view.
#[derive(Debug, Clone)]
pub(super) struct IndexedResult {
    /// The id of the call, as it is written.
    pub(super) call: String,
    /// The entry and the block that hold the result.
    pub(super) entry: usize,
    pub(super) block: usize,
}

/// A call that was made, as far as its result may be made smaller.
#[derive(Debug, Clone)]
pub(super) struct IndexedCall {
    pub(super) tool: String,
    /// The file that the call reads.
    pub(super) reads: Option<PathBuf>,
}

/// The results of a view, by content and by file.
#[derive(Debug, Default)]
pub(super) struct ResultIndex {
    calls: Map<Id, IndexedCall>,
    results: Vec<IndexedResult>,
    by_content: Map<u128, Vec<usize>>,
    by_file: Map<PathBuf, Vec<usize>>,
    standing: ReductionStanding,
}

impl ResultIndex {
    /// Takes the entry at this position of the view. `reads` is the file that a call reads.
    pub(super) fn push(
        &mut self,
        at: usize,
        entry: EntryView<'_>,
        reads: impl Fn(&crate::message::EntryBlock) -> Option<PathBuf>,
    ) {
        self.standing.entry(entry);
        if entry.sent().is_none() {
            return;
        }
        let blocks = entry.facets.blocks.iter().enumerate();
        for (block_at, block) in blocks.filter(|(_, block)| !block.inner) {
            let Some(id) = entry.block_id(block) else {
                continue;
            };
            match block.kind {
                BlockKind::ToolUse => {
                    let call = IndexedCall {
                        tool: entry.text(block.name).into_owned(),
                        reads: reads(block),
                    };
                    self.calls.insert(id, call);
                }
                BlockKind::ToolResult if !block.is_error => {
                    let raw = block.body.of(entry.line);
                    if let Some(call) = self.calls.get(&id)
                        && is_one_text(raw)
                    {
                        let result = self.results.len();
                        self.by_content
                            .entry(xxh3_128(raw))
                            .or_default()
                            .push(result);
                        if let Some(path) = &call.reads {
                            self.by_file.entry(path.clone()).or_default().push(result);
                        }
                        self.results.push(IndexedResult {
                            call: entry.text(block.id).into_owned(),
                            entry: at,
                            block: block_at,
                        });
                    }
                }
                _ => {}
            }
        }
    }

    /// The call with this id, if it is in view.
    pub(super) fn call(&self, id: &str) -> Option<&IndexedCall> {
        self.calls.get(&Id::of(id))
    }

    /// Results that may have this content, as raw JSON, the newest first. They are in view as they came.
    pub(super) fn with_content(&self, raw: &[u8]) -> impl Iterator<Item = &IndexedResult> {
        self.whole(self.by_content.get(&xxh3_128(raw)))
    }

    /// Results of reading a file, the newest first. They are in view as they came.
    pub(super) fn of_file(&self, path: &Path) -> impl Iterator<Item = &IndexedResult> {
        self.whole(self.by_file.get(path))
    }

    fn whole<'a>(
        &'a self,
        found: Option<&'a Vec<usize>>,
    ) -> impl Iterator<Item = &'a IndexedResult> {
        let results = found.into_iter().flatten().rev();
        let results = results.filter_map(|at| self.results.get(*at));
        results.filter(|result| self.standing.is_whole(Id::of(&result.call)))
    }
}

/// Whether a result's content is one text. A string need not be decoded for that.
fn is_one_text(raw: &[u8]) -> bool {
    raw.first() == Some(&b'"') || text_of_content(raw).is_some()
}
