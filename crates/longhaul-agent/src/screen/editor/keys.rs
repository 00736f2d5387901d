//! The keys of an editor.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::Editor;

impl Editor {
    /// Handles keys that move and edit text. Returns false if the key is none of them.
    pub(crate) fn key(&mut self, key: KeyEvent, width: usize) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter if alt || key.modifiers.contains(KeyModifiers::SHIFT) => {
                self.insert("\n")
            }
            KeyCode::Char('j') if control => self.insert("\n"),
            KeyCode::Char('a') if control => self.home(),
            KeyCode::Char('e') if control => self.end(),
            KeyCode::Char('b') if control => self.left(),
            KeyCode::Char('f') if control => self.right(),
            KeyCode::Char('h') if control => self.backspace(),
            KeyCode::Char('w') if control => self.cut_word(),
            KeyCode::Char('u') if control => self.cut_before(),
            KeyCode::Char('k') if control => self.cut_after(),
            KeyCode::Char('y') if control => self.put_back(),
            KeyCode::Char('b') if alt => self.word_left(),
            KeyCode::Char('f') if alt => self.word_right(),
            KeyCode::Left if control || alt => self.word_left(),
            KeyCode::Right if control || alt => self.word_right(),
            KeyCode::Backspace if control || alt => self.cut_word(),
            KeyCode::Left => self.left(),
            KeyCode::Right => self.right(),
            KeyCode::Home => self.home(),
            KeyCode::End => self.end(),
            KeyCode::Backspace => self.backspace(),
            KeyCode::Delete => self.delete(),
            KeyCode::Up => return self.up(width),
            KeyCode::Down => return self.down(width),
            KeyCode::Char(c) if !control && !alt => self.insert(c.encode_utf8(&mut [0; 4])),
            _ => return false,
        }
        true
    }
}
