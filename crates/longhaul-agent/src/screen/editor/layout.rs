//! Where the text of a prompt stands on the screen: its rows at a width, and the cursor among them.

use unicode_segmentation::UnicodeSegmentation as _;

use super::Editor;
use crate::screen::text::columns;

/// The rows of a prompt.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// What each shows.
    pub(crate) rows: Vec<String>,
    /// The cursor's row.
    pub(crate) row: usize,
    /// The cursor's column.
    pub(crate) column: usize,
    /// The bytes of the text, and where each is: row and column.
    places: Vec<(usize, usize, usize)>,
}

impl Editor {
    /// The rows at a width.
    pub(crate) fn layout(&self, width: usize) -> Layout {
        let width = width.max(2);
        let mut layout = Layout::default();
        let (mut row, mut column) = (String::new(), 0);
        let mut at = 0;
        for grapheme in self.text.graphemes(true) {
            let place = |layout: &mut Layout, column: usize| {
                layout.places.push((at, layout.rows.len(), column));
            };
            if grapheme == "\n" {
                place(&mut layout, column);
                layout.rows.push(std::mem::take(&mut row));
                column = 0;
                at += grapheme.len();
                continue;
            }
            let folded = self.shown(grapheme);
            let parts: Vec<&str> = match &folded {
                Some(shown) => shown.graphemes(true).collect(),
                None => vec![grapheme],
            };
            for (index, part) in parts.iter().enumerate() {
                let wide = columns(part).min(width);
                if column + wide > width {
                    layout.rows.push(std::mem::take(&mut row));
                    column = 0;
                }
                if index == 0 {
                    place(&mut layout, column);
                }
                row.push_str(part);
                column += wide;
            }
            at += grapheme.len();
        }
        layout.places.push((at, layout.rows.len(), column));
        layout.rows.push(row);
        let here = layout.places.iter().find(|place| place.0 >= self.cursor);
        (layout.row, layout.column) = here.map_or((0, 0), |place| (place.1, place.2));
        if layout.column >= width {
            // Behind the last column of a full row: the cursor waits at the beginning of the next.
            layout.row += 1;
            layout.column = 0;
            if layout.row == layout.rows.len() {
                layout.rows.push(String::new());
            }
        }
        layout
    }

    /// One row up; false at the first.
    pub(crate) fn up(&mut self, width: usize) -> bool {
        let layout = self.layout(width);
        layout.row > 0 && self.move_to(&layout, layout.row - 1)
    }

    /// One row down; false at the last.
    pub(crate) fn down(&mut self, width: usize) -> bool {
        let layout = self.layout(width);
        self.move_to(&layout, layout.row + 1)
    }

    fn move_to(&mut self, layout: &Layout, row: usize) -> bool {
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
