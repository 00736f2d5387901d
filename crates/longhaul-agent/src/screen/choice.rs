//! The model's questions to the user, one after the other: options to choose from, and always something else to say.

use std::collections::BTreeSet;

use ratatui::text::{Line, Span};

use super::editor::Editor;
use super::flow::{WrappedLine, rows};
use super::question::with_editor;
use super::style::{BOLD, CHOSEN, WARNING, dim, styled};
use super::text::{keep_start, visible_line};
use crate::event::{ApprovalAnswer, ApprovalRequest};
use crate::tool::UserQuestion;

const OTHER: &str = "something else";

/// Questions on the screen, of which one is shown.
#[derive(Debug)]
pub(crate) struct ChoiceDialog {
    asked: ApprovalRequest,
    questions: Vec<UserQuestion>,
    /// The answers so far.
    answers: Vec<String>,
    at: usize,
    /// The options that were chosen, where there may be several.
    chosen: BTreeSet<usize>,
    /// The user's own words, while the user types them.
    pub(crate) other: Option<Editor>,
}

/// The effect of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChoiceStep {
    /// Questions are left.
    Open,
    /// All questions have answers.
    Answered(Vec<String>),
}

impl ChoiceDialog {
    /// The id of the call that asks.
    pub(crate) fn call(&self) -> &str {
        &self.asked.id
    }

    /// Questions that were just asked.
    pub(crate) fn new(asked: ApprovalRequest, questions: Vec<UserQuestion>) -> Self {
        Self {
            asked,
            questions,
            answers: Vec::new(),
            at: 0,
            chosen: BTreeSet::new(),
            other: None,
        }
    }

    /// Whether this character is an answer; a blank is one only while nothing else is being typed.
    pub(crate) fn is_answered_by(&self, c: char, is_blank: bool) -> bool {
        let number = c.to_digit(10).map(|digit| digit as usize);
        number.is_some_and(|number| (1..=self.options() + 1).contains(&number))
            || (c == ' ' && is_blank && self.takes_several())
    }

    /// Whether the answer is still waited for.
    pub(crate) fn is_open(&self) -> bool {
        !self.asked.answer.is_closed()
    }

    /// Ends it with this answer.
    pub(crate) fn answer(self, answer: ApprovalAnswer) {
        // The receiver may be gone; then there is nothing to answer.
        let _ = self.asked.answer.send(answer);
    }

    /// The question that is shown.
    fn question(&self) -> Option<&UserQuestion> {
        self.questions.get(self.answers.len())
    }

    fn options(&self) -> usize {
        self.question().map_or(0, |question| question.options.len())
    }

    fn takes_several(&self) -> bool {
        self.question()
            .is_some_and(|question| question.multi_select)
    }

    /// Moves the cursor by this many choices.
    pub(crate) fn step(&mut self, by: isize) {
        self.at = self.at.saturating_add_signed(by).min(self.options());
    }

    /// Takes the choice with this number, counted from one, or marks it where there may be several.
    pub(crate) fn number(&mut self, number: usize) -> ChoiceStep {
        let Some(at) = number.checked_sub(1).filter(|at| *at <= self.options()) else {
            return ChoiceStep::Open;
        };
        self.at = at;
        if self.takes_several() && at < self.options() {
            self.mark();
            return ChoiceStep::Open;
        }
        self.enter()
    }

    /// Marks the choice under the cursor, or takes the mark away.
    pub(crate) fn mark(&mut self) {
        if self.takes_several() && self.at < self.options() && !self.chosen.remove(&self.at) {
            self.chosen.insert(self.at);
        }
    }

    /// Takes the choice under the cursor, and with it all that are marked.
    pub(crate) fn enter(&mut self) -> ChoiceStep {
        if self.at >= self.options() {
            self.other = Some(Editor::default());
            return ChoiceStep::Open;
        }
        if self.chosen.is_empty() {
            self.chosen.insert(self.at);
        }
        self.take(None)
    }

    /// Takes the user's own words, and with them all that is marked. Blank words are no answer.
    pub(crate) fn say(&mut self, words: &str) -> ChoiceStep {
        self.other = None;
        match words.trim() {
            "" => ChoiceStep::Open,
            words => self.take(Some(words)),
        }
    }

