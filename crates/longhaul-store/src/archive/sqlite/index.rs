//! Follows a transcript: everything in it becomes searchable, and entries that were indexed before are not indexed
//! again.
//!
//! Indexing is one pass over the file. The part that is already indexed is hashed and scanned, to tell whether it is
//! still the same and what the model still sees of it; the rest becomes items, some megabytes to a commit. Each commit
//! records how far it got, so an interrupted pass continues from there.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use longhaul_core::message::LineScanner;
use longhaul_core::transcript::TranscriptTable;
use longhaul_core::xxh3::Xxh3_128;

use super::entries::ItemReader;
use super::item::{ArchiveItem, ViewPresence};
use super::presence::ViewPresences;
use super::put::{ItemOrigin, insert};
use super::source::{IndexedTranscript, modified};
use super::{Archive, ArchiveError};
use crate::ReadError;
use crate::lines::{BOM, LineEnding, LineReader, RawLine};

/// The amount of text committed at once.
const BATCH: usize = 8 << 20;

/// How far indexing has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexingProgress {
    /// Bytes of the transcript read so far.
    pub done: u64,
    /// Total bytes of the transcript.
    pub total: u64,
}

/// What indexing found to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexingOutcome {
    /// The transcript has not changed.
    Current,
    /// Lines were added.
    Added,
    /// The file is not the one that was indexed, so all of it was read again.
    Anew,
    /// The caller stopped the indexing. The items read so far are kept.
    BrokenOff,
}

/// What indexing did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexingResult {
    /// What there was to do.
    pub update: IndexingOutcome,
    /// The number of new items.
    pub items: u64,
}

impl Archive {
    /// Brings the archive up to date with a transcript. `progress` is called now and then, and may stop the indexing.
    ///
    /// # Errors
    /// Fails if the transcript cannot be read, or if the database cannot be written. What was indexed until then stays,
    /// and the next call continues from there.
    pub fn index(
        &mut self,
        transcript: &Path,
        mut progress: impl FnMut(IndexingProgress) -> ControlFlow<()>,
    ) -> Result<IndexingResult, ArchiveError> {
        let _span = tracing::debug_span!("index", archive = %self.path.display(), transcript = %transcript.display()).entered();
        let unreadable = |source| ReadError {
            path: transcript.to_owned(),
            source,
        };
        let real = crate::real_path(transcript).map_err(unreadable)?;
        let metadata = fs::metadata(&real).map_err(unreadable)?;
        let known = self.source(&real)?;
        if let Some(known) = known {
            if known.is_current(&metadata) {
                return Ok(IndexingResult {
                    update: IndexingOutcome::Current,
                    items: 0,
                });
            }
            if let Some(indexed) = self.pass(known, &real, &mut progress)? {
                return Ok(indexed);
            }
        }
        self.anew(&real, &mut progress)
    }

    /// Rebuilds the index from a transcript. Archived items stay, whether the transcript has them or not.
    ///
    /// # Errors
    /// Fails like [`Archive::index`].
    pub fn rebuild(
        &mut self,
        transcript: &Path,
        mut progress: impl FnMut(IndexingProgress) -> ControlFlow<()>,
    ) -> Result<IndexingResult, ArchiveError> {
        let real = crate::real_path(transcript).map_err(|source| ReadError {
            path: transcript.to_owned(),
            source,
        })?;
        self.anew(&real, &mut progress)
    }

    fn anew(
        &mut self,
        path: &Path,
        progress: &mut impl FnMut(IndexingProgress) -> ControlFlow<()>,
    ) -> Result<IndexingResult, ArchiveError> {
        // Where nothing was indexed, nothing is deleted: another process may have just begun.
        self.write(|transaction| {
            transaction.execute_batch(
                "DELETE FROM words WHERE EXISTS (SELECT 1 FROM source)
                     AND rowid IN (SELECT id FROM item WHERE archived = 0);
                 DELETE FROM item WHERE EXISTS (SELECT 1 FROM source) AND archived = 0;
                 DELETE FROM source;",
            )
        })?;
        let indexed = self.pass(IndexedTranscript::unread(path), path, progress)?;
        Ok(match indexed {
            Some(IndexingResult {
                update: IndexingOutcome::BrokenOff,
                items,
            }) => IndexingResult {
                update: IndexingOutcome::BrokenOff,
                items,
            },
            indexed => IndexingResult {
                update: IndexingOutcome::Anew,
                items: indexed.map_or(0, |indexed| indexed.items),
            },
        })
    }

