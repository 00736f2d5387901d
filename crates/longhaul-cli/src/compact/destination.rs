//! Where a compaction is written: into the transcript itself, into a copy of it, or nowhere.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use longhaul::recorded::CompactionTarget;
use longhaul_store::archive::{archive_path, check_writable};
use longhaul_store::copy::{ExistingFilePolicy, TranscriptCopy};
use longhaul_store::layout::Home;
use longhaul_store::ownership::{Force, may_change_in_place};
use longhaul_store::{Lease, LeaseError};

use super::unfinished_copy::{InterruptsLeft, UnfinishedCopyWatch};
use crate::args::CompactArgs as Command;
use crate::failure::CliError;

/// A transcript that is worked on.
pub(super) struct CompactDestination {
    way: WriteMode,
    file: PathBuf,
    /// The final path of the result.
    known_as: PathBuf,
    archive: PathBuf,
    /// Locks a transcript that is changed in place against other processes.
    _lease: Option<Arc<Lease>>,
}

enum WriteMode {
    Nowhere,
    InPlace,
    Copy(TranscriptCopy, UnfinishedCopyWatch),
}

impl CompactDestination {
    /// Checks whether the transcript may be changed, and begins a copy if one is wanted.
    pub(super) fn of(command: &Command, file: &Path, home: &Home) -> Result<Self, CliError> {
        let output = command.output.as_deref();
        let output = output.map(|output| resolved(output, file)).transpose()?;
        let way = match &output {
            _ if command.preview => WriteMode::Nowhere,
            None => {
                let force = if command.force { Force::Yes } else { Force::No };
                may_change_in_place(file, home, SystemTime::now(), force)?;
                WriteMode::InPlace
            }
            Some(output) => {
                let existing = if command.force {
                    ExistingFilePolicy::Replace
                } else {
                    ExistingFilePolicy::Keep
                };
                let mut copy = TranscriptCopy::begin(output, existing)?;
                let watch = UnfinishedCopyWatch::of(copy.path());
                copy.fill(file)?;
                WriteMode::Copy(copy, watch)
            }
        };
        let lease = match way {
            WriteMode::InPlace => lease(file)?,
            WriteMode::Nowhere | WriteMode::Copy(..) => None,
        };
        let known_as = output.unwrap_or_else(|| file.to_owned());
        let archive = archive_path(home, &known_as);
        if !matches!(way, WriteMode::Nowhere) {
            check_writable(&archive)?;
        }
        Ok(Self {
            way,
            file: file.to_owned(),
            archive,
            known_as,
            _lease: lease,
        })
    }

    /// The file to read, and to append to.
    pub(super) fn path(&self) -> &Path {
        match &self.way {
            WriteMode::Copy(draft, _) => draft.path(),
            WriteMode::InPlace | WriteMode::Nowhere => &self.file,
        }
    }

    pub(super) fn known_as(&self) -> Option<PathBuf> {
        match self.way {
            WriteMode::Nowhere => None,
            WriteMode::InPlace | WriteMode::Copy(..) => Some(self.known_as.clone()),
        }
    }

    pub(super) fn keep(&self) -> CompactionTarget {
        match self.way {
            WriteMode::Nowhere => CompactionTarget::Nowhere,
            WriteMode::InPlace | WriteMode::Copy(..) => CompactionTarget::Appended {
                archive: self.archive.clone(),
                known_as: self.known_as.clone(),
            },
        }
    }

    /// While the guard lives, Ctrl-C is left to somebody else, who ends the work in order.
    pub(super) fn leave_interrupts(&self) -> Option<InterruptsLeft> {
        match &self.way {
            WriteMode::Copy(_, watch) => Some(watch.leave_interrupts()),
            WriteMode::InPlace | WriteMode::Nowhere => None,
        }
    }

    /// Called when everything is written: a copy gets its final name.
    pub(super) fn finish(self) -> Result<(), CliError> {
        match self.way {
            WriteMode::Copy(draft, _) => Ok(draft.finish()?),
            WriteMode::InPlace | WriteMode::Nowhere => Ok(()),
        }
    }
}

/// The lease of a session that is changed in place. Where no lock is possible, writing reports what is wrong.
fn lease(file: &Path) -> Result<Option<Arc<Lease>>, CliError> {
    match Lease::take(file) {
        Ok(lease) => Ok(Some(lease)),
        Err(LeaseError::InUse(in_use)) => Err(CliError::InUse(in_use)),
        Err(_) => Ok(None),
    }
}

/// The output's path, links resolved. It must not be the transcript.
fn resolved(output: &Path, file: &Path) -> Result<PathBuf, CliError> {
    if output == Path::new("-") {
        return Err(CliError::OutputIsStdout);
    }
    let wrong = |source| CliError::Write {
        path: output.to_owned(),
        source,
    };
    if let Ok(there) = longhaul_store::real_path(output) {
        return if there == file {
            Err(CliError::OutputIsInput {
                path: output.to_owned(),
            })
        } else {
            Ok(there)
        };
    }
    let name = output.file_name();
    let name = name.ok_or_else(|| wrong(io::Error::from(io::ErrorKind::InvalidInput)))?;
    let folder = match output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let real = longhaul_store::real_path(folder).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => CliError::OutputFolder {
            path: output.to_owned(),
            folder: folder.to_owned(),
        },
        _ => wrong(source),
    })?;
    Ok(real.join(name))
}
