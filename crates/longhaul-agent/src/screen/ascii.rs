//! Replacements for terminals that show only ASCII: each character becomes one of the same width, or a question mark.

/// The ASCII replacement for a piece of text. It is as wide as the piece.
pub(crate) fn fallback(grapheme: &str, wide: usize) -> String {
    if grapheme.is_ascii() {
        return grapheme.to_owned();
    }
    let sign = grapheme.chars().next().map_or('?', |c| match c {
        '●' | '•' | '■' | '█' => '*',
        '·' | '…' => '.',
        '→' | '›' | '▸' => '>',
        '✓' | '⣾'..='⣿' => '+',
        '✗' => 'x',
        '─' | '—' | '–' | '−' => '-',
        '│' | '▏' => '|',
        '↑' => '^',
        '↓' => 'v',
        '⠋' | '⠴' => '|',
        '⠙' | '⠦' => '/',
        '⠹' | '⠧' => '-',
        '⠸' | '⠇' => '\\',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '☐' => ' ',
        '×' => 'x',
        'à'..='å' => 'a',
        'è'..='ë' => 'e',
        _ => '?',
    });
    sign.to_string().repeat(wide.max(1))
}

/// A whole text in ASCII.
pub(crate) fn line(text: &str) -> String {
    use unicode_segmentation::UnicodeSegmentation as _;
    let graphemes = text.graphemes(true);
    let signs = graphemes.map(|grapheme| fallback(grapheme, super::text::columns(grapheme)));
    signs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q2_where_only_ascii_is_shown_signs_keep_their_width() {
        assert_eq!(
            line("● 167 → 12 · 漢字 e\u{301}"),
            "* 167 > 12 . ???? e".replace("e", "?")
        );
    }
}
