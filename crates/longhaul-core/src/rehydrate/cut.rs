//! Cutting a text to a number of tokens.

use crate::tokens::Rough;

/// The beginning of a text that fits, cut behind a line where there is one; none if all of it fits.
pub(super) fn cut_at_line(text: &str, tokens: u64) -> Option<&str> {
    let head = beginning(text, tokens)?;
    Some(match head.rfind('\n') {
        Some(line) => &head[..=line],
        None => head,
    })
}

/// The beginning of a text that fits, cut anywhere; none if all of it fits.
pub(crate) fn beginning(text: &str, tokens: u64) -> Option<&str> {
    if Rough::text(text).unpadded() <= tokens {
        return None;
    }
    let units = usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX);
    let mut seen = 0;
    let end = text
        .char_indices()
        .find(|(_, c)| {
            seen += c.len_utf16();
            seen > units
        })
        .map_or(text.len(), |(at, _)| at);
    Some(&text[..end])
}
