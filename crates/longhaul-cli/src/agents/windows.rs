//! Programs on Windows: files whose names end in a certain way. Agents from npm are batch files.

use std::path::{Path, PathBuf};

const ENDINGS: [&str; 3] = ["exe", "cmd", "bat"];

/// The program with this name, with or without its ending, in a folder.
pub(super) fn program(folder: &Path, name: &str) -> Option<PathBuf> {
    let ends = Path::new(name).extension().and_then(|it| it.to_str());
    let is_whole = ends.is_some_and(|it| ENDINGS.iter().any(|end| end.eq_ignore_ascii_case(it)));
    let whole = is_whole.then(|| folder.join(name));
    let endings = ENDINGS
        .iter()
        .map(|end| folder.join(format!("{name}.{end}")));
    whole.into_iter().chain(endings).find(|file| file.is_file())
}
