//! The entries that a transcript holds, as far as a writer needs to know them, because no parent may dangle (Y8).
//!
//! This is not a model of the conversation, only a set of uuids that are certainly in the file. A uuid that is not in
//! the set is searched for from the end of the file.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use longhaul_core::json;
use longhaul_core::message::{ByteSpan, Id, LineScanner};

use super::{AppendError, ParentLink};
use crate::lines::LineReader;
use crate::load::LoadedTranscript;
use crate::tail::TailReader;

/// The buffer for catching up; usually little was appended since the last append.
const CATCH_UP_BUFFER: usize = 64 << 10;

/// The known entries of a file.
#[derive(Debug)]
pub(super) struct Lineage {
    known: HashSet<Id>,
    /// Entries that a failed append may have left in the file; only these may be appended again.
    disowned: HashSet<Id>,
    /// The bytes of the file before this offset are not read again.
    seen_to: u64,
    scanner: LineScanner,
}

/// An entry's uuid and parents. An entry without a uuid is outside the chain and needs no parent.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryLinks {
    uuid: Option<(Id, ByteSpan)>,
    parents: [Option<(ParentLink, Id, ByteSpan)>; 2],
}

impl Lineage {
    /// Starts without knowledge of a file of this size.
    pub(super) fn unknown(size: u64) -> Self {
        Self {
            known: HashSet::new(),
            disowned: HashSet::new(),
            seen_to: size,
            scanner: LineScanner::default(),
        }
    }

    /// Marks all entries of a file that was read as known.
    pub(super) fn learn(&mut self, loaded: &LoadedTranscript) {
        self.known
            .extend(loaded.entries().filter_map(|entry| entry.view().uuid()));
        self.seen_to = loaded.size();
    }

    /// Reads the links of these lines; each line must be one intact entry.
    pub(super) fn read<L: AsRef<[u8]>>(
        &mut self,
        lines: &[L],
    ) -> Result<Vec<EntryLinks>, AppendError> {
        let one = |(index, line): (usize, &L)| {
            let line = line.as_ref();
            // White space in JSON may contain line breaks, so an intact object is not necessarily one line.
            if memchr::memchr2(b'\n', b'\r', line).is_some() {
                return Err(AppendError::LineBreak { index });
            }
            let facets = (self.scanner.scan(line))
                .map_err(|damage| AppendError::NotAnEntry { index, damage })?;
            let view = facets.view(line);
            Ok(EntryLinks {
                uuid: view.uuid().map(|id| (id, facets.uuid)),
                parents: [
                    view.parent()
                        .map(|id| (ParentLink::Parent, id, facets.parent)),
                    view.logical_parent()
                        .map(|id| (ParentLink::LogicalParent, id, facets.logical_parent)),
                ],
            })
        };
        lines.iter().enumerate().map(one).collect()
    }

    /// Reads the entries that other writers appended since the last append.
    pub(super) fn catch_up(&mut self, mut file: &File, size: u64) -> io::Result<()> {
        if size < self.seen_to {
            // Somebody shortened the file, so nothing we knew is certain any more.
            self.known.clear();
            self.seen_to = size;
        }
        if size == self.seen_to {
            return Ok(());
        }
        tracing::debug!(from = self.seen_to, to = size, "others have appended");
        file.seek(SeekFrom::Start(self.seen_to))?;
        let mut lines = LineReader::with_buffer(file, CATCH_UP_BUFFER);
        while let Some(line) = lines.next()? {
            if let Ok(facets) = self.scanner.scan(line.bytes) {
                self.known.extend(facets.view(line.bytes).uuid());
            }
        }
        self.seen_to = size;
        Ok(())
    }

    /// Whether these entries may follow what the file holds.
    pub(super) fn admit<L: AsRef<[u8]>>(
        &mut self,
        path: &Path,
        file: &File,
        kin: &[EntryLinks],
        lines: &[L],
    ) -> Result<(), AppendError> {
        let mut earlier = HashSet::new();
        for (index, (kin, line)) in kin.iter().zip(lines).enumerate() {
            let Some((uuid, span)) = kin.uuid else {
                continue;
            };
            let text = |span: ByteSpan| json::decode(span.of(line.as_ref())).into_owned();
            for (link, parent, at) in kin.parents.iter().flatten() {
                let found = earlier.contains(parent)
                    || self
                        .holds(file, *parent)
                        .map_err(AppendError::unreadable(path))?;
                if !found {
                    return Err(AppendError::DanglingParent {
                        path: path.to_owned(),
                        index,
                        link: *link,
                        parent: text(*at),
                    });
                }
            }
            let again = self.known.contains(&uuid) && !self.disowned.contains(&uuid);
            if again || !earlier.insert(uuid) {
                return Err(AppendError::DuplicateUuid {
                    path: path.to_owned(),
                    index,
                    uuid: text(span),
                });
            }
        }
        Ok(())
    }

    /// Whether the file holds an entry, either known or found by searching from the end.
    fn holds(&mut self, file: &File, id: Id) -> io::Result<bool> {
        if self.known.contains(&id) {
            return Ok(true);
        }
        let mut tail = TailReader::new(file)?;
        while let Some(line) = tail.next()? {
            let Ok(facets) = self.scanner.scan(line.bytes) else {
                continue;
            };
            let uuid = facets.view(line.bytes).uuid();
            self.known.extend(uuid);
            if uuid == Some(id) {
                tracing::debug!(offset = line.offset, "found a parent");
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Records that these entries are in the file.
    pub(super) fn adopt(&mut self, kin: &[EntryLinks]) {
        for (id, _) in kin.iter().filter_map(|kin| kin.uuid) {
            self.known.insert(id);
            self.disowned.remove(&id);
        }
    }

    /// Records that these entries may be in the file, completely or in part.
    pub(super) fn disown(&mut self, kin: &[EntryLinks]) {
        self.disowned
            .extend(kin.iter().filter_map(|kin| kin.uuid).map(|(id, _)| id));
    }

    /// Records that everything before this byte has been read.
    pub(super) fn seen(&mut self, end: u64) {
        self.seen_to = end;
    }
}
