//! Searches a prompt for words: the search term, the files, the pattern.

use crate::model::conversation::among;

/// The term that a prompt wants to search for.
pub(super) fn sought(words: &str, lower: &str) -> Option<String> {
    const ASKING: &str = "find |search for |search |grep |where is |where are |look for |who calls |uses of |usages of |\
        look up ";
    let marks = ASKING.split('|');
    let (at, mark) = marks
        .filter_map(|mark| Some((lower.find(mark)?, mark)))
        .min()?;
    // Lower case may be longer in bytes; then the position is meaningless.
    let rest = words.get(at + mark.len()..)?;
    if let Some(quoted) = rest
        .split(['"', '`', '\''])
        .nth(1)
        .filter(|term| !term.trim().is_empty())
    {
        return Some(quoted.to_owned());
    }
    const LIGHT: &str =
        "the a an all any for function struct class word text of file uses usages every";
    let word = rest
        .split(|letter: char| letter.is_whitespace() || ",?!;".contains(letter))
        .map(|word| word.trim_matches(|letter: char| ".:()".contains(letter)))
        .find(|word| word.len() > 1 && !among(&word.to_lowercase(), LIGHT))?;
    Some(word.to_owned())
}

/// A glob for the files to list.
pub(super) fn pattern(words: &str) -> String {
    let tokens = words
        .split_whitespace()
        .map(|word| word.trim_matches(['`', '"', '\'', ',', '?']));
    for token in tokens {
        if token.contains('*') {
            return token.to_owned();
        }
        if let Some(end) = token
            .strip_prefix('.')
            .filter(|end| !end.is_empty() && end.chars().all(char::is_alphanumeric))
        {
            return format!("**/*.{end}");
        }
    }
    let lower = words.to_lowercase();
    const KINDS: &str =
        "rust rs,python py,javascript js,typescript ts,markdown md,toml toml,json json";
    let mut kinds = KINDS.split(',').filter_map(|kind| kind.split_once(' '));
    let kind = kinds.find(|(name, _)| lower.contains(name));
    kind.map_or_else(|| "*".to_owned(), |(_, end)| format!("**/*.{end}"))
}

/// The first word that looks like a file.
pub(super) fn path_in(words: &str) -> Option<String> {
    let words = words.split_whitespace();
    let words = words.map(|word| {
        word.trim_matches(|letter: char| "`'\"(),:;!?“”@".contains(letter))
            .trim_end_matches('.')
    });
    let found = words.filter(|word| !word.contains("://")).find(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        let dotted = name.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty()
                && (1..=8).contains(&end.len())
                && end.chars().all(char::is_alphanumeric)
                && end.chars().any(char::is_alphabetic)
        });
        let known = matches!(
            name.to_lowercase().as_str(),
            "readme" | "makefile" | "dockerfile" | "license"
        );
        dotted
            || known
            || word.len() > 2 && word.contains('/') && !word.ends_with('/') && !name.is_empty()
    });
    found.map(str::to_owned)
}

/// Whether the text begins with one of these phrases.
pub(super) fn starts(lower: &str, phrases: &str) -> bool {
    phrases.split('|').any(|word| {
        let rest = lower.trim_start().strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}
