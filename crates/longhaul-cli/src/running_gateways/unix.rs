//! Whose a file is, and whether a process lives, on Unix.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::process::{Pid, geteuid, test_kill_process};

/// Whether a file or folder is this user's, and nobody else may read or write it. A link is not.
pub(super) fn is_private(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| {
        !found.file_type().is_symlink()
            && found.uid() == geteuid().as_raw()
            && found.mode() & 0o077 == 0
    })
}

pub(super) fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid).is_ok())
}
