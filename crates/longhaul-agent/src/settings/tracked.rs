//! Whether git tracks a file.
//!
//! If that cannot be determined, the file counts as tracked: then it belongs to the project, and may do less.

use std::fs;
use std::path::Path;

use crate::git::tracked_names;

/// Whether a file came with the repository around it, or lies inside a link that did.
pub(super) fn is_tracked(file: &Path) -> bool {
    let mut above = file.ancestors().skip(1);
    let Some(root) = above.find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok()) else {
        return false;
    };
    let Some(names) = tracked_names(root) else {
        return true;
    };
    let real = longhaul_store::real_path(file).ok();
    let real_root = longhaul_store::real_path(root).ok();
    let below_real = real
        .as_deref()
        .zip(real_root.as_deref())
        .and_then(|(real, root)| real.strip_prefix(root).ok());
    let below = [file.strip_prefix(root).ok(), below_real];
    let wanted: Vec<String> = (below.into_iter().flatten())
        .map(|path| path.to_string_lossy().replace('\\', "/").to_lowercase())
        .collect();
    names.iter().any(|name| {
        let name = String::from_utf8_lossy(name).to_lowercase();
        let name = name.trim_end_matches('/');
        wanted.iter().any(|wanted| {
            let below = wanted.strip_prefix(name);
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    })
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
