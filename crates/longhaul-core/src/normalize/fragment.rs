//! Texts that the model sees: each is a file, with names in braces as placeholders.

use std::fmt::Write as _;

use crate::quoting::hosts_words;

/// Returns the text of a fragment file with each `{name}` replaced by its value. Values are not searched for
/// placeholders, so braces in a user's own text have no effect. A name without a value stays as it is.
pub fn fill(fragment: &str, values: &[(&str, &str)]) -> String {
    let fragment = fragment.trim_end();
    let mut text = String::with_capacity(
        fragment.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>(),
    );
    let mut rest = fragment;
    while let Some((before, behind)) = rest.split_once('{') {
        text.push_str(before);
        let filled = behind.split_once('}').and_then(|(name, behind)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((*value, behind))
        });
        match filled {
            Some((value, behind)) => {
                text.push_str(value);
                rest = behind;
            }
            None => {
                text.push('{');
                rest = behind;
            }
        }
    }
    text.push_str(rest);
    text
}

/// Wraps a text in the tags that tell the model that the host is speaking, not the user. Nothing in the text can end
/// the element.
pub fn reminder(text: &str) -> String {
    let text = hosts_words(text);
    let mut whole = String::with_capacity(text.len() + 40);
    let _ = write!(whole, "<system-reminder>\n{text}\n</system-reminder>");
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_once_and_unknown_ones_stay() {
        let text = fill("a {x} {y} {z} {\n", &[("x", "{y}"), ("y", "2")]);
        assert_eq!(text, "a {y} 2 {z} {");
    }
}
