//! Decodes only the beginning or the end of a literal's content, so that an extract of a huge text costs only what is
//! shown.

use std::borrow::Cow;

use super::decode;

/// An escape is at most this long, `\u1234`; two of them can encode one character.
const LONGEST_ESCAPE: usize = 6;

/// The text of the first `most` bytes of a literal's content, or a little less: no escape and no character is split.
pub(crate) fn decode_head(content: &[u8], most: usize) -> Cow<'_, str> {
    decode(&content[..boundary_before(content, most)])
}

/// The text of the last `most` bytes of a literal's content, or a little less.
pub(crate) fn decode_tail(content: &[u8], most: usize) -> Cow<'_, str> {
    let from = content.len().saturating_sub(most);
    let at = boundary_before(content, from);
    // The boundary at or before `from` may lie outside the requested range: step over the escape or character there.
    let start = if at < from {
        (from..=content.len())
            .find(|end| boundary_before(content, *end) > at)
            .unwrap_or(content.len())
    } else {
        at
    };
    decode(&content[start..])
}

/// The last position up to `at` that is not inside an escape or a character.
fn boundary_before(content: &[u8], at: usize) -> usize {
    if at >= content.len() {
        return content.len();
    }
    let mut at = at;
    while at > 0 && content[at] & 0xC0 == 0x80 {
        at -= 1;
    }
    // A backslash close enough to cover the position decides, if it begins an escape itself.
    let near = at.saturating_sub(LONGEST_ESCAPE - 1);
    for start in (near..at).rev().filter(|start| content[*start] == b'\\') {
        let run = content[..=start]
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        if run % 2 == 1 {
            let length = match content.get(start + 1) {
                Some(b'u') => LONGEST_ESCAPE,
                _ => 2,
            };
            return if start + length > at { start } else { at };
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_escape_is_split() {
        let content = br"a\nb\u00e9c\\d";
        assert_eq!(decode_head(content, 2), "a");
        assert_eq!(decode_head(content, 3), "a\n");
        assert_eq!(decode_head(content, 9), "a\nb");
        assert_eq!(decode_head(content, 10), "a\nb\u{e9}");
        assert_eq!(decode_tail(content, 1), "d");
        assert_eq!(decode_tail(content, 2), "d");
        assert_eq!(decode_tail(content, 3), "\\d");
        assert_eq!(decode_tail(content, 99), "a\nb\u{e9}c\\d");
    }

    proptest! {
        #[test]
        fn ends_of_any_text_are_its_ends(text in r#"[a-c\\\n"é漢\x01]{0,40}"#, most in 0_usize..50) {
            let literal = serde_json::to_string(&text).unwrap();
            let content = &literal.as_bytes()[1..literal.len() - 1];
            let (head, tail) = (decode_head(content, most), decode_tail(content, most));
            prop_assert!(text.starts_with(&*head));
            prop_assert!(text.ends_with(&*tail));
            let broken = &[head.as_ref(), tail.as_ref()].concat().contains('\u{FFFD}');
            prop_assert!(!broken);
            if most >= content.len() {
                prop_assert_eq!(&*head, &text);
                prop_assert_eq!(&*tail, &text);
            }
        }
    }
}
