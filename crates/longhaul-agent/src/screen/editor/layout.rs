//! Where the text of a prompt is on the screen: its rows at a width, and the cursor among them.

use unicode_segmentation::UnicodeSegmentation as _;

use super::Editor;
use crate::screen::text::{columns, fit};

/// The rows of a prompt.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct EditorLayout {
    /// The text of each row.
    pub(crate) rows: Vec<String>,
    /// The cursor's row.
    pub(crate) row: usize,
    /// The cursor's column.
    pub(crate) column: usize,
    /// The byte offsets of the text, each with its row and column.
    places: Vec<(usize, usize, usize)>,
}

/// A character on the screen.
struct PlacedCharacter {
    /// Where it begins in the text; none inside of a folded paste.
    at: Option<usize>,
    text: String,
    wide: usize,
    is_break: bool,
}

/// What ended a row.
#[derive(PartialEq, Eq)]
enum RowEnd {
    ByBreak,
    ByWidth,
}

/// The number of pieces in the first row.
fn one_row(pieces: &[PlacedCharacter], width: usize) -> (usize, RowEnd) {
    let mut used = 0;
    let mut space = None;
    for (at, piece) in pieces.iter().enumerate() {
        if piece.is_break {
            return (at + 1, RowEnd::ByBreak);
        }
        if used + piece.wide > width && at > 0 {
            return (space.unwrap_or(at), RowEnd::ByWidth);
        }
        used += piece.wide;
        if piece.text == " " {
            space = Some(at + 1);
        }
    }
    (pieces.len(), RowEnd::ByWidth)
}

impl Editor {
    /// The rows at a width, broken after spaces, or anywhere in a word that is longer.
    pub(crate) fn layout(&self, width: usize) -> EditorLayout {
        let width = width.max(2);
        let mut layout = EditorLayout::default();
        let pieces = self.pieces(width);
        let mut from = 0;
        while from < pieces.len() {
            let (until, is_ended) = one_row(&pieces[from..], width);
            let mut column = 0;
            let mut row = String::new();
            for piece in &pieces[from..from + until] {
                layout
                    .places
                    .extend(piece.at.map(|at| (at, layout.rows.len(), column)));
                row.push_str(&piece.text);
                column += piece.wide;
            }
            from += until;
            layout.rows.push(row);
            if from == pieces.len() && is_ended == RowEnd::ByBreak {
                layout.rows.push(String::new());
            }
        }
        if layout.rows.is_empty() {
            layout.rows.push(String::new());
        }
        let last = layout.rows.len() - 1;
        let end = (self.text.len(), last, columns(&layout.rows[last]));
        layout.places.push(end);
        let here = layout.places.iter().find(|place| place.0 >= self.cursor);
        (layout.row, layout.column) = here.map_or((0, 0), |place| (place.1, place.2));
        if layout.column >= width {
            // After the last column of a full row, the cursor waits at the beginning of the next row.
            layout.row += 1;
            layout.column = 0;
            if layout.row == layout.rows.len() {
                layout.rows.push(String::new());
            }
        }
        layout
    }

    fn pieces(&self, width: usize) -> Vec<PlacedCharacter> {
        let mut pieces = Vec::new();
        for (at, grapheme) in self.text.grapheme_indices(true) {
            let folded = self.shown(grapheme);
            let shown = folded.as_deref().unwrap_or(grapheme);
            for (index, part) in shown.graphemes(true).enumerate() {
                let is_break = part == "\n";
                let (text, wide) = if is_break { ("", 0) } else { fit(part, width) };
                pieces.push(PlacedCharacter {
                    at: (index == 0).then_some(at),
                    text: text.to_owned(),
                    wide,
                    is_break,
                });
            }
        }
        pieces
    }

    /// Moves one row up; returns false at the first row.
    pub(crate) fn up(&mut self, width: usize) -> bool {
        let layout = self.layout(width);
        layout.row > 0 && self.move_to(&layout, layout.row - 1)
    }

    /// Moves one row down; returns false at the last row.
    pub(crate) fn down(&mut self, width: usize) -> bool {
        let layout = self.layout(width);
        self.move_to(&layout, layout.row + 1)
    }

    fn move_to(&mut self, layout: &EditorLayout, row: usize) -> bool {
        let places = layout.places.iter().filter(|place| place.1 == row);
        let nearest = places.min_by_key(|place| place.2.abs_diff(layout.column));
        if let Some(place) = nearest {
            self.cursor = place.0;
        }
        nearest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q2_wide_characters_are_never_cut_in_half() {
        let editor = Editor::with("a漢字b");
        let layout = editor.layout(4);
        assert_eq!(layout.rows, ["a漢", "字b"]);
        assert_eq!((layout.row, layout.column), (1, 3));
        let layout = Editor::with("one two three\n").layout(9);
        assert_eq!(layout.rows, ["one two ", "three", ""]);
        assert_eq!((layout.row, layout.column), (2, 0));
    }

    #[test]
    fn q2_up_and_down_keep_the_column() {
        let mut editor = Editor::with("first line\nsecond\nlast line");
        assert!(editor.up(40));
        assert_eq!(editor.layout(40).row, 1);
        assert!(editor.up(40));
        assert!(!editor.up(40));
        assert!(editor.down(40) && editor.down(40) && !editor.down(40));
    }
}
