//! A question on the screen that somebody waits for: whether a call may run, or what the user wants.

use ratatui::text::Line;

use super::choice::ChoiceDialog;
use super::editor::Editor;
use super::question::ApprovalDialog;
use crate::event::ApprovalRequest;
use crate::tool::ToolAccess;

/// A question that is open.
#[derive(Debug)]
pub(crate) enum OpenQuestion {
    /// Whether a call may run.
    Approval(ApprovalDialog),
    /// What the user wants.
    Choice(ChoiceDialog),
}

impl OpenQuestion {
    /// A question that was just asked.
    pub(crate) fn new(asked: ApprovalRequest, width: usize) -> Self {
        match &asked.access {
            ToolAccess::AsksUser(questions) => {
                let questions = questions.clone();
                Self::Choice(ChoiceDialog::new(asked, questions))
            }
            _ => Self::Approval(ApprovalDialog::new(asked, width)),
        }
    }

    /// Whether it is about this call.
    pub(crate) fn is_about(&self, call: &str) -> bool {
        match self {
            Self::Approval(asking) => asking.call() == call,
            Self::Choice(asking) => asking.call() == call,
        }
    }

    /// Whether the answer is still waited for.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Self::Approval(asking) => asking.is_open(),
            Self::Choice(asking) => asking.is_open(),
        }
    }

    /// Whether this character is an answer; `is_blank` says whether the prompt is empty.
    pub(crate) fn is_answered_by(&self, c: char, is_blank: bool) -> bool {
        match self {
            Self::Approval(asking) => {
                let number = c.to_digit(10).map(|digit| digit as usize);
                number.is_some_and(|number| asking.number(number).is_some())
            }
            Self::Choice(asking) => asking.is_answered_by(c, is_blank),
        }
    }

    /// Whether the user answers in words at present.
    pub(crate) fn is_in_words(&self) -> bool {
        match self {
            Self::Approval(asking) => asking.instead.is_some(),
            Self::Choice(asking) => asking.other.is_some(),
        }
    }

    /// The editor in which the user answers in words, while it is open.
    pub(crate) fn editor(&mut self) -> Option<&mut Editor> {
        match self {
            Self::Approval(asking) => asking.instead.as_mut(),
            Self::Choice(asking) => asking.other.as_mut(),
        }
    }

    /// The rows, at most `height` of them, and where the cursor is.
    pub(crate) fn rows(
        &self,
        width: usize,
        height: usize,
    ) -> (Vec<Line<'static>>, Option<(usize, usize)>) {
        match self {
            Self::Approval(asking) => asking.rows(width, height),
            Self::Choice(asking) => asking.rows(width, height),
        }
    }

    /// The whole question as plain lines, for line mode.
    pub(crate) fn plain(&self) -> Vec<String> {
        match self {
            Self::Approval(asking) => asking.plain(),
            Self::Choice(asking) => asking.plain(),
        }
    }
}
