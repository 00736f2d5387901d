//! Replaces a file's content in one step: the new content is written next to it, then moved over it. Readers see the
//! old or the new content, never a part; a full disk leaves the old content.

use std::path::Path;

use super::{FileFingerprint, UnusableFile};

/// The outcome of a replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaceOutcome {
    /// The file is new.
    New,
    /// The file existed before.
    Changed,
}

/// Writes a file by its resolved path. Its permissions are kept, and missing folders are created.
pub fn replace(
    path: &Path,
    content: &[u8],
) -> Result<(ReplaceOutcome, FileFingerprint), UnusableFile> {
    write(path, content).map_err(|error| UnusableFile::of(path, error))
}

#[cfg(unix)]
fn write(path: &Path, content: &[u8]) -> std::io::Result<(ReplaceOutcome, FileFingerprint)> {
    use longhaul::resolved_file::{MissingFolders, parent};
    use rustix::fs::{AtFlags, FileType, Mode, OFlags};
    use rustix::io::Errno;
    use std::io::Write;

    let (folder, name) = parent(path, MissingFolders::IsMade)?;
    let before = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
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
        match rustix::fs::openat(&folder, &beside, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => break (beside, file),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let written = || -> std::io::Result<FileFingerprint> {
        let mut file = std::fs::File::from(file);
        file.write_all(content)?;
        if let Some(before) = &before {
            // A file of another user stays theirs where that is allowed.
            let (owner, group) = (before.st_uid, before.st_gid);
            let _ = rustix::fs::fchown(
                &file,
                Some(rustix::fs::Uid::from_raw(owner)),
                Some(rustix::fs::Gid::from_raw(group)),
            );
            rustix::fs::fchmod(&file, Mode::from_raw_mode(before.st_mode))?;
        }
        file.sync_all()?;
        let print = FileFingerprint::of(content, &file.metadata()?);
        rustix::fs::renameat(&folder, &beside, &folder, name)?;
        Ok(print)
    };
    match written() {
        Ok(print) if before.is_some() => Ok((ReplaceOutcome::Changed, print)),
        Ok(print) => Ok((ReplaceOutcome::New, print)),
        Err(error) => {
            let _ = rustix::fs::unlinkat(&folder, &beside, AtFlags::empty());
            Err(error)
        }
    }
}

/// A unique name: the process id excludes other processes, and the counter other calls.
#[cfg(unix)]
fn beside() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!(".longhaul-{}-{count}.tmp", std::process::id())
}

#[cfg(not(unix))]
fn write(path: &Path, content: &[u8]) -> std::io::Result<(ReplaceOutcome, FileFingerprint)> {
    use std::io::Write;
    let before = std::fs::symlink_metadata(path).ok();
    if before.as_ref().is_some_and(|it| !it.is_file()) {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    let file = file.persist(path).map_err(|error| error.error)?;
    let made = if before.is_some() {
        ReplaceOutcome::Changed
    } else {
        ReplaceOutcome::New
    };
    Ok((made, FileFingerprint::of(content, &file.metadata()?)))
}
