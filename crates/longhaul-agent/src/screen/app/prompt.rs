//! The meaning of keys for the prompt: moving, editing, completing, sending.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{App, AppAction, CompletionFiles};
use crate::screen::complete;
use crate::screen::editor::Editor;
use crate::screen::live::prompt_width;

/// Handles keys that move and edit text. Returns false if the key is none of them.
pub(crate) fn edit(editor: &mut Editor, key: KeyEvent, width: usize) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    match key.code {
        KeyCode::Enter if alt || key.modifiers.contains(KeyModifiers::SHIFT) => editor.insert("\n"),
        KeyCode::Char('j') if control => editor.insert("\n"),
        KeyCode::Char('a') if control => editor.home(),
        KeyCode::Char('e') if control => editor.end(),
        KeyCode::Char('b') if control => editor.left(),
        KeyCode::Char('f') if control => editor.right(),
        KeyCode::Char('h') if control => editor.backspace(),
        KeyCode::Char('w') if control => editor.cut_word(),
        KeyCode::Char('u') if control => editor.cut_before(),
        KeyCode::Char('k') if control => editor.cut_after(),
        KeyCode::Char('y') if control => editor.put_back(),
        KeyCode::Char('b') if alt => editor.word_left(),
        KeyCode::Char('f') if alt => editor.word_right(),
        KeyCode::Left if control || alt => editor.word_left(),
        KeyCode::Right if control || alt => editor.word_right(),
        KeyCode::Backspace if control || alt => editor.cut_word(),
        KeyCode::Left => editor.left(),
        KeyCode::Right => editor.right(),
        KeyCode::Home => editor.home(),
        KeyCode::End => editor.end(),
        KeyCode::Backspace => editor.backspace(),
        KeyCode::Delete => editor.delete(),
        KeyCode::Up => return editor.up(width),
        KeyCode::Down => return editor.down(width),
        KeyCode::Char(c) if !control && !alt => editor.insert(c.encode_utf8(&mut [0; 4])),
        _ => return false,
    }
    true
}

impl App {
    pub(super) fn on_prompt_key(&mut self, key: KeyEvent) -> AppAction {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let width = prompt_width(self.width);
        match (key.code, self.completion.as_mut()) {
            (KeyCode::Esc, Some(_)) => self.completion = None,
            (KeyCode::Up, Some(found)) => found.chosen = found.chosen.saturating_sub(1),
            (KeyCode::Down, Some(found)) => {
                found.chosen = (found.chosen + 1).min(found.options.len() - 1);
            }
            (KeyCode::Tab, Some(_)) => self.complete(),
            (KeyCode::Tab, None) => self.edited(),
            (KeyCode::Esc, None) if self.work.is_some() => self.cancel(),
            (KeyCode::Esc, None) => {}
            (KeyCode::Char('r'), _) if control => self.search_history(),
            (KeyCode::Char('v'), _) if control => self.paste_picture(),
            (KeyCode::Char('g'), _) if control => return AppAction::Edit(self.editor.whole()),
            (KeyCode::Char('d'), _) if control && self.editor.is_empty() => {
                return AppAction::Leave;
            }
            (KeyCode::Char('d'), _) if control => self.editor.delete(),
            (KeyCode::Enter, _) if key.modifiers.is_empty() => return self.on_enter(),
            (KeyCode::Up, None) if !self.editor.up(width) => {
                let shown = self.editor.whole();
                if let Some(text) = self.history.earlier(&shown).map(str::to_owned) {
                    self.editor.set(&text);
                }
            }
            (KeyCode::Down, None) if !self.editor.down(width) => {
                if let Some(text) = self.history.later().map(str::to_owned) {
                    self.editor.set(&text);
                }
            }
            (KeyCode::Up | KeyCode::Down, None) => {}
            _ => {
                if edit(&mut self.editor, key, width) {
                    self.edited();
                }
            }
        }
        AppAction::On
    }

    pub(super) fn on_enter(&mut self) -> AppAction {
        if self.editor.backslash_to_newline() {
            return AppAction::On;
        }
        // A command that is not complete is completed first.
        if self.editor.word().starts_with('/') && self.completion.is_some() {
            self.complete();
        }
        self.completion = None;
        let text = self.editor.take();
        self.submit(text)
    }

    /// Reacts to a change of the prompt's text.
    pub(super) fn edited(&mut self) {
        self.history.leave();
        if self.editor.word().starts_with('@') {
            self.ask_for_files();
        }
        let files = match &self.files {
            CompletionFiles::Known(files) => files.as_slice(),
            _ => &[],
        };
        self.completion = complete::of(&self.editor, &self.own, files, &self.resources);
        if self.editor.whole().trim_start().starts_with('!') {
            self.hint = Some("enter runs this in the shell".to_owned());
        }
    }

    fn complete(&mut self) {
        if let Some(found) = self.completion.take() {
            let (text, _) = &found.options[found.chosen];
            let space = if text.ends_with('/') { "" } else { " " };
            self.editor.replace_word(&format!("{text}{space}"));
        }
    }
}
