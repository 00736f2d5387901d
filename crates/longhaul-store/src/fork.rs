//! Forking: another program's session continues as our own copy; the original is never changed (G2).
//!
//! The copy has the source's lines byte for byte and one more entry, without a uuid and so outside the chain, which
//! says where the lines came from. It appears under its name only when it is complete and on disk. Its notes are copied
//! too: entries keep their ids, so the notes reach as far in the copy. Files of sub-agents are not copied, because they
//! hold no line of the session's own conversation.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use crate::layout::{Home, SessionId, folder_name};
use crate::notes::{self, NotesFolder};
use crate::private;
use crate::tail::is_torn;

/// How the name of an unfinished copy begins and ends.
const TEMPORARY: (&str, &str) = (".fork-", ".tmp");

/// Whether a file is an unfinished copy that a killed process left.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1)
}

/// A session could not be forked. No partial copy remains, and the source is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// The source is not a file.
    #[error("{} is not a transcript: it is not a regular file", path.display())]
    NotAFile {
        /// The path of the source.
        path: PathBuf,
    },
    /// The source could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The path of the source.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// A session of that id already exists.
    #[error("{} exists already: fork under another session id", path.display())]
    Exists {
        /// The path of the existing transcript.
        path: PathBuf,
    },
    /// The copy could not be written.
    #[error("cannot write {}: {source}; nothing was changed. Check the space on that disk and try again", path.display())]
    NotWritten {
        /// The path of the copy.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

/// The entry that says where a fork's lines came from.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ForkEntry<'a> {
    r#type: &'static str,
    session_id: &'a str,
    forked_from: ForkedFrom<'a>,
    timestamp: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ForkedFrom<'a> {
    session_id: Option<&'a str>,
    path: &'a str,
    bytes: u64,
}

/// Copies a session under our home, into a project folder of the same name, with a new id; returns the copy's path.
///
/// # Errors
/// Fails if the source is not a regular file or cannot be read, if there is a session with the new id, and if the copy
/// cannot be written. Nothing is changed then.
pub fn fork(
    source: &Path,
    home: &Home,
    new_id: &SessionId,
    now: SystemTime,
) -> Result<PathBuf, ForkError> {
    let _span =
        tracing::debug_span!("fork", source = %source.display(), session = %new_id).entered();
    let unreadable = |error| ForkError::Unreadable {
        path: source.to_owned(),
        source: error,
    };
    let real = crate::real_path(source).map_err(unreadable)?;
    let metadata = fs::metadata(&real).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(ForkError::NotAFile { path: real });
    }
    // Read no further than the current size: another program may still be writing to the file.
    let mut original = File::open(&real).map_err(unreadable)?.take(metadata.len());
    let target = home.transcript(&project_name(&real), new_id);
    if fs::symlink_metadata(&target).is_ok() {
        return Err(ForkError::Exists { path: target });
    }
    let not_written = |source| ForkError::NotWritten {
        path: target.clone(),
        source,
    };
    let mut copy = temporary_beside(&target).map_err(not_written)?;
    let file = copy.as_file_mut();
    let bytes = io::copy(&mut original, file).map_err(not_written)?;
    fork_entry(&real, new_id, bytes, now)
        .and_then(|entry| finish(file, bytes, &entry))
        .map_err(not_written)?;
    copy.persist_noclobber(&target).map_err(|failed| {
        if failed.error.kind() == io::ErrorKind::AlreadyExists {
            ForkError::Exists {
                path: target.clone(),
            }
        } else {
            not_written(failed.error)
        }
    })?;
    private::sync_folder_of(&target).map_err(not_written)?;
    copy_notes(&real, &target);
    tracing::debug!(bytes, target = %target.display(), "forked");
    Ok(target)
}

/// A fork without its notes is still a fork: the next notes are taken from the beginning.
fn copy_notes(source: &Path, target: &Path) {
    let folders = NotesFolder::of_transcript(source).zip(NotesFolder::of_transcript(target));
    if let Some((source, target)) = folders
        && let Err(error) = notes::copy(&source, &target)
    {
        tracing::warn!(%error, "the notes of a forked session were not copied");
    }
}

/// The name of the project's folder: the source's own if it follows the layout, else made from the folder it is in.
pub(crate) fn project_name(source: &Path) -> String {
    let folder = source.parent().unwrap_or(source);
    let in_layout = folder
        .parent()
        .and_then(Path::file_name)
        .is_some_and(|name| name == "projects");
    match folder.file_name().and_then(|name| name.to_str()) {
        Some(name) if in_layout => name.to_owned(),
        _ => folder_name(folder),
    }
}

/// Creates a private file that vanishes unless it is given its name.
fn temporary_beside(target: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = target.parent().unwrap_or(target);
    private::create_folders(folder)?;
    tempfile::Builder::new()
        .prefix(TEMPORARY.0)
        .suffix(TEMPORARY.1)
        .tempfile_in(folder)
}

/// Ends a torn last line, adds the entry, and waits for the disk.
fn finish(file: &mut File, bytes: u64, entry: &[u8]) -> io::Result<()> {
    let mut end = Vec::with_capacity(entry.len() + 2);
    if is_torn(file, bytes)? {
        end.push(b'\n');
    }
    end.extend_from_slice(entry);
    end.push(b'\n');
    file.write_all(&end)?;
    file.sync_all()
}

fn fork_entry(
    source: &Path,
    new_id: &SessionId,
    bytes: u64,
    now: SystemTime,
) -> io::Result<Vec<u8>> {
    let old_id = SessionId::of_transcript(source);
    let entry = ForkEntry {
        r#type: "session-fork",
        session_id: new_id.as_str(),
        forked_from: ForkedFrom {
            session_id: old_id.as_ref().map(SessionId::as_str),
            path: &source.to_string_lossy(),
            bytes,
        },
        timestamp: timestamp(now),
    };
    Ok(serde_json::to_vec(&entry)?)
}

/// A time in the format of transcripts: `2026-02-12T16:02:25.227Z`.
fn timestamp(time: SystemTime) -> String {
    let time = jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}
