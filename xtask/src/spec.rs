//! `cargo xtask spec` checks that docs/spec-map.md says for each item of the specification where it is decided
//! (`spec/map.rs`), and that the types in docs/glossary.md are where it says (`spec/glossary.rs`). `cargo xtask spec FILE`
//! does so for the given specification, and lists which tests name which of its numbers.
//!
//! A number is a capital letter and digits at the start of a list item (`- M4 …`); a test names numbers at the start of
//! its name (`fn m4_a_torn_line_is_reported`; `fn t1_m6_…` names two). A second column says whether a test of a shipped
//! host names the number: no user has a feature that only the core can do. The list of tests is not a verdict: numbers
//! without a test, and those without a host test, are only listed. A table that does not match is a failure.

mod glossary;
mod map;

use std::collections::BTreeMap;
use std::path::Path;

use crate::TaskResult;
use crate::workspace::CargoWorkspace;

/// A requirement number: its letter and its digits, so that M10 sorts after M9.
type Number = (char, u32);

/// The crates whose tests go through a shipped program or through the public library.
const HOSTS: [&str; 5] = [
    "crates/longhaul-cli/tests",
    "crates/longhaul/tests",
    "crates/longhaul-gateway/tests",
    "crates/longhaul-agent/tests",
    "crates/longhaul-genai/tests",
];

/// A test that names a requirement number.
struct SpecTest {
    place: String,
    is_hosts: bool,
}

/// The specification's path, relative to the workspace root, on machines that have it.
const BESIDE: &str = "../shared/SPEC.md";

/// Checks the glossary, and the table of files, also against the specification next to the checkout if there is one.
#[expect(clippy::print_stdout, reason = "what was checked was asked for")]
pub(crate) fn check(workspace: &CargoWorkspace) -> TaskResult {
    let items = match std::fs::read_to_string(workspace.root.join(BESIDE)) {
        Ok(text) => Some(numbers_in(&text)),
        Err(_) => {
            println!("there is no {BESIDE}: only the files of the table are checked");
            None
        }
    };
    check_documents(workspace, items.as_ref())
}

/// Prints which tests name which number, and checks the table of files.
#[expect(clippy::print_stdout, reason = "the table is what was asked for")]
pub(crate) fn run(workspace: &CargoWorkspace, file: &str) -> TaskResult {
    let text = std::fs::read_to_string(file).map_err(|error| vec![format!("{file}: {error}")])?;
    let numbers = numbers_in(&text);
    if numbers.is_empty() {
        return Err(vec![format!(
            "{file} holds no numbered items such as `- M4 …`"
        )]);
    }
    let mut tests: BTreeMap<Number, Vec<SpecTest>> = BTreeMap::new();
    for path in workspace.sources(&["src", "tests", "benches"]) {
        for (number, name) in tests_in(&workspace.text(&path)?) {
            tests.entry(number).or_default().push(SpecTest {
                place: format!("{} {name}", path.display()),
                is_hosts: is_hosts(&path),
            });
        }
    }
    println!("item tests of hosts");
    let mut without_host = Vec::new();
    for ((letter, digits), title) in &numbers {
        let named = tests
            .get(&(*letter, *digits))
            .map_or(&[][..], Vec::as_slice);
        let of_hosts = named.iter().filter(|test| test.is_hosts).count();
        let mark = |count: usize| if count == 0 { "–" } else { "✓" };
        println!(
            "{:<4} {:>3} {} {of_hosts:>3} {}  {title}",
            format!("{letter}{digits}"),
            named.len(),
            mark(named.len()),
            mark(of_hosts),
        );
        for test in named {
            println!("                 {}", test.place);
        }
        if of_hosts == 0 {
            without_host.push(format!("{letter}{digits}"));
        }
    }
    for ((letter, digits), named) in tests
        .iter()
        .filter(|(number, _)| !numbers.contains_key(number))
    {
        println!(
            "{letter}{digits} is named by tests but not by {file}: {}",
            places(named)
        );
    }
    let proven = numbers
        .keys()
        .filter(|number| tests.contains_key(number))
        .count();
    println!("{proven} of {} numbers are named by a test", numbers.len());
    let by_hosts = numbers.len() - without_host.len();
    println!("{by_hosts} of {} by a test of a host", numbers.len());
    if !without_host.is_empty() {
        println!("no test of a host names {}", without_host.join(", "));
    }
    check_documents(workspace, Some(&numbers))
}

