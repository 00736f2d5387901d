//! Which files the model read last (R1, R7). Follows the host's reads; which of them are read again after a compaction
//! is decided here, reading them is not.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::hash::Map;

/// The most files that are read again.
const MOST: usize = 5;

/// Names of files that the user context holds anyway (A4).
const MEMORY_FILES: [&str; 3] = ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"];

/// One file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// Its path.
    pub path: PathBuf,
    /// When it was read last.
    pub at: Timestamp,
}

/// The files that were read, for the main thread or a fork of it: a fork works on a clone.
#[derive(Debug, Clone, Default)]
pub struct ReadFiles {
    /// With a counter that orders reads of the same instant.
    files: Map<PathBuf, (Timestamp, u64)>,
    count: u64,
}

/// What is not read again, beside memory files.
#[derive(Debug, Clone, Default)]
pub struct RestoreExclusions {
    /// The session's own transcript.
    pub transcript: Option<PathBuf>,
    /// The plan file: it is attached whole (R2).
    pub plan: Option<PathBuf>,
    /// Memory files that the user context holds, wherever they lie.
    pub memory: Vec<PathBuf>,
    /// Files whose content is in the part that is kept (P4).
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
    /// Notes that a file's content was shown. A stub that says it is unchanged shows nothing and is not noted (W1).
    pub fn read(&mut self, path: impl Into<PathBuf>, at: Timestamp) {
        self.count += 1;
        self.files.insert(path.into(), (at, self.count));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether none was read.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The files to read again: exclusions first, then the newest.
    pub fn wanted(&self, exclusions: &RestoreExclusions) -> Vec<ReadFile> {
        let mut files: Vec<_> = self
            .files
            .iter()
            .filter(|(path, _)| !exclusions.contains(path))
            .collect();
        files.sort_unstable_by_key(|(_, (at, count))| std::cmp::Reverse((*at, *count)));
        files.truncate(MOST);
        files
            .into_iter()
            .map(|(path, (at, _))| ReadFile {
                path: path.clone(),
                at: *at,
            })
            .collect()
    }

    /// After a valid summary (R7): forgets what was read, but for what was restored.
    pub fn compacted(&mut self, restored: &[PathBuf], at: Timestamp) {
        self.files.clear();
        for path in restored.iter().rev() {
            self.read(path, at);
        }
    }
}
