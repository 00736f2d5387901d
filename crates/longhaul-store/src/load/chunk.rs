//! The memory that a file is read into.
//!
//! Touching fresh memory page by page costs more than reading the file does, so large chunks ask for huge pages. The
//! file itself is never mapped: another program may shorten it while we read, and that would kill our process.

use std::io::{self, ErrorKind, Read};

use bytes::Bytes;
use memmap2::MmapMut;

/// The usual size of a chunk, and the minimum size for which huge pages are requested.
const CHUNK: usize = 32 << 20;
const LEAST_MAPPED: usize = 4 << 20;
/// The minimum size of a chunk when the remaining size is unknown.
const LEAST: usize = 64 << 10;

/// Memory that is being filled; its first bytes are carried over from the previous chunk.
pub(super) struct Chunk {
    memory: ChunkMemory,
    filled: usize,
}

enum ChunkMemory {
    Mapped(MmapMut),
    Heap(Vec<u8>),
}

impl Chunk {
    /// A chunk that begins with `carried`, for the `left` bytes that are expected to come.
    pub(super) fn new(carried: &[u8], left: u64) -> io::Result<Self> {
        // One byte more than expected, so that the end of the file is seen without another chunk; twice the carried
        // bytes, so that a line longer than a chunk is copied a bounded number of times.
        let expected = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        let fresh = expected.clamp(LEAST.max(carried.len()), CHUNK.max(carried.len()));
        let size = carried.len() + fresh;
        let mut memory = ChunkMemory::new(size)?;
        memory.bytes()[..carried.len()].copy_from_slice(carried);
        Ok(Self {
            memory,
            filled: carried.len(),
        })
    }

    /// Reads until the chunk is full (`false`) or the reader is at its end (`true`).
    pub(super) fn fill(&mut self, reader: &mut impl Read) -> io::Result<bool> {
        loop {
            let room = &mut self.memory.bytes()[self.filled..];
            if room.is_empty() {
                return Ok(false);
            }
            match reader.read(room) {
                Ok(0) => return Ok(true),
                Ok(read) => self.filled += read.min(room.len()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The bytes that were read, to be shared and never changed again.
    pub(super) fn freeze(self) -> Bytes {
        let mut bytes = match self.memory {
            ChunkMemory::Mapped(map) => Bytes::from_owner(map),
            ChunkMemory::Heap(vec) => Bytes::from(vec),
        };
        bytes.truncate(self.filled);
        bytes
    }
}

impl ChunkMemory {
    fn new(size: usize) -> io::Result<Self> {
        if size >= LEAST_MAPPED
            && let Some(map) = huge_pages(size)
        {
            return Ok(Self::Mapped(map));
        }
        let mut vec = Vec::new();
        vec.try_reserve_exact(size)
            .map_err(|error| io::Error::new(ErrorKind::OutOfMemory, error))?;
        vec.resize(size, 0);
        Ok(Self::Heap(vec))
    }

    fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Heap(vec) => vec,
        }
    }
}

#[cfg(target_os = "linux")]
fn huge_pages(size: usize) -> Option<MmapMut> {
    let map = MmapMut::map_anon(size).ok()?;
    map.advise(memmap2::Advice::HugePage).ok()?;
    Some(map)
}

#[cfg(not(target_os = "linux"))]
fn huge_pages(_: usize) -> Option<MmapMut> {
    None
}
