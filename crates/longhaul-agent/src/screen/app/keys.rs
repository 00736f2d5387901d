//! The meaning of keys: first for a page, then for a question, then for a list, then for the prompt.

use std::time::Instant;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{App, AppAction, AppPage, Dialog, Leaving};
use crate::event::ApprovalMode;
use crate::screen::pager::PagerAction;
use crate::screen::picker::{Picker, PickerAction};
use crate::screen::preview::PreviewAction;
use crate::screen::status::mode_name;

impl App {
    /// Handles input from the terminal.
    pub(crate) fn on_input(&mut self, event: Event) -> AppAction {
        self.host.touched();
        let next = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.on_key(key),
            Event::Paste(text) => {
                self.on_paste(&text);
                AppAction::On
            }
            _ => AppAction::On,
        };
        // Queued input continues once no page or list is open.
        if self.page.is_none() && self.dialog.is_none() {
            self.go_on();
        }
        next
    }

    fn on_paste(&mut self, text: &str) {
        match (self.page.as_mut(), self.questions.front_mut()) {
            (Some(AppPage::Preview(preview)), _) => preview.paste(text),
            (Some(_), _) => {}
            (None, Some(asking)) => {
                if let Some(editor) = asking.editor() {
                    editor.paste(text);
                } else {
                    // Nobody answers by pasting: the text belongs to the prompt.
                    self.editor.paste(text);
                    self.asking.rest_again(Instant::now());
                }
            }
            (None, None) if self.dialog.is_some() => {}
            (None, None) => {
                if !self.paste_path(text) {
                    self.editor.paste(text);
                    self.edited();
                }
            }
        }
    }

    fn on_key(&mut self, key: KeyEvent) -> AppAction {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        self.hint = None;
        let leaving = std::mem::replace(&mut self.leaving, Leaving::No);
        let escape = std::mem::take(&mut self.escape);
        match key.code {
            KeyCode::Char('z') if control => return AppAction::Aside,
            KeyCode::Char('l') if control => return AppAction::Redraw,
            _ => {}
        }
        if self.page.is_some() {
            return self.on_page_key(key);
        }
        if !self.questions.is_empty() {
            return self.on_question_key(key);
        }
        match key.code {
            KeyCode::Char('c') if control => return self.on_interrupt_after(leaving),
            KeyCode::Char('o') if control => {
                self.open_transcript();
                return AppAction::On;
            }
            KeyCode::BackTab => {
                self.next_mode();
                return AppAction::On;
            }
            _ => {}
        }
        if self.dialog.is_some() {
            self.on_dialog_key(key);
            return AppAction::On;
        }
        if key.code == KeyCode::Esc && self.completion.is_none() && self.skips_hooks() {
            return AppAction::On;
        }
        if key.code == KeyCode::Esc && self.completion.is_none() && self.work.is_none() {
            self.on_escape(escape);
            return AppAction::On;
        }
        self.on_prompt_key(key)
    }

    fn on_page_key(&mut self, key: KeyEvent) -> AppAction {
        let width = self.width;
        match self.page.as_mut() {
            Some(AppPage::Reader(reader) | AppPage::Transcript(reader)) => {
                let read = reader.key(key);
                if read == PagerAction::Closed {
                    self.page = None;
                }
            }
            Some(AppPage::Preview(preview)) => {
                let previewed = preview.key(key, width);
                return self.on_previewed(previewed);
            }
            None => {}
        }
        AppAction::On
    }

    pub(super) fn on_previewed(&mut self, previewed: PreviewAction) -> AppAction {
        match previewed {
            PreviewAction::Open => {}
            PreviewAction::Edit(summary) => return AppAction::Edit(summary),
            PreviewAction::Ask(ask) => {
                self.page = None;
                self.compact(ask);
            }
            PreviewAction::Cancelled => {
                self.page = None;
                self.note("compaction canceled; nothing changed");
            }
        }
        AppAction::On
    }

    /// Takes the edited summary or prompt; none if there is no editor to start.
    pub(crate) fn on_edited(&mut self, text: Option<String>) {
        match (self.page.as_mut(), text) {
            (Some(AppPage::Preview(preview)), Some(summary)) => preview.edited(summary),
            (Some(AppPage::Preview(preview)), None) => preview.edit_here(),
            (Some(_), _) => {}
            (None, Some(prompt)) => {
                self.editor.set(prompt.trim_end());
                self.edited();
            }
            (None, None) => self.hint = Some("set EDITOR to write prompts there".to_owned()),
        }
    }

    fn on_dialog_key(&mut self, key: KeyEvent) {
        if key.code == KeyCode::Esc {
            self.dialog = None;
            return;
        }
        match self.dialog.as_mut() {
            Some(Dialog::Resume(picker)) => {
                if let PickerAction::Chosen(id) = pick(picker, key) {
                    self.resume(id);
                }
            }
            Some(Dialog::History(picker)) => {
                if let PickerAction::Chosen(text) = pick(picker, key) {
                    self.take_from_history(&text);
                }
            }
            Some(Dialog::Model(picker)) => {
                if let PickerAction::Chosen(id) = pick(picker, key) {
                    self.switch_model(id);
                }
            }
            Some(Dialog::Rewind(picker)) => {
                if let PickerAction::Chosen(target) = pick(picker, key) {
                    self.rewind_to(target);
                }
            }
            Some(Dialog::Back(picker)) => {
                if let PickerAction::Chosen(back) = pick(picker, key) {
                    self.go_back(back);
                }
            }
            None => {}
        }
    }

    /// Ctrl-C: stops the nearest thing that can be stopped.
    pub(crate) fn on_interrupt(&mut self) -> AppAction {
        let leaving = std::mem::replace(&mut self.leaving, Leaving::No);
        self.on_interrupt_after(leaving)
    }

    fn on_interrupt_after(&mut self, leaving: Leaving) -> AppAction {
        if self.dialog.take().is_some() {
            return AppAction::On;
        }
        if self.skips_hooks() {
            return AppAction::On;
        }
        match self.work {
            Some(work) if !work.cancelled => self.cancel(),
            _ if leaving == Leaving::Armed => return AppAction::Leave,
            _ if !self.editor.is_empty() => {
                self.editor.take();
                self.edited();
            }
            _ => {
                self.leaving = Leaving::Armed;
                self.hint = Some("press ctrl-c again to leave".to_owned());
            }
        }
        AppAction::On
    }

    fn next_mode(&mut self) {
        self.mode = match self.mode {
            ApprovalMode::Default => ApprovalMode::AcceptEdits,
            ApprovalMode::AcceptEdits => ApprovalMode::Plan,
            ApprovalMode::Plan | ApprovalMode::BypassPermissions | ApprovalMode::DontAsk => {
                ApprovalMode::Default
            }
        };
        self.host.set_mode(self.mode);
        self.hint = Some(format!("mode: {}", mode_name(self.mode)));
    }
}

/// Handles a key for a list.
fn pick<T: Clone>(picker: &mut Picker<T>, key: KeyEvent) -> PickerAction<T> {
    match key.code {
        KeyCode::Up => picker.step(-1),
        KeyCode::Down => picker.step(1),
        KeyCode::PageUp => picker.step(-10),
        KeyCode::PageDown => picker.step(10),
        KeyCode::Backspace => picker.backspace(),
        KeyCode::Enter => return picker.choose(),
        KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::CONTROL) => {
            return picker.typed(c);
        }
        _ => {}
    }
    PickerAction::Open
}
