//! The notes of a session on disk (S1, S5): read as they are, replaced as a whole or not at all, never through a link.
//!
//! People edit the file while an agent does. So a new text is written only over the text that it was made from, checked
//! right before it takes its place; the loser of that race makes its text again. An editor that saves between the check
//! and the renaming still loses. A process that changes notes holds the folder's lock, so no two processes do.
//! `longhaul_core::notes` interprets the notes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crate::layout::NotesFiles;
use crate::private;

/// The maximum size of a notes file.
const MOST: u64 = 4 << 20;

/// The name of the lock, and how the name of an unfinished file begins and ends.
const LOCK: &str = ".lock";
const TEMPORARY: (&str, &str) = (".notes-", ".tmp");

/// Notes cannot be read or written. The files on disk are unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotesError {
    /// The path is a link, which could lead anywhere.
    #[error("{} is a link, and notes are never read or written through one: remove it", path.display())]
    Link {
        /// The path of the link.
        path: PathBuf,
    },
    /// The path holds something other than a notes file or folder.
    #[error("{} is not what notes are kept in: move it away", path.display())]
    InTheWay {
        /// The path of what is in the way.
        path: PathBuf,
    },
    /// The file is larger than notes ever are, or is not text.
    #[error("{} is not text of at most {MOST} bytes: move it away", path.display())]
    NotNotes {
        /// The path of the file.
        path: PathBuf,
    },
    /// Another process is taking notes.
    #[error("another process is taking notes in {}", path.display())]
    Busy {
        /// The path of the folder.
        path: PathBuf,
    },
    /// Somebody changed the notes after they were read.
    #[error("{} was changed meanwhile", path.display())]
    Changed {
        /// The path of the file.
        path: PathBuf,
    },
    /// The system reported an error.
    #[error("{}: {source}", path.display())]
    System {
        /// The path of the file or folder.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

/// The folder with a session's notes. It need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesFolder {
    session: PathBuf,
    files: NotesFiles,
}

/// Held while notes are changed; dropping it lets others change them. The system also releases it when the process
/// dies.
#[derive(Debug)]
pub struct NotesLock {
    folder: NotesFolder,
    _file: File,
}

impl NotesFolder {
    /// The notes folder of the session with this transcript. A transcript without an extension has no folder, because
    /// its name is taken.
    pub fn of_transcript(transcript: &Path) -> Option<Self> {
        transcript.extension()?;
        Some(Self {
            session: transcript.with_extension(""),
            files: NotesFiles::of_transcript(transcript),
        })
    }

    /// The paths of the files in the folder.
    pub fn files(&self) -> &NotesFiles {
        &self.files
    }

    /// The text of the notes; `None` if there are none.
    ///
    /// # Errors
    /// Fails if the file is a link, is not text of a sensible size, or cannot be read. The error says what to move
    /// away.
    pub fn notes(&self) -> Result<Option<String>, NotesError> {
        self.own(self.files.notes())?
            .map(|path| text(&path))
            .transpose()
    }

    /// The stored record of how far the notes reach, as it was written.
    ///
    /// # Errors
    /// Fails if the file is a link, is not text of a sensible size, or cannot be read. The error says what to move
    /// away.
    pub fn progress(&self) -> Result<Option<String>, NotesError> {
        self.own(self.files.progress())?
            .map(|path| text(&path))
            .transpose()
    }

    /// The user's own template. It is the user's file, so it may be a link.
    ///
    /// # Errors
    /// Fails if the file is not text of a sensible size, or cannot be read.
    pub fn template(&self) -> Result<Option<String>, NotesError> {
        users(&self.files.template())
    }

    /// The user's own prompt. It is the user's file, so it may be a link.
    ///
    /// # Errors
    /// Fails if the file is not text of a sensible size, or cannot be read.
    pub fn prompt(&self) -> Result<Option<String>, NotesError> {
        users(&self.files.prompt())
    }

    /// Creates the folder and takes its lock. Unfinished files of a killed process are removed.
    ///
    /// # Errors
    /// Fails if another process is taking notes, if something else is in the folder's place, and if the folder cannot
    /// be made.
    pub fn lock(&self) -> Result<NotesLock, NotesError> {
        let folder = self.folder();
        self.is_own()?;
        private::create_folders(&folder).map_err(system(&folder))?;
        let path = folder.join(LOCK);
        if let Some(found) = found(&path)?
            && !found.is_file()
        {
            return Err(NotesError::InTheWay { path });
        }
        private::create_file(&path).map_err(system(&path))?;
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let file = file.map_err(system(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(NotesError::Busy { path: folder }),
            Err(TryLockError::Error(error)) => return Err(system(&path)(error)),
        }
        sweep(&folder);
        Ok(NotesLock {
            folder: self.clone(),
            _file: file,
        })
    }

    fn folder(&self) -> PathBuf {
        let notes = self.files.notes();
        notes.parent().map_or_else(PathBuf::new, Path::to_owned)
    }

    /// Checks that neither the session's folder nor the notes folder is a link.
    fn is_own(&self) -> Result<(), NotesError> {
        for path in [self.session.clone(), self.folder()] {
            if let Some(found) = found(&path)?
                && !found.is_dir()
            {
                return Err(NotesError::InTheWay { path });
            }
        }
        Ok(())
    }

    /// The path of one of our own files, if it exists and is a regular file.
    fn own(&self, path: PathBuf) -> Result<Option<PathBuf>, NotesError> {
        self.is_own()?;
        match found(&path)? {
            None => Ok(None),
            Some(found) if found.is_file() => Ok(Some(path)),
            Some(_) => Err(NotesError::InTheWay { path }),
        }
    }
}

impl NotesLock {
    /// The text of the notes; `None` if there are none.
    ///
    /// # Errors
    /// Fails like [`NotesFolder::notes`].
    pub fn notes(&self) -> Result<Option<String>, NotesError> {
        self.folder.notes()
    }

