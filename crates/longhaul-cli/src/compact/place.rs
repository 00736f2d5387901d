//! Where a compaction is written: into the transcript itself, into a copy of it, or nowhere.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use longhaul::recorded::Keep;
use longhaul_store::archive::archive_path;
use longhaul_store::copy::{Draft, Existing};
use longhaul_store::layout::Home;
use longhaul_store::ownership::{Force, may_change_in_place};
use longhaul_store::{Lease, LeaseError};

use crate::args::Compact as Command;
use crate::failure::Failure;

/// A transcript that is worked on.
pub(super) struct Place {
    way: Way,
    file: PathBuf,
    /// The path that the result has in the end.
    known_as: PathBuf,
    archive: PathBuf,
    /// Keeps other processes from a transcript that is changed in place.
    _lease: Option<Arc<Lease>>,
}

enum Way {
    Nowhere,
    InPlace,
    Copy(Draft),
}

impl Place {
    /// Asks whether it may be written there, and begins a copy if one is wanted.
    pub(super) fn of(command: &Command, file: &Path, home: &Home) -> Result<Self, Failure> {
        let output = command.output.as_deref();
        let output = output.map(|output| resolved(output, file)).transpose()?;
        let way = match &output {
            _ if command.preview => Way::Nowhere,
            None => {
                let force = match command.force {
                    true => Force::Yes,
                    false => Force::No,
                };
                may_change_in_place(file, home, SystemTime::now(), force)?;
                Way::InPlace
            }
            Some(output) => {
                let existing = match command.force {
                    true => Existing::Replace,
                    false => Existing::Keep,
                };
                Way::Copy(Draft::of(file, output, existing)?)
            }
        };
        let lease = match way {
            Way::InPlace => lease(file)?,
            Way::Nowhere | Way::Copy(_) => None,
        };
        let known_as = output.unwrap_or_else(|| file.to_owned());
        Ok(Self {
            way,
            file: file.to_owned(),
            archive: archive_path(home, &known_as),
            known_as,
            _lease: lease,
        })
    }

    /// The file to read, and to append to.
    pub(super) fn path(&self) -> &Path {
        match &self.way {
            Way::Copy(draft) => draft.path(),
            Way::InPlace | Way::Nowhere => &self.file,
        }
    }

    pub(super) fn known_as(&self) -> Option<PathBuf> {
        match self.way {
            Way::Nowhere => None,
            Way::InPlace | Way::Copy(_) => Some(self.known_as.clone()),
        }
    }

    pub(super) fn keep(&self) -> Keep {
        match self.way {
            Way::Nowhere => Keep::Nowhere,
            Way::InPlace | Way::Copy(_) => Keep::Appended {
                archive: self.archive.clone(),
                known_as: self.known_as.clone(),
            },
        }
    }

    /// Everything is written: a copy gets its name.
    pub(super) fn finish(self) -> Result<(), Failure> {
        match self.way {
            Way::Copy(draft) => Ok(draft.finish()?),
            Way::InPlace | Way::Nowhere => Ok(()),
        }
    }
}

/// The lease of a session that is changed in place. Where no lock can be had, writing says what is wrong.
fn lease(file: &Path) -> Result<Option<Arc<Lease>>, Failure> {
    match Lease::take(file) {
        Ok(lease) => Ok(Some(lease)),
        Err(LeaseError::InUse(in_use)) => Err(Failure::InUse(in_use)),
        Err(LeaseError::NotTaken { .. }) => Ok(None),
    }
}

/// The output's path, links resolved. It must not be the transcript.
fn resolved(output: &Path, file: &Path) -> Result<PathBuf, Failure> {
    let wrong = |source| Failure::Write {
        path: output.to_owned(),
        source,
    };
    if let Ok(there) = std::fs::canonicalize(output) {
        return match there == file {
            true => Err(Failure::OutputIsInput {
                path: output.to_owned(),
            }),
            false => Ok(there),
        };
    }
    let name = output.file_name();
    let name = name.ok_or_else(|| wrong(io::Error::from(io::ErrorKind::InvalidInput)))?;
    let folder = match output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    Ok(std::fs::canonicalize(folder).map_err(wrong)?.join(name))
}
