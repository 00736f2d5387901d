//! The paths that a source file names, outside comments and tests: in `use` declarations and in its code. The file is
//! read as text, not parsed as Rust.

/// An item that a file imports.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// The path as it is written, without groups: `["super", "order", "MatchedSentence"]`.
    pub(super) path: Vec<String>,
    /// The name that the item has in the file.
    pub(super) name: String,
}

/// The lines of a file that are not comments, up to the tests within it.
pub(super) fn code(text: &str) -> String {
    let tests = text.match_indices("#[cfg(test)]\n").map(|(at, _)| at);
    let mut tests = tests.filter(|at| {
        let declared = text[*at..].lines().nth(1).unwrap_or_default();
        declared.contains("mod ") && declared.ends_with('{')
    });
    let text = &text[..tests.next().unwrap_or(text.len())];
    let lines = text.lines();
    let lines: Vec<&str> = lines
        .map(|line| line.find("//").map_or(line, |comment| &line[..comment]))
        .collect();
    lines.join("\n")
}

/// The modules that a file declares for tests alone.
pub(super) fn test_modules(text: &str) -> Vec<&str> {
    let declared = text.match_indices("#[cfg(test)]\n");
    let declared = declared.filter_map(|(at, _)| text[at..].lines().nth(1));
    declared
        .filter_map(|line| line.split_once("mod ")?.1.strip_suffix(';'))
        .collect()
}

/// What a file's code imports.
pub(super) fn imports(code: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for (at, word) in code.match_indices("use ") {
        let begins_a_word = !code[..at].ends_with(is_in_a_name);
        let tree = &code[at + word.len()..];
        if begins_a_word && let Some(end) = tree.find(';') {
            add_imports(&mut found, &[], &tree[..end]);
        }
    }
    found
}

/// Adds what a part of a `use` declaration imports; `before` is the path before its group.
fn add_imports(found: &mut Vec<Import>, before: &[String], tree: &str) {
    let (path, group) = match tree.split_once('{') {
        Some((path, group)) => (path, group.rsplit_once('}').map(|(inner, _)| inner)),
        None => (tree, None),
    };
    let (path, renamed) = match path.split_once(" as ") {
        Some((path, name)) => (path, Some(name.trim())),
        None => (path, None),
    };
    let segments = path.split("::").map(str::trim);
    let segments = segments.filter(|segment| !segment.is_empty());
    let mut path = before.to_vec();
    path.extend(segments.map(str::to_owned));
    if let Some(group) = group {
        return parts(group)
            .into_iter()
            .for_each(|part| add_imports(found, &path, part));
    }
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let Some(last) = path.last() else { return };
    let name = renamed.unwrap_or(last).to_owned();
    found.push(Import { path, name });
}

/// The parts of a group that are separated by its own commas.
fn parts(group: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// The paths in a file's code that begin with `crate`, `super` or `self`.
pub(super) fn rooted(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(root) {
            // What follows `::` or a letter is the rest of a longer path or name.
            if code[..at].ends_with(|before| is_in_a_name(before) || before == ':') {
                continue;
            }
            let end = code[at..].find(|letter| !is_in_a_name(letter) && letter != ':');
            let path = &code[at..end.map_or(code.len(), |end| at + end)];
            let segments = path.split("::").filter(|segment| !segment.is_empty());
            found.push(segments.map(str::to_owned).collect());
        }
    }
    found
}

fn is_in_a_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(code: &str) -> Vec<String> {
        let found = imports(code).into_iter();
        let found = found.map(|import| format!("{} = {}", import.name, import.path.join("::")));
        found.collect()
    }

    #[test]
    fn groups_in_imports_are_taken_apart() {
        assert_eq!(
            imported(
                "pub(crate) use crate::{\n    a::{self, A as B},\n    d,\n};\nuse super::e::E;"
            ),
            [
                "a = crate::a",
                "B = crate::a::A",
                "d = crate::d",
                "E = super::e::E"
            ]
        );
        assert_eq!(imported("reuse a::b; fn f() { x }"), [""; 0]);
    }

    #[test]
    fn paths_in_code_are_found_from_their_root_on() {
        let paths =
            rooted("fn f(a: super::super::a::A) -> crate::b::B<self::c::C> { mysuper::d() }");
        let paths: Vec<String> = paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, ["crate::b::B", "super::super::a::A", "self::c::C"]);
    }

    #[test]
    fn comments_and_tests_are_no_code() {
        let text = "a // b\nc\n#[cfg(test)]\nmod trial;\nd\n#[cfg(test)]\nmod tests {\ne\n}\n";
        assert_eq!(code(text), "a \nc\n#[cfg(test)]\nmod trial;\nd");
        assert_eq!(test_modules(text), ["trial"]);
    }
}
