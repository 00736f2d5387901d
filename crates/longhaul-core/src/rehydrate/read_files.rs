//! Tracks which files the model read last (R1, R7). It follows the host's reads and decides which files are read again
//! after a compaction; the host reads them.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::hash::Map;

/// The maximum number of files that are read again.
pub const MOST_RESTORED_FILES: usize = 5;

/// The names of files that the user context holds anyway (A4).
const MEMORY_FILES: [&str; 3] = ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"];

/// One file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The time at which the file was last read.
    pub at: Timestamp,
}

/// The files that were read, by the main thread or a fork of it. A fork works on a clone.
#[derive(Debug, Clone, Default)]
pub struct ReadFiles {
    /// Each file with its time and a counter that orders reads at the same instant.
    files: Map<PathBuf, (Timestamp, u64)>,
    count: u64,
}

/// The files that are not read again, besides memory files.
#[derive(Debug, Clone, Default)]
pub struct RestoreExclusions {
    /// The session's own transcript.
    pub transcript: Option<PathBuf>,
    /// The plan file, which is attached whole (R2).
    pub plan: Option<PathBuf>,
    /// Memory files that the user context holds, wherever they are.
    pub memory: Vec<PathBuf>,
    /// Files whose content is in the kept part (P4).
    pub kept: Vec<PathBuf>,
}

impl RestoreExclusions {
    fn contains(&self, path: &Path) -> bool {
        let named = path.file_name().and_then(|name| name.to_str());
        named.is_some_and(|name| MEMORY_FILES.contains(&name))
            || self.transcript.as_deref() == Some(path)
            || self.plan.as_deref() == Some(path)
            || self
                .memory
                .iter()
                .chain(&self.kept)
                .any(|other| other == path)
    }
}

impl ReadFiles {
    /// Records that a file's content was shown. A stub that says that a file is unchanged shows nothing and is not
    /// recorded (W1).
    pub fn read(&mut self, path: impl Into<PathBuf>, at: Timestamp) {
        self.count += 1;
        self.files.insert(path.into(), (at, self.count));
    }

    /// The number of files that were read.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether no file was read.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the files to read again: the newest of those that are not excluded.
    pub fn wanted(&self, exclusions: &RestoreExclusions) -> Vec<ReadFile> {
        let mut files: Vec<_> = self
            .files
            .iter()
            .filter(|(path, _)| !exclusions.contains(path))
            .collect();
        files.sort_unstable_by_key(|(_, (at, count))| std::cmp::Reverse((*at, *count)));
        files.truncate(MOST_RESTORED_FILES);
        files
            .into_iter()
            .map(|(path, (at, _))| ReadFile {
                path: path.clone(),
                at: *at,
            })
            .collect()
    }

    /// Forgets all files but the restored ones, after a valid summary (R7).
    pub fn compacted(&mut self, restored: &[PathBuf], at: Timestamp) {
        self.files.clear();
        for path in restored.iter().rev() {
            self.read(path, at);
        }
    }
}
