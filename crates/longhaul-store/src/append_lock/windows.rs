//! On Windows, a lock on a file stops everybody who reads it, so a transcript is locked through a file of its own: an empty
//! one, with the user's temporary files, named by the path of the transcript.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;

use longhaul_core::xxh3::xxh3_64;

use crate::{private, real_path};

/// The folder, in that of temporary files.
const FOLDER: &str = "longhaul-locks";
/// "The process cannot access the file because another process has locked a portion of the file."
const ERROR_LOCK_VIOLATION: i32 = 33;

pub(crate) fn lock_file(_: &Arc<File>, path: &Path) -> io::Result<Arc<File>> {
    let folder = std::env::temp_dir().join(FOLDER);
    private::create_folders(&folder)?;
    // Names that differ in their case alone are one file. What is gone is noticed under the lock.
    let path = real_path(path).unwrap_or_else(|_| path.to_owned());
    let path = path.to_string_lossy().to_lowercase();
    let file = folder.join(format!("{:016x}", xxh3_64(path.as_bytes())));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    Ok(Arc::new(options.open(file)?))
}

/// Gives up the lock that was taken on the file.
///
/// The standard library unlocks twice, for a lock that is exclusive and shared, and expects the second attempt to find none.
/// Windows then says that nothing is locked (158), and Wine that the lock is another's (33): the first attempt has succeeded.
/// The file was opened for this lock alone and is closed after it, which would unlock it, too.
pub(crate) fn unlock(file: &File) -> io::Result<()> {
    match file.unlock() {
        Err(error) if error.raw_os_error() == Some(ERROR_LOCK_VIOLATION) => Ok(()),
        other => other,
    }
}
