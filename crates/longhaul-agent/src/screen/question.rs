//! A question about a call that needs consent: what it would do, and the possible answers.

use ratatui::text::{Line, Span};

use super::diff_lines;
use super::editor::Editor;
use super::flow::{WrappedLine, rows};
use super::markdown;
use super::style::{BOLD, CHOSEN, WARNING, dim, of_diff, styled};
use super::text::{clean_line, count, keep_start, visible, visible_line};
use crate::event::{ApprovalAnswer, ApprovalRequest, EXIT_PLAN_MODE};
use crate::tool::ToolAccess;

/// A question on the screen.
#[derive(Debug)]
pub(crate) struct ApprovalDialog {
    question: ApprovalRequest,
    /// What the call would do, in full, line by line.
    detail: Vec<WrappedLine>,
    at: usize,
    /// What the model should do instead, while the user types it.
    pub(crate) instead: Option<Editor>,
}

/// One of the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ApprovalChoice {
    /// An answer that needs no further input.
    Is(ApprovalAnswer),
    /// No, and what to do instead.
    Instead,
}

/// What a call would do, in full: a diff with line numbers, a plan as it is meant to be read, the whole command.
fn detail_lines(question: &ApprovalRequest, width: usize) -> Vec<WrappedLine> {
    let text = visible(&question.detail);
    match &question.access {
        _ if question.name == EXIT_PLAN_MODE => {
            let lines = markdown::render(&text, width.saturating_sub(4));
            let indented = lines.into_iter();
            indented
                .map(|line| line.indented(Span::raw("    ")))
                .collect()
        }
        // The head of the question shows it already.
        ToolAccess::Runs { .. } | ToolAccess::SearchesWeb(_)
            if text.trim_end() == clean_line(&question.line) =>
        {
            Vec::new()
        }
        ToolAccess::Writes(_) if diff_lines::is_diff(&text) => diff_lines::numbered(&text),
        ToolAccess::Writes(_) => diff_lines::plain(&text, of_diff),
        _ => diff_lines::plain(&text, |_| None),
    }
}

impl ApprovalDialog {
    /// A question that was just asked.
    pub(crate) fn new(question: ApprovalRequest, width: usize) -> Self {
        Self {
            detail: detail_lines(&question, width),
            question,
            at: 0,
            instead: None,
        }
    }

    /// The id of the call that it is about.
    pub(crate) fn call(&self) -> &str {
        &self.question.id
    }

    /// Whether the answer is still waited for.
    pub(crate) fn is_open(&self) -> bool {
        !self.question.answer.is_closed()
    }

    fn is_plan(&self) -> bool {
        self.question.name == EXIT_PLAN_MODE
    }

    fn choices(&self) -> Vec<(ApprovalChoice, String)> {
        if self.is_plan() {
            return vec![
                (
                    ApprovalChoice::Is(ApprovalAnswer::Once),
                    "yes, begin".to_owned(),
                ),
                (
                    ApprovalChoice::Is(ApprovalAnswer::KeepPlanning),
                    "keep planning".to_owned(),
                ),
                (
                    ApprovalChoice::Instead,
                    "no, and tell the model what to do instead".to_owned(),
                ),
            ];
        }
        let mut choices = vec![(ApprovalChoice::Is(ApprovalAnswer::Once), "yes".to_owned())];
        if let Some(rule) = self.question.rule.as_deref() {
            let rule = visible_line(rule);
            choices.push((
                ApprovalChoice::Is(ApprovalAnswer::Session),
                format!("yes, and for this session: {rule}"),
            ));
            choices.push((
                ApprovalChoice::Is(ApprovalAnswer::Project),
                format!("yes, and for this project: {rule}"),
            ));
        }
        choices.push((
            ApprovalChoice::Instead,
            "no, and tell the model what to do instead".to_owned(),
        ));
        choices
    }

    /// The choice with this number, counted from one.
    pub(crate) fn number(&self, number: usize) -> Option<ApprovalChoice> {
        let at = number.checked_sub(1)?;
        self.choices().into_iter().nth(at).map(|choice| choice.0)
    }

    /// The choice under the cursor.
    pub(crate) fn chosen(&self) -> ApprovalChoice {
        self.number(self.at + 1).unwrap_or(ApprovalChoice::Instead)
    }

    /// Moves the cursor by this many choices.
    pub(crate) fn step(&mut self, by: isize) {
        let last = self.choices().len() - 1;
        self.at = self.at.saturating_add_signed(by).min(last);
    }

    /// Sends the answer. What only the answer says, a rule or the user's words, is returned as a line that stays on the
    /// screen; the line of the call says the rest.
    pub(crate) fn answer(self, answer: ApprovalAnswer) -> Option<WrappedLine> {
        let said = match &answer {
            // Whether a rule could be added is told by those who add it.
            ApprovalAnswer::Once
            | ApprovalAnswer::Session
            | ApprovalAnswer::Project
            | ApprovalAnswer::KeepPlanning
            | ApprovalAnswer::Answers(_)
            | ApprovalAnswer::No(None) => None,
            ApprovalAnswer::No(Some(instead)) => {
                Some(format!("· refused; you said: {}", clean_line(instead)))
            }
        };
        // The receiver may be gone; then there is nothing to answer.
        let _ = self.question.answer.send(answer);
        said.map(WrappedLine::dim)
    }

    /// The plan as it stays on the screen after this answer; nothing for other questions.
    pub(crate) fn plan_lines(&self, answer: &ApprovalAnswer) -> Vec<WrappedLine> {
        if !self.is_plan() {
            return Vec::new();
        }
        let head = match answer {
            ApprovalAnswer::Once => "● Plan agreed",
            ApprovalAnswer::KeepPlanning => "● Plan, not agreed to yet",
            _ => "● Plan, refused",
        };
        let mut lines = vec![WrappedLine::blank(), WrappedLine::styled(head, BOLD)];
        lines.extend(self.detail.iter().cloned());
        lines.push(WrappedLine::blank());
        lines
    }

