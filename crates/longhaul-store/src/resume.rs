//! Taking a conversation up again (M5) by reading only the tail of its file.
//!
//! Two passes over the tail: backwards, until [`ResumeProbe`] says that the live view is covered, then forward, to keep
//! the entries and resolve the view as for a whole file. What lies before the tail is never read, so the cost of a
//! resume is that of the live view, not of the file.
//!
//! The newest head (M7) is in the tail, because every rendering writes its head behind the boundary it begins with; a
//! head just before the view is found as well. If neither is there, there is none to go on with: the next request
//! begins with a new head, as for a session of another program.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use longhaul_core::facts::left_branches;
use longhaul_core::message::{Entry, EntryKind, Id, LineScanner};
use longhaul_core::prompt::{
    PlacedEntry, PrefixValidity, RenderingReplay, RequestAssembly, UnreadablePrefix,
};
use longhaul_core::tokens::{EntryStanding as TokenStanding, RoughEstimator, TokenLedger};
use longhaul_core::transcript::{ResolvedConversation, ResumeNeed, ResumeProbe, TranscriptTable};

use crate::error::ReadError;
use crate::load::{LoadedContent, load_from};
use crate::tail::TailReader;

/// A conversation as the model sees it, read from the tail of its file.
#[derive(Debug)]
pub struct ResumedConversation {
    /// The live view in order, the boundary it begins with included.
    pub entries: Vec<Entry>,
    /// Where each entry's line starts in the file, in the same order.
    pub offsets: Vec<u64>,
    /// Entries of it that a boundary preserved: what they measured is stale.
    pub preserved: Vec<Id>,
    /// The count of the view, ready for the next turn.
    pub ledger: TokenLedger,
    /// The newest head of the session's requests (M7), if the tail holds one.
    pub request_prefix: Option<ResumedRequestPrefix>,
    /// Messages of the user on branches of the conversation that were left, a list each, as far as the tail holds them.
    pub abandoned: Vec<Vec<Entry>>,
    /// Where reading began; nothing before it was kept.
    pub read_from: u64,
    /// Lines of the tail that are not intact. `inspect` says more about them.
    pub damaged: usize,
}

/// The newest head of a session's requests.
#[derive(Debug, Clone)]
pub struct ResumedRequestPrefix {
    /// The entry.
    pub entry: Entry,
    /// Where its line starts in the file.
    pub offset: u64,
}

impl ResumedConversation {
    /// What is needed to render the conversation again to the byte; none if the tail holds no head.
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

    /// The rendering as the process that wrote the file had it, if its head is there and still holds (Y2).
    pub fn assembly(&self) -> Option<RequestAssembly> {
        let replay = self.replay()?.ok()?;
        (replay.standing == PrefixValidity::Goes)
            .then(|| RequestAssembly::resume(replay, |index| self.entries[index].view()))
    }
}

/// Resumes the conversation in a file.
#[tracing::instrument(level = "debug", skip_all, fields(path = %path.display()))]
pub fn resume(path: &Path) -> Result<ResumedConversation, ReadError> {
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

    let mut table = TranscriptTable::default();
    let mut lines = Vec::new();
    let mut head = None;
    let mut damaged = 0;
    for line in tail.into_lines() {
        match line.content {
            LoadedContent::Entry(entry) => {
                table.push(
                    line.number,
                    from + line.offset,
                    entry.view(),
                    &RoughEstimator,
                );
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
    // Parents that lie before the tail look like dangling ones here; judging the file is for `inspect`.
    let conversation = ResolvedConversation::resolve(&table, &mut Vec::new());
    let rows = &conversation.view().rows;
    Ok(ResumedConversation {
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
    })
}

/// Where the live view begins; the beginning of the file if nothing says otherwise.
fn view_start(file: &File) -> io::Result<u64> {
    let mut lines = TailReader::new(file)?;
    let mut scanner = LineScanner::default();
    let mut probe = ResumeProbe::new();
    while let Some(line) = lines.next()? {
        if let Ok(facets) = scanner.scan(line.bytes)
            && let ResumeNeed::From(offset) = probe.line(line.offset, facets.view(line.bytes))
        {
            // A line that told us that enough was read may lie before the view, and a head just before it.
            return if offset < line.offset {
                Ok(offset)
            } else {
                prefix_before(&mut lines, &mut scanner, offset)
            };
        }
    }
    Ok(0)
}

/// The start of the head entry that lies just before a view, with nothing of the conversation in between; else the
/// start of the view.
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
