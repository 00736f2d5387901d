//! The lease of a session: one process at a time works on it, for as long as it has the session open.
//!
//! Two processes that append to one transcript would each continue from what it knows, and one of the two branches
//! would be abandoned. So a process that opens a session takes its lease: a lock on a file next to the transcript.
//! **The lock is the truth**: the system releases it when its holder dies, however that happens. The content of the
//! file only tells others who the holder is. Single appends are kept apart by another lock, in `append`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{identity, private};

/// The lease of `ID.jsonl` is `ID.lock` next to it.
const EXTENSION: &str = "lock";
/// The maximum size of a holder's file.
const LONGEST: u64 = 4_096;
/// How many times a file that was removed meanwhile is created again.
const TRIES: usize = 16;

/// A session that belongs to this process alone until this is dropped.
#[derive(Debug)]
pub struct Lease {
    path: PathBuf,
    /// Closing the file releases the lock.
    _file: File,
}

/// Who holds a lease, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LeaseHolder {
    /// The id of the process.
    pub pid: Option<u32>,
    /// The machine that the process runs on.
    pub host: Option<String>,
    /// The name of the program.
    pub program: Option<String>,
    /// The time since when it holds the lease.
    pub since: Option<Timestamp>,
}

/// Another process has the session open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is in use by {holder}", transcript.display())]
#[non_exhaustive]
pub struct SessionInUse {
    /// The session's transcript.
    pub transcript: PathBuf,
    /// The holder of the lease.
    pub holder: LeaseHolder,
}

/// Why no lease could be taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// Another process has the session open.
    #[error(transparent)]
    InUse(#[from] SessionInUse),
    /// No lease can be taken here: the folder is not writable, or the file system does not support locks.
    #[error("no lock can be taken beside {}: {source}", transcript.display())]
    NotTaken {
        /// The session's transcript.
        transcript: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

/// The leases of this process. It may open a session again while it has it open, because it knows its own work.
static HELD: Mutex<Vec<Weak<Lease>>> = Mutex::new(Vec::new());

impl Lease {
    /// Takes the lease of a session, or shares the one that this process already holds.
    ///
    /// # Errors
    /// Fails if another process has the session open, and where no lock can be taken: the folder is not writable, or
    /// its file system has no locks.
    pub fn take(transcript: &Path) -> Result<Arc<Self>, LeaseError> {
        let not_taken = |source| LeaseError::NotTaken {
            transcript: transcript.to_owned(),
            source,
        };
        let path = beside(transcript).map_err(not_taken)?;
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|lease| lease.strong_count() > 0);
        let mut own = held.iter().filter_map(Weak::upgrade);
        if let Some(lease) = own.find(|lease| lease.path == path) {
            return Ok(lease);
        }
        for _ in 0..TRIES {
            let mut file = open(&path).map_err(not_taken)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(LeaseError::InUse(SessionInUse {
                        transcript: transcript.to_owned(),
                        holder: LeaseHolder::read(&mut file),
                    }));
                }
                Err(TryLockError::Error(source)) => return Err(not_taken(source)),
            }
            // The last holder may have removed the file after we opened it and before we locked it.
            if !identity::still_names(&path, &file).map_err(not_taken)? {
                continue;
            }
            if let Err(error) = LeaseHolder::of_this_process().write(&mut file) {
                // Others can still see that the session is in use, but not by whom.
                tracing::debug!(%error, "the lease does not name its holder");
            }
            let lease = Arc::new(Self { path, _file: file });
            held.push(Arc::downgrade(&lease));
            return Ok(lease);
        }
        Err(not_taken(io::ErrorKind::ResourceBusy.into()))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // The file is removed while it is still locked, so a process that opened it meanwhile sees that it is gone. A
        // file that stays locks nobody out.
        let _ = fs::remove_file(&self.path);
    }
}

/// The transcript whose lease this file is, if it is one.
pub(crate) fn transcript_of(path: &Path) -> Option<PathBuf> {
    let is_lease = path.extension().is_some_and(|it| it == EXTENSION);
    is_lease.then(|| path.with_extension(crate::layout::EXTENSION))
}

