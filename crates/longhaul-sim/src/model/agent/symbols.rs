//! Names worth searching for: definitions in the known files, and the important words of the prompt.

use super::file::RememberedFile;
use crate::model::conversation::among;

const DEFINING: &str =
    "fn |struct |enum |trait |def |class |function |interface |type |func |const |mod ";
/// The words that may be before a definition, in this order.
const BEFORE: &str = "pub(crate) |pub |pub |export |default |async |static |public |private ";
const MOST_LINES: usize = 300;
const MOST: usize = 24;

/// The names that these files define, in order.
pub(super) fn defined(held: &[RememberedFile]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in held
        .iter()
        .flat_map(|held| held.text.lines().take(MOST_LINES))
    {
        if let Some(name) = definition(line)
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
            if names.len() == MOST {
                break;
            }
        }
    }
    names
}

/// The name that a line defines.
pub(super) fn definition(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = BEFORE
        .split('|')
        .fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
    let rest = DEFINING
        .split('|')
        .find_map(|word| line.strip_prefix(word))?;
    let end = rest
        .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .unwrap_or(rest.len());
    let name = &rest[..end];
    (name.len() > 2).then_some(name)
}

/// The important words of a text, in order and in lower case.
pub(super) fn weighty(text: &str) -> Vec<String> {
    let words = weighty_as_written(text).into_iter();
    words.map(|word| word.to_lowercase()).collect()
}

/// The important words of a text as they are written, in order.
pub(super) fn weighty_as_written(text: &str) -> Vec<String> {
    const LIGHT: &str = "about after again also because before being could every first from have into just like make more only \
        other please should some that their then there these they this those through under very want what when where which \
        while with without would your";
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
        let lower = word.to_lowercase();
        let known = words.iter().any(|known| known.to_lowercase() == lower);
        if word.len() > 3 && word.len() < 40 && !among(&lower, LIGHT) && !known {
            words.push(word.to_owned());
            if words.len() == MOST {
                break;
            }
        }
    }
    words
}
