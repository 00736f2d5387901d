//! Lines as input, where there is no cursor to move: questions and lists are answered by number.

use super::{App, Dialog, Next, Page};
use crate::event::Answer;
use crate::screen::flow::Flow;
use crate::screen::question::Choice;

impl App {
    /// What waits for an answer, as lines; none if nothing does.
    pub(crate) fn waiting(&self) -> Option<Vec<String>> {
        if let Some(asking) = self.questions.front() {
            return Some(asking.plain());
        }
        if let Some(Page::Preview(preview)) = self.page.as_ref() {
            return Some(preview.plain());
        }
        self.dialog.as_ref().map(|dialog| match dialog {
            Dialog::Resume(picker) | Dialog::Model(picker) => picker.plain(),
            Dialog::Rewind(picker) => picker.plain(),
            Dialog::Back(picker) => picker.plain(),
        })
    }

    /// Takes a line.
    pub(crate) fn on_line(&mut self, line: &str) -> Next {
        if !self.questions.is_empty() {
            self.on_question_line(line);
            return Next::On;
        }
        if let Some(Page::Preview(preview)) = self.page.as_mut() {
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
            return Next::On;
        }
        self.submit(line.to_owned())
    }

    fn on_question_line(&mut self, line: &str) {
        let line = line.trim();
        let number = line.parse().ok();
        let choice = self
            .questions
            .front()
            .and_then(|asking| asking.number(number?));
        let answer = match (choice, line) {
            (Some(Choice::Is(answer)), _) => answer,
            (Some(Choice::Instead), _) | (None, "") => Answer::No(None),
            (None, "y" | "yes") => Answer::Once,
            (None, "n" | "no") => Answer::No(None),
            (None, instead) => Answer::No(Some(instead.to_owned())),
        };
        self.answer(answer);
    }

    fn on_dialog_line(&mut self, line: &str) {
        let number: usize = line.trim().parse().unwrap_or(0);
        match self.dialog.take() {
            Some(Dialog::Resume(picker)) => {
                if let Some(id) = picker.number(number) {
                    self.resume(id);
                }
            }
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

    /// A page that is only to be read, as lines; it is closed.
    pub(crate) fn take_reading(&mut self) -> Vec<Flow> {
        match self.page.take() {
            Some(Page::Reader(reader) | Page::Transcript(reader)) => reader.into_lines(),
            page => {
                self.page = page;
                Vec::new()
            }
        }
    }
}
