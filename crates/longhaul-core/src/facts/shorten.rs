//! Shortens a text to a size: its beginning and its end, with the size of the cut between them (ruling 14).

use super::char_boundary::{ceil, floor};
use crate::tokens::utf16_len;

const MARK: &str = include_str!("fragments/cut.txt");

/// A cut is moved by at most this many bytes to fall between words.
const REACH: usize = 24;

/// The text in at most `most` UTF-16 units: unchanged, or its beginning and end with the size of the cut between them.
pub fn shorten(text: &str, most: usize) -> String {
    shorten_gapped((text, ""), 0, most)
}

/// Shortens a text that already has a gap of `missing` bytes.
pub(super) fn shorten_gapped((head, tail): (&str, &str), missing: u64, most: usize) -> String {
    let whole = utf16_len(head) + utf16_len(tail);
    if missing == 0 && whole <= most {
        return [head, tail].concat();
    }
    let cut_all = (head.len() + tail.len()) as u64 + missing;
    let room = most.saturating_sub(utf16_len(&cut_notice(cut_all)));
    if missing > 0 && whole <= room {
        return [head, &cut_notice(missing), tail].concat();
    }
    let behind = if tail.is_empty() { head } else { tail };
    let first = between_words(head, prefix(head, room - room / 3));
    // In one text the two ends must not overlap; in two texts they cannot.
    let rest = if tail.is_empty() {
        &behind[first..]
    } else {
        behind
    };
    let last = rest.len() - suffix(rest, room / 3);
    let (first, last) = (&head[..first], &rest[last..]);
    let cut = cut_all - (first.len() + last.len()) as u64;
    let shortened = [first, &cut_notice(cut), last].concat();
    if utf16_len(&shortened) <= most {
        shortened
    } else {
        head[..prefix(head, most)].to_owned()
    }
}

fn cut_notice(bytes: u64) -> String {
    let digits = bytes.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    MARK.trim_end().replace("{bytes}", &grouped)
}

/// The bytes of the longest prefix of at most this many units.
fn prefix(text: &str, units: usize) -> usize {
    // A unit is at most three bytes, so the search does not have to cover a text that is far longer.
    let near = floor(text, units.saturating_mul(3));
    let mut left = units;
    for (at, character) in text[..near].char_indices() {
        match left.checked_sub(character.len_utf16()) {
            Some(less) => left = less,
            None => return at,
        }
    }
    near
}

/// The bytes of the longest suffix of at most this many units; it starts between words if such a place is near.
fn suffix(text: &str, units: usize) -> usize {
    let near = ceil(text, text.len() - units.saturating_mul(3).min(text.len()));
    let mut left = units;
    let mut start = near;
    for (at, character) in text[near..].char_indices().rev() {
        match left.checked_sub(character.len_utf16()) {
            Some(less) => left = less,
            None => {
                start = near + at + character.len_utf8();
                break;
            }
        }
    }
    let until = floor(text, (start + REACH).min(text.len()));
    match text[start..until].find(char::is_whitespace) {
        Some(space) if start > 0 => text.len() - start - space,
        _ => text.len() - start,
    }
}

/// A cut at or shortly before `at` that splits no word.
fn between_words(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return at;
    }
    let from = ceil(text, at.saturating_sub(REACH));
    match text[from..at].rfind(char::is_whitespace) {
        Some(space) => from + space,
        None => at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn x1_head_and_tail_are_kept_with_the_size_of_the_cut() {
        let text = format!("begin here {} and end there", "middle ".repeat(1_000));
        let short = shorten(&text, 120);
        assert!(short.starts_with("begin here middle"), "{short}");
        assert!(short.ends_with("and end there"), "{short}");
        assert!(short.contains("6,9"), "{short}");
        assert_eq!(shorten("short", 120), "short");
    }

    proptest! {
        #[test]
        fn x1_a_shortened_text_fits(text in "[a-z é漢😀\n]{0,300}", tail in "[a-z 😀]{0,90}", most in 0_usize..200, gap: bool) {
            let missing = if gap { 1_234 } else { 0 };
            let tail = if gap { tail.as_str() } else { "" };
            let short = shorten_gapped((&text, tail), missing, most);
            prop_assert!(utf16_len(&short) <= most, "{} > {}", utf16_len(&short), most);
            if !gap && utf16_len(&text) <= most {
                prop_assert_eq!(short, text);
            }
        }
    }
}
