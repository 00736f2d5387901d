//! Walks through folders safely: links may form a cycle, and folders may be unreadable.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::{EXTENSION, UnlistedPath};

/// The transcripts found below a folder.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Transcripts {
    /// The paths of the files, sorted.
    pub paths: Vec<PathBuf>,
    /// The paths that could not be read.
    pub problems: Vec<UnlistedPath>,
}

/// All `*.jsonl` files below a folder, including those of sub-agents. Links to folders are followed, and each folder is
/// visited once.
pub fn transcripts_under(folder: &Path) -> Transcripts {
    let _span = tracing::debug_span!("transcripts_under", folder = %folder.display()).entered();
    let mut found = Transcripts::default();
    let mut visited = HashSet::new();
    // Linked folders come last, so that a file that can be reached both ways is listed under its real path.
    let mut folders = vec![folder.to_owned()];
    let mut linked = Vec::new();
    while let Some(folder) = folders.pop().or_else(|| linked.pop()) {
        match crate::real_path(&folder).map(|real| visited.insert(real)) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(error) => {
                found.problems.push(UnlistedPath::new(folder, error));
                continue;
            }
        }
        for path in children(&folder, &mut found.problems) {
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() && path.is_symlink() => linked.push(path),
                Ok(metadata) if metadata.is_dir() => folders.push(path),
                Ok(metadata) if metadata.is_file() && is_transcript(&path) => {
                    found.paths.push(path);
                }
                Ok(_) => {}
                // By its name it is no transcript, and no folder can be reached through it.
                Err(error) if leads_nowhere(&path, &error) && !is_transcript(&path) => {}
                Err(error) => found.problems.push(UnlistedPath::new(path, error)),
            }
        }
    }
    found.paths.sort();
    tracing::debug!(
        transcripts = found.paths.len(),
        problems = found.problems.len(),
        "looked through"
    );
    found
}

/// Whether there is nothing at the end of a link, or no end. Something that may not be looked at is there.
fn leads_nowhere(path: &Path, error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
        || path.is_symlink() && error.kind() != ErrorKind::PermissionDenied
}

/// Whether a file is a transcript, judging by its name.
pub(crate) fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|name| name == EXTENSION)
}

/// The content of a folder, sorted; a missing folder counts as empty.
pub(crate) fn children(folder: &Path, problems: &mut Vec<UnlistedPath>) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    match fs::read_dir(folder) {
        Ok(entries) => {
            for entry in entries {
                match entry {
                    Ok(entry) => paths.push(entry.path()),
                    Err(error) => problems.push(UnlistedPath::new(folder, error)),
                }
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => problems.push(UnlistedPath::new(folder, error)),
    }
    paths.sort();
    paths
}
