//! `cargo xtask words`: whether names and comments can be understood without a glossary page open.
//!
//! A type's name is to say what the type is without its module, so two types that share a name are offenders both. Counted
//! are structs, enums, traits and unions outside of tests, over the whole workspace. In comments, words that only this
//! project would use are counted line by line.

use std::collections::BTreeMap;
use std::path::Path;

use crate::TaskResult;
use crate::workspace::CargoWorkspace;

/// The most types that may share their name with another, in percent.
const MOST_SHARED: usize = 15;
/// What to say instead, word by word; `docs/glossary.md` has the reasons.
const INSTEAD: &[(&str, &str)] = &[
    ("sum up", "summarize"),
    ("sums up", "summarizes"),
    ("summed up", "summarized"),
    ("summing up", "summarizing"),
    ("behind", "after"),
];
/// Where the place in space is meant.
const TRULY_BEHIND: &[&str] = &[
    "behind the gateway",
    "behind a gateway",
    "behind a proxy",
    "behind the page",
    "behind a terminal",
];
/// The most lines of comments with such words.
const MOST_LINES: usize = 0;

/// A type, and where it is declared.
struct Declared {
    name: String,
    krate: String,
    /// The file, or the folder of files for one platform each.
    file: String,
    place: String,
    visibility: Visibility,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visibility {
    /// Nothing outside of its file sees it.
    File,
    Wider,
}

/// Prints the figures; fails where they are worse than they may be.
#[expect(clippy::print_stdout, reason = "stdout is data")]
pub(crate) fn run(workspace: &CargoWorkspace) -> TaskResult {
    let mut types = Vec::new();
    let mut lines = Vec::new();
    for path in workspace.sources(&["src"]) {
        let text = workspace.text(&path)?;
        types.extend(declared(&path, &text));
        lines.extend(odd_lines(&path, &text));
    }
    for path in workspace.sources(&["tests", "benches", "examples"]) {
        lines.extend(odd_lines(&path, &workspace.text(&path)?));
    }
    let mut by_name: BTreeMap<&str, Vec<&Declared>> = BTreeMap::new();
    for one in &types {
        by_name.entry(&one.name).or_default().push(one);
    }
    // A type that is declared for each platform is one type.
    for all in by_name.values_mut() {
        all.dedup_by(|one, other| one.file == other.file);
    }
    by_name.retain(|_, all| all.len() > 1);
    let shared: usize = by_name.values().map(Vec::len).sum();
    println!(
        "{} types, {shared} of them ({:.1} %) share their name with another",
        types.len(),
        shared as f64 * 100.0 / types.len().max(1) as f64
    );
    for (name, all) in &by_name {
        let places: Vec<&str> = all.iter().map(|one| one.place.as_str()).collect();
        println!("  {} × {name}: {}", all.len(), places.join(", "));
    }
    println!(
        "{} lines of comments with words that need a glossary",
        lines.len()
    );
    let mut wrong = Vec::new();
    if shared * 100 > types.len() * MOST_SHARED {
        wrong.push(format!(
            "more than {MOST_SHARED} % of all types share their name with another; see the list above"
        ));
    }
    for (name, all) in &by_name {
        wrong.extend(clash(name, all));
    }
    if lines.len() > MOST_LINES {
        wrong.extend(lines);
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Two types of one crate with one name, at least one of which is seen outside of its file.
fn clash(name: &str, all: &[&Declared]) -> Option<String> {
    let wider = all.iter().filter(|one| one.visibility == Visibility::Wider);
    let mut twice = wider.filter(|one| {
        let same = |other: &&&Declared| other.krate == one.krate;
        all.iter().filter(same).count() > 1
    });
    let one = twice.next()?;
    Some(format!(
        "{} has another type of the name {name}: {}",
        one.krate, one.place
    ))
}

/// The types that a file declares outside of its tests.
fn declared(path: &Path, text: &str) -> Vec<Declared> {
    if path.file_name().is_some_and(|name| name == "tests.rs") {
        return Vec::new();
    }
    let code = text
        .find("#[cfg(test)]\nmod ")
        .map_or(text, |tests| &text[..tests]);
    let place = path.display().to_string();
    let file = match place.rsplit_once('/') {
        Some((folder, "unix.rs" | "windows.rs")) => folder.to_owned(),
        _ => place.clone(),
    };
    let mut parts = place.split('/');
    let krate = match (parts.next(), parts.next()) {
        (Some("crates"), Some(name)) => name.to_owned(),
        (first, _) => first.unwrap_or_default().to_owned(),
    };
    let lines = code.lines().enumerate().filter_map(|(at, line)| {
        let (visibility, name) = type_name(line.trim_start())?;
        Some(Declared {
            name: name.to_owned(),
            krate: krate.clone(),
            file: file.clone(),
            place: format!("{place}:{}", at + 1),
            visibility,
        })
    });
    lines.collect()
}

/// The type that a line declares.
fn type_name(line: &str) -> Option<(Visibility, &str)> {
    let (visibility, rest) = match line.strip_prefix("pub") {
        None => (Visibility::File, line),
        Some(rest) => {
            let rest = match rest.strip_prefix('(') {
                Some(scope) => scope.split_once(')')?.1,
                None => rest,
            };
            (Visibility::Wider, rest.strip_prefix(' ')?)
        }
    };
    let rest = ["struct ", "enum ", "trait ", "union "]
        .iter()
        .find_map(|keyword| rest.strip_prefix(keyword))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let name = &rest[..end.unwrap_or(rest.len())];
    // In a macro the name is a variable.
    (!name.is_empty()).then_some((visibility, name))
}

/// Lines of comments with a word that has a plainer one.
fn odd_lines(path: &Path, text: &str) -> Vec<String> {
    let lines = text.lines().enumerate().filter_map(|(at, line)| {
        let comment = &line[line.find("//")?..];
        let mut comment = comment.to_lowercase();
        for meant in TRULY_BEHIND {
            comment = comment.replace(meant, "");
        }
        let (word, instead) = INSTEAD.iter().find(|(word, _)| holds(&comment, word))?;
        Some(format!(
            "{}:{}: “{word}” in a comment: say “{instead}”",
            path.display(),
            at + 1
        ))
    });
    lines.collect()
}

/// Whether a text holds a word, not as a part of another.
fn holds(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let joins = |letter: char| letter.is_alphanumeric() || letter == '_';
        !text[..at].ends_with(joins) && !text[at + word.len()..].starts_with(joins)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_with_their_visibility() {
        let text = "pub struct A;\npub(crate) enum Bcd<T> {}\ntrait E {}\n// struct F\nlet x = 1;\n\
            #[cfg(test)]\nmod tests {\n    struct G;\n}";
        let found = declared(Path::new("crates/one/src/a.rs"), text);
        let found: Vec<(&str, bool)> = found
            .iter()
            .map(|one| (one.name.as_str(), one.visibility == Visibility::Wider))
            .collect();
        assert_eq!(found, [("A", true), ("Bcd", true), ("E", false)]);
    }

    #[test]
    fn a_type_that_each_platform_has_in_its_file_is_one() {
        let file = |path: &str| declared(Path::new(path), "struct Group;\n").remove(0).file;
        assert_eq!(
            file("crates/a/src/b/unix.rs"),
            file("crates/a/src/b/windows.rs")
        );
        assert_ne!(
            file("crates/a/src/b/unix.rs"),
            file("crates/a/src/c/windows.rs")
        );
        assert_ne!(
            file("crates/a/src/b/mod.rs"),
            file("crates/a/src/b/unix.rs")
        );
    }

    #[test]
    fn odd_words_are_found_in_comments_only() {
        let comment = |text: &str| format!("/{} {text}\n", '/');
        let text = [
            comment("What came behind it."),
            "let behind = 1;\n".to_owned(),
            comment("behind the gateway"),
            comment("It is summed up."),
        ];
        assert_eq!(odd_lines(Path::new("a.rs"), &text.concat()).len(), 2);
    }
}
