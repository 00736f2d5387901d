//! The meaning of keys for the prompt: completing, sending, going through the history. `editor/keys.rs` has those that
//! edit.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{App, AppAction, CompletionFiles};
use crate::screen::complete;

/// The number of columns for the text of the prompt.
pub(crate) fn prompt_width(width: usize) -> usize {
    width.saturating_sub(3).max(2)
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
                if self.editor.key(key, width) {
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
