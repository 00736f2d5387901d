//! Cutting a text to a size, at the end of a line.

/// UTF-16 units of a text: what estimates are made from (T2).
pub(crate) fn units(text: &str) -> u64 {
    super::utf16_len(text) as u64
}

/// The most units of a text whose padded estimate is within so many tokens.
pub(crate) const fn units_within(tokens: u64) -> u64 {
    // A third of padding is taken off, then four units are a token.
    tokens.saturating_mul(3) / 4 * 4
}

/// The longest beginning of a text with at most so many units that ends with a line. If not even the first line fits,
/// it ends within that.
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

/// The beginning of a text that takes at most so many tokens, not padded, cut anywhere; none if all of it does.
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

/// The same, cut at a line.
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
