//! A logical line, and its rows at a width. Lines are wrapped when they are drawn: only then is the width known.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::style;
use super::text::{columns, fit};

/// A line that is wrapped at the width of the terminal.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct WrappedLine {
    /// The text of the line.
    pub(crate) line: Line<'static>,
    /// How far its second and later rows are indented.
    pub(crate) hang: usize,
}

impl WrappedLine {
    /// A line of styled pieces, with a hanging indent.
    pub(crate) fn new(spans: Vec<Span<'static>>, hang: usize) -> Self {
        Self {
            line: Line::from(spans),
            hang,
        }
    }

    /// An empty line.
    pub(crate) fn blank() -> Self {
        Self::default()
    }

    /// A dimmed line.
    pub(crate) fn dim(text: impl Into<String>) -> Self {
        Self::new(vec![style::dim(text)], 2)
    }

    /// A plain line.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(vec![Span::raw(text.into())], 0)
    }

    /// A line in a style.
    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self::new(vec![style::styled(text, style)], 2)
    }

    /// The text without styles.
    pub(crate) fn text(&self) -> String {
        (self.line.spans.iter())
            .map(|span| span.content.as_ref())
            .collect()
    }

    /// The line with a prefix; later rows are indented by its width.
    pub(crate) fn indented(mut self, first: Span<'static>) -> Self {
        self.hang += columns(&first.content);
        self.line.spans.insert(0, first);
        self
    }

    /// The rows of the line, none wider than `width`.
    pub(crate) fn rows(&self, width: usize) -> Vec<Line<'static>> {
        let width = width.max(1);
        let hang = if self.hang + 8 > width { 0 } else { self.hang };
        let pieces: Vec<FlowGrapheme<'_>> = self.pieces(width);
        let mut rows = Vec::new();
        let mut from = 0;
        while let Some((until, next)) = one_row(
            &pieces[from..],
            width - if rows.is_empty() { 0 } else { hang },
        ) {
            let indent = if rows.is_empty() { 0 } else { hang };
            rows.push(line_of(&pieces[from..from + until], indent));
            from += next;
            if from >= pieces.len() {
                break;
            }
        }
        if rows.is_empty() {
            rows.push(Line::default());
        }
        rows
    }

    fn pieces(&self, width: usize) -> Vec<FlowGrapheme<'_>> {
        let styled = |span: &'_ Span<'static>| self.line.style.patch(span.style);
        let mut pieces = Vec::new();
        for span in &self.line.spans {
            for grapheme in span.content.graphemes(true) {
                let (text, wide) = fit(grapheme, width);
                pieces.push(FlowGrapheme {
                    text,
                    wide,
                    style: styled(span),
                });
            }
        }
        pieces
    }
}

/// A grapheme with its width and style.
struct FlowGrapheme<'a> {
    text: &'a str,
    wide: usize,
    style: Style,
}

/// The number of pieces in a row, and where the next row begins; `None` if there are no pieces.
fn one_row(pieces: &[FlowGrapheme<'_>], width: usize) -> Option<(usize, usize)> {
    if pieces.is_empty() {
        return None;
    }
    let mut used = 0;
    let mut space = None;
    for (at, piece) in pieces.iter().enumerate() {
        if used + piece.wide > width && at > 0 {
            if piece.text == " " {
                // The line is broken at the space that does not fit.
                return Some((at, past_spaces(pieces, at)));
            }
            return Some(match space {
                Some(space) => (space, past_spaces(pieces, space)),
                None => (at, at),
            });
        }
        used += piece.wide;
        // Leading spaces are the indent of a line, not a place to break it.
        if piece.text == " " && pieces[..at].iter().any(|piece| piece.text != " ") {
            space = Some(at);
        }
    }
    Some((pieces.len(), pieces.len()))
}

fn past_spaces(pieces: &[FlowGrapheme<'_>], at: usize) -> usize {
    let spaces = pieces[at..].iter().take_while(|piece| piece.text == " ");
    at + spaces.count()
}

fn line_of(pieces: &[FlowGrapheme<'_>], indent: usize) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    if indent > 0 {
        spans.push(Span::raw(" ".repeat(indent)));
    }
    for piece in pieces {
        match spans.last_mut() {
            Some(span) if span.style == piece.style => span.content.to_mut().push_str(piece.text),
            _ => spans.push(Span::styled(piece.text.to_owned(), piece.style)),
        }
    }
    Line::from(spans)
}

/// The rows of many lines.
pub(crate) fn rows(flows: &[WrappedLine], width: usize) -> Vec<Line<'static>> {
    flows.iter().flat_map(|flow| flow.rows(width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(flow: &WrappedLine, width: usize) -> Vec<String> {
        let rows = flow.rows(width);
        rows.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn q2_lines_break_at_spaces_and_hang() {
        let flow = WrappedLine::new(vec![Span::raw("- one two three four five".to_owned())], 2);
        assert_eq!(texts(&flow, 14), ["- one two", "  three four", "  five"]);
        assert_eq!(texts(&WrappedLine::plain("漢字漢字"), 5), ["漢字", "漢字"]);
        assert_eq!(
            texts(&WrappedLine::plain("abcdefgh"), 3),
            ["abc", "def", "gh"]
        );
        assert_eq!(texts(&WrappedLine::blank(), 3), [""]);
        assert_eq!(texts(&WrappedLine::plain("漢"), 1), ["?"]);
    }

    proptest! {
        #[test]
        fn q2_no_row_is_wider_than_the_terminal(text in "[a-z漢e\u{301}👩‍👩‍👧 ]{0,80}", width in 1_usize..40, hang in 0_usize..12) {
            let flow = WrappedLine::new(vec![Span::raw(text.clone())], hang);
            let rows = texts(&flow, width);
            for row in &rows {
                prop_assert!(columns(row) <= width, "{row:?} in {width}");
            }
            if width > 8 {
                let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
                prop_assert_eq!(letters(&rows.concat()), letters(&text));
            }
        }
    }
}