/// The path of a transcript's lease, with links resolved: a session has one lease, whatever path leads to it.
fn beside(transcript: &Path) -> io::Result<PathBuf> {
    let transcript = match crate::real_path(transcript) {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = transcript.parent().unwrap_or(Path::new(""));
            let folder = if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            };
            private::create_folders(folder)?;
            let name = transcript.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            crate::real_path(folder)?.join(name)
        }
        Err(error) => return Err(error),
    };
    Ok(transcript.with_extension(EXTENSION))
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    private::keep_private(&mut options).open(path)
}

impl LeaseHolder {
    fn of_this_process() -> Self {
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(Path::file_stem);
        Self {
            pid: Some(std::process::id()),
            host: host(),
            program: program.map(|name| name.to_string_lossy().into_owned()),
            since: Some(Timestamp::now()),
        }
    }

    fn write(&self, file: &mut File) -> io::Result<()> {
        let text = serde_json::to_string(self)?;
        file.set_len(0)?;
        file.write_all(text.as_bytes())?;
        file.flush()
    }

    /// Reads what the holder wrote; empty where that cannot be read.
    fn read(file: &mut File) -> Self {
        let mut text = String::new();
        let read = file
            .seek(SeekFrom::Start(0))
            .and_then(|_| file.take(LONGEST).read_to_string(&mut text));
        match read {
            Ok(_) => serde_json::from_str(&text).unwrap_or_default(),
            Err(_) => Self::default(),
        }
    }
}

fn host() -> Option<String> {
    let file = fs::read_to_string("/proc/sys/kernel/hostname")
        .or_else(|_| fs::read_to_string("/etc/hostname"));
    let name = file.ok().or_else(|| std::env::var("HOSTNAME").ok());
    let name = name.or_else(|| std::env::var("COMPUTERNAME").ok())?;
    let name = name.trim().to_owned();
    (!name.is_empty()).then_some(name)
}

impl std::fmt::Display for LeaseHolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match &self.program {
            Some(program) => program,
            None => "another process",
        })?;
        let known = [
            self.pid.map(|pid| format!("process {pid}")),
            self.host.as_ref().map(|host| format!("on {host}")),
        ];
        let known: Vec<String> = known.into_iter().flatten().collect();
        let since = self.since.map(|since| {
            let since = since.strftime("%Y-%m-%d %H:%M:%S UTC");
            format!("since {since}")
        });
        let words: Vec<String> = (!known.is_empty())
            .then(|| known.join(" "))
            .into_iter()
            .chain(since)
            .collect();
        if words.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", words.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_told_as_far_as_it_is_known() {
        let holder = LeaseHolder {
            pid: Some(7),
            host: Some("desk".to_owned()),
            program: Some("longhaul".to_owned()),
            since: Some("2026-01-02T03:04:05Z".parse().unwrap()),
        };
        assert_eq!(
            holder.to_string(),
            "longhaul (process 7 on desk, since 2026-01-02 03:04:05 UTC)"
        );
        assert_eq!(LeaseHolder::default().to_string(), "another process");
    }

    #[test]
    fn a_lease_is_shared_in_a_process_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("a.jsonl");
        let one = Lease::take(&transcript).unwrap();
        let two = Lease::take(&transcript).unwrap();
        assert!(Arc::ptr_eq(&one, &two));
        let file = folder.path().join("a.lock");
        assert!(file.exists());
        drop((one, two));
        assert!(!file.exists());
    }

    #[test]
    fn a_file_that_a_killed_process_left_locks_nobody_out() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("a.jsonl");
        fs::write(folder.path().join("a.lock"), "{\"pid\":1}").unwrap();
        let _lease = Lease::take(&transcript).unwrap();
    }

    #[test]
    fn who_has_a_lease_is_told_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let transcript = folder.path().join("a.jsonl");
        // The lock is taken through another file handle, as another process would.
        let mut file = open(&folder.path().join("a.lock")).unwrap();
        file.try_lock().unwrap();
        let refused = |of: &str| match Lease::take(&transcript) {
            Err(LeaseError::InUse(in_use)) => assert!(in_use.to_string().ends_with(of), "{in_use}"),
            other => panic!("{other:?}"),
        };
        refused("is in use by another process");
        let holder = LeaseHolder {
            pid: Some(7),
            ..LeaseHolder::default()
        };
        holder.write(&mut file).unwrap();
        refused("is in use by another process (process 7)");
        drop(file);
        let _lease = Lease::take(&transcript).unwrap();
    }
}
