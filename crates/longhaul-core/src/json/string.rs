//! One vectorized pass over a JSON string literal: validates it and measures it.
//!
//! The measures are the ones that token estimates need: the UTF-16 length of the decoded text, and the UTF-16 length of
//! the literal as `JSON.stringify` would write it. Both follow from the byte length by counting what deviates
//! (multi-byte characters, escapes), so the text is never decoded. `decode.rs` decodes where a caller wants the text;
//! `cursor.rs` handles everything outside strings.

use fearless_simd::{Level, dispatch, prelude::*, u8x32, u8x64};

use super::{JsonFault, JsonFaultKind};

const LANES: usize = 64;

/// The result of one pass over a string literal. Positions are those of the content, without the quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StringLiteral {
    /// First byte of the content.
    pub start: usize,
    /// One past the last byte of the content: the position of the closing quote.
    pub end: usize,
    /// UTF-16 length of the decoded text.
    pub utf16: usize,
    /// UTF-16 length of the content as `JSON.stringify` escapes it, without the quotes.
    pub canonical: usize,
    /// Whether any escape occurs, so that the raw bytes are not the text itself.
    pub escaped: bool,
}

/// Deviations from "one byte, one UTF-16 unit", counted while skipping.
#[derive(Default)]
struct Tally {
    continuation: usize,
    four_byte: usize,
    escaped: bool,
    /// Rare escapes before this position have been counted.
    counted_to: usize,
    decoded_less: usize,
    canonical_less: usize,
}

impl Tally {
    /// Counts the non-ASCII characters among the lanes that `lanes` selects.
    #[inline(always)]
    fn count_non_ascii<S: Simd>(&mut self, simd: S, block: u8x64<S>, lanes: u64) {
        let high = block.simd_ge(u8x64::splat(simd, 0x80)).to_bitmask() & lanes;
        if high != 0 {
            let leading = block.simd_ge(u8x64::splat(simd, 0xC0)).to_bitmask();
            let four_byte = block.simd_ge(u8x64::splat(simd, 0xF0)).to_bitmask();
            self.continuation += (high & !leading).count_ones() as usize;
            self.four_byte += (four_byte & lanes).count_ones() as usize;
        }
    }

    fn finish(self, start: usize, end: usize) -> StringLiteral {
        let units = end - start - self.continuation + self.four_byte;
        StringLiteral {
            start,
            end,
            utf16: units - self.decoded_less,
            canonical: units - self.canonical_less,
            escaped: self.escaped,
        }
    }

    /// Validates and counts the escapes other than `\\n` and similar ones; `lanes` are the characters after their
    /// backslashes.
    #[inline(always)]
    fn rare_escapes(&mut self, bytes: &[u8], base: usize, mut lanes: u64) -> Result<(), JsonFault> {
        while lanes != 0 {
            let at = base + lanes.trailing_zeros() as usize - 1;
            lanes &= lanes - 1;
            if at >= self.counted_to {
                self.counted_to = at + self.rare_escape(bytes, at)?;
            }
        }
        Ok(())
    }

    /// Validates the escape whose backslash is at `at`; returns how many bytes it spans.
    #[cold]
    fn rare_escape(&mut self, bytes: &[u8], at: usize) -> Result<usize, JsonFault> {
        match bytes.get(at + 1) {
            Some(b'/') => {
                self.decoded_less += 1;
                self.canonical_less += 1;
                Ok(2)
            }
            Some(b'u') => self.unicode_escape(bytes, at),
            Some(_) => Err(JsonFault::new(at, JsonFaultKind::BadEscape)),
            None => Err(JsonFault::new(at, JsonFaultKind::UnexpectedEnd)),
        }
    }

    fn unicode_escape(&mut self, bytes: &[u8], at: usize) -> Result<usize, JsonFault> {
        let unit = hex4(bytes, at + 2)?;
        match unit {
            0xD800..=0xDBFF => {
                let paired = bytes.get(at + 6) == Some(&b'\\')
                    && bytes.get(at + 7) == Some(&b'u')
                    && matches!(hex4(bytes, at + 8), Ok(0xDC00..=0xDFFF));
                if paired {
                    self.decoded_less += 10;
                    self.canonical_less += 10;
                    return Ok(12);
                }
                self.decoded_less += 5;
            }
            // When written again, a lone low surrogate stays an escape of six characters.
            0xDC00..=0xDFFF => self.decoded_less += 5,
            0x08 | 0x09 | 0x0A | 0x0C | 0x0D | 0x22 | 0x5C => {
                self.decoded_less += 5;
                self.canonical_less += 4;
            }
            0x00..=0x1F => self.decoded_less += 5,
            _ => {
                self.decoded_less += 5;
                self.canonical_less += 5;
            }
        }
        Ok(6)
    }
}

/// Reads four hexadecimal digits.
pub(super) fn hex4(bytes: &[u8], at: usize) -> Result<u32, JsonFault> {
    let digits = bytes
        .get(at..at + 4)
        .ok_or(JsonFault::new(bytes.len(), JsonFaultKind::UnexpectedEnd))?;
    digits.iter().try_fold(0u32, |value, digit| {
        (*digit as char)
            .to_digit(16)
            .map(|nibble| value << 4 | nibble)
            .ok_or(JsonFault::new(at, JsonFaultKind::BadEscape))
    })
}

