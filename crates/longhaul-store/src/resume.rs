//! Resumes a conversation (M5) by reading only the tail of its file.
//!
//! There are two passes over the tail: backwards, until [`ResumeProbe`] says that the live view is covered, then
//! forward, to keep the entries and resolve the view as for a whole file. The part before the tail is never read, so
//! the cost of a resume depends on the live view, not on the size of the file.
//!
//! The newest request prefix (M7) is in the tail, because every rendering writes its prefix after the boundary it
//! begins with; a prefix just before the view is found as well. If neither is there, there is no prefix to continue
//! with: the next request begins with a new one, as for a session of another program.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use bytes::Bytes;
use longhaul_core::facts::left_branches;
use longhaul_core::message::{Entry, EntryKind, Id, LineScanner};
use longhaul_core::prompt::{
    PlacedEntry, PrefixValidity, RenderingReplay, RequestAssembly, UnreadablePrefix,
};
use longhaul_core::tokens::{EntryStanding as TokenStanding, TokenLedger};
use longhaul_core::transcript::{ResolvedConversation, ResumeNeed, ResumeProbe, TranscriptTable};

use crate::error::ReadError;
use crate::load::{LoadedContent, LoadedTranscript, load_from, load_lines};
use crate::tail::TailReader;

/// A conversation as the model sees it, read from the tail of its file.
#[derive(Debug)]
pub struct ResumedConversation {
    /// The entries of the live view in order, including the boundary it begins with.
    pub entries: Vec<Entry>,
    /// The offset of each entry's line in the file, in the same order.
    pub offsets: Vec<u64>,
    /// Entries of the view that a boundary preserved; their measured sizes are stale.
    pub preserved: Vec<Id>,
    /// The token count of the view, ready for the next turn.
    pub ledger: TokenLedger,
    /// The newest request prefix of the session (M7), if the tail holds one.
    pub request_prefix: Option<ResumedRequestPrefix>,
    /// The user's messages on abandoned branches of the conversation, one list per branch, as far as the tail holds
    /// them.
    pub abandoned: Vec<Vec<Entry>>,
    /// The offset where reading began; nothing before it was kept.
    pub read_from: u64,
    /// The number of damaged lines in the tail. `inspect` says more about them.
    pub damaged: usize,
}

/// The newest request prefix of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResumedRequestPrefix {
    /// The entry with the prefix.
    pub entry: Entry,
    /// The offset of its line in the file.
    pub offset: u64,
}

impl ResumedConversation {
    /// What is needed to render the conversation again to the byte; `None` if the tail holds no request prefix.
    pub fn replay(&self) -> Option<Result<RenderingReplay, UnreadablePrefix>> {
        let head = self.request_prefix.as_ref()?;
        let view: Vec<PlacedEntry<'_>> = self
            .entries
            .iter()
            .zip(&self.offsets)
            .map(|(entry, offset)| PlacedEntry {
                offset: *offset,
                entry: entry.view(),
            })
            .collect();
        let head = PlacedEntry {
            offset: head.offset,
            entry: head.entry.view(),
        };
        Some(RenderingReplay::of(head, &view))
    }

    /// The rendering as the process that wrote the file had it, if its request prefix is there and still valid (Y2).
    pub fn assembly(&self) -> Option<RequestAssembly> {
        let replay = self.replay()?.ok()?;
        (replay.standing == PrefixValidity::Goes)
            .then(|| RequestAssembly::resume(replay, |index| self.entries[index].view()))
    }
}

/// Resumes the conversation in a file.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn resume(path: &Path) -> Result<ResumedConversation, ReadError> {
    let _span = tracing::debug_span!("resume", path = %path.display()).entered();
    let failed = |source| ReadError {
        path: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(failed)?;
    let end = file.metadata().map_err(failed)?.len();
    let from = view_start(&file).map_err(failed)?;
    tracing::debug!(from, end, "tail found");
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    let tail = load_from(file, end - from).map_err(failed)?;
    Ok(resolved(tail, from))
}

/// Resumes a conversation from all lines of its transcript, wherever they were kept. A line's offset is the one that it
/// would have in a file.
///
/// # Errors
/// Fails if the lines do not fit into memory once more.
pub fn resume_lines(lines: &[Bytes]) -> io::Result<ResumedConversation> {
    Ok(resolved(load_lines(lines)?, 0))
}

/// Resolves the view of lines that begin at this offset.
fn resolved(tail: LoadedTranscript, from: u64) -> ResumedConversation {
    let mut table = TranscriptTable::default();
    let mut lines = Vec::new();
    let mut head = None;
    let mut damaged = 0;
    for line in tail.into_lines() {
        match line.content {
            LoadedContent::Entry(entry) => {
                table.push(line.number, from + line.offset, entry.view());
                if entry.facets().kind == EntryKind::Head {
                    head = Some(ResumedRequestPrefix {
                        entry: entry.clone(),
                        offset: from + line.offset,
                    });
                }
                lines.push(entry);
            }
            LoadedContent::Damaged { .. } => damaged += 1,
            LoadedContent::Blank(_) => {}
        }
    }
    // Parents before the tail look like dangling ones here; `inspect` is what judges the file.
    let conversation = ResolvedConversation::resolve(&table, &mut Vec::new());
    let rows = &conversation.view().rows;
    ResumedConversation {
        entries: rows
            .iter()
            .map(|row| lines[*row as usize].clone())
            .collect(),
        offsets: rows
            .iter()
            .map(|row| table.rows()[*row as usize].offset)
            .collect(),
        preserved: rows
            .iter()
            .filter(|row| conversation.standing(**row) == TokenStanding::Preserved)
            .filter_map(|row| table.rows()[*row as usize].uuid)
            .collect(),
        ledger: conversation.ledger(&table),
        abandoned: left_branches(&table, &conversation)
            .iter()
            .map(|rows| {
                let entries = rows.iter().map(|row| &lines[*row as usize]);
                let spoken = entries.filter(|entry| entry.facets().kind == EntryKind::User);
                spoken.cloned().collect()
            })
            .collect(),
        request_prefix: head,
        read_from: from,
        damaged,
    }
}

/// The offset where the live view begins; 0 if nothing says otherwise.
fn view_start(file: &File) -> io::Result<u64> {
    let mut lines = TailReader::new(file)?;
    let mut scanner = LineScanner::default();
    let mut probe = ResumeProbe::new();
    while let Some(line) = lines.next()? {
        if let Ok(facets) = scanner.scan(line.bytes)
            && let ResumeNeed::From(offset) = probe.line(line.offset, facets.view(line.bytes))
        {
            // The line that showed that enough was read may be before the view, and a request prefix just before it.
            return if offset < line.offset {
                Ok(offset)
            } else {
                prefix_before(&mut lines, &mut scanner, offset)
            };
        }
    }
    Ok(0)
}

/// The offset of a request prefix entry just before a view, with nothing of the conversation in between; otherwise the
/// offset of the view.
fn prefix_before<R: io::Read + Seek>(
    lines: &mut TailReader<R>,
    scanner: &mut LineScanner,
    start: u64,
) -> io::Result<u64> {
    while let Some(line) = lines.next()? {
        match scanner.scan(line.bytes) {
            Ok(facets) if facets.kind == EntryKind::Head => return Ok(line.offset),
            Ok(facets) if facets.uuid.is_present() => break,
            _ => {}
        }
    }
    Ok(start)
}
