//! The notes of a session on disk (S1, S5): read as they are, replaced whole or not at all, never through a link.
//!
//! People edit the file while an agent does. So a new text is written only over the text that it was made from, checked
//! right before it takes its place; whoever loses that race makes it anew. Between the check and the renaming an editor
//! that saves in that very moment still loses. Who changes notes holds the folder's lock, so no two processes do.
//! What notes mean is for `longhaul_core::notes`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crate::layout::NotesFiles;
use crate::private;

/// No file of notes is larger.
const MOST: u64 = 4 << 20;

/// The name of the lock, and how the name of an unfinished file begins and ends.
const LOCK: &str = ".lock";
const TEMPORARY: (&str, &str) = (".notes-", ".tmp");

/// Notes cannot be read or written. What is on disk is as it was.
#[derive(Debug, thiserror::Error)]
pub enum NotesError {
    /// A link could lead anywhere.
    #[error("{} is a link, and notes are never read or written through one: remove it", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// Something else lies there.
    #[error("{} is not what notes are kept in: move it away", path.display())]
    InTheWay {
        /// What lies there.
        path: PathBuf,
    },
    /// It is larger than notes ever are, or not text.
    #[error("{} is not text of at most {MOST} bytes: move it away", path.display())]
    NotNotes {
        /// The file.
        path: PathBuf,
    },
    /// Another process takes notes.
    #[error("another process takes notes in {}", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// Somebody changed the notes since they were read.
    #[error("{} was changed meanwhile", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The system says no.
    #[error("{}: {source}", path.display())]
    System {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The folder with a session's notes. It need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesFolder {
    session: PathBuf,
    files: NotesFiles,
}

/// Held by who changes notes; dropping it lets others. The system lets go of it, too, when the process dies.
#[derive(Debug)]
pub struct NotesLock {
    folder: NotesFolder,
    _file: File,
}

impl NotesFolder {
    /// That of the session with this transcript. A transcript without an extension has no folder: its name is taken.
    pub fn of_transcript(transcript: &Path) -> Option<Self> {
        transcript.extension()?;
        Some(Self {
            session: transcript.with_extension(""),
            files: NotesFiles::of_transcript(transcript),
        })
    }

    /// Where things lie.
    pub fn files(&self) -> &NotesFiles {
        &self.files
    }

    /// The notes; none if there are none.
    pub fn notes(&self) -> Result<Option<String>, NotesError> {
        self.own(self.files.notes())?
            .map(|path| text(&path))
            .transpose()
    }

    /// How far they reach, as it was written.
    pub fn progress(&self) -> Result<Option<String>, NotesError> {
        self.own(self.files.progress())?
            .map(|path| text(&path))
            .transpose()
    }

    /// The user's own template. It is the user's file: it may be a link.
    pub fn template(&self) -> Result<Option<String>, NotesError> {
        users(&self.files.template())
    }

    /// The user's own prompt; the same.
    pub fn prompt(&self) -> Result<Option<String>, NotesError> {
        users(&self.files.prompt())
    }

    /// Makes the folder and takes its lock. What a process that was killed left unfinished is removed.
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

    /// Neither the session's folder nor that of the notes is a link.
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

    /// A file of ours, if it is there and is one.
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
    /// The notes; none if there are none.
    pub fn notes(&self) -> Result<Option<String>, NotesError> {
        self.folder.notes()
    }

    /// Puts notes in place of those that they were made from; `None`: there were none.
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

    /// Says how far the notes reach. Comes behind them.
    pub fn reach(&self, progress: &str) -> Result<(), NotesError> {
        let path = self.folder.files.progress();
        self.folder.own(path.clone())?;
        let file = self.written(&path, progress)?;
        let named = file.persist(&path);
        named.map_err(|failed| system(&path)(failed.error))?;
        private::sync_folder_of(&path).map_err(system(&path))
    }

    /// A private file without a name yet, on disk.
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

/// Copies the notes of one session to another that has none, with what the user put beside them. What they reach is
/// read first: notes that are written meanwhile hold more than it says, never less.
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

/// What lies there, if it is no link.
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

/// A file of the user's.
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
            // What cannot be removed is only in the way of nobody.
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
