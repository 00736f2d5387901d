//! Repairs or refuses JSON that the grammar allows but the API does not: lone surrogates, numbers out of range, deep
//! nesting.

use std::borrow::Cow;

use super::shape_mismatch::ShapeMismatch;

/// The maximum nesting depth of a value that is sent unchanged.
const DEEPEST: usize = 100;
const REPLACEMENT: &[u8] = br"\ufffd";

/// Returns a value that can be sent: lone surrogates are replaced; the other problems cannot be repaired.
pub(super) fn mended(raw: &[u8]) -> Result<Cow<'_, [u8]>, ShapeMismatch> {
    let mut halves = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = raw.get(at) {
        at = match byte {
            b'"' => string_end(raw, at + 1, &mut halves),
            b'{' | b'[' => {
                depth += 1;
                if depth > DEEPEST {
                    return Err(ShapeMismatch);
                }
                at + 1
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at + 1
            }
            b'-' | b'0'..=b'9' => number_end(raw, at)?,
            _ => at + 1,
        };
    }
    Ok(replaced(raw, &halves))
}

fn replaced<'a>(raw: &'a [u8], halves: &[usize]) -> Cow<'a, [u8]> {
    if halves.is_empty() {
        return Cow::Borrowed(raw);
    }
    let mut whole = raw.to_vec();
    for half in halves {
        // The replacement escape has the same length as the one it replaces.
        whole[*half..half + REPLACEMENT.len()].copy_from_slice(REPLACEMENT);
    }
    Cow::Owned(whole)
}

/// Returns the position after the string whose content begins at `at`, and records escapes that are lone surrogates.
fn string_end(raw: &[u8], mut at: usize, halves: &mut Vec<usize>) -> usize {
    while let Some(found) = raw
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        at += found;
        if raw[at] == b'"' {
            return at + 1;
        }
        at += match unit(raw, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(raw, at + 6), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                halves.push(at);
                6
            }
            Some(_) => 6,
            None => 2,
        };
    }
    raw.len()
}

/// Returns the number of a `\u` escape at this position.
fn unit(raw: &[u8], at: usize) -> Option<u32> {
    let digits = raw.get(at..at + 6)?.strip_prefix(br"\u")?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Returns the position after the number that begins at `at`.
fn number_end(raw: &[u8], at: usize) -> Result<usize, ShapeMismatch> {
    let digits = raw[at..]
        .iter()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
        .count();
    let number = &raw[at..at + digits];
    let may_be_vast = digits > 300 || number.iter().any(|byte| matches!(byte, b'e' | b'E'));
    let value = || std::str::from_utf8(number).ok()?.parse::<f64>().ok();
    if may_be_vast && !value().is_some_and(f64::is_finite) {
        Err(ShapeMismatch)
    } else {
        Ok(at + digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mend(raw: &str) -> Option<String> {
        let mended = mended(raw.as_bytes()).ok()?;
        Some(String::from_utf8(mended.into_owned()).unwrap())
    }

    #[test]
    fn z3_half_characters_are_replaced_and_whole_ones_stay() {
        for (raw, sent) in [
            (r#""a\ud800b""#, r#""a\ufffdb""#),
            (r#"{"a":"\uDC00"}"#, r#"{"a":"\ufffd"}"#),
            (
                r#""\ud83d\ude00 \\ud800 \n""#,
                r#""\ud83d\ude00 \\ud800 \n""#,
            ),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
        ] {
            assert_eq!(mend(raw).as_deref(), Some(sent));
        }
    }

    #[test]
    fn z3_what_cannot_be_read_is_no_fit() {
        assert_eq!(mend("[1e400]"), None);
        assert_eq!(mend(&"9".repeat(400)), None);
        assert_eq!(mend(&"[".repeat(101)), None);
        assert!(mend("[-1.5e-400, 12, 1e300]").is_some());
    }
}