    /// Replaces the notes `before` with `after`; `before` is `None` if there were no notes.
    ///
    /// # Errors
    /// Fails if the notes are no longer `before`, and if the file cannot be written. The notes are then as they were.
    pub fn replace(&self, before: Option<&str>, after: &str) -> Result<(), NotesError> {
        let path = self.folder.files.notes();
        let file = self.written(&path, after)?;
        if self.folder.notes()?.as_deref() != before {
            return Err(NotesError::Changed { path });
        }
        let named = match before {
            None => file.persist_noclobber(&path),
            Some(_) => file.persist(&path),
        };
        named.map_err(|failed| match failed.error.kind() {
            ErrorKind::AlreadyExists => NotesError::Changed { path: path.clone() },
            _ => system(&path)(failed.error),
        })?;
        private::sync_folder_of(&path).map_err(system(&path))
    }

    /// Records how far the notes reach. Call it after the notes are written.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn reach(&self, progress: &str) -> Result<(), NotesError> {
        let path = self.folder.files.progress();
        self.folder.own(path.clone())?;
        let file = self.written(&path, progress)?;
        let named = file.persist(&path);
        named.map_err(|failed| system(&path)(failed.error))?;
        private::sync_folder_of(&path).map_err(system(&path))
    }

    /// Writes a private temporary file to disk.
    fn written(&self, path: &Path, text: &str) -> Result<tempfile::NamedTempFile, NotesError> {
        let write = || {
            let mut file = tempfile::Builder::new()
                .prefix(TEMPORARY.0)
                .suffix(TEMPORARY.1)
                .tempfile_in(self.folder.folder())?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            Ok(file)
        };
        write().map_err(system(path))
    }
}

/// Copies the notes of one session to another that has none, with the user's files next to them. How far the notes
/// reach is read first: notes that are written meanwhile cover more than it says, never less.
pub(crate) fn copy(source: &NotesFolder, target: &NotesFolder) -> Result<(), NotesError> {
    let progress = source.progress()?;
    let Some(notes) = source.notes()? else {
        return Ok(());
    };
    let lock = target.lock()?;
    let beside = [
        (source.template()?, target.files.template()),
        (source.prompt()?, target.files.prompt()),
    ];
    for (text, path) in beside {
        if let (Some(text), Some(folder)) = (text, path.parent()) {
            private::create_folders(folder).map_err(system(folder))?;
            let named = lock.written(&path, &text)?.persist_noclobber(&path);
            named.map_err(|failed| system(&path)(failed.error))?;
        }
    }
    lock.replace(None, &notes)?;
    match progress {
        Some(progress) => lock.reach(&progress),
        None => Ok(()),
    }
}

/// The metadata of a path, if it exists and is not a link.
fn found(path: &Path) -> Result<Option<fs::Metadata>, NotesError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(NotesError::Link {
            path: path.to_owned(),
        }),
        Ok(found) => Ok(Some(found)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(system(path)(error)),
    }
}

/// Reads one of the user's own files.
fn users(path: &Path) -> Result<Option<String>, NotesError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => text(path).map(Some),
        Ok(_) => Err(NotesError::InTheWay {
            path: path.to_owned(),
        }),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(system(path)(error)),
    }
}

fn text(path: &Path) -> Result<String, NotesError> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(system(path))?;
    let read = file.take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(system(path))?;
    let not_notes = || NotesError::NotNotes {
        path: path.to_owned(),
    };
    if bytes.len() as u64 > MOST {
        Err(not_notes())
    } else {
        String::from_utf8(bytes).map_err(|_| not_notes())
    }
}

fn sweep(folder: &Path) {
    for path in crate::layout::children(folder, &mut Vec::new()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1) {
            // A file that cannot be removed does no harm.
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn system(path: &Path) -> impl Fn(io::Error) -> NotesError + use<> {
    let path = path.to_owned();
    move |source| NotesError::System {
        path: path.clone(),
        source,
    }
}
