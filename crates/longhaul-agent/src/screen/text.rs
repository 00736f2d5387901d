//! Text from outside, made harmless and measured in columns.
//!
//! Text from a model or a file is shown, never obeyed: no cursor moves, no titles, no hidden or reversed text.

use longhaul_core::listing::steers;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Columns between tab stops.
const TAB: usize = 4;
/// The mark for omitted text.
pub(crate) const CUT: &str = "…";

/// Makes a text of many lines harmless: line breaks stay, tabs become spaces, colors are removed, and everything else
/// that would control a terminal becomes visible.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(behind) = without_color(rest) {
            rest = behind;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '\n' => {
                out.push('\n');
                column = 0;
                continue;
            }
            '\r' if rest.starts_with('\n') => continue,
            '\t' => {
                let spaces = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
                continue;
            }
            _ => out.push(shown(c)),
        }
        column += 1;
    }
    out
}

/// A text of many lines in full, for people who must agree to it: nothing is removed, and whatever a terminal would not
/// show, or would obey, becomes visible.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\n' => {
                out.push('\n');
                column = 0;
                continue;
            }
            '\t' => {
                let spaces = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
                continue;
            }
            // This takes no space, and splits words that look whole.
            '\u{ad}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}' => {
                out.push('\u{fffd}');
            }
            c => out.push(shown(c)),
        }
        column += 1;
    }
    out
}

/// A text in full on one line, with everything visible that a terminal would not show or would obey.
pub(crate) fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "\u{2424}")
}

/// A harmless text on one line.
pub(crate) fn clean_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The visible replacement for a character.
fn shown(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('?'),
        '\u{7f}' => '\u{2421}',
        // Letters that no terminal shows, made to hide text from people.
        '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
        // The placeholders for pastes in the prompt.
        '\u{f0000}'..='\u{10ffff}' => '\u{fffd}',
        c if steers(c) => '\u{fffd}',
        c => c,
    }
}

/// The text after an escape sequence that only sets a color, if the text begins with one.
fn without_color(text: &str) -> Option<&str> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|c: char| !matches!(c, '0'..='9' | ';' | ':'))?;
    parameters[end..].strip_prefix('m')
}

/// The number of columns of a clean text.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// A character as a row of this width shows it, with its columns: a question mark for one that is wider than the row.
pub(crate) fn fit(grapheme: &str, width: usize) -> (&str, usize) {
    match columns(grapheme) {
        wide if wide > width => ("?", 1),
        wide => (grapheme, wide),
    }
}

/// The beginning of a clean line in this many columns.
pub(crate) fn keep_start(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        used += columns(grapheme);
        if used + 1 > room {
            break;
        }
        kept.push_str(grapheme);
    }
    kept.truncate(kept.trim_end().len());
    if room > 0 {
        kept.push_str(CUT);
    }
    kept
}

/// The end of a clean line in this many columns.
pub(crate) fn keep_end(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut from = text.len();
    let mut used = 1;
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        used += columns(grapheme);
        if used > room {
            break;
        }
        from = at;
    }
    match room {
        0 => String::new(),
        _ => format!("{CUT}{}", &text[from..]),
    }
}

/// A number with its noun: "1 file", "2 files".
pub(crate) fn count(number: usize, noun: &str) -> String {
    longhaul_core::figures::counted(number as u64, noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q2_text_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mred\u{1b}[0m"), "ared");
        assert_eq!(clean("\u{1b}]0;title\u{7}x"), "␛]0;title␇x");
        assert_eq!(clean("\u{1b}[2J\u{9b}1A"), "␛[2J\u{fffd}1A");
        assert_eq!(clean("a\rb\r\nc"), "a␍b\nc");
        assert_eq!(clean("ab\u{202e}c"), "ab\u{fffd}c");
        assert_eq!(clean("ab\tc"), "ab  c");
        assert_eq!(clean("\u{1b}[38;5;1"), "␛[38;5;1");
    }

    #[test]
    fn what_is_agreed_to_is_shown_with_all_that_is_in_it() {
        assert_eq!(visible("a\u{1b}[8mrm x\u{1b}[0m"), "a␛[8mrm x␛[0m");
        assert_eq!(
            visible("a\r\nb\u{200b}\u{202e}c\u{9b}"),
            "a␍\nb\u{fffd}\u{fffd}c\u{fffd}"
        );
        assert_eq!(visible_line("a\nb"), "a␤b");
    }

    #[test]
    fn q2_text_is_cut_by_columns() {
        assert_eq!(keep_start("漢字漢字", 5), "漢字…");
        assert_eq!(keep_start("short", 5), "short");
        assert_eq!(keep_start("short", 0), "");
        assert_eq!(keep_end("漢字漢字", 6), "…漢字");
        assert_eq!(keep_end("short", 5), "short");
        assert_eq!(keep_end("short", 0), "");
        assert_eq!(count(1, "line"), "1 line");
    }
}
