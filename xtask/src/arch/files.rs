//! Checks that source files are introduced and stay small, that documents name only existing paths, and that no file
//! contains a path of one machine.

use std::path::Path;

use crate::workspace::CargoWorkspace;

/// The maximum number of lines in a source file. The house rule asks for far less; at this size a file has become two.
const LONGEST: usize = 600;

/// Documents whose paths are checked, where they exist.
const DOCUMENTS: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The document that names source files by the ends of their paths (`engine/turn.rs`).
const WALKS: &str = "ARCHITECTURE.md";

/// Folders whose paths must be correct when a document mentions them.
const NAMED_FOLDERS: &[&str] = &["crates/", "xtask/", "docs/"];

/// Paths that belong to one machine. They are assembled here so that this file does not contain them.
const MACHINE_PATHS: &[&str] = &[concat!("/", "work/"), concat!("/", "root/"), HOME];

/// Allowed where tests make up a user.
const HOME: &str = concat!("/", "home/");

/// Checks that every source file of every crate opens with `//!` and is short enough.
pub(super) fn sources(workspace: &CargoWorkspace) -> Result<Vec<String>, Vec<String>> {
    let mut found = Vec::new();
    for path in workspace.sources(&["src"]) {
        found.extend(source(&path.display().to_string(), &workspace.text(&path)?));
    }
    Ok(found)
}

fn source(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if !text.starts_with("//!") {
        found.push(format!(
            "{path} does not open with `//!`: say there what it is, and what it is not"
        ));
    }
    let lines = text.lines().count();
    if lines > LONGEST {
        found.push(format!(
            "{path} has {lines} lines, more than {LONGEST}: it holds more than one idea, split it"
        ));
    }
    found
}

/// Checks that every path mentioned in a document exists.
pub(super) fn documents(workspace: &CargoWorkspace) -> Result<Vec<String>, Vec<String>> {
    let mut found = Vec::new();
    for document in DOCUMENTS
        .iter()
        .filter(|name| workspace.root.join(name).is_file())
    {
        for path in mentioned(&workspace.text(document)?) {
            if !workspace.root.join(&path).exists() {
                found.push(format!("{document} mentions {path}, which does not exist"));
            }
        }
    }
    Ok(found)
}

/// Checks that every source file exists that the walks name by the end of its path.
pub(super) fn walks(workspace: &CargoWorkspace) -> Result<Vec<String>, Vec<String>> {
    let files = workspace.tracked_files()?;
    let text = workspace.text(WALKS)?;
    let missing = short_paths(&text).into_iter();
    let missing = missing.filter(|short| !files.iter().any(|file| is_end_of(short, file)));
    Ok(missing
        .map(|short| format!("{WALKS} names `{short}`, with which no file's path ends"))
        .collect())
}

