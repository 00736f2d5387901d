//! The parts of a message that are not the user's own words, although the user sent them: quotations, and indented
//! lines such as code and logs. `sentence.rs` leaves out fences and quoted lines.

use std::ops::Range;

/// Pairs of marks that open and close a quotation.
const MARKS: [(char, char); 6] = [
    ('"', '"'),
    ('“', '”'),
    ('„', '“'),
    ('«', '»'),
    ('「', '」'),
    ('`', '`'),
];
/// Lines with at least this indentation are code or logs.
const INDENTED: usize = 4;
/// Words that say that the user's own words follow: "I said “stop”".
const OWN: [&str; 1] = ["i"];
/// How many words before a quotation may say whose words it holds.
const SAID: usize = 3;

/// The quoted parts of a text, as byte ranges. A text that is one whole quotation counts as the user's own.
pub(super) fn quoted_parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = quotations(text);
    parts.extend(indented(text));
    let says_more = text.char_indices().any(|(at, character)| {
        character.is_alphanumeric() && !parts.iter().any(|part| part.contains(&at))
    });
    if says_more { parts } else { Vec::new() }
}

/// Whether a part of a text, which must be a slice of it, begins inside one of these ranges.
pub(super) fn begins_inside(text: &str, part: &str, ranges: &[Range<usize>]) -> bool {
    let at = offset_of(text, part);
    ranges.iter().any(|range| range.contains(&at))
}

/// A slice of the text with spaces in place of its quoted parts, so that no word moves.
pub(super) fn without_quoted(text: &str, part: &str, ranges: &[Range<usize>]) -> String {
    let start = offset_of(text, part);
    let shown = part.char_indices().map(|(at, character)| {
        if ranges.iter().any(|range| range.contains(&(start + at))) {
            ' '
        } else {
            character
        }
    });
    shown.collect()
}

fn offset_of(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// Pairs of marks with the text between them. A quotation does not continue past an empty line.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some((at, open)) = text[rest..]
        .char_indices()
        .find(|(_, character)| MARKS.iter().any(|(open, _)| open == character))
    {
        let start = rest + at;
        let inside = start + open.len_utf8();
        let paragraph = text[inside..]
            .find("\n\n")
            .map_or(text.len(), |end| inside + end);
        let closes = |character: char| MARKS.contains(&(open, character));
        match text[inside..paragraph].find(closes) {
            Some(length) => {
                if !is_own(&text[..start]) {
                    found.push(start..inside + length);
                }
                let close = text[inside + length..].chars().next();
                rest = inside + length + close.map_or(0, char::len_utf8);
            }
            None => rest = inside,
        }
    }
    found
}

/// Whether the text before a quotation says that the words are the user's own.
fn is_own(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let words = line.split_whitespace().rev().take(SAID);
    words
        .map(|word| {
            word.trim_matches(|c: char| !c.is_alphanumeric())
                .to_lowercase()
        })
        .any(|word| OWN.contains(&word.as_str()))
}

fn indented(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
        let tab = line.starts_with('\t');
        if (blank >= INDENTED || tab) && !line.trim().is_empty() {
            found.push(at..at + line.len());
        }
        at += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        let parts = quoted_parts(text);
        parts.into_iter().map(|part| &text[part]).collect()
    }

    #[test]
    fn y4_quotations_and_lines_set_in_are_found() {
        assert_eq!(
            parts("It says “stop. Now” and \"go\""),
            ["“stop. Now", "\"go"]
        );
        assert_eq!(parts("See:\n    abort()\nWell?"), ["    abort()\n"]);
        assert_eq!(parts("5\" wide\n\nand \"so\" on"), ["\"so"]);
        assert!(parts("\"Stop. Cancel that.\"").is_empty(), "all of it");
        assert!(parts("I said \"stop\"!").is_empty(), "their own words");
    }
}