    /// Reads the file from its start; returns `None` if the indexed part is no longer there.
    fn pass(
        &mut self,
        known: IndexedTranscript,
        path: &Path,
        progress: &mut impl FnMut(IndexingProgress) -> ControlFlow<()>,
    ) -> Result<Option<IndexingResult>, ArchiveError> {
        let unreadable = |source| ReadError {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        let total = metadata.len();
        if total < known.indexed {
            return Ok(None);
        }
        // Read no further than the current size: another program may still be writing to the file.
        let mut lines = LineReader::new(file.take(total));
        let mut pass = IndexPass::new(known);
        while let Some(line) = next(&mut lines, &mut pass).map_err(unreadable)? {
            pass.line(line);
            if pass.old == IndexedPart::Another {
                return Ok(None);
            }
            if pass.waiting < BATCH {
                continue;
            }
            let done = pass.position;
            self.commit(&mut pass)?;
            if progress(IndexingProgress { done, total }).is_break() {
                return Ok(Some(IndexingResult {
                    update: IndexingOutcome::BrokenOff,
                    items: pass.new,
                }));
            }
        }
        if pass.old != IndexedPart::Same {
            return Ok(None);
        }
        pass.source.bytes = total;
        pass.source.modified = modified(&metadata);
        self.commit(&mut pass)?;
        let presences = ViewPresences::of(&pass.table);
        self.write(|transaction| presences.update(transaction))?;
        // Indexing is at its end, so a request to stop has no effect.
        let _ = progress(IndexingProgress { done: total, total });
        Ok(Some(IndexingResult {
            update: IndexingOutcome::Added,
            items: pass.new,
        }))
    }

    fn commit(&mut self, pass: &mut IndexPass) -> Result<(), ArchiveError> {
        pass.source.indexed = pass.position;
        pass.source.hash = pass.hash.digest();
        let new = self.write(|transaction| {
            let new = insert(transaction, &pass.items, ItemOrigin::Indexed)?;
            pass.source.save(transaction)?;
            Ok(new)
        })?;
        pass.new += new;
        pass.items.clear();
        pass.waiting = 0;
        Ok(())
    }
}

/// The next line; a byte order mark before the first line is included in the hash.
fn next<'a, R: Read>(
    lines: &'a mut LineReader<R>,
    pass: &mut IndexPass,
) -> io::Result<Option<RawLine<'a>>> {
    let line = lines.next()?;
    if let Some(line) = &line
        && line.number == 1
        && line.offset > 0
    {
        pass.hash.update(BOM);
        pass.position = line.offset;
    }
    Ok(line)
}

/// Whether the part that was indexed before is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndexedPart {
    /// The pass has not reached the end of that part yet.
    Unsure,
    Same,
    Another,
}

/// One pass over a file.
struct IndexPass {
    /// Bytes that were indexed before this pass, and their hash.
    before: (u64, u128),
    old: IndexedPart,
    source: IndexedTranscript,
    scanner: LineScanner,
    table: TranscriptTable,
    reader: ItemReader,
    hash: Box<Xxh3_128>,
    /// The offset after the last whole line.
    position: u64,
    items: Vec<ArchiveItem>,
    /// Bytes of text in `items`.
    waiting: usize,
    new: u64,
}

impl IndexPass {
    fn new(source: IndexedTranscript) -> Self {
        Self {
            before: (source.indexed, source.hash),
            old: match source.indexed {
                0 => IndexedPart::Same,
                _ => IndexedPart::Unsure,
            },
            source: IndexedTranscript {
                bytes: 0,
                modified: 0,
                ..source
            },
            scanner: LineScanner::default(),
            table: TranscriptTable::default(),
            reader: ItemReader::default(),
            hash: Box::new(Xxh3_128::new()),
            position: 0,
            items: Vec::new(),
            waiting: 0,
            new: 0,
        }
    }

    fn line(&mut self, line: RawLine<'_>) {
        if let Ok(facets) = self.scanner.scan(line.bytes) {
            let view = facets.view(line.bytes);
            self.table.push(line.number, line.offset, view);
            if line.offset < self.before.0 {
                self.reader.remember(view);
            } else {
                let items = self.reader.items(view, ViewPresence::Live);
                self.waiting += items.iter().map(|item| item.text.len()).sum::<usize>();
                self.items.extend(items);
            }
        }
        // The last line of the file may still be being written, so it is read again next time.
        if line.ending != LineEnding::None {
            self.hash.update(line.bytes);
            self.hash.update(line.ending.bytes());
            self.position = line.offset + (line.bytes.len() + line.ending.bytes().len()) as u64;
        }
        if self.old == IndexedPart::Unsure && self.position >= self.before.0 {
            let same = (self.position, self.hash.digest()) == self.before;
            self.old = if same {
                IndexedPart::Same
            } else {
                IndexedPart::Another
            };
        }
    }
}
