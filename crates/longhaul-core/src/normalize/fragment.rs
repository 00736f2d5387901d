//! Texts that the model sees: each is a file, with names in braces for what is filled in.

use std::fmt::Write as _;

use crate::quoting::hosts_words;

/// The text of a fragment file with `{name}` replaced by its value. What is filled in is not looked at again, so that
/// braces in a user's own text mean nothing. A name without a value stays as it is.
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

/// A text inside the tags that tell the model that the host speaks, not the user. Nothing in it ends the element.
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
