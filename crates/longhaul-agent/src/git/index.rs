//! The files that git tracks, read from the index as data. Git itself is not run: a repository's configuration may make
//! it run programs.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::repository::{RepositoryLookup, around};

/// A larger index is not read.
const MOST_BYTES: u64 = 256 << 20;

/// The files that git tracks in the repository around a folder; `None` if they cannot be determined.
pub(crate) fn tracked_files(folder: &Path) -> Option<Vec<PathBuf>> {
    let root = match around(folder) {
        RepositoryLookup::Nothing => return Some(Vec::new()),
        RepositoryLookup::Repository(found) => found.root,
        RepositoryLookup::Bare(_) | RepositoryLookup::Unclear(_) => return None,
    };
    let names = tracked_names(&root)?;
    let path = |name: Vec<u8>| root.join(String::from_utf8_lossy(&name).as_ref());
    Some(names.into_iter().map(path).collect())
}

/// The names that git tracks in the folder that holds `.git`; `None` if they cannot be determined.
pub(crate) fn tracked_names(root: &Path) -> Option<Vec<Vec<u8>>> {
    // Without an index, nothing was ever added.
    let Some(bytes) = read(&index_of(root)?).ok()? else {
        return Some(Vec::new());
    };
    // The index does not contain the length of ids; a wrong guess fails to parse.
    names(&bytes, 20).or_else(|| names(&bytes, 32))
}

/// The index of a repository, even if `.git` is a file that names the folder.
fn index_of(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git.join("index"));
    }
    let text = String::from_utf8(read(&git).ok()??).ok()?;
    let folder = text.strip_prefix("gitdir:")?.trim();
    Some(root.join(folder).join("index"))
}

fn read(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let real = match longhaul_store::real_path(path) {
        Ok(real) => real,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let file = longhaul::resolved_file::open(&real)?;
    if file.metadata()?.len() > MOST_BYTES {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The names in an index whose ids have this length; `None` if it cannot be parsed, or contains only some of the names.
fn names(bytes: &[u8], id: usize) -> Option<Vec<Vec<u8>>> {
    const STAT: usize = 40;
    const LONG_NAME: usize = 0xfff;
    let version = number(bytes, 4)?;
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let end = bytes.len().checked_sub(id)?;
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut at = 12;
    for _ in 0..number(bytes, 8)? {
        let begins = at;
        at += STAT + id;
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        at += 2;
        if flags & 0x4000 != 0 {
            at += 2;
        }
        let mut name = Vec::new();
        if version == 4 {
            let (cut, next) = offset(bytes, at)?;
            at = next;
            let before = names.last().map(Vec::as_slice).unwrap_or_default();
            name.extend_from_slice(before.get(..before.len().checked_sub(cut)?)?);
        }
        let rest = bytes.get(at..end)?;
        let length = memchr::memchr(0, rest)?;
        name.extend_from_slice(&rest[..length]);
        at += length;
        at = match version {
            4 => at + 1,
            // Padded to a multiple of eight, with one to eight zeros.
            _ => begins + (at - begins + 8) / 8 * 8,
        };
        let told = usize::from(flags & 0xfff);
        let fits = told == name.len() || (told == LONG_NAME && name.len() >= LONG_NAME);
        let in_order = names.last().is_none_or(|before| *before <= name);
        if !fits || name.is_empty() || !in_order {
            return None;
        }
        names.push(name);
    }
    // One of the extensions says that most names are in another file.
    while at + 8 <= end {
        if bytes.get(at..at + 4)? == b"link" {
            return None;
        }
        at += 8 + usize::try_from(number(bytes, at + 4)?).ok()?;
    }
    (at == end).then_some(names)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// A number of one or more bytes, in git's encoding of offsets, and where it ends.
fn offset(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    at += 1;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = *bytes.get(at)?;
        at += 1;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some((value, at))
}