    /// Takes a line, where there are only lines: a number, several numbers, or the user's own words.
    pub(crate) fn line(&mut self, line: &str) -> ChoiceStep {
        let several = self.takes_several();
        let words: Vec<&str> = line.split([',', ' ']).filter(|it| !it.is_empty()).collect();
        let numbers: Option<BTreeSet<usize>> = (words.iter())
            .map(|word| {
                let at = word.parse::<usize>().ok()?.checked_sub(1)?;
                Some(at).filter(|at| *at < self.options())
            })
            .collect();
        match numbers {
            Some(numbers) if numbers.len() == 1 || several && !numbers.is_empty() => {
                self.chosen = numbers;
                self.take(None)
            }
            _ => self.say(line),
        }
    }

    fn take(&mut self, words: Option<&str>) -> ChoiceStep {
        let Some(question) = self.question() else {
            return ChoiceStep::Open;
        };
        let labels = self
            .chosen
            .iter()
            .filter_map(|at| question.options.get(*at));
        let labels = labels.map(|option| option.label.as_str());
        let answer: Vec<&str> = labels.chain(words).collect();
        let answer = answer.join(", ");
        self.answers.push(answer);
        self.chosen.clear();
        self.at = 0;
        if self.answers.len() < self.questions.len() {
            return ChoiceStep::Open;
        }
        ChoiceStep::Answered(std::mem::take(&mut self.answers))
    }

    fn head(&self) -> Vec<WrappedLine> {
        let Some(question) = self.question() else {
            return Vec::new();
        };
        let mut spans = vec![styled("? ", WARNING)];
        if !question.header.is_empty() {
            spans.push(styled(visible_line(&question.header), BOLD));
            spans.push(Span::raw(" "));
        }
        spans.push(Span::raw(visible_line(&question.question)));
        if self.questions.len() > 1 {
            let place = format!(" ({} of {})", self.answers.len() + 1, self.questions.len());
            spans.push(dim(place));
        }
        vec![WrappedLine::new(spans, 2)]
    }

    /// The choices: their text, and what they mean.
    fn choices(&self) -> Vec<(String, String)> {
        let several = self.takes_several();
        let options = self.question().into_iter().flat_map(|it| &it.options);
        let mut choices: Vec<(String, String)> = (options.enumerate())
            .map(|(at, option)| {
                let mark = match (several, self.chosen.contains(&at)) {
                    (false, _) => "",
                    (true, true) => "[x] ",
                    (true, false) => "[ ] ",
                };
                let label = visible_line(&option.label);
                (format!("{mark}{label}"), visible_line(&option.description))
            })
            .collect();
        choices.push((OTHER.to_owned(), String::new()));
        choices
    }

    /// The rows, at most `height` of them, and where the cursor is. The choice under the cursor is always visible.
    pub(crate) fn rows(
        &self,
        width: usize,
        height: usize,
    ) -> (Vec<Line<'static>>, Option<(usize, usize)>) {
        if let Some(editor) = &self.other {
            let ask = "  what else? (enter: send, esc: back)";
            return with_editor(&self.head(), ask, editor, width, height);
        }
        let mut below = self.choice_rows(width, height.max(1));
        let keys = if self.takes_several() {
            "  space or a number marks · enter: done · esc: stop"
        } else {
            "  enter or a number: answer · esc: stop"
        };
        let mut above = rows(&self.head(), width);
        above.truncate(height.saturating_sub(below.len()));
        if above.len() + below.len() < height {
            below.push(Line::from(dim(keep_start(keys, width))));
        }
        above.extend(below);
        (above, None)
    }