/// The source files that stand between backticks.
fn short_paths(text: &str) -> Vec<&str> {
    let mut paths: Vec<&str> = text
        .split('`')
        .filter(|code| code.ends_with(".rs") && code.chars().all(is_path))
        .collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// Whether a path ends with all parts of this one.
fn is_end_of(short: &str, path: &str) -> bool {
    let before = path.strip_suffix(short);
    before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Paths below the named folders, up to the first placeholder (`crates/*/src`, `crates/<crate>`).
fn mentioned(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for folder in NAMED_FOLDERS {
        for (at, _) in text.match_indices(folder) {
            if text[..at].ends_with(is_path) {
                continue;
            }
            let rest = &text[at..];
            let end = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
            let mut path = &rest[..end];
            if rest[end..].starts_with(['*', '<', '{', '[', '…']) {
                path = path.rsplit_once('/').map_or(path, |(whole, _)| whole);
            }
            paths.push(path.trim_end_matches(['.', '/', '-']).to_owned());
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

fn is_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-')
}

/// Checks that no tracked file names a folder of the machine it was written on.
pub(super) fn machine_paths(workspace: &CargoWorkspace) -> Result<Vec<String>, Vec<String>> {
    let mut found = Vec::new();
    for file in workspace.tracked_files()? {
        for (line, path) in machine_paths_in(&file, &workspace.text(&file)?) {
            found.push(format!(
                "{file}:{line} names {path}, a folder of somebody's machine"
            ));
        }
    }
    Ok(found)
}

fn machine_paths_in(file: &str, text: &str) -> Vec<(usize, &'static str)> {
    let fixture = is_fixture(file);
    let mut tests = false;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        tests |= file.ends_with(".rs") && line.trim() == "#[cfg(test)]";
        for path in MACHINE_PATHS
            .iter()
            .filter(|path| **path != HOME || !(fixture || tests))
        {
            // `framework/` and `example.org/work/` are not folders of a machine: an absolute path begins the word.
            let absolute = |(start, _): (usize, &str)| {
                !line[..start].ends_with(|c| is_path(c) || c == '}' || c == '~')
            };
            if line.match_indices(path).any(absolute) {
                found.push((at + 1, *path));
            }
        }
    }
    found
}

fn is_fixture(file: &str) -> bool {
    let rooms = [
        "tests",
        "benches",
        "examples",
        "fixtures",
        "testdata",
        "snapshots",
    ];
    Path::new(file)
        .iter()
        .any(|part| rooms.iter().any(|room| part == *room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_introduced_and_small() {
        assert_eq!(source("a.rs", "//! A thing.\nfn a() {}\n"), [""; 0]);
        assert_eq!(source("a.rs", "fn a() {}\n").len(), 1);
        assert_eq!(
            source("a.rs", &format!("//! Long.\n{}", "\n".repeat(LONGEST))).len(),
            1
        );
        assert_eq!(
            source("a.rs", &format!("//! Long.\n{}", "\n".repeat(LONGEST - 1))),
            [""; 0]
        );
    }

    #[test]
    fn paths_in_documents_are_found_up_to_their_placeholders() {
        let text = "See `crates/longhaul-core/src/lib.rs`, crates/*/src, [docs](docs/a.md). \
                    https://x.org/docs/en and crates/longhaul-<name>, xtask/src.";
        assert_eq!(
            mentioned(text),
            [
                "crates",
                "crates/longhaul-core/src/lib.rs",
                "docs/a.md",
                "xtask/src"
            ]
        );
    }

    #[test]
    fn source_files_in_walks_are_found_by_the_ends_of_their_paths() {
        let text = "`engine/turn.rs` calls `send()` in `turn.rs`, not `a b.rs` and no `x/*.rs`.";
        assert_eq!(short_paths(text), ["engine/turn.rs", "turn.rs"]);
        let path = "crates/longhaul-core/src/engine/turn.rs";
        assert!(is_end_of("engine/turn.rs", path) && is_end_of(path, path));
        assert!(!is_end_of("gine/turn.rs", path) && !is_end_of("engine/live.rs", path));
    }

    #[test]
    fn machine_paths_are_found_where_they_are_paths() {
        let work = MACHINE_PATHS[0];
        assert_eq!(
            machine_paths_in("a.md", &format!("one\nin {work}main")),
            [(2, work)]
        );
        assert_eq!(
            machine_paths_in("a.md", &format!("https://x.org{work} frame{}", &work[1..])),
            []
        );
    }

    #[test]
    fn made_up_homes_are_for_tests() {
        let line = format!("\"{HOME}ada/x\"");
        assert_eq!(machine_paths_in("crates/a/src/lib.rs", &line), [(1, HOME)]);
        assert_eq!(
            machine_paths_in("crates/a/src/lib.rs", &format!("#[cfg(test)]\n{line}")),
            []
        );
        assert_eq!(machine_paths_in("crates/a/tests/it/x.rs", &line), []);
        assert_eq!(
            machine_paths_in("crates/a/tests/it/x.rs", MACHINE_PATHS[0]).len(),
            1
        );
    }
}
