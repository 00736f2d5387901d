//! The first words of a text, in one line that is safe to print.

/// The maximum number of characters in an excerpt. A caller with less space shortens it further.
const MOST: usize = 100;
/// The sign for omitted text.
const CUT: char = '…';

/// Returns the beginning of a text, or a placeholder if the text is blank. White space and terminal control characters
/// become single spaces.
pub(super) fn excerpt(text: &str) -> String {
    let mut line = String::new();
    let mut length = 0;
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() || steers(c) {
            gap = !line.is_empty();
            continue;
        }
        if length + usize::from(gap) >= MOST {
            line.push(CUT);
            break;
        }
        if std::mem::take(&mut gap) {
            line.push(' ');
            length += 1;
        }
        line.push(c);
        length += 1;
    }
    match (line.is_empty(), text.is_empty()) {
        (true, true) => "[empty]".to_owned(),
        (true, false) => "[blank]".to_owned(),
        (false, _) => line,
    }
}

/// Whether a character would control a terminal, break the line or reverse the reading direction.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_harmless_line() {
        assert_eq!(excerpt("  a\n\n b\u{1b}[31m\u{202e}c\t"), "a b [31m c");
        assert_eq!(excerpt(""), "[empty]");
        assert_eq!(excerpt(" \n"), "[blank]");
        assert_eq!(excerpt(&"x".repeat(MOST)), "x".repeat(MOST));
        let cut = excerpt(&"word ".repeat(MOST));
        assert!(
            cut.ends_with('…') && cut.chars().count() <= MOST + 1,
            "{cut}"
        );
    }
}
