//! What the model was shown of files, and whether that is still true (W1, W2).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::{FileFingerprint, OpenedFile, resolve};

/// If a request has more pictures than this, none may have a side longer than [`FileState::LONG_SIDE`].
const MANY_PICTURES: usize = 20;

/// What the model knows about files. The tools of a session share it; a fork works on a clone.
#[derive(Debug, Default)]
pub struct FileState {
    inner: Mutex<FileStateInner>,
}

#[derive(Debug, Default, Clone)]
struct FileStateInner {
    files: HashMap<PathBuf, KnownFile>,
    pictures: usize,
    large_pictures: usize,
}

#[derive(Debug, Clone)]
struct KnownFile {
    print: FileFingerprint,
    shown: ShownExtent,
    /// The call whose result showed the file; `None` if it is not in the window.
    by: Option<String>,
    at: SystemTime,
    hinted: bool,
}

/// How much of a file was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownExtent {
    /// These lines, as they were requested.
    Lines {
        /// The first line, counted from 1.
        offset: u64,
        /// The number of lines.
        limit: u64,
    },
    /// The whole file: a picture, a document.
    Whole,
    /// Nothing: the model wrote the file, or it was restored after a compaction, perhaps in part.
    Elsewhere,
}

/// Whether the model's knowledge of a file is still true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnowledgeStatus {
    /// The knowledge is still true.
    Yes,
    /// The file was never read, or it has left the window.
    Unread,
    /// The file has changed since.
    Changed,
}

impl FileState {
    /// Only a limited number of pictures with a longer side may be in one request.
    pub(crate) const LONG_SIDE: usize = 2_000;

    /// Records that a call showed the model this part of a file.
    pub fn shown(&self, path: &Path, print: FileFingerprint, shown: ShownExtent, call: &str) {
        self.know(path, print, shown, Some(call.to_owned()));
    }

    /// Records that the model wrote a file.
    pub(crate) fn wrote(&self, path: &Path, print: FileFingerprint) {
        self.know(path, print, ShownExtent::Elsewhere, None);
    }

    fn know(&self, path: &Path, print: FileFingerprint, shown: ShownExtent, by: Option<String>) {
        let known = KnownFile {
            print,
            shown,
            by,
            at: SystemTime::now(),
            hinted: false,
        };
        self.lock().files.insert(path.to_owned(), known);
    }

    /// Whether the model was shown any part of a file, or wrote it, since the window began.
    pub(crate) fn knows(&self, path: &Path) -> bool {
        self.lock().files.contains_key(path)
    }

    /// When exactly the same part was shown, if it was and is still in the window.
    pub(crate) fn shown_at(
        &self,
        path: &Path,
        print: &FileFingerprint,
        shown: ShownExtent,
    ) -> Option<SystemTime> {
        let inner = self.lock();
        let known = inner.files.get(path)?;
        let same = known.by.is_some() && known.shown == shown && known.print.is_same(print);
        same.then_some(known.at)
    }

    /// Whether the model's knowledge of a file is still true, which is required before the file is written.
    pub fn holds(&self, path: &Path, now: &FileFingerprint) -> KnowledgeStatus {
        match self.lock().files.get(path) {
            None => KnowledgeStatus::Unread,
            Some(known) if known.print.is_same(now) => KnowledgeStatus::Yes,
            Some(_) => KnowledgeStatus::Changed,
        }
    }

    /// The files that changed without the model's knowledge since it was last told. Each is listed only once until it
    /// is read again.
    pub fn stale(&self) -> Vec<PathBuf> {
        let known: Vec<(PathBuf, FileFingerprint)> = (self.lock().files.iter())
            .filter(|(_, known)| !known.hinted)
            .map(|(path, known)| (path.clone(), known.print))
            .collect();
        // The disk is accessed without the lock, so that a slow disk holds up no other caller.
        let mut stale: Vec<PathBuf> = known
            .into_iter()
            .filter(|(path, print)| has_moved(path, print))
            .map(|(path, _)| path)
            .collect();
        stale.sort();
        let mut inner = self.lock();
        for path in &stale {
            if let Some(known) = inner.files.get_mut(path) {
                known.hinted = true;
            }
        }
        stale
    }

    /// Records that the results of these calls were cleared from the window: what they showed can be read again.
    /// Whether a file may be written does not depend on it.
    pub fn cleared(&self, calls: &[impl AsRef<str>]) {
        for known in self.lock().files.values_mut() {
            if (known.by.as_deref()).is_some_and(|by| calls.iter().any(|call| call.as_ref() == by))
            {
                known.by = None;
            }
        }
    }

    /// Records that unknown results have left the window: everything that was shown can be read again.
    pub(crate) fn all_cleared(&self) {
        for known in self.lock().files.values_mut() {
            known.by = None;
        }
    }

    /// Records that the conversation was compacted and these files were restored with their current content. All other
    /// files are forgotten; each can be read again. The paths are absolute; this accesses the disk.
    pub fn compacted(&self, restored: &[PathBuf]) {
        let restored = restored.iter().filter_map(|path| {
            let path = resolve(&std::path::absolute(path).ok()?).ok()?;
            let print = OpenedFile::regular(&path).ok()?.print().ok()?;
            Some((path, print))
        });
        let restored: Vec<_> = restored.collect();
        *self.lock() = FileStateInner::default();
        for (path, print) in restored {
            self.know(&path, print, ShownExtent::Elsewhere, None);
        }
    }

    /// Counts a picture if requests with it will be accepted.
    pub(crate) fn admits_picture(&self, longer_side: usize) -> bool {
        let mut inner = self.lock();
        let large = inner.large_pictures + usize::from(longer_side > Self::LONG_SIDE);
        let admits = large == 0 || inner.pictures < MANY_PICTURES;
        if admits {
            inner.pictures += 1;
            inner.large_pictures = large;
        }
        admits
    }

    fn lock(&self) -> MutexGuard<'_, FileStateInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for FileState {
    fn clone(&self) -> Self {
        Self {
            inner: Mutex::new(self.lock().clone()),
        }
    }
}

/// Whether a file has changed. A new time with the same content is not a change.
fn has_moved(path: &Path, print: &FileFingerprint) -> bool {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if print.is_same_at_a_glance(&FileFingerprint::at_a_glance(&metadata)) => {
            false
        }
        Ok(_) => (OpenedFile::regular(path).ok())
            .and_then(|opened| opened.print().ok())
            .is_none_or(|now| !now.is_same(print)),
        Err(_) => true,
    }
}
