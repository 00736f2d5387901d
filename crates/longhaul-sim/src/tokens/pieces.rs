//! The pieces of a text between which no token of the reference vocabulary reaches: words, short numbers, punctuation,
//! white space.

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input, PatternID};

/// What a piece may be; the first pattern that matches wins. The vocabulary's own pattern has a look-ahead, "white space
/// that no other character follows", which leaves the last white space to the word after it. Two patterns say the same
/// without one: white space up to the end of the text, and white space after which one more character of it is left
/// ([`BEFORE_WHITE_SPACE`]).
const PATTERNS: [&str; 3] = [
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+$",
    r"\s+\s",
    r"\s+",
];
/// The pattern whose last character belongs to the next piece.
const BEFORE_WHITE_SPACE: PatternID = PatternID::new_unchecked(1);

/// Always `Some`: the patterns are constants, and the tests use them.
static REGEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new_many(&PATTERNS).ok());

/// Goes through the pieces of a text, which together are the text.
pub(super) struct TextPieces<'t> {
    rest: &'t str,
}

impl<'t> TextPieces<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { rest: text }
    }
}

impl<'t> Iterator for TextPieces<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let input = Input::new(self.rest).anchored(Anchored::Yes);
        let found = REGEX.as_ref()?.find(input)?;
        let mut piece = &self.rest[..found.end()];
        if found.pattern() == BEFORE_WHITE_SPACE {
            let last = piece.chars().next_back()?;
            piece = &piece[..piece.len() - last.len_utf8()];
        }
        self.rest = &self.rest[piece.len()..];
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_take_the_white_space_before_them() {
        let pieces: Vec<_> = TextPieces::of("I'll  go,\n\n 12345 \n").collect();
        assert_eq!(
            pieces,
            ["I", "'ll", " ", " go", ",\n\n", " ", "123", "45", " \n"]
        );
    }
}
