//! Completion: commands after a slash, paths after an `@`.

use std::path::Path;

use super::command::BuiltinCommand;
use super::editor::Editor;
use super::host::{CommandItem, ResourceItem};
use super::search::best;
use super::text::clean_line;
use crate::mention::Mention;

/// The maximum number of files of a workspace that are offered.
const MOST_FILES: usize = 20_000;
/// The maximum number of completions that are shown.
const SHOWN: usize = 6;

/// The possible replacements for the word at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Completion {
    /// The replacement texts and their descriptions.
    pub(crate) options: Vec<(String, String)>,
    /// The index of the selected option.
    pub(crate) chosen: usize,
}

/// The completions of the word at the cursor; `None` if it is neither a command nor a path.
pub(crate) fn of(
    editor: &Editor,
    own: &[CommandItem],
    files: &[String],
    resources: &[ResourceItem],
) -> Option<Completion> {
    let word = editor.word();
    let options = if let Some(name) = word.strip_prefix('/').filter(|_| editor.word_is_first()) {
        commands(name, own)
    } else {
        mentions(word.strip_prefix('@')?, files, resources)
    };
    let same = options.len() == 1 && options[0].0 == word;
    (!options.is_empty() && !same).then_some(Completion { options, chosen: 0 })
}

/// Files, and resources of servers. Whoever types a server's name looks for its resources.
fn mentions(part: &str, files: &[String], resources: &[ResourceItem]) -> Vec<(String, String)> {
    let found = best(part, resources, |resource| &resource.mention);
    let found = found.into_iter().map(|at| {
        let ResourceItem { mention, name } = &resources[at];
        (format!("@{}", clean_line(mention)), clean_line(name))
    });
    let paths = best(&Mention::begun(part), files, |file| file).into_iter();
    let paths = paths.filter_map(|at| Some((Mention::written(&files[at])?, String::new())));
    let is_of_server =
        |(option, _): &(String, String)| !part.is_empty() && option[1..].starts_with(part);
    let (first, last): (Vec<_>, Vec<_>) = found.partition(is_of_server);
    first
        .into_iter()
        .chain(paths)
        .chain(last)
        .take(SHOWN)
        .collect()
}

fn commands(name: &str, own: &[CommandItem]) -> Vec<(String, String)> {
    let builtin = BuiltinCommand::ALL.into_iter();
    let builtin = builtin.map(|command| {
        let about = format!("{} {}", command.takes(), command.about());
        (command.name().to_owned(), about.trim_start().to_owned())
    });
    let own =
        (own.iter()).map(|command| (clean_line(&command.name), clean_line(&command.description)));
    (builtin.chain(own))
        .filter(|(command, _)| command.starts_with(name))
        .map(|(command, about)| (format!("/{command}"), about))
        .collect()
}

/// The files of a workspace as relative paths, without ignored files.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let walk = ignore::WalkBuilder::new(folder).hidden(true).build();
    let entries = walk
        .filter_map(Result::ok)
        .filter(|entry| entry.depth() > 0);
    let paths = entries.filter_map(|entry| {
        let path = entry.path().strip_prefix(folder).ok()?.to_str()?;
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        // A name that would have to be made harmless cannot be typed.
        (clean_line(path) == path).then(|| format!("{path}{}", if is_folder { "/" } else { "" }))
    });
    let mut paths: Vec<String> = paths.take(MOST_FILES).collect();
    paths.sort_unstable();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q3_commands_and_paths_are_completed() {
        let files = ["src/main.rs", "src/", "README.md", "my notes.txt"].map(str::to_owned);
        let options = |text: &str| {
            let docs = ResourceItem {
                mention: "docs:file:///a.txt".to_owned(),
                name: "The first page".to_owned(),
            };
            let found = of(&Editor::with(text), &[], &files, &[docs]);
            found.map(|found| {
                found
                    .options
                    .into_iter()
                    .map(|option| option.0)
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(options("/co").unwrap(), ["/compact", "/context", "/cost"]);
        assert_eq!(options("/compact"), None);
        assert_eq!(options("see /co"), None);
        assert_eq!(options("see @main").unwrap(), ["@src/main.rs"]);
        assert_eq!(options("see main"), None);
        assert_eq!(options("see @docs:").unwrap(), ["@docs:file:///a.txt"]);
        for begun in ["see @notes", "see @\"my no", "see @'my no", "see @my\\ no"] {
            assert_eq!(options(begun).unwrap(), ["@\"my notes.txt\""], "{begun}");
        }
    }

    #[test]
    fn q3_ignored_files_are_not_offered() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("src")).unwrap();
        std::fs::create_dir_all(folder.path().join(".git")).unwrap();
        for (name, text) in [
            (".gitignore", "out\n"),
            ("out", ""),
            ("src/漢.rs", ""),
            ("a b", ""),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(files(folder.path()), ["a b", "src/", "src/漢.rs"]);
    }
}