/// Scans the literal whose opening quote is just before `start`.
#[inline(always)]
pub(super) fn scan(level: Level, bytes: &[u8], start: usize) -> Result<StringLiteral, JsonFault> {
    // Most strings are keys and ids: short and plain, so one or two blocks are enough.
    let mut at = start;
    while at - start <= SHORT
        && let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<SHORT>())
    {
        match look(block) {
            StringChunk::Ends(after) => {
                let length = at + after - start;
                return Ok(StringLiteral {
                    start,
                    end: start + length,
                    utf16: length,
                    canonical: length,
                    escaped: false,
                });
            }
            StringChunk::Plain => at += SHORT,
            StringChunk::Odd => break,
        }
    }
    scan_any(level, bytes, start)
}

const SHORT: usize = 32;

/// The content of a block at or after the beginning of a string.
enum StringChunk {
    /// The string ends after this many bytes, all of them plain.
    Ends(usize),
    /// The block holds only plain characters.
    Plain,
    /// The block holds an escape, a control character or a character beyond ASCII before the end.
    Odd,
}

#[inline(always)]
fn look(block: &[u8; SHORT]) -> StringChunk {
    #[inline(always)]
    fn masks<S: Simd>(simd: S, block: &[u8; SHORT]) -> (u64, u64) {
        let block = u8x32::load_array_ref(simd, block);
        let quotes = block.simd_eq(u8x32::splat(simd, b'"')).to_bitmask();
        // Plain characters run from the space to the last ASCII character, except for the backslash.
        let odd = block.simd_eq(u8x32::splat(simd, b'\\'))
            | (block - u8x32::splat(simd, 0x20)).simd_ge(u8x32::splat(simd, 0x60));
        (quotes, odd.to_bitmask())
    }
    let (quotes, odd) = dispatch!(Level::baseline(), simd => masks(simd, block));
    let before_end = quotes.wrapping_sub(1) & !quotes;
    match (odd & before_end, quotes) {
        (0, 0) => StringChunk::Plain,
        (0, quotes) => StringChunk::Ends(quotes.trailing_zeros() as usize),
        _ => StringChunk::Odd,
    }
}

#[inline(never)]
fn scan_any(level: Level, bytes: &[u8], start: usize) -> Result<StringLiteral, JsonFault> {
    dispatch!(level, simd => scan_blocks(simd, bytes, start))
}

#[inline(always)]
fn load<S: Simd>(simd: S, bytes: &[u8], at: usize) -> u8x64<S> {
    if let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<LANES>()) {
        u8x64::load_array_ref(simd, block)
    } else {
        // Zeros are control characters, so the scan stops there and finds that the input has ended.
        let mut block = [0u8; LANES];
        let rest = bytes.get(at..).unwrap_or_default();
        block[..rest.len()].copy_from_slice(rest);
        u8x64::load_array(simd, block)
    }
}

#[inline(always)]
fn scan_blocks<S: Simd>(simd: S, bytes: &[u8], start: usize) -> Result<StringLiteral, JsonFault> {
    let mut base = start;
    let mut tally = Tally::default();
    loop {
        let block = load(simd, bytes, base);
        let is = |byte: u8| block.simd_eq(u8x64::splat(simd, byte));
        let backslashes = is(b'\\').to_bitmask();
        let escaped = escaped_lanes(backslashes);
        let quotes = is(b'"').to_bitmask();
        let ends = quotes & !escaped;
        // The lanes before the closing quote; all of them if it is not in this block.
        let inside = ends.wrapping_sub(1) & !ends;
        if escaped & inside != 0 {
            // Nearly all escapes are line feeds, quotes and backslashes.
            let mut simple = is(b'n').to_bitmask() | quotes | backslashes;
            if escaped & inside & !simple != 0 {
                simple |= (is(b't') | is(b'r') | is(b'b') | is(b'f')).to_bitmask();
            }
            let simple = escaped & inside & simple;
            tally.escaped = true;
            tally.decoded_less += simple.count_ones() as usize;
            tally.rare_escapes(bytes, base, escaped & inside & !simple)?;
        }
        let controls = block.simd_lt(u8x64::splat(simd, 0x20)).to_bitmask() & inside;
        if controls != 0 {
            let at = base + controls.trailing_zeros() as usize;
            return Err(if at < bytes.len() {
                JsonFault::new(at, JsonFaultKind::ControlCharacter)
            } else {
                JsonFault::new(bytes.len(), JsonFaultKind::UnexpectedEnd)
            });
        }
        tally.count_non_ascii(simd, block, inside);
        if ends != 0 {
            return Ok(tally.finish(start, base + ends.trailing_zeros() as usize));
        }
        // An escape that begins in the last lane is left to the next block, so no block begins inside one.
        let splits_escape = backslashes & !escaped & LAST_LANE != 0;
        base += LANES - usize::from(splits_escape);
    }
}

const LAST_LANE: u64 = 1 << (LANES - 1);

/// The lanes whose character is escaped by a backslash before it: those after an odd run of backslashes, computed
/// without a branch. Adding a run's first bit to the run carries out just after it; whether that lane's parity equals
/// the start's tells an even run from an odd one.
#[inline(always)]
fn escaped_lanes(backslashes: u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let behind = backslashes << 1;
    let odd_starts = backslashes & !EVEN & !behind;
    let even_run_ends = odd_starts.wrapping_add(backslashes);
    (EVEN ^ (even_run_ends << 1)) & behind
}
