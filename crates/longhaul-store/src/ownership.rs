//! Who may change a transcript (G2): ours in place, another program's only with an explicit request.
//!
//! Another program's session is resumed through [`fork`](mod@crate::fork). This module only checks and changes nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::layout::{Home, HomeOwner};

/// A file that changed more recently than this may still be in use.
const RECENT: Duration = Duration::from_secs(60);

/// Whether the user passed `--force`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// Change the file in any case.
    Yes,
    /// Check first.
    No,
}

/// Why a transcript is not changed in place, and what to do instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnershipRefusal {
    /// The file belongs to another program.
    #[error("{} belongs to another program: work on a copy, or pass --force to change it in place", path.display())]
    OtherProgram {
        /// The path of the file.
        path: PathBuf,
    },
    /// Another process may be writing to the file now.
    #[error("{} was modified {} ago and may be in use: wait a minute, or pass --force to change it in place", path.display(), seconds(*ago))]
    ModifiedRecently {
        /// The path of the file.
        path: PathBuf,
        /// How long ago the file changed; also zero if its time is in the future.
        ago: Duration,
    },
    /// The owner of the file cannot be determined.
    #[error("cannot look at {}: {source}; check the path", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

fn seconds(ago: Duration) -> String {
    match ago.as_secs() {
        1 => "1 second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}

/// Checks whether a transcript may be changed in place.
///
/// # Errors
/// Fails if the transcript belongs to another program, was modified a moment ago, or cannot be looked at. The refusal
/// says what to do instead.
pub fn may_change_in_place(
    path: &Path,
    home: &Home,
    now: SystemTime,
    force: Force,
) -> Result<(), OwnershipRefusal> {
    if force == Force::Yes {
        return Ok(());
    }
    let unreadable = |source| OwnershipRefusal::Unreadable {
        path: path.to_owned(),
        source,
    };
    if !is_ours(path, home).map_err(unreadable)? {
        return Err(OwnershipRefusal::OtherProgram {
            path: path.to_owned(),
        });
    }
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    let ago = now
        .duration_since(modified.map_err(unreadable)?)
        .unwrap_or(Duration::ZERO);
    if ago < RECENT {
        return Err(OwnershipRefusal::ModifiedRecently {
            path: path.to_owned(),
            ago,
        });
    }
    Ok(())
}

/// Whether a file is one of our sessions, with links resolved. The file must exist.
///
/// # Errors
/// Fails if the file or the home cannot be looked at.
pub fn is_ours(path: &Path, home: &Home) -> io::Result<bool> {
    let real = crate::real_path(path)?;
    // Compare with our projects folder, not our root: somebody may have put our root above another program's.
    let ours = match crate::real_path(&home.projects()) {
        Ok(ours) => ours,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(home.owner() == HomeOwner::Longhaul && real.starts_with(ours))
}
