//! The prompt being written: text of many lines, in which the cursor moves by what people see as characters.
//!
//! A long paste is one character in it, shown as `[pasted 120 lines]` and sent in full. `layout` places the text on the
//! screen; `keys` gives keys their meaning.

mod keys;
mod layout;

use unicode_segmentation::UnicodeSegmentation as _;

use super::text::{clean, count};
use crate::mention::Mention;

/// A paste of at least this many lines is shown folded.
const FOLDED_LINES: usize = 8;
/// A paste of at least this many characters is shown folded.
const FOLDED_CHARS: usize = 2_000;
/// Folded pastes are characters of a plane that nothing else may use here.
const FIRST_FOLD: u32 = 0xf_0000;

/// A text and a cursor position in it.
#[derive(Debug, Default, Clone)]
pub(crate) struct Editor {
    text: String,
    cursor: usize,
    folds: Vec<String>,
    /// The text that was cut last, to be pasted again.
    cut: String,
}

impl Editor {
    /// An editor with this text and the cursor at its end.
    pub(crate) fn with(text: &str) -> Self {
        let mut editor = Self::default();
        editor.insert(text);
        editor
    }

    /// Whether the text is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text with its pastes unfolded.
    pub(crate) fn whole(&self) -> String {
        let mut whole = String::with_capacity(self.text.len());
        for c in self.text.chars() {
            match self.fold(c) {
                Some(fold) => whole.push_str(fold),
                None => whole.push(c),
            }
        }
        whole
    }

    /// Takes the text out, with its pastes unfolded.
    pub(crate) fn take(&mut self) -> String {
        let whole = self.whole();
        *self = Self {
            cut: std::mem::take(&mut self.cut),
            ..Self::default()
        };
        whole
    }

    /// Replaces the text.
    pub(crate) fn set(&mut self, text: &str) {
        self.take();
        self.insert(text);
    }

    /// Inserts text at the cursor. Characters that would control the terminal are made harmless.
    pub(crate) fn insert(&mut self, text: &str) {
        let text = clean(text);
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Pastes at the cursor; a long paste is folded.
    pub(crate) fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let place = char::from_u32(FIRST_FOLD + self.folds.len() as u32);
        let long = text.lines().count() >= FOLDED_LINES || text.chars().count() >= FOLDED_CHARS;
        match place.filter(|_| long) {
            Some(place) => {
                self.folds.push(text);
                self.text.insert(self.cursor, place);
                self.cursor += place.len_utf8();
            }
            None => self.insert(&text),
        }
    }

    /// Inserts a text that is shown as it is, but goes as one when it is deleted.
    pub(crate) fn insert_as_one(&mut self, text: &str) {
        let place = char::from_u32(FIRST_FOLD + self.folds.len() as u32);
        match place {
            Some(place) => {
                self.folds.push(text.to_owned());
                self.text.insert(self.cursor, place);
                self.cursor += place.len_utf8();
            }
            None => self.insert(text),
        }
    }

    fn fold(&self, c: char) -> Option<&str> {
        let at = (c as u32).checked_sub(FIRST_FOLD)?;
        self.folds.get(at as usize).map(String::as_str)
    }

    /// How a piece of the text is shown.
    fn shown(&self, grapheme: &str) -> Option<String> {
        let fold = self.fold(grapheme.chars().next()?)?;
        Some(match fold.lines().count() {
            0 | 1 if fold.chars().count() < FOLDED_CHARS => fold.to_owned(),
            0 | 1 => format!("[pasted {}]", count(fold.chars().count(), "character")),
            lines => format!("[pasted {}]", count(lines, "line")),
        })
    }

    fn before(&self) -> &str {
        &self.text[..self.cursor]
    }

    fn after(&self) -> &str {
        &self.text[self.cursor..]
    }

    fn left_of(&self) -> usize {
        let last = self.before().graphemes(true).next_back();
        self.cursor - last.map_or(0, str::len)
    }

    fn right_of(&self) -> usize {
        self.cursor + self.after().graphemes(true).next().map_or(0, str::len)
    }

    /// Moves one character to the left.
    pub(crate) fn left(&mut self) {
        self.cursor = self.left_of();
    }

    /// Moves one character to the right.
    pub(crate) fn right(&mut self) {
        self.cursor = self.right_of();
    }

    fn word_left_of(&self) -> usize {
        let words = self.before().split_word_bound_indices();
        let word = words.rev().find(|(_, word)| !word.trim().is_empty());
        word.map_or(0, |(at, _)| at)
    }

    /// Moves to the beginning of a word.
    pub(crate) fn word_left(&mut self) {
        self.cursor = self.word_left_of();
    }

    /// Moves to the end of a word.
    pub(crate) fn word_right(&mut self) {
        let mut words = self.after().split_word_bound_indices();
        let word = words.find(|(_, word)| !word.trim().is_empty());
        self.cursor = word.map_or(self.text.len(), |(at, word)| self.cursor + at + word.len());
    }

    /// Moves to the beginning of the line.
    pub(crate) fn home(&mut self) {
        self.cursor = self.before().rfind('\n').map_or(0, |at| at + 1);
    }

    /// Moves to the end of the line.
    pub(crate) fn end(&mut self) {
        let line = self.after().find('\n');
        self.cursor = line.map_or(self.text.len(), |at| self.cursor + at);
    }

    /// Deletes the character before the cursor.
    pub(crate) fn backspace(&mut self) {
        let from = self.left_of();
        self.remove(from, self.cursor);
    }

    /// Deletes the character after the cursor.
    pub(crate) fn delete(&mut self) {
        self.remove(self.cursor, self.right_of());
    }

