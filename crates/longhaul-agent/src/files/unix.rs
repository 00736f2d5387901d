//! Changing files on Unix: in a folder that was opened without following a link.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use longhaul::resolved_file::{MissingFolders, parent};
use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Uid, fchmod, fchown, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::{FileFingerprint, ReplaceOutcome};

/// Writes a file by its resolved path, in one step.
pub(super) fn write(path: &Path, content: &[u8]) -> io::Result<(ReplaceOutcome, FileFingerprint)> {
    let (folder, name) = parent(path, MissingFolders::IsMade)?;
    let before = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(before) => Some(before),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(error.into()),
    };
    match before.map(|it| FileType::from_raw_mode(it.st_mode)) {
        None | Some(FileType::RegularFile) => {}
        Some(FileType::Directory) => return Err(Errno::ISDIR.into()),
        Some(FileType::Symlink) => return Err(Errno::LOOP.into()),
        Some(_) => return Err(Errno::OPNOTSUPP.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let (beside, file) = loop {
        let beside = beside();
        match openat(&folder, &beside, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => break (beside, file),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let written = || -> io::Result<FileFingerprint> {
        let mut file = File::from(file);
        file.write_all(content)?;
        if let Some(before) = &before {
            // A file of another user stays theirs where that is allowed.
            let (owner, group) = (before.st_uid, before.st_gid);
            let _ = fchown(
                &file,
                Some(Uid::from_raw(owner)),
                Some(Gid::from_raw(group)),
            );
            fchmod(&file, Mode::from_raw_mode(before.st_mode))?;
        }
        file.sync_all()?;
        let print = FileFingerprint::of(content, &file.metadata()?);
        renameat(&folder, &beside, &folder, name)?;
        Ok(print)
    };
    match written() {
        Ok(print) if before.is_some() => Ok((ReplaceOutcome::Changed, print)),
        Ok(print) => Ok((ReplaceOutcome::New, print)),
        Err(error) => {
            let _ = unlinkat(&folder, &beside, AtFlags::empty());
            Err(error)
        }
    }
}

/// A unique name: the process id excludes other processes, and the counter other calls.
fn beside() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(".longhaul-{}-{count}.tmp", std::process::id())
}

/// Removes a file by its resolved path, without following a link.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let (folder, name) = parent(path, MissingFolders::IsAnError)?;
    Ok(unlinkat(&folder, name, AtFlags::empty())?)
}
