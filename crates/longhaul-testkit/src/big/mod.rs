//! Transcripts of any size, written at the speed of copying, for benches.
//!
//! A block of a few megabytes is generated once; every copy of it gets new ids and a later date, in place. So all
//! uuids and tool ids of the file are distinct, the parent chain runs through it, and memory stays at one block
//! whatever the file's size.
//!
//! With a tail, the file ends in a compact boundary and the lines after it: the same bytes for every total size, so
//! that two files differ only in what a resume must not need to read.

mod block;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::session::{CompactionSchedule, Feature, Generator, SessionSpec};
use block::{RepeatedBlock, TailSeam};

/// The description of a big file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BigSpec {
    /// The seed of the content.
    pub seed: u64,
    /// The minimum size of the file; it has at most one block more.
    pub min_bytes: u64,
    /// The compact boundaries in the file.
    pub boundaries: BigFileBoundaries,
}

/// Compact boundaries in a big file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BigFileBoundaries {
    /// There are none: one chain from the first line to the last.
    None,
    /// A few boundaries in every block, where the context would have filled up.
    Natural,
    /// As `Natural`, plus a last one followed by at least this many bytes, which are the same for every `min_bytes`.
    LastBefore(u64),
}

/// A big file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigFile {
    /// The total number of bytes.
    pub bytes: u64,
    /// The total number of lines.
    pub lines: u64,
    /// Offset of the last boundary's line, if there is a tail.
    pub tail_offset: Option<u64>,
    /// The uuid at the end of the chain.
    pub last_uuid: String,
}

/// The number of content bytes after which a block ends with its turn.
const BLOCK: usize = 6 << 20;

impl BigSpec {
    /// Writes the file to `out`.
    ///
    /// # Errors
    /// Whatever `out` reports.
    pub fn write_to(&self, mut out: impl Write) -> io::Result<BigFile> {
        let compaction = match self.boundaries {
            BigFileBoundaries::None => CompactionSchedule::Never,
            _ => CompactionSchedule::AtTokens(167_000),
        };
        let session = self.session(self.seed, compaction);
        let tail = match self.boundaries {
            BigFileBoundaries::LastBefore(bytes) => {
                Some(self.tail(bytes as usize, session.session_id()))
            }
            _ => None,
        };
        let tail_bytes = tail.as_ref().map_or(0, |tail| tail.bytes.len() as u64);
        let mut block = RepeatedBlock::new(
            session,
            self.min_bytes.saturating_sub(tail_bytes).min(BLOCK as u64) as usize,
        );
        let mut file = BigFile {
            bytes: 0,
            lines: 0,
            tail_offset: None,
            last_uuid: String::new(),
        };
        while file.bytes + tail_bytes < self.min_bytes || file.lines == 0 {
            let copy = block.copy();
            out.write_all(&copy)?;
            file.bytes += copy.len() as u64;
            drop(copy);
            file.lines += block.lines;
        }
        file.last_uuid = block.last_uuid();
        if let Some(tail) = tail {
            let seam = tail.after(&file.last_uuid);
            out.write_all(seam.as_bytes())?;
            file.tail_offset = Some(file.bytes + seam.len() as u64);
            out.write_all(&tail.bytes)?;
            file.bytes += seam.len() as u64 + tail_bytes;
            file.lines += 1 + tail.lines;
            file.last_uuid = tail.last_uuid;
        }
        out.flush()?;
        Ok(file)
    }

    /// Writes the file to a path, replacing what is there.
    ///
    /// # Errors
    /// If the file cannot be created or written.
    pub fn write_file(&self, path: &Path) -> io::Result<BigFile> {
        self.write_to(BufWriter::with_capacity(1 << 20, File::create(path)?))
    }

    /// The path of the file in `folder`, under a name that describes it. The file is written only if it does not exist
    /// yet, because benches run often and a gigabyte takes a while. It is written under another name first, so that an
    /// interrupted run leaves none.
    ///
    /// # Errors
    /// If the folder or the file cannot be created or written.
    pub fn cached_in(&self, folder: &Path) -> io::Result<PathBuf> {
        let kind = match self.boundaries {
            BigFileBoundaries::None => String::from("chain"),
            BigFileBoundaries::Natural => String::from("natural"),
            BigFileBoundaries::LastBefore(bytes) => format!("tail{bytes}"),
        };
        let name = format!(
            "longhaul-big-v{FORMAT}-{}-{}-{kind}.jsonl",
            self.seed, self.min_bytes
        );
        let path = folder.join(&name);
        if !path.is_file() {
            std::fs::create_dir_all(folder)?;
            let partial = folder.join(format!("{name}.{}", std::process::id()));
            self.write_file(&partial)?;
            std::fs::rename(&partial, &path)?;
        }
        Ok(path)
    }

    fn session(&self, seed: u64, compaction: CompactionSchedule) -> Generator {
        // Titles name entries of other files, so they are left out; everything else may repeat.
        let spec = SessionSpec::new(seed, 0)
            .without(Feature::Titles)
            .compaction(compaction);
        Generator::new(spec)
    }

    fn tail(&self, bytes: usize, session_id: &str) -> TailSeam {
        let mut session = self.session(self.seed ^ 0x7a11, CompactionSchedule::Never);
        session.join_session(session_id);
        TailSeam::new(session, bytes)
    }
}

/// A part of the names that [`BigSpec::cached_in`] uses. Raise it when the generated bytes change.
const FORMAT: u32 = 2;
