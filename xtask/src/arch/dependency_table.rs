//! Checks that the table of dependencies in ARCHITECTURE.md names every crate that ours depend on, and no other.

use std::collections::BTreeSet;

use crate::workspace::{CargoWorkspace, array, text};

/// The document, and the heading of its table.
const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Dependencies, and why each";

/// Crates of others that the table lacks, and those that it names for nothing.
pub(super) fn findings(workspace: &CargoWorkspace) -> Result<Vec<String>, Vec<String>> {
    let used: BTreeSet<&str> = workspace
        .members()
        .into_iter()
        .flat_map(|member| array(&member["dependencies"]))
        .filter(|dependency| !dependency["source"].is_null())
        .map(|dependency| text(&dependency["name"]))
        .collect();
    Ok(differences(&used, &named(&workspace.text(DOCUMENT)?)))
}

fn differences(used: &BTreeSet<&str>, named: &BTreeSet<String>) -> Vec<String> {
    let missing = used
        .iter()
        .filter(|name| !named.contains(**name))
        .map(|name| format!("{DOCUMENT} does not say what {name} is used for"));
    // `genai` belongs to a workspace of its own.
    let gone = named
        .iter()
        .filter(|name| !used.contains(name.as_str()) && *name != "genai")
        .map(|name| format!("{DOCUMENT} says what {name} is used for, and no crate depends on it"));
    missing.chain(gone).collect()
}

/// The crates in the first column of the table; remarks in parentheses are not names.
fn named(document: &str) -> BTreeSet<String> {
    let section = document.split(HEADING).nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let cells = section
        .lines()
        .filter_map(|line| line.strip_prefix("| "))
        .filter_map(|line| line.split(" | ").next())
        .filter(|cell| *cell != "crate");
    let mut names = BTreeSet::new();
    for cell in cells {
        let mut depth = 0;
        let plain: String = cell
            .chars()
            .filter(|character| {
                depth += i32::from(*character == '(') - i32::from(*character == ')');
                depth == 0 && *character != ')'
            })
            .collect();
        names.extend(
            plain
                .split([',', '+', ' '])
                .filter(|word| !word.is_empty())
                .map(str::to_owned),
        );
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_and_what_is_gone_is_named() {
        let table = format!(
            "{HEADING}\n\n| crate | for |\n|---|---|\n| a, b (only x, y) | something |\n| c + d | else |\n\n## Next\n| e | f |\n"
        );
        let names = named(&table);
        assert_eq!(
            names,
            BTreeSet::from(["a", "b", "c", "d"].map(str::to_owned))
        );
        let found = differences(&BTreeSet::from(["a", "b", "c", "z"]), &names);
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
