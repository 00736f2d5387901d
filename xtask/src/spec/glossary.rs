//! The tables of docs/glossary.md, which name for each term the types that implement it. Each is checked to be declared in
//! the file that the table names after it.

use std::path::Path;

use crate::TaskResult;

/// The glossary's path, relative to the workspace root.
const GLOSSARY: &str = "docs/glossary.md";
/// The folder to which its paths are relative.
const CRATES: &str = "crates";
/// The heading of the first column of each table, and the columns of a row.
const TERM: &str = "term";
const COLUMNS: usize = 4;
/// What declares a name.
const KEYWORDS: [&str; 8] = [
    "struct", "enum", "trait", "type", "fn", "mod", "const", "static",
];

/// Checks the glossary below this root.
pub(super) fn check(root: &Path) -> TaskResult {
    let path = root.join(GLOSSARY);
    let text =
        std::fs::read_to_string(&path).map_err(|error| vec![format!("{GLOSSARY}: {error}")])?;
    let crates = root.join(CRATES);
    let wrong = problems(&text, |file| {
        std::fs::read_to_string(crates.join(file)).ok()
    });
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Lists what is wrong with the glossary, one sentence per problem. `source` gives the text of a file.
fn problems(text: &str, source: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let Some(row) = (line.strip_prefix('|')).and_then(|row| row.strip_suffix('|')) else {
            continue;
        };
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if cells[0] == TERM || cells[0].starts_with("---") {
            continue;
        }
        let found = match cells.as_slice() {
            [_, _, types, _] => problems_in(types, &source),
            _ => vec![format!("a row has {COLUMNS} columns")],
        };
        let found = found.into_iter();
        wrong.extend(found.map(|what| format!("{GLOSSARY}:{}: {what}", at + 1)));
    }
    wrong
}

/// What is wrong with one cell of types: "`Name` (`path`) does one thing, `Other` (`path`) another".
fn problems_in(cell: &str, source: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    // The names whose file has not come yet.
    let mut names: Vec<&str> = Vec::new();
    let mut files = 0;
    let parts: Vec<&str> = cell.split('`').collect();
    for around in parts.windows(2).step_by(2) {
        let [words, code] = around else { continue };
        if !code.contains('/') {
            names.push(code);
            continue;
        }
        files += 1;
        let Some(text) = source(code) else {
            wrong.push(format!("there is no {CRATES}/{code}"));
            names.clear();
            continue;
        };
        // "made in `path`" belongs to no name.
        if words.ends_with('(') {
            let missing = names.drain(..).filter(|name| !has(&text, code, name));
            wrong.extend(missing.map(|name| format!("`{name}` is not declared in {code}")));
        }
    }
    wrong.extend(
        (names.iter()).map(|name| format!("`{name}` is named without the file that declares it")),
    );
    if files == 0 && wrong.is_empty() {
        wrong.push("a term names the type that implements it, and its file".to_owned());
    }
    wrong
}

/// Whether a file declares a name, or the first part of a path such as `Kind::Variant` and has its other parts.
fn has(text: &str, file: &str, name: &str) -> bool {
    let stem = Path::new(file).file_stem();
    let mut parts = name.split("::");
    let first = parts.next().unwrap_or(name);
    let is_module = stem.is_some_and(|stem| stem == first);
    (is_module || declares(text, first)) && parts.all(|part| words(text).any(|word| word == part))
}

/// Whether a text declares this name outside comments.
fn declares(text: &str, name: &str) -> bool {
    let mut code = (text.lines()).filter(|line| !line.trim_start().starts_with("//"));
    code.any(|line| {
        let words: Vec<&str> = words(line).collect();
        (words.windows(2)).any(|pair| KEYWORDS.contains(&pair[0]) && pair[1] == name)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with a row that has this cell of types.
    fn wrong(cell: &str) -> Vec<String> {
        let text = format!(
            "| term | meaning | type | specification |\n|---|---|---|---|\n| a term | Words. | {cell} | |\n"
        );
        problems(&text, |path| {
            let text = match path {
                "a/kind.rs" => {
                    "// struct Gone\npub enum Kind {\n    One,\n}\npub(crate) fn told<T>() {}"
                }
                "a/both.rs" => "pub struct Left;\nstruct Right(Left);",
                "a/part.rs" => "",
                _ => return None,
            };
            Some(text.to_owned())
        })
    }

    #[test]
    fn names_that_their_files_declare_are_fine() {
        for cell in [
            "`Kind` (`a/kind.rs`)",
            "`Kind::One` (`a/kind.rs`), made in `a/both.rs`",
            "`Left`, `Right` (`a/both.rs`)",
            "`Left` (`a/both.rs`) is written, `Kind` (`a/kind.rs`) is read",
            "function `told` (`a/kind.rs`)",
            "module `part` (`a/part.rs`)",
        ] {
            assert_eq!(wrong(cell), [""; 0], "{cell}");
        }
    }

    #[test]
    fn names_that_are_elsewhere_are_told_with_their_line() {
        for (cell, what) in [
            (
                "`Left` (`a/kind.rs`)",
                "`Left` is not declared in a/kind.rs",
            ),
            (
                "`Kind::Two` (`a/kind.rs`)",
                "`Kind::Two` is not declared in",
            ),
            ("`Gone` (`a/kind.rs`)", "`Gone` is not declared in"),
            ("`One` (`a/kind.rs`)", "`One` is not declared in"),
            ("`Kind`, `Left` (`a/both.rs`)", "`Kind` is not declared in"),
            ("`Kind` (`a/gone.rs`)", "there is no crates/a/gone.rs"),
            (
                "`Left` (`a/both.rs`), `Kind`",
                "`Kind` is named without the file",
            ),
            ("", "a term names the type"),
        ] {
            let wrong = wrong(cell);
            assert_eq!(wrong.len(), 1, "{cell}: {wrong:?}");
            let told = wrong[0].strip_prefix("docs/glossary.md:3: ");
            assert!(told.is_some_and(|told| told.starts_with(what)), "{wrong:?}");
        }
    }

    #[test]
    fn a_row_with_other_columns_is_told() {
        let wrong = problems("| a term | Words. | `Kind` (`a/kind.rs`) |\n", |_| None);
        assert_eq!(wrong, ["docs/glossary.md:1: a row has 4 columns"]);
    }
}
