//! Lines as input, where there is no cursor to move: questions and lists are answered by number.

use super::{App, AppAction, AppPage, Dialog};
use crate::event::ApprovalAnswer;
use crate::screen::flow::WrappedLine;
use crate::screen::open_question::OpenQuestion;
use crate::screen::question::ApprovalChoice;

impl App {
    /// The open question, list or preview as lines; `None` if there is none.
    pub(crate) fn waiting(&self) -> Option<Vec<String>> {
        if let Some(asking) = self.questions.front() {
            return Some(asking.plain());
        }
        if let Some(AppPage::Preview(preview)) = self.page.as_ref() {
            return Some(preview.plain());
        }
        self.dialog.as_ref().map(|dialog| match dialog {
            Dialog::Resume(picker) | Dialog::Model(picker) | Dialog::History(picker) => {
                picker.plain()
            }
            Dialog::Rewind(picker) => picker.plain(),
            Dialog::Back(picker) => picker.plain(),
        })
    }

    /// Handles a line.
    pub(crate) fn on_line(&mut self, line: &str) -> AppAction {
        self.host.touched();
        if !self.questions.is_empty() {
            self.on_question_line(line);
            return AppAction::On;
        }
        if let Some(AppPage::Preview(preview)) = self.page.as_mut() {
            let previewed = preview.answer(line);
            let next = self.on_previewed(previewed);
            self.go_on();
            return next;
        }
        if self.dialog.is_some() {
            self.on_dialog_line(line);
            if self.dialog.is_none() {
                self.go_on();
            }
            return AppAction::On;
        }
        self.submit(line.to_owned())
    }

    fn on_question_line(&mut self, line: &str) {
        let line = line.trim();
        let asking = match self.questions.front_mut() {
            Some(OpenQuestion::Approval(asking)) => asking,
            Some(OpenQuestion::Choice(_)) if line.is_empty() => {
                return self.answer_shown(ApprovalAnswer::No(None));
            }
            Some(OpenQuestion::Choice(asking)) => {
                let step = asking.line(line);
                return self.on_choice(step);
            }
            None => return,
        };
        let choice = line.parse().ok().and_then(|number| asking.number(number));
        let answer = match (choice, line) {
            (Some(ApprovalChoice::Is(answer)), _) => answer,
            (Some(ApprovalChoice::Instead), _) | (None, "") => ApprovalAnswer::No(None),
            (None, "y" | "yes") => ApprovalAnswer::Once,
            (None, "n" | "no") => ApprovalAnswer::No(None),
            (None, instead) => ApprovalAnswer::No(Some(instead.to_owned())),
        };
        self.answer_shown(answer);
    }

    fn on_dialog_line(&mut self, line: &str) {
        let number: usize = line.trim().parse().unwrap_or(0);
        match self.dialog.take() {
            Some(Dialog::Resume(picker)) => {
                if let Some(id) = picker.number(number) {
                    self.resume(id);
                }
            }
            // Keys open it, and there are none here.
            Some(Dialog::History(_)) => {}
            Some(Dialog::Model(picker)) => {
                if let Some(id) = picker.number(number) {
                    self.switch_model(id);
                }
            }
            Some(Dialog::Rewind(picker)) => {
                if let Some(target) = picker.number(number) {
                    self.rewind_to(target);
                }
            }
            Some(Dialog::Back(picker)) => {
                if let Some(back) = picker.number(number) {
                    self.go_back(back);
                }
            }
            None => {}
        }
    }

    /// Closes a page that is only for reading, and returns it as lines.
    pub(crate) fn take_reading(&mut self) -> Vec<WrappedLine> {
        match self.page.take() {
            Some(AppPage::Reader(reader) | AppPage::Transcript(reader)) => reader.into_lines(),
            page => {
                self.page = page;
                Vec::new()
            }
        }
    }
}
