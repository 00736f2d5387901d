//! Whether git tracks a file, read from the index as data. Git itself is not run: a repository's configuration may make it
//! run programs.
//!
//! What cannot be told counts as tracked: then the file is the project's, and may do less.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// An index larger than this is not read.
const MOST_BYTES: u64 = 256 << 20;

/// Whether a file came with the repository around it, or lies below a link that did.
pub(super) fn is_tracked(file: &Path) -> bool {
    let mut above = file.ancestors().skip(1);
    let Some(root) = above.find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok()) else {
        return false;
    };
    let Some(index) = index_of(root) else {
        return true;
    };
    let bytes = match read(&index) {
        Ok(Some(bytes)) => bytes,
        // Nothing was ever added.
        Ok(None) => return false,
        Err(_) => return true,
    };
    let real = fs::canonicalize(file).ok();
    let real_root = fs::canonicalize(root).ok();
    let below_real = real
        .as_deref()
        .zip(real_root.as_deref())
        .and_then(|(real, root)| real.strip_prefix(root).ok());
    let below = [file.strip_prefix(root).ok(), below_real];
    let wanted: Vec<String> = (below.into_iter().flatten())
        .map(|path| path.to_string_lossy().replace('\\', "/").to_lowercase())
        .collect();
    // The length of ids is not in the index; a wrong guess does not come out even.
    let names = names(&bytes, 20).or_else(|| names(&bytes, 32));
    let Some(names) = names else {
        return true;
    };
    names.iter().any(|name| {
        let name = String::from_utf8_lossy(name).to_lowercase();
        let name = name.trim_end_matches('/');
        wanted.iter().any(|wanted| {
            let below = wanted.strip_prefix(name);
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    })
}

/// The index of a repository, also where `.git` is a file that names the folder.
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
    let real = match fs::canonicalize(path) {
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

/// The names in an index whose ids have this length; none if it does not read as one, or holds only a part.
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
            // Filled up to a multiple of eight, with one to eight zeros.
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
    // Extensions. One says that most names are in another file.
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

/// A number of one or more bytes, as git writes offsets, and where it ends.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(folder: &Path, args: &[&str]) {
        let ran = Command::new("git").args(args).current_dir(folder).output();
        assert!(ran.unwrap().status.success(), "{args:?}");
    }

    #[test]
    fn what_git_tracks_is_told_from_the_index_in_every_format() {
        for version in ["2", "3", "4"] {
            for format in ["sha1", "sha256"] {
                let folder = tempfile::tempdir().unwrap();
                let at = |name: &str| folder.path().join(name);
                git(folder.path(), &["init", "-q", "--object-format", format]);
                assert!(!is_tracked(&at(".claude/settings.local.json")));
                fs::create_dir_all(at(".claude")).unwrap();
                for name in [
                    ".claude/settings.json",
                    ".claude/settings.local.json",
                    "a",
                    "z/long/name",
                ] {
                    fs::create_dir_all(at(name).parent().unwrap()).unwrap();
                    fs::write(at(name), "{}").unwrap();
                }
                git(folder.path(), &["add", ".claude/settings.json", "a", "z"]);
                git(folder.path(), &["add", "-N", "z"]);
                git(folder.path(), &["update-index", "--index-version", version]);
                let local = at(".claude/settings.local.json");
                assert!(!is_tracked(&local), "version {version}, {format}");
                assert!(is_tracked(&at(".claude/settings.json")));
                git(folder.path(), &["add", "-f", ".claude/settings.local.json"]);
                assert!(is_tracked(&local), "version {version}, {format}");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_lies_below_a_tracked_link_or_cannot_be_told_is_tracked() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        git(folder.path(), &["init", "-q"]);
        fs::create_dir(at("conf")).unwrap();
        std::os::unix::fs::symlink("conf", at(".claude")).unwrap();
        fs::write(at("conf/settings.local.json"), "{}").unwrap();
        assert!(!is_tracked(&at(".claude/settings.local.json")));
        git(folder.path(), &["add", ".claude"]);
        assert!(is_tracked(&at(".claude/settings.local.json")));
        fs::write(at(".git/index"), "DIRC nonsense").unwrap();
        assert!(is_tracked(&at("anything")));
        fs::remove_file(at(".git/index")).unwrap();
        assert!(!is_tracked(&at("anything")));
    }
}
