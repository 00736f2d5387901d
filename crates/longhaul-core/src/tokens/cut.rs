//! Cuts a text to a size, at the end of a line.

/// The UTF-16 units of a text, from which estimates are made (T2).
pub(crate) fn units(text: &str) -> u64 {
    super::utf16_len(text) as u64
}

/// The maximum number of units of a text whose padded estimate is within this many tokens.
pub(crate) const fn units_within(tokens: u64) -> u64 {
    // This removes the padding of a third; then four units are a token.
    tokens.saturating_mul(3) / 4 * 4
}

/// Returns the longest beginning of a text with at most `most` units that ends with a line. If not even the first line
/// fits, it is cut within that line.
pub(crate) fn at_line(text: &str, most: u64) -> &str {
    let (mut used, mut line_end) = (0, 0);
    for (at, character) in text.char_indices() {
        used += character.len_utf16() as u64;
        if used > most {
            let end = if line_end > 0 { line_end } else { at };
            return &text[..end];
        }
        if character == '\n' {
            line_end = at + 1;
        }
    }
    text
}

/// Returns the beginning of a text that takes at most `tokens` tokens, not padded, cut anywhere; `None` if the whole
/// text fits.
pub(crate) fn beginning(text: &str, tokens: u64) -> Option<&str> {
    let most = tokens.saturating_mul(4);
    if units(text) <= most.saturating_add(1) {
        return None;
    }
    let mut used = 0;
    let mut characters = text.char_indices();
    let end = characters.find(|(_, character)| {
        used += character.len_utf16() as u64;
        used > most
    });
    Some(end.map_or(text, |(at, _)| &text[..at]))
}

/// Returns the beginning of a text that takes at most `tokens` tokens, cut at a line; `None` if the whole text fits.
pub(crate) fn beyond(text: &str, tokens: u64) -> Option<&str> {
    let most = tokens.saturating_mul(4);
    (units(text) > most.saturating_add(1)).then(|| at_line(text, most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::RoughEstimator;

    #[test]
    fn a_text_is_cut_behind_its_last_whole_line() {
        assert_eq!(at_line("one\ntwo\nthree", 9), "one\ntwo\n");
        assert_eq!(at_line("one\ntwo", 7), "one\ntwo");
        assert_eq!(at_line("ab😀cd\n", 3), "ab");
        assert_eq!(at_line("anything", 0), "");
    }

    #[test]
    fn units_are_as_many_as_the_padded_estimate_allows() {
        for tokens in 0..500 {
            let fits =
                |units: u64| RoughEstimator::text(&"x".repeat(units as usize)).padded() <= tokens;
            let units = units_within(tokens);
            assert!(fits(units) && !fits(units + 4), "{tokens}: {units}");
        }
    }
}