/// Checks the table of files and the glossary. `items` are those of the specification, if it is available.
fn check_documents(
    workspace: &CargoWorkspace,
    items: Option<&BTreeMap<Number, String>>,
) -> TaskResult {
    let checks = [
        map::check(&workspace.root, items),
        glossary::check(&workspace.root),
    ];
    let wrong: Vec<String> = checks
        .into_iter()
        .filter_map(Result::err)
        .flatten()
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Whether a source file, given by its path relative to the workspace root, holds tests of a host.
fn is_hosts(path: &Path) -> bool {
    HOSTS.iter().any(|host| path.starts_with(host))
}

fn places(named: &[SpecTest]) -> String {
    let places: Vec<&str> = named.iter().map(|test| test.place.as_str()).collect();
    places.join(", ")
}

/// Each number with the beginning of its text.
fn numbers_in(text: &str) -> BTreeMap<Number, String> {
    let mut numbers = BTreeMap::new();
    for line in text.lines() {
        let Some((head, title)) = line
            .strip_prefix("- ")
            .and_then(|item| item.split_once(' '))
        else {
            continue;
        };
        if let Some(number) = item(head) {
            numbers.insert(number, title.chars().take(60).collect());
        }
    }
    numbers
}

/// A number as it is written in a specification: M4.
fn item(text: &str) -> Option<Number> {
    let mut letters = text.chars();
    let letter = letters.next().filter(char::is_ascii_uppercase)?;
    Some((letter, letters.as_str().parse().ok()?))
}

/// Each number that a function name begins with, and the name.
fn tests_in(text: &str) -> Vec<(Number, &str)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim_start().trim_start_matches("async ");
        let Some(name) = line.strip_prefix("fn ") else {
            continue;
        };
        let name = &name[..name.find(['(', '<']).unwrap_or(name.len())];
        let parts = name.split('_').map(number);
        found.extend(
            parts
                .map_while(|number| number)
                .map(|number| (number, name)),
        );
    }
    found
}

fn number(part: &str) -> Option<Number> {
    let mut letters = part.chars();
    let letter = letters.next().filter(char::is_ascii_lowercase)?;
    Some((letter.to_ascii_uppercase(), letters.as_str().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_order() {
        let numbers =
            numbers_in("# M\n- M2 blocks\n- M10 more\n- plain item\n  - T1 nested\n- H1 window\n");
        let heads: Vec<_> = numbers.keys().copied().collect();
        assert_eq!(heads, [('H', 1), ('M', 2), ('M', 10)]);
        assert_eq!(numbers[&('M', 10)], "more");
    }

    #[test]
    fn tests_of_hosts_are_told_from_those_of_the_core() {
        for path in [
            "crates/longhaul-cli/tests/it/show/own.rs",
            "crates/longhaul/tests/it/main.rs",
        ] {
            assert!(is_hosts(Path::new(path)), "{path}");
        }
        for path in [
            "crates/longhaul-core/tests/it/main.rs",
            "crates/longhaul/src/lib.rs",
            "crates/longhaul-cli/src/main.rs",
        ] {
            assert!(!is_hosts(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_test_may_name_several_numbers() {
        let text = "    fn m4_torn() {\nasync fn t1_m6_anchor() {\nfn helper_m4() {\nfn u8_is_no_number<T>(a: T) {\n// fn m9_x\n";
        let found = tests_in(text);
        assert_eq!(
            found,
            [
                (('M', 4), "m4_torn"),
                (('T', 1), "t1_m6_anchor"),
                (('M', 6), "t1_m6_anchor"),
                (('U', 8), "u8_is_no_number")
            ]
        );
    }
}
