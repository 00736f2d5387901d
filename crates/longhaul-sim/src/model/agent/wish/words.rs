//! Searches a prompt for words: the search term, the files, the pattern.

use crate::model::conversation::among;

/// The most terms that are searched for at once.
const MOST_TERMS: usize = 4;

/// The terms that a prompt wants to search for, at least one of them.
pub(super) fn sought(words: &str, lower: &str) -> Option<Vec<String>> {
    const ASKING: &str = "find |search for |search |grep |where is |where are |look for |who calls |uses of |usages of |\
        look up ";
    let marks = ASKING.split('|');
    let (at, mark) = marks
        .filter_map(|mark| Some((lower.find(mark)?, mark)))
        .min()?;
    // Lower case may be longer in bytes; then the position is meaningless.
    let rest = words.get(at + mark.len()..)?;
    let pieces: Vec<&str> = rest.split(['"', '`', '\'']).collect();
    let mut quoted: Vec<String> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let joins = matches!(piece.trim(), "and" | "or" | "," | ", and" | ", or");
        match index {
            // Only what is joined to the first term is looked for, too.
            _ if index % 2 == 0 && index > 0 && !joins => break,
            _ if index % 2 == 1 && index + 1 < pieces.len() && !piece.trim().is_empty() => {
                quoted.push((*piece).to_owned());
            }
            _ => {}
        }
    }
    if !quoted.is_empty() {
        quoted.truncate(MOST_TERMS);
        return Some(quoted);
    }
    const LIGHT: &str =
        "the a an all any for function struct class word text of file uses usages every";
    // A comma is a word of its own here: it joins terms, as "and" does.
    let rest = rest.replace(',', " , ");
    let tokens: Vec<&str> = rest
        .split(|letter: char| letter.is_whitespace() || "?!;".contains(letter))
        .map(|word| word.trim_matches(|letter: char| ".:()".contains(letter)))
        .filter(|word| !word.is_empty() && !among(&word.to_lowercase(), LIGHT))
        .collect();
    let first = tokens.iter().position(|word| word.len() > 1)?;
    let mut terms = vec![tokens[first].to_owned()];
    let mut rest = &tokens[first + 1..];
    while let Some(term) = joined(&mut rest).filter(|_| terms.len() < MOST_TERMS) {
        terms.push(term.to_owned());
    }
    Some(terms)
}

/// The term that is joined to the one before it. "Find main and say what it does" has only one: what follows a further
/// term is the end, another one, or a place.
fn joined<'t>(rest: &mut &[&'t str]) -> Option<&'t str> {
    let joins = |word: &&&str| matches!(word.to_lowercase().as_str(), "," | "and" | "or");
    let skipped = rest.iter().take_while(joins).count();
    let term = rest
        .get(skipped)
        .filter(|term| skipped > 0 && term.len() > 1)?;
    let after = &rest[skipped + 1..];
    let ends = after.first().is_none_or(|next| {
        joins(&next) || matches!(next.to_lowercase().as_str(), "in" | "please" | "here")
    });
    let is_a_name = term.contains('_') || term.chars().skip(1).any(char::is_uppercase);
    *rest = after;
    (ends || is_a_name).then_some(*term)
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
