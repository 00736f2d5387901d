//! Finds the recorded transcripts, which are not part of the project.
//!
//! Tests that use them begin with `let Some(folder) = corpora() else { return };`. On a plain clone the folder is
//! absent: the test prints one line and passes. Under `CI=true` the test fails instead, so that it cannot stay skipped
//! forever without anyone noticing.

use std::path::{Path, PathBuf};

/// The folder of recorded conversations: `LONGHAUL_CORPORA` if set, else `../shared/corpora` next to the workspace.
///
/// If it is absent, prints `skipped: corpora not found (set LONGHAUL_CORPORA)` and returns `None`.
///
/// # Panics
/// If it is absent and the environment says `CI=true`.
#[must_use]
pub fn corpora() -> Option<PathBuf> {
    let folder = match std::env::var_os("LONGHAUL_CORPORA") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora"),
    };
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    choose(folder, ci)
}

/// Every Claude Code transcript in the corpora, sorted by path; `None` as for [`corpora`].
///
/// # Panics
/// Under the same condition as [`corpora`].
#[must_use]
pub fn claude_code_transcripts() -> Option<Vec<PathBuf>> {
    let mut files = files_under(&corpora()?.join("claude-code"));
    files.retain(|path| path.extension().is_some_and(|ext| ext == "jsonl"));
    Some(files)
}

/// Every file in the corpora, sorted by path; `None` as for [`corpora`].
///
/// # Panics
/// Under the same condition as [`corpora`].
#[must_use]
pub fn all_files() -> Option<Vec<PathBuf>> {
    Some(files_under(&corpora()?))
}

#[expect(
    clippy::panic,
    reason = "a missing corpus must fail the test that asks for it, in CI"
)]
fn choose(folder: PathBuf, ci: bool) -> Option<PathBuf> {
    if folder.is_dir() {
        return Some(folder);
    }
    if ci {
        panic!(
            "CI=true and no corpora at {}: set LONGHAUL_CORPORA",
            folder.display()
        );
    }
    crate::skipped::note("corpora not found (set LONGHAUL_CORPORA)");
    None
}

/// All files below a folder. An unreadable folder counts as empty; the tests that need its files then report it.
fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_folder_skips() {
        assert_eq!(choose(PathBuf::from("no/such/folder"), false), None);
    }

    #[test]
    #[should_panic(expected = "set LONGHAUL_CORPORA")]
    fn an_absent_folder_fails_in_ci() {
        let _ = choose(PathBuf::from("no/such/folder"), true);
    }

    #[test]
    fn files_are_found_in_depth_and_sorted() {
        let files = files_under(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
        assert!(files.is_sorted());
        assert!(files.iter().any(|path| path.ends_with("session/mod.rs")));
    }
}
