//! `cargo xtask spec FILE`: which tests name which number of a specification.
//!
//! A number is a capital letter and digits at the head of a list item (`- M4 …`); a test names numbers at the head of
//! its name (`fn m4_a_torn_line_is_reported`, `fn t1_m6_…` names two). It is a map, no verdict: numbers without a
//! test are listed, and the exit code is 0.

use std::collections::BTreeMap;

use crate::Outcome;
use crate::workspace::Workspace;

/// A number: its letter and its digits, so that M10 comes after M9.
type Number = (char, u32);

/// Prints the table.
#[expect(clippy::print_stdout, reason = "the table is what was asked for")]
pub(crate) fn run(workspace: &Workspace, file: &str) -> Outcome {
    let text = std::fs::read_to_string(file).map_err(|error| vec![format!("{file}: {error}")])?;
    let numbers = numbers_in(&text);
    if numbers.is_empty() {
        return Err(vec![format!(
            "{file} holds no numbered items such as `- M4 …`"
        )]);
    }
    let mut tests: BTreeMap<Number, Vec<String>> = BTreeMap::new();
    for path in workspace.sources(&["src", "tests", "benches"]) {
        for (number, name) in tests_in(&workspace.text(&path)?) {
            tests
                .entry(number)
                .or_default()
                .push(format!("{} {name}", path.display()));
        }
    }
    for ((letter, digits), title) in &numbers {
        let named = tests
            .get(&(*letter, *digits))
            .map_or(&[][..], Vec::as_slice);
        println!(
            "{:<4} {:>3} {}  {title}",
            format!("{letter}{digits}"),
            named.len(),
            if named.is_empty() { "–" } else { "✓" }
        );
        for test in named {
            println!("           {test}");
        }
    }
    for ((letter, digits), named) in tests
        .iter()
        .filter(|(number, _)| !numbers.contains_key(number))
    {
        println!(
            "{letter}{digits} is named by tests but not by {file}: {}",
            named.join(", ")
        );
    }
    let proven = numbers
        .keys()
        .filter(|number| tests.contains_key(number))
        .count();
    println!("{proven} of {} numbers are named by a test", numbers.len());
    Ok(())
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
        let mut letters = head.chars();
        let letter = letters.next().filter(char::is_ascii_uppercase);
        if let (Some(letter), Ok(digits)) = (letter, letters.as_str().parse()) {
            numbers.insert((letter, digits), title.chars().take(60).collect());
        }
    }
    numbers
}

/// Each number a function name begins with, and the name.
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
