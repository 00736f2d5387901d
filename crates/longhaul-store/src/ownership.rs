//! Who may change a transcript (G2): ours in place, another program's never without being told to.
//!
//! Resuming another program's session goes through [`fork`](mod@crate::fork). This asks only; it changes nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::layout::{Home, HomeOwner};

/// A file changed more recently than this may still be in use.
pub const RECENT: Duration = Duration::from_secs(60);

/// Whether the user said `--force`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// Change it whatever it is.
    Yes,
    /// Ask first.
    No,
}

/// Why a transcript is not changed in place, with what to do instead.
#[derive(Debug, thiserror::Error)]
pub enum OwnershipRefusal {
    /// It belongs to another program.
    #[error("{} belongs to another program: work on a copy, or pass --force to change it in place", path.display())]
    OtherProgram {
        /// The file.
        path: PathBuf,
    },
    /// Somebody may be writing to it now.
    #[error("{} was modified {} ago and may be in use: wait a minute, or pass --force to change it in place", path.display(), seconds(*ago))]
    ModifiedRecently {
        /// The file.
        path: PathBuf,
        /// How long ago; zero too if its time lies in the future.
        ago: Duration,
    },
    /// It cannot be told.
    #[error("cannot look at {}: {source}; check the path", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn seconds(ago: Duration) -> String {
    match ago.as_secs() {
        1 => "1 second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}

/// Whether a transcript may be changed where it lies.
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

/// Whether a file lies among our sessions, links resolved. It must exist.
pub fn is_ours(path: &Path, home: &Home) -> io::Result<bool> {
    let real = fs::canonicalize(path)?;
    // Our projects, not our root: somebody may have put our root above another program's.
    let ours = match fs::canonicalize(home.projects()) {
        Ok(ours) => ours,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(home.owner() == HomeOwner::Longhaul && real.starts_with(ours))
}
