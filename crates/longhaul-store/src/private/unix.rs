//! Private files on Unix: modes, folders that are synced like files, and the numbers that files have.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

pub(super) fn keep_file_private(options: &mut OpenOptions) {
    options.mode(0o600);
}

pub(super) fn keep_folder_private(builder: &mut DirBuilder) {
    builder.mode(0o700);
}

/// Waits until the names in a folder are on disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // File systems that cannot sync a folder (some network ones) report it this way; there is nothing more to do.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        other => other,
    }
}