    /// The choices with what they mean. In little space only the choice under the cursor is explained, and in very
    /// little space the choices scroll with the cursor.
    fn choice_rows(&self, width: usize, height: usize) -> Vec<Line<'static>> {
        let choices = self.choices();
        let of_choice = |at: usize, explained: bool| {
            let (text, about) = &choices[at];
            let (mark, style) = if at == self.at {
                ("› ", CHOSEN)
            } else {
                ("  ", ratatui::style::Style::new())
            };
            let text = format!("{mark}{}. {text}", at + 1);
            let mut rows = WrappedLine::new(vec![styled(text, style)], 5).rows(width);
            if explained && !about.is_empty() {
                let about = WrappedLine::dim(about.clone()).indented(Span::raw("     "));
                rows.extend(about.rows(width));
            }
            rows
        };
        let whole: usize = (0..choices.len()).map(|at| of_choice(at, true).len()).sum();
        let fits = whole + 2 <= height;
        let mut below: Vec<Line<'static>> = Vec::new();
        let mut until = 0;
        for at in 0..choices.len() {
            below.extend(of_choice(at, fits || at == self.at));
            if at == self.at {
                until = below.len();
            }
        }
        let room = height.saturating_sub(1).max(1);
        below.drain(..until.saturating_sub(room));
        below.truncate(room);
        below
    }

    /// The question as plain lines, for line mode.
    pub(crate) fn plain(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.head().iter().map(WrappedLine::text).collect();
        let options = self.question().into_iter().flat_map(|it| &it.options);
        for (at, option) in options.enumerate() {
            let label = visible_line(&option.label);
            let about = visible_line(&option.description);
            let gap = if about.is_empty() { "" } else { ": " };
            lines.push(format!("  {}. {label}{gap}{about}", at + 1));
        }
        lines.push(if self.takes_several() {
            "numbers, or something else (an empty line stops):".to_owned()
        } else {
            "number, or something else (an empty line stops):".to_owned()
        });
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::ToolAccess;
    use serde_json::json;

    fn dialog() -> ChoiceDialog {
        let questions = UserQuestion::of_input(&json!({"questions": [
            {"question": "Which database?", "header": "Store", "multiSelect": false, "options": [
                {"label": "Postgres", "description": "a server"}, {"label": "SQLite", "description": "a file"}]},
            {"question": "Which checks?", "header": "", "multiSelect": true, "options": [
                {"label": "Lints", "description": ""}, {"label": "Tests", "description": ""}]},
        ]}));
        let questions = questions.unwrap();
        let (answer, _) = tokio::sync::oneshot::channel();
        let asked = ApprovalRequest {
            id: String::new(),
            name: "AskUserQuestion".to_owned(),
            line: String::new(),
            access: ToolAccess::AsksUser(questions.clone()),
            detail: String::new(),
            reason: String::new(),
            asker: None,
            rule: None,
            answer,
        };
        ChoiceDialog::new(asked, questions)
    }

    fn shown(dialog: &ChoiceDialog, height: usize) -> String {
        let (rows, _) = dialog.rows(60, height);
        let rows = rows.iter().map(|row| row.to_string());
        rows.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn q3_questions_are_answered_one_after_the_other() {
        let mut asking = dialog();
        insta::assert_snapshot!(shown(&asking, 20));
        assert_eq!(asking.number(2), ChoiceStep::Open);
        assert_eq!(asking.number(1), ChoiceStep::Open);
        assert_eq!(asking.number(2), ChoiceStep::Open);
        insta::assert_snapshot!(shown(&asking, 20));
        let answers = vec!["SQLite".to_owned(), "Lints, Tests".to_owned()];
        assert_eq!(asking.enter(), ChoiceStep::Answered(answers));
    }

    #[test]
    fn q3_something_else_is_said_in_words() {
        let mut asking = dialog();
        assert_eq!(asking.number(3), ChoiceStep::Open);
        assert!(asking.other.is_some());
        assert_eq!(asking.say("  "), ChoiceStep::Open);
        assert_eq!(asking.say("None at all"), ChoiceStep::Open);
        asking.mark();
        let answers = vec!["None at all".to_owned(), "Lints, and mine".to_owned()];
        assert_eq!(asking.say("and mine"), ChoiceStep::Answered(answers));
    }

    #[test]
    fn q3_lines_answer_with_numbers_or_words() {
        let mut asking = dialog();
        assert_eq!(asking.line("1 2"), ChoiceStep::Open);
        let answers = vec!["1 2".to_owned(), "Lints, Tests".to_owned()];
        assert_eq!(asking.line("1, 2"), ChoiceStep::Answered(answers));
        let mut asking = dialog();
        assert_eq!(asking.line("9"), ChoiceStep::Open);
        let answers = vec!["9".to_owned(), "Tests".to_owned()];
        assert_eq!(asking.line("2"), ChoiceStep::Answered(answers));
    }

    #[test]
    fn q3_the_choice_under_the_cursor_is_visible_at_any_height() {
        let mut asking = dialog();
        asking.step(2);
        for height in 1..20 {
            let shown = shown(&asking, height);
            assert!(shown.contains("› 3. something else"), "{height}: {shown}");
            assert!(shown.lines().count() <= height);
        }
    }
}
