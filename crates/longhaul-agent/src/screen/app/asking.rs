//! The keys of an open question. A question is deaf until the keyboard has rested: until then, keys belong to the prompt.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{App, AppAction, AppPage, prompt_width};
use crate::event::{ApprovalAnswer, ApprovalRequest};
use crate::screen::editor::Editor;
use crate::screen::open_question::OpenQuestion;
use crate::screen::pager::{PagerStart, TextPager};
use crate::screen::question::ApprovalChoice;

/// How long the keyboard must have rested before a question accepts keys. It is longer than the pauses of somebody who
/// writes a sentence, and short enough for somebody who has read the question.
const REST: Duration = Duration::from_millis(700);

/// Whether the question in view accepts keys.
#[derive(Debug)]
pub(crate) struct QuestionEar {
    deaf_until: Instant,
    /// Whether the user has moved the cursor among the answers, and so means the question.
    is_engaged: bool,
}

impl QuestionEar {
    /// The state before any question.
    pub(crate) fn new() -> Self {
        Self {
            deaf_until: Instant::now(),
            is_engaged: false,
        }
    }

    /// A key was pressed that is no answer, or another question has come into view.
    pub(crate) fn rest_again(&mut self, now: Instant) {
        self.deaf_until = now + REST;
        self.is_engaged = false;
    }

    fn hears(&self, now: Instant) -> bool {
        now >= self.deaf_until
    }

    /// As if the keyboard had rested.
    #[cfg(test)]
    pub(crate) fn rested(&mut self) {
        self.deaf_until = Instant::now();
    }
}

impl App {
    /// Shows a question.
    pub(super) fn on_asks(&mut self, question: ApprovalRequest) {
        self.completion = None;
        // A user who is typing does not mean the question that has just appeared.
        if self.questions.is_empty() {
            self.asking.rest_again(Instant::now());
        }
        self.questions
            .push_back(OpenQuestion::new(question, self.width));
    }

    /// Handles a key while a question is open.
    pub(super) fn on_question_key(&mut self, key: KeyEvent) -> AppAction {
        let now = Instant::now();
        let in_words = self.questions.front();
        let in_words = in_words.is_some_and(OpenQuestion::is_in_words);
        if !in_words && self.is_for_prompt(key, now) {
            self.asking.rest_again(now);
            return self.on_key_below_question(key);
        }
        if matches!(key.code, KeyCode::Up | KeyCode::Down) {
            self.asking.is_engaged = true;
        }
        match self.questions.front() {
            Some(OpenQuestion::Choice(_)) => self.on_choice_key(key),
            _ => self.on_approval_key(key),
        }
        AppAction::On
    }

    /// Whether a key belongs to the prompt although a question is open.
    fn is_for_prompt(&self, key: KeyEvent, now: Instant) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_blank = self.editor.is_empty();
        match key.code {
            KeyCode::Esc => false,
            KeyCode::Char('c' | 'o') if control => false,
            _ if !self.asking.hears(now) => true,
            // What was typed is sent first, unless the user has turned to the answers.
            KeyCode::Enter => !is_blank && !self.asking.is_engaged,
            KeyCode::Up | KeyCode::Down => false,
            KeyCode::Char(c) if !control => {
                let asking = self.questions.front();
                !asking.is_some_and(|asking| asking.is_answered_by(c, is_blank))
            }
            _ => !is_blank,
        }
    }

    /// Handles a key for the prompt below a question.
    fn on_key_below_question(&mut self, key: KeyEvent) -> AppAction {
        match key.code {
            KeyCode::Enter if key.modifiers.is_empty() => return self.on_enter(),
            KeyCode::Up | KeyCode::Down => {}
            _ => {
                self.editor.key(key, prompt_width(self.width));
            }
        }
        AppAction::On
    }

    fn on_approval_key(&mut self, key: KeyEvent) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let width = self.width;
        let Some(OpenQuestion::Approval(asking)) = self.questions.front_mut() else {
            return;
        };
        if let Some(editor) = asking.instead.as_mut() {
            match key.code {
                KeyCode::Char('c') if control => self.cancel(),
                KeyCode::Esc => asking.instead = None,
                KeyCode::Enter if key.modifiers.is_empty() => {
                    let instead = editor.take();
                    let instead = Some(instead).filter(|text| !text.trim().is_empty());
                    self.answer(ApprovalAnswer::No(instead));
                }
                _ => {
                    editor.key(key, width.saturating_sub(3));
                }
            }
            return;
        }
        match key.code {
            KeyCode::Char('c') if control => self.cancel(),
            KeyCode::Char('o') if control => {
                let detail = asking.detail();
                self.page = Some(AppPage::Reader(TextPager::new(
                    "What it would do",
                    detail,
                    PagerStart::Top,
                )));
            }
            KeyCode::Esc => self.answer(ApprovalAnswer::No(None)),
            KeyCode::Up => asking.step(-1),
            KeyCode::Down => asking.step(1),
            KeyCode::Enter => {
                let choice = asking.chosen();
                self.choose(choice);
            }
            KeyCode::Char(c) => {
                let number = c.to_digit(10).map(|digit| digit as usize);
                if let Some(choice) = number.and_then(|number| asking.number(number)) {
                    self.choose(choice);
                }
            }
            _ => {}
        }
    }

    fn choose(&mut self, choice: ApprovalChoice) {
        match (choice, self.questions.front_mut()) {
            (ApprovalChoice::Is(answer), _) => self.answer(answer),
            (ApprovalChoice::Instead, Some(OpenQuestion::Approval(asking))) => {
                asking.instead = Some(Editor::default());
            }
            (ApprovalChoice::Instead, _) => {}
        }
    }

    /// Answers the question in view, of which nothing stays on the screen but what the answer leaves.
    pub(super) fn answer(&mut self, answer: ApprovalAnswer) {
        if let Some(OpenQuestion::Approval(asking)) = self.questions.front() {
            let plan = asking.plan_lines(&answer);
            self.finished.extend(plan);
        }
        self.answer_shown(answer);
    }

    /// Answers the question in view, which stays on the screen.
    pub(super) fn answer_shown(&mut self, answer: ApprovalAnswer) {
        // The next question is a new one, and the key may have been pressed twice.
        self.asking.rest_again(Instant::now());
        match self.questions.pop_front() {
            Some(OpenQuestion::Approval(asking)) => {
                let said = asking.answer(answer);
                self.finished.extend(said);
            }
            // The line of the call says what was answered.
            Some(OpenQuestion::Choice(asking)) => asking.answer(answer),
            None => {}
        }
    }
}
