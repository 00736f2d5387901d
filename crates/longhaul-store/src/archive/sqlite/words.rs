//! Splits texts into words, for the index and for queries alike.
//!
//! SQLite's tokenizer splits at blanks and punctuation, so `foo_bar` and `src/main.rs` are sequences of words already.
//! There are two things it does not know: scripts that are written without blanks, where each character becomes a word
//! and a query becomes a sequence of them; and `fooBar`, which becomes `foo Bar fooBar`, so that it is found by its
//! parts, by `foo_bar`, and by `foobar`.

use std::ops::Range;

/// Longer runs are data rather than identifiers, and stay whole.
const LONGEST_IDENTIFIER: usize = 64;

/// A run of letters and digits, or one character of a script without blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WordRun {
    pub(super) range: Range<usize>,
    pub(super) script: ScriptSpacing,
}

/// How a script separates words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptSpacing {
    /// Words are separated by blanks.
    Spaced,
    /// Words are not separated.
    Unspaced,
}

fn is_unspaced(c: char) -> bool {
    matches!(c,
        // Thai, Lao, Burmese, Khmer; kana; Han; Hangul, whose particles stick to words.
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{3ffff}')
}

/// The runs of a text, in order.
pub(super) fn runs(text: &str) -> impl Iterator<Item = WordRun> + '_ {
    let mut characters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = characters.find(|(_, c)| c.is_alphanumeric())?;
        let mut end = start + first.len_utf8();
        if is_unspaced(first) {
            return Some(WordRun {
                range: start..end,
                script: ScriptSpacing::Unspaced,
            });
        }
        let more = |c: &(usize, char)| c.1.is_alphanumeric() && !is_unspaced(c.1);
        while let Some((at, c)) = characters.next_if(more) {
            end = at + c.len_utf8();
        }
        Some(WordRun {
            range: start..end,
            script: ScriptSpacing::Spaced,
        })
    })
}

/// The parts of an identifier that is written in camel case; empty for any other word.
pub(super) fn humps(word: &str) -> Vec<Range<usize>> {
    // Most words have no humps, and all words of a transcript pass through here.
    let capitals = word
        .bytes()
        .skip(1)
        .any(|byte| !byte.is_ascii() || byte.is_ascii_uppercase());
    if !capitals || word.len() > LONGEST_IDENTIFIER {
        return Vec::new();
    }
    let characters: Vec<(usize, char)> = word.char_indices().collect();
    let mut starts = vec![0];
    for at in 1..characters.len() {
        let (offset, c) = characters[at];
        let before = characters[at - 1].1;
        let next_is_lower = characters
            .get(at + 1)
            .is_some_and(|(_, c)| c.is_lowercase());
        // The boundary in `fooBar` and in `HTTPServer`.
        if c.is_uppercase() && (!before.is_uppercase() || next_is_lower) {
            starts.push(offset);
        }
    }
    if starts.len() == 1 {
        return Vec::new();
    }
    let ends = starts.iter().copied().skip(1).chain([word.len()]);
    starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(from, to)| from..to)
        .collect()
}

/// The text as it is given to the index, with words separated by blanks.
pub(super) fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut behind = 0;
    for run in runs(text) {
        let word = &text[run.range.clone()];
        out.push_str(&text[behind..run.range.start]);
        behind = run.range.end;
        match run.script {
            ScriptSpacing::Unspaced => {
                out.push(' ');
                out.push_str(word);
                out.push(' ');
            }
            ScriptSpacing::Spaced => {
                for hump in humps(word) {
                    out.push_str(&word[hump]);
                    out.push(' ');
                }
                out.push_str(word);
            }
        }
    }
    out.push_str(&text[behind..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x2_words_are_set_off_in_every_script() {
        let cases = [
            ("plain words, here", "plain words, here"),
            ("foo_bar src/main.rs", "foo_bar src/main.rs"),
            ("call fooBar()", "call foo Bar fooBar()"),
            ("HTTPServer", "HTTP Server HTTPServer"),
            ("v2Beta x86", "v2 Beta v2Beta x86"),
            ("清除 API缓存", " 清  除  API 缓  存 "),
            ("ABC Größe", "ABC Größe"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(spaced(text), expected, "{text}");
        }
    }

    #[test]
    fn x2_long_runs_are_data_not_identifiers() {
        let data = "aGVsbG8gd29ybGQ".repeat(10);
        assert_eq!(spaced(&data), data);
    }
}
