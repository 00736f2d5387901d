//! The keys of the model's questions to the user.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::App;
use crate::event::ApprovalAnswer;
use crate::screen::choice::{ChoiceDialog, ChoiceStep};
use crate::screen::open_question::OpenQuestion;

impl App {
    /// Handles a key while the model's questions are shown.
    pub(super) fn on_choice_key(&mut self, key: KeyEvent) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let width = self.width;
        let Some(OpenQuestion::Choice(asking)) = self.questions.front_mut() else {
            return;
        };
        match key.code {
            KeyCode::Char('c') if control => self.cancel(),
            _ if asking.other.is_some() => {
                let step = typed(asking, key, width);
                self.on_choice(step);
            }
            KeyCode::Esc => self.answer(ApprovalAnswer::No(None)),
            KeyCode::Up => asking.step(-1),
            KeyCode::Down => asking.step(1),
            KeyCode::Char(' ') => asking.mark(),
            KeyCode::Enter => {
                let step = asking.enter();
                self.on_choice(step);
            }
            KeyCode::Char(c) => {
                let number = c.to_digit(10).unwrap_or_default();
                let step = asking.number(number as usize);
                self.on_choice(step);
            }
            _ => {}
        }
    }

    pub(super) fn on_choice(&mut self, step: ChoiceStep) {
        if let ChoiceStep::Answered(answers) = step {
            self.answer(ApprovalAnswer::Answers(answers));
        }
    }
}

/// Handles a key while the user answers in words.
fn typed(asking: &mut ChoiceDialog, key: KeyEvent, width: usize) -> ChoiceStep {
    let Some(editor) = asking.other.as_mut() else {
        return ChoiceStep::Open;
    };
    match key.code {
        KeyCode::Esc => asking.other = None,
        KeyCode::Enter if key.modifiers.is_empty() => {
            let words = editor.take();
            return asking.say(&words);
        }
        _ => {
            editor.key(key, width.saturating_sub(3));
        }
    }
    ChoiceStep::Open
}
