//! Checkpoints: what files held before tools changed them, so that a rewind can put it back.
//!
//! They are kept beside the session: `changes.jsonl` has a line for each change, and each content is stored once, under
//! its hash. Only changes by Write and Edit are known here; what commands change is not.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use longhaul_core::xxh3::xxh3_128;
use longhaul_store::{create_private_folders, keep_private};
use serde::{Deserialize, Serialize};

use super::system::remove;
use super::{OpenedFile, UnusableFile, replace};
use crate::session_paths::SessionPaths;

/// The folder beside the session, and the list of changes in it.
const FOLDER: &str = "checkpoints";
const CHANGES: &str = "changes.jsonl";
/// The longest line of the list that is read: a path and two hashes.
const LONGEST_LINE: usize = 16 << 10;

/// The checkpoints of a session.
#[derive(Debug, Clone)]
pub(crate) struct FileCheckpoints {
    folder: PathBuf,
}

/// What a file held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FileContent {
    /// There was no file.
    Absent,
    /// The content with this hash.
    Hash(String),
    /// A content that could not be kept: it was too long, or it could not be read or stored.
    Unknown,
}

/// A change of a file by a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct FileChange {
    at: Timestamp,
    path: PathBuf,
    before: FileContent,
    after: FileContent,
}

/// A file that tools changed since some time, and that now differs from what it was then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RestorableFile {
    /// The file.
    pub path: PathBuf,
    /// Whether it is still what the tools made of it.
    pub state: RestorableState,
    target: FileContent,
}

/// Whether a file can be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestorableState {
    /// The file is as the tools left it.
    AsLeft,
    /// Somebody else has changed the file since; restoring it would overwrite that.
    ChangedSince,
    /// What the file held was not kept.
    NotKept,
}

/// What happens to files that a command or somebody else has changed since the last edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConflictPolicy {
    /// They stay as they are.
    #[default]
    Leave,
    /// They are overwritten, too. What they hold is kept as a checkpoint first.
    Overwrite,
}

/// The outcome of a restoration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FileRestoration {
    /// Files that hold again what they held.
    pub restored: Vec<PathBuf>,
    /// Files that were left as they are.
    pub left: Vec<PathBuf>,
    /// Files that could not be restored, with the reason.
    pub failed: Vec<(PathBuf, String)>,
}

/// The content of a file before a change that is about to be made.
#[derive(Debug)]
pub(crate) struct PendingCheckpoint<'a> {
    checkpoints: &'a FileCheckpoints,
    path: PathBuf,
    before: FileContent,
}

impl FileCheckpoints {
    /// The checkpoints of a session; those of a sub-agent are kept with the session that started it.
    pub(crate) fn of_session(place: &SessionPaths) -> Self {
        let above = place.transcript.parent().unwrap_or(Path::new(""));
        let session = match above.file_name() {
            Some(name) if name == "subagents" => above.parent().unwrap_or(above).to_owned(),
            _ => place.session_folder(),
        };
        Self {
            folder: session.join(FOLDER),
        }
    }

