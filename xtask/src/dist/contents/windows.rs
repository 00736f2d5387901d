//! A program on Windows is a file whose name says so.

use std::io;
use std::path::Path;

pub(super) fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}
