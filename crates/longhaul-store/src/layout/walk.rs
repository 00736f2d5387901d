//! Looking through folders without getting lost: links in a circle, folders that may not be read.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{EXTENSION, UnlistedPath};

/// The transcripts found below a folder.
#[derive(Debug, Default)]
pub struct Transcripts {
    /// The files, sorted.
    pub paths: Vec<PathBuf>,
    /// What could not be looked at.
    pub problems: Vec<UnlistedPath>,
}

/// All `*.jsonl` files below a folder, sub-agents' too. Links to folders are followed, each folder is visited once.
#[tracing::instrument(level = "debug", skip_all, fields(folder = %folder.display()))]
pub fn transcripts_under(folder: &Path) -> Transcripts {
    let mut found = Transcripts::default();
    let mut visited = HashSet::new();
    // Linked folders come last, so that what can be reached both ways is listed under its real path.
    let mut folders = vec![folder.to_owned()];
    let mut linked = Vec::new();
    while let Some(folder) = folders.pop().or_else(|| linked.pop()) {
        match fs::canonicalize(&folder).map(|real| visited.insert(real)) {
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

/// Whether a file is a transcript, by its name.
pub(crate) fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|name| name == EXTENSION)
}

/// What a folder holds, sorted; a missing folder holds nothing.
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