    /// Keeps what a file holds before a tool changes it.
    pub(crate) fn before(&self, path: &Path) -> PendingCheckpoint<'_> {
        PendingCheckpoint {
            checkpoints: self,
            path: path.to_owned(),
            before: self.keep(path),
        }
    }

    /// Stores the content of a file.
    fn keep(&self, path: &Path) -> FileContent {
        let opened = match OpenedFile::regular(path) {
            Ok(opened) if opened.is_short() => opened,
            Err(UnusableFile::Missing(_)) => return FileContent::Absent,
            _ => return FileContent::Unknown,
        };
        let kept = opened.content().map_err(io::Error::other);
        match kept.and_then(|content| self.store(&content)) {
            Ok(hash) => FileContent::Hash(hash),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "the file's content cannot be kept");
                FileContent::Unknown
            }
        }
    }

    fn store(&self, content: &[u8]) -> io::Result<String> {
        let hash = hash(content);
        let path = self.folder.join(&hash);
        if !path.exists() {
            create_private_folders(&self.folder)?;
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(content)?;
            file.persist(&path)?;
        }
        Ok(hash)
    }

    fn record(&self, change: &FileChange) -> io::Result<()> {
        create_private_folders(&self.folder)?;
        let mut line = serde_json::to_vec(change)?;
        line.push(b'\n');
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        keep_private(&mut options)
            .open(self.folder.join(CHANGES))?
            .write_all(&line)
    }

    /// All changes, oldest first. A line that cannot be read is skipped.
    fn changes(&self) -> io::Result<Vec<FileChange>> {
        let file = match File::open(self.folder.join(CHANGES)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let lines = BufReader::new(file).split(b'\n');
        let mut changes = Vec::new();
        for line in lines {
            let line = line?;
            if line.len() <= LONGEST_LINE
                && let Ok(change) = serde_json::from_slice(&line)
            {
                changes.push(change);
            }
        }
        Ok(changes)
    }

    /// The files that tools changed from this time on and that differ from what they were then, sorted by path.
    ///
    /// # Errors
    /// Fails if the list of changes cannot be read.
    pub(crate) fn since(&self, time: Timestamp) -> io::Result<Vec<RestorableFile>> {
        let mut files: BTreeMap<PathBuf, (FileContent, FileContent)> = BTreeMap::new();
        for change in self.changes()? {
            match files.get_mut(&change.path) {
                Some((_, last)) => *last = change.after,
                None if change.at >= time => {
                    files.insert(change.path, (change.before, change.after));
                }
                None => {}
            }
        }
        let files = files.into_iter().filter_map(|(path, (target, last))| {
            let now = current(&path);
            let state = match &target {
                _ if now == target && target != FileContent::Unknown => return None,
                FileContent::Unknown => RestorableState::NotKept,
                _ if now == last && now != FileContent::Unknown => RestorableState::AsLeft,
                _ => RestorableState::ChangedSince,
            };
            Some(RestorableFile {
                path,
                state,
                target,
            })
        });
        Ok(files.collect())
    }

    /// Puts back what these files held.
    pub(crate) fn restore(
        &self,
        files: &[RestorableFile],
        conflicts: ConflictPolicy,
    ) -> FileRestoration {
        let mut outcome = FileRestoration::default();
        for file in files {
            let is_left = match (file.state, conflicts) {
                (RestorableState::NotKept, _) => true,
                (RestorableState::ChangedSince, ConflictPolicy::Leave) => true,
                (RestorableState::ChangedSince, ConflictPolicy::Overwrite)
                | (RestorableState::AsLeft, _) => false,
            };
            if is_left {
                outcome.left.push(file.path.clone());
                continue;
            }
            match self.put_back(file) {
                Ok(()) => outcome.restored.push(file.path.clone()),
                Err(error) => outcome.failed.push((file.path.clone(), error.to_string())),
            }
        }
        outcome
    }

    fn put_back(&self, file: &RestorableFile) -> io::Result<()> {
        let pending = self.before(&file.path);
        if pending.before == FileContent::Unknown {
            return Err(io::Error::other("what it holds now cannot be kept"));
        }
        match &file.target {
            FileContent::Hash(hash) => {
                let content = fs::read(self.folder.join(hash))?;
                if self::hash(&content) != *hash {
                    return Err(io::Error::other("its checkpoint is damaged"));
                }
                replace(&file.path, &content).map_err(io::Error::other)?;
                pending.changed_to(Some(&content));
            }
            FileContent::Absent => {
                remove(&file.path)?;
                pending.changed_to(None);
            }
            FileContent::Unknown => {}
        }
        Ok(())
    }
}

impl PendingCheckpoint<'_> {
    /// Records that the file now holds this; `None` if it is gone.
    pub(crate) fn changed_to(self, content: Option<&[u8]>) {
        let change = FileChange {
            at: Timestamp::now(),
            path: self.path,
            before: self.before,
            after: content.map_or(FileContent::Absent, |content| {
                FileContent::Hash(hash(content))
            }),
        };
        if let Err(error) = self.checkpoints.record(&change) {
            // The change itself must not fail because it cannot be undone later.
            tracing::warn!(path = %change.path.display(), %error, "the change has no checkpoint");
        }
    }
}

/// What a file holds now.
fn current(path: &Path) -> FileContent {
    match OpenedFile::regular(path) {
        Err(UnusableFile::Missing(_)) => FileContent::Absent,
        Ok(opened) if opened.is_short() => {
            opened.content().map_or(FileContent::Unknown, |content| {
                FileContent::Hash(hash(&content))
            })
        }
        _ => FileContent::Unknown,
    }
}

fn hash(content: &[u8]) -> String {
    format!("{:032x}-{}", xxh3_128(content), content.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(folder: &Path) -> SessionPaths {
        SessionPaths {
            cwd: folder.to_owned(),
            more: Vec::new(),
            transcript: folder.join("s.jsonl"),
        }
    }

    #[test]
    fn files_hold_again_what_they_held_at_that_time() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        let checkpoints = FileCheckpoints::of_session(&session(&folder));
        let (old, new) = (folder.join("old.txt"), folder.join("new.txt"));
        fs::write(&old, "one").unwrap();
        let change = |path: &Path, content: &str| {
            let pending = checkpoints.before(path);
            fs::write(path, content).unwrap();
            pending.changed_to(Some(content.as_bytes()));
            std::thread::sleep(std::time::Duration::from_millis(2));
        };
        let first = Timestamp::now();
        change(&old, "two");
        let second = Timestamp::now();
        change(&old, "three");
        change(&new, "made");

        let back = checkpoints.restore(&checkpoints.since(second).unwrap(), ConflictPolicy::Leave);
        assert_eq!(back.restored, [new.clone(), old.clone()]);
        assert_eq!(fs::read_to_string(&old).unwrap(), "two");
        assert!(!new.exists());
        assert!(checkpoints.since(second).unwrap().is_empty());

        change(&old, "four");
        fs::write(&old, "by hand").unwrap();
        let found = checkpoints.since(first).unwrap();
        assert_eq!(found[0].state, RestorableState::ChangedSince);
        let left = checkpoints.restore(&found, ConflictPolicy::Leave);
        assert_eq!(left.left, std::slice::from_ref(&old));
        assert_eq!(fs::read_to_string(&old).unwrap(), "by hand");
        checkpoints.restore(&found, ConflictPolicy::Overwrite);
        assert_eq!(fs::read_to_string(&old).unwrap(), "one");
    }
}