    /// Cuts the word before the cursor.
    pub(crate) fn cut_word(&mut self) {
        let from = self.word_left_of();
        self.cut = self.text[from..self.cursor].to_owned();
        self.remove(from, self.cursor);
    }

    /// Cuts the text before the cursor in its line.
    pub(crate) fn cut_before(&mut self) {
        let from = self.before().rfind('\n').map_or(0, |at| at + 1);
        self.cut = self.text[from..self.cursor].to_owned();
        self.remove(from, self.cursor);
    }

    /// Cuts the text after the cursor in its line, or the end of the line.
    pub(crate) fn cut_after(&mut self) {
        let until = match self.after().find('\n') {
            Some(0) => self.cursor + 1,
            Some(at) => self.cursor + at,
            None => self.text.len(),
        };
        self.cut = self.text[self.cursor..until].to_owned();
        self.remove(self.cursor, until);
    }

    /// Inserts the text that was cut.
    pub(crate) fn put_back(&mut self) {
        self.text.insert_str(self.cursor, &self.cut);
        self.cursor += self.cut.len();
    }

    fn remove(&mut self, from: usize, until: usize) {
        self.text.replace_range(from..until, "");
        self.cursor = from;
    }

    /// Replaces a backslash right before the cursor with a line break; returns false if there is none.
    pub(crate) fn backslash_to_newline(&mut self) -> bool {
        if !self.before().ends_with('\\') {
            return false;
        }
        self.backspace();
        self.insert("\n");
        true
    }

    /// The word that ends at the cursor, for completion.
    pub(crate) fn word(&self) -> &str {
        let before = self.before();
        // A mention may have spaces in it.
        let from = Mention::open_at(before).or_else(|| before.rfind(char::is_whitespace));
        from.map_or(before, |at| &before[at..]).trim_start()
    }

    /// Whether the word at the cursor is the first of the text.
    pub(crate) fn word_is_first(&self) -> bool {
        self.before().trim_start() == self.word()
    }

    /// Replaces the word at the cursor.
    pub(crate) fn replace_word(&mut self, with: &str) {
        let from = self.cursor - self.word().len();
        self.remove(from, self.cursor);
        self.insert(with);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn q2_the_cursor_moves_by_what_people_see_as_characters() {
        let mut editor = Editor::with("e\u{301}👩‍👩‍👧漢");
        editor.left();
        editor.backspace();
        assert_eq!(editor.whole(), "e\u{301}漢");
        editor.left();
        editor.delete();
        assert_eq!(editor.whole(), "漢");
    }

    #[test]
    fn q2_a_long_paste_is_folded_and_sent_whole() {
        let mut editor = Editor::with("look: ");
        let paste = "line\r\n".repeat(120);
        editor.paste(&paste);
        editor.insert(" !");
        let layout = editor.layout(80);
        assert_eq!(layout.rows, ["look: [pasted 120 lines] !"]);
        assert_eq!(
            editor.clone().take(),
            format!("look: {} !", "line\n".repeat(120))
        );
        for _ in 0..3 {
            editor.backspace();
        }
        assert_eq!(editor.whole(), "look: ", "a paste goes as one");
    }

    #[test]
    fn q2_words_and_lines_are_cut_and_put_back() {
        let mut editor = Editor::with("one two\nthree four");
        editor.cut_word();
        assert_eq!(editor.whole(), "one two\nthree ");
        editor.cut_before();
        assert_eq!(editor.whole(), "one two\n");
        editor.put_back();
        assert_eq!(editor.whole(), "one two\nthree ");
        editor.home();
        editor.cut_after();
        editor.left();
        editor.cut_after();
        assert_eq!(editor.whole(), "one two");
        editor.insert("\\");
        assert!(editor.backslash_to_newline());
        assert_eq!(editor.whole(), "one two\n");
        assert!(!editor.backslash_to_newline());
    }

    #[test]
    fn q2_a_character_wider_than_the_row_is_shown_as_a_question_mark() {
        // Two pictures joined in a way no terminal knows: one character, four columns.
        let editor = Editor::with("👩\u{301}\u{200d}👩");
        assert_eq!(editor.layout(2).rows[0], "?");
        assert_eq!(editor.layout(4).rows[0], "👩\u{301}\u{200d}👩");
        assert_eq!(editor.whole(), "👩\u{301}\u{200d}👩");
    }

    proptest! {
        #[test]
        fn q2_no_keys_break_the_prompt(steps in proptest::collection::vec((0_u8..18, "[a漢\u{301}👩\u{200d}\\n ]{0,3}"), 0..60), width in 1_usize..20) {
            let mut editor = Editor::default();
            for (step, text) in steps {
                match step {
                    0 => editor.left(),
                    1 => editor.right(),
                    2 => editor.word_left(),
                    3 => editor.word_right(),
                    4 => editor.home(),
                    5 => editor.end(),
                    6 => editor.backspace(),
                    7 => editor.delete(),
                    8 => editor.cut_word(),
                    9 => editor.cut_after(),
                    10 => editor.put_back(),
                    11 => editor.paste(&"x\n".repeat(9)),
                    12 => { editor.up(width); }
                    13 => { editor.down(width); }
                    14 => editor.replace_word(&text),
                    15 => editor.cut_before(),
                    _ => editor.insert(&text),
                }
                let layout = editor.layout(width);
                prop_assert!(layout.row < layout.rows.len());
                prop_assert!(layout.column <= width);
                for row in &layout.rows {
                    prop_assert!(crate::screen::text::columns(row) <= width.max(2), "{row:?}");
                }
            }
        }
    }
}
