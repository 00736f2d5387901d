//! Estimates how many tokens a tokenizer makes of a text, by the kinds of its characters.
//!
//! [`RoughEstimator`](super::RoughEstimator) assumes four characters per token, which holds for prose. Tables, logs,
//! JSON, base64 and Chinese are denser by up to five times, and a window that is filled with them overflows long before
//! it seems full. This module counts runs of characters: tokenizers separate words, numbers and punctuation, keep
//! common words whole and split rare strings into pieces. The count is that of a public vocabulary of 100,000 tokens;
//! how many tokens a provider makes of the same text is a factor that depends on the provider alone.

/// The hundredths in a token.
const WHOLE: u64 = 100;

/// The kind of characters in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharRunKind {
    Lower,
    Upper,
    /// An upper-case letter with lower-case ones after it.
    Capitalized,
    Digits,
    Spaces,
    Lines,
    Marks,
    Other,
}

impl CharRunKind {
    fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' => Self::Lower,
            b'A'..=b'Z' => Self::Upper,
            b'0'..=b'9' => Self::Digits,
            b' ' | b'\t' => Self::Spaces,
            b'\n' | b'\r' => Self::Lines,
            0x80.. => Self::Other,
            _ => Self::Marks,
        }
    }

    /// Returns the hundredths of a token for a run of `length` bytes. A run is `torn` if it comes directly after a run
    /// of another kind of letters or digits, as in base64 and in ids, where hardly anything is a word.
    fn cost(self, length: u64, torn: TornRun) -> u64 {
        let beyond = |free: u64, each: u64| WHOLE + length.saturating_sub(free) * each;
        match (self, torn) {
            (Self::Lower | Self::Capitalized, TornRun::No) if length > 20 => length * 50,
            (Self::Lower | Self::Capitalized, TornRun::No) => beyond(8, 14),
            (Self::Lower | Self::Capitalized, TornRun::Yes) => beyond(1, 40),
            (Self::Upper, TornRun::No) => beyond(3, 30),
            (Self::Upper, TornRun::Yes) => beyond(1, 50),
            (Self::Digits, _) => length.div_ceil(3) * WHOLE,
            // The space before a word belongs to the word.
            (Self::Spaces, _) if length == 1 => 0,
            (Self::Spaces, _) => beyond(16, 2),
            (Self::Lines, _) => beyond(2, 20) - 25,
            (Self::Marks, _) => beyond(1, 50),
            (Self::Other, _) => 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TornRun {
    Yes,
    No,
}

/// Returns the likely number of tokens of a UTF-8 text.
pub fn likely(text: &[u8]) -> u64 {
    let mut hundredths = 0;
    let mut run: Option<(CharRunKind, u64, TornRun)> = None;
    for byte in text.iter().copied() {
        let kind = CharRunKind::of(byte);
        if kind == CharRunKind::Other {
            hundredths += outside_ascii(byte);
        }
        run = Some(match run {
            Some((same, length, torn)) if same == kind => (same, length + 1, torn),
            Some((CharRunKind::Capitalized, length, torn)) if kind == CharRunKind::Lower => {
                (CharRunKind::Capitalized, length + 1, torn)
            }
            Some((CharRunKind::Upper, 1, torn)) if kind == CharRunKind::Lower => {
                (CharRunKind::Capitalized, 2, torn)
            }
            Some((before, length, torn)) => {
                hundredths += before.cost(length, torn);
                (kind, 1, joins(before, kind))
            }
            None => (kind, 1, TornRun::No),
        });
    }
    if let Some((kind, length, torn)) = run {
        hundredths += kind.cost(length, torn);
    }
    hundredths.div_ceil(WHOLE)
}

/// Whether a run of one kind after one of another is a piece of the same string.
fn joins(before: CharRunKind, after: CharRunKind) -> TornRun {
    let written = |kind| {
        matches!(
            kind,
            CharRunKind::Lower
                | CharRunKind::Upper
                | CharRunKind::Capitalized
                | CharRunKind::Digits
        )
    };
    // `camelCase` consists of words.
    let is_case = matches!(before, CharRunKind::Lower | CharRunKind::Capitalized)
        && after == CharRunKind::Upper;
    if written(before) && written(after) && !is_case {
        TornRun::Yes
    } else {
        TornRun::No
    }
}

/// Returns the hundredths of a token for a character, judged by its first byte. Two-byte alphabets are split into
/// pieces of two or three letters; a three-byte character is one token or more; a four-byte character (pictographs) is
/// two or three.
fn outside_ascii(byte: u8) -> u64 {
    match byte {
        0xF0.. => 260,
        0xE0.. => 125,
        // This range is Hebrew and Arabic.
        0xD7..=0xDB => 95,
        0xC0.. => 65,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x4_prose_is_a_token_for_each_word_and_a_table_is_one_for_each_number_and_mark() {
        assert_eq!(likely(b"the window fills up while a summary is written"), 9);
        assert_eq!(likely(b""), 0);
        let table = "17,4711,3.25\n".repeat(100);
        let (tokens, bytes) = (likely(table.as_bytes()), table.len() as u64);
        assert!(bytes < 2 * tokens, "{tokens} tokens for {bytes} bytes");
    }

    #[test]
    fn x4_chinese_and_base64_are_dense() {
        let chinese = "我们需要".repeat(100);
        assert!(likely(chinese.as_bytes()) >= 400);
        let packed = "aGVsbG8gd29ybGQ0Zm9vYmFyMTIzNDU2".repeat(30);
        assert!(2 * likely(packed.as_bytes()) > packed.len() as u64);
    }
}