    fn head(&self) -> Vec<WrappedLine> {
        let question = &self.question;
        let (name, line) = match self.is_plan() {
            // The plan itself stands below.
            true => ("The model's plan".to_owned(), String::new()),
            false => (
                clean_line(&question.name),
                format!(" {}", clean_line(&question.line)),
            ),
        };
        let mut head = vec![WrappedLine::new(
            vec![styled("? ", WARNING), styled(name, BOLD), Span::raw(line)],
            2,
        )];
        if let Some(asker) = question.asker.as_deref().map(clean_line) {
            head.push(WrappedLine::dim(format!(
                "  asked by the sub-agent {asker}"
            )));
        }
        let reason = clean_line(&question.reason);
        if !reason.is_empty() {
            head.push(WrappedLine::dim(format!("  {reason}")));
        }
        head
    }

    /// What the call would do, and the offered rule, in full.
    pub(crate) fn detail(&self) -> Vec<WrappedLine> {
        let mut detail = self.detail.clone();
        if let Some(rule) = self.question.rule.as_deref() {
            detail.push(WrappedLine::blank());
            let offered = format!("The offered rule: {}", visible_line(rule));
            detail.push(WrappedLine::plain(offered));
        }
        detail
    }

    /// The rows, at most `height` of them, and where the cursor is. The choices are always visible.
    pub(crate) fn rows(
        &self,
        width: usize,
        height: usize,
    ) -> (Vec<Line<'static>>, Option<(usize, usize)>) {
        if let Some(editor) = &self.instead {
            let ask = "  what should it do instead? (enter: send, esc: back)";
            return with_editor(&self.head(), ask, editor, width, height);
        }
        let below = self.choice_rows(width, height.max(1));
        let room = height.saturating_sub(below.len());
        let mut above = rows(&self.head(), width);
        above.truncate(room);
        let room = room - above.len();
        above.extend(self.detail_rows(width, room));
        above.extend(below);
        (above, None)
    }

    /// The choices. A rule is shown in full, because it is agreed to as well; if there is no space for that, only the
    /// rule of the choice under the cursor is shown, and ctrl-o shows all of it. In very little space the choices
    /// scroll with the cursor.
    fn choice_rows(&self, width: usize, height: usize) -> Vec<Line<'static>> {
        let choices = self.choices();
        let rows_of = |at: usize, text: &str| {
            let (mark, style) = if at == self.at {
                ("› ", CHOSEN)
            } else {
                ("  ", ratatui::style::Style::new())
            };
            let text = format!("{mark}{}. {text}", at + 1);
            WrappedLine::new(vec![styled(text, style)], 5).rows(width)
        };
        let whole: usize = (choices.iter().enumerate())
            .map(|(at, (_, text))| rows_of(at, text).len())
            .sum();
        let mut below: Vec<Line<'static>> = Vec::new();
        let mut chosen_until = 0;
        for (at, (_, text)) in choices.iter().enumerate() {
            let is_cut = whole > height / 2 && at != self.at;
            if is_cut {
                below.extend(rows_of(at, &keep_start(text, width.saturating_sub(5))))
            } else {
                below.extend(rows_of(at, text))
            }
            if at == self.at {
                chosen_until = below.len();
            }
        }
        below.drain(..chosen_until.saturating_sub(height));
        below.truncate(height);
        below
    }

    /// As much of what the call would do as fits, and how many lines are not fully shown.
    fn detail_rows(&self, width: usize, room: usize) -> Vec<Line<'static>> {
        let mut shown: Vec<Line<'static>> = Vec::new();
        let mut ends: Vec<usize> = Vec::new();
        for flow in &self.detail {
            shown.extend(flow.rows(width));
            ends.push(shown.len());
            if shown.len() > room {
                break;
            }
        }
        if shown.len() <= room || room == 0 {
            shown.truncate(room);
            return shown;
        }
        shown.truncate(room - 1);
        let whole = ends.iter().filter(|end| **end < room).count();
        let hidden = count(self.detail.len() - whole, "more line");
        let hidden = keep_start(&format!("    … {hidden} (ctrl-o shows all)"), width);
        shown.push(Line::from(dim(hidden)));
        shown
    }

    /// The whole question as plain lines, for line mode.
    pub(crate) fn plain(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.head().iter().map(WrappedLine::text).collect();
        lines.extend(self.detail.iter().map(WrappedLine::text));
        for (at, (_, text)) in self.choices().into_iter().enumerate() {
            lines.push(format!("  {}. {text}", at + 1));
        }
        lines.push("number, or what to do instead:".to_owned());
        lines
    }
}

/// The rows of a question whose answer the user types, and where the cursor is.
pub(super) fn with_editor(
    head: &[WrappedLine],
    ask: &str,
    editor: &Editor,
    width: usize,
    height: usize,
) -> (Vec<Line<'static>>, Option<(usize, usize)>) {
    let mut lines = rows(head, width);
    lines.push(Line::from(dim(keep_start(ask, width))));
    let layout = editor.layout(width.saturating_sub(3));
    lines.truncate(height.saturating_sub(1));
    let room = height.saturating_sub(lines.len()).max(1);
    let from = (layout.row + 1).saturating_sub(room);
    let cursor = (lines.len() + layout.row - from, layout.column + 2);
    for row in layout.rows.iter().skip(from).take(room) {
        lines.push(Line::from(vec![dim("> "), Span::raw(row.clone())]));
    }
    (lines, Some(cursor))
}
