//! Text measured in terminal columns: made harmless, cut, wrapped, counted. Tables are in `table/`.

use longhaul_core::listing::steers;
use unicode_width::UnicodeWidthStr;

/// The character that shows that something is left out.
const CUT: char = '…';

/// A text from a file, made harmless: characters that would control the terminal, break the line or change the reading
/// direction become spaces.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if steers(c) { ' ' } else { c })
        .collect()
}

/// A text of several lines from a file, made harmless line by line.
pub(crate) fn clean_lines(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let harmless = |c| if steers(c) && c != '\t' { ' ' } else { c };
        line.chars().map(harmless).collect::<String>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The number of columns that a clean text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// The beginning of a clean text, in this many columns.
pub(crate) fn keep_start(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        // Measured as a whole: a character may change the width of the one before it.
        if columns(&kept) + 1 > room {
            kept.pop();
            break;
        }
    }
    kept.truncate(kept.trim_end().len());
    kept.push(CUT);
    kept
}

/// The end of a clean text, in this many columns: the end of a path says more than its beginning.
pub(crate) fn keep_end(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut from = text.len();
    for (at, _) in text.char_indices().rev() {
        if columns(&text[at..]) + 1 > room {
            break;
        }
        from = at;
    }
    format!("{CUT}{}", &text[from..])
}

/// A clean text in lines of at most this many columns, broken at spaces, or anywhere in a longer word.
pub(crate) fn wrap(text: &str, room: usize) -> Vec<String> {
    wrap_items(text.split_whitespace(), "", room)
}

/// Items in lines of at most this many columns. A line may end with the separator between items; none begins with it.
pub(crate) fn wrap_items<'a>(
    items: impl IntoIterator<Item = &'a str>,
    mark: &str,
    room: usize,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut items = items.into_iter().peekable();
    while let Some(item) = items.next() {
        let mark = if items.peek().is_some() { mark } else { "" };
        let piece = format!("{item}{mark}");
        let joined = lines.last().map(|line| format!("{line} {piece}"));
        match (joined, lines.last_mut()) {
            (Some(joined), Some(line)) if columns(&joined) <= room => *line = joined,
            _ => lines.extend(broken(&piece, room)),
        }
    }
    lines
}

/// An item in lines of its own.
fn broken(item: &str, room: usize) -> Vec<String> {
    if columns(item) <= room {
        return vec![item.to_owned()];
    }
    if item.contains(char::is_whitespace) {
        return wrap(item, room);
    }
    let mut lines = vec![String::new()];
    for c in item.chars() {
        let longer = lines.last().map(|line| format!("{line}{c}"));
        match (longer, lines.last_mut()) {
            (Some(longer), Some(line)) if line.is_empty() || columns(&longer) <= room => {
                *line = longer
            }
            _ => lines.push(c.to_string()),
        }
    }
    lines
}

/// "1 file", "2 files".
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    longhaul_core::figures::counted_as(number, one, many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_columns_not_by_characters() {
        assert_eq!(keep_start("short", 10), "short");
        assert_eq!(keep_start("exactly", 7), "exactly");
        assert_eq!(keep_start("漢字漢字", 5), "漢字…");
        assert_eq!(keep_start("one two", 5), "one…");
        assert_eq!(keep_end("src/漢字/main.rs", 9), "…/main.rs");
        // A heart takes one column; with its emoji selector it takes two.
        assert_eq!(columns(&keep_start(&"❤\u{fe0f}".repeat(9), 5)), 5);
    }

    #[test]
    fn text_cannot_steer_the_terminal() {
        assert_eq!(clean("a\nb\u{1b}[31m\u{202e}c"), "a b [31m c");
    }

    #[test]
    fn text_is_wrapped_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("/a/very/long/path", 8), ["/a/very/", "long/pat", "h"]);
        assert!(wrap("", 8).is_empty());
        assert_eq!(
            wrap_items(["1 file", "2 entries"], " ·", 12),
            ["1 file ·", "2 entries"]
        );
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(count(0, "file", "files"), "0 files");
        assert_eq!(count(1, "file", "files"), "1 file");
        assert_eq!(count(2_000, "entry", "entries"), "2,000 entries");
    }
}
