//! The table of docs/spec-map.md, which says where each item of the specification is decided. It is checked against the
//! files of the repository and, where available, against the specification.

use std::collections::BTreeMap;
use std::path::Path;

use super::Number;
use crate::TaskResult;

/// The table's path, relative to the workspace root.
const MAP: &str = "docs/spec-map.md";
/// The text that replaces file names for an item that nothing decides yet.
const NOT_BUILT: &str = "not built";

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    line: usize,
    number: Number,
    /// Paths relative to the workspace root; empty if the item is not built.
    files: Vec<String>,
}

/// Checks the table below this root. `items` are those of the specification, if it is available.
pub(super) fn check(root: &Path, items: Option<&BTreeMap<Number, String>>) -> TaskResult {
    let path = root.join(MAP);
    let text = std::fs::read_to_string(&path).map_err(|error| vec![format!("{MAP}: {error}")])?;
    let exists = |file: &str| root.join(file).is_file();
    let wrong = problems(&text, items, exists);
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Lists what is wrong with a table, one sentence per problem.
fn problems(
    text: &str,
    items: Option<&BTreeMap<Number, String>>,
    exists: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut seen: BTreeMap<Number, usize> = BTreeMap::new();
    for row in rows(text, &mut wrong) {
        let (letter, digits) = row.number;
        let at = format!("{MAP}:{}", row.line);
        if let Some(first) = seen.insert(row.number, row.line) {
            wrong.push(format!(
                "{at}: {letter}{digits} has a row already, in line {first}"
            ));
        }
        if items.is_some_and(|items| !items.contains_key(&row.number)) {
            wrong.push(format!(
                "{at}: the specification has no item {letter}{digits}"
            ));
        }
        for file in row.files.iter().filter(|file| !exists(file)) {
            wrong.push(format!(
                "{at}: {letter}{digits} names {file}, which does not exist"
            ));
        }
    }
    for ((letter, digits), title) in items.into_iter().flatten() {
        if !seen.contains_key(&(*letter, *digits)) {
            wrong.push(format!(
                "{MAP}: {letter}{digits} ({title}) has no row; add one that names the file where it is decided"
            ));
        }
    }
    wrong
}

/// The rows of all tables on the page. A row that begins with an item but cannot be read is reported as wrong.
fn rows(text: &str, wrong: &mut Vec<String>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let cells: Vec<&str> = match line.strip_prefix('|').and_then(|row| row.strip_suffix('|')) {
            Some(row) => row.split('|').map(str::trim).collect(),
            None => continue,
        };
        let Some(number) = cells.first().and_then(|cell| super::item(cell)) else {
            continue;
        };
        let files = match cells.as_slice() {
            [_, what, files] if !what.is_empty() => named(files),
            _ => None,
        };
        match files {
            Some(files) => rows.push(Row {
                line: at + 1,
                number,
                files,
            }),
            None => wrong.push(format!(
                "{MAP}:{}: a row is `| item | what | files |`, each file between backticks, or `{NOT_BUILT}` for them",
                at + 1
            )),
        }
    }
    rows
}

/// The files that a cell names; `None` if it names none and does not say why.
fn named(cell: &str) -> Option<Vec<String>> {
    if cell == NOT_BUILT {
        return Some(Vec::new());
    }
    let files = cell.split(", ").map(|file| {
        let file = file.strip_prefix('`')?.strip_suffix('`')?;
        (!file.is_empty()).then(|| file.to_owned())
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(numbers: &[Number]) -> BTreeMap<Number, String> {
        let titled = numbers.iter().map(|number| (*number, "title".to_owned()));
        titled.collect()
    }

    #[test]
    fn a_table_that_fits_has_no_problems() {
        let text = "| item | what | decided in |\n|---|---|---|\n| M1 | kinds | `a.rs`, `b.rs` |\n| X3 | prices | not built |\n";
        let items = items(&[('M', 1), ('X', 3)]);
        assert!(problems(text, Some(&items), |_| true).is_empty());
        assert!(problems(text, None, |_| true).is_empty());
    }

    #[test]
    fn missing_rows_files_and_items_are_told() {
        let text =
            "| M1 | kinds | `a.rs`, `gone.rs` |\n| M9 | old | `a.rs` |\n| M9 | old | `a.rs` |\n";
        let items = items(&[('M', 1), ('M', 2)]);
        let wrong = problems(text, Some(&items), |file| file == "a.rs");
        let told = |part: &str| wrong.iter().filter(|one| one.contains(part)).count();
        assert_eq!(
            told("M1 names gone.rs, which does not exist"),
            1,
            "{wrong:?}"
        );
        assert_eq!(told("no item M9"), 2, "{wrong:?}");
        assert_eq!(told("M9 has a row already, in line 2"), 1, "{wrong:?}");
        assert_eq!(told("M2 (title) has no row"), 1, "{wrong:?}");
        assert_eq!(wrong.len(), 5, "{wrong:?}");
    }

    #[test]
    fn without_the_specification_only_the_files_are_checked() {
        let text = "| M9 | old | `gone.rs` |\n";
        let wrong = problems(text, None, |_| false);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].contains("gone.rs"), "{wrong:?}");
    }

    #[test]
    fn a_row_that_names_no_file_is_told() {
        for row in [
            "| M1 | kinds | a.rs |",
            "| M1 | kinds |",
            "| M1 | kinds | |",
            "| M1 | | `a.rs` |",
        ] {
            let wrong = problems(row, None, |_| true);
            assert_eq!(wrong.len(), 1, "{row}: {wrong:?}");
        }
    }
}
