//! Habits from other agents: searching earlier prompts (ctrl-r), Esc twice, a command for the shell (`!`).

use ratatui::text::Span;

use super::{App, Dialog, HostAnswer};
use crate::screen::flow::WrappedLine;
use crate::screen::host::{HostRequest, ShellResult};
use crate::screen::picker::{PickOption, Picker};
use crate::screen::style::BAD;
use crate::screen::text::{clean, clean_line, count};

/// The number of lines of a command's output that are shown; the last ones count.
const SHOWN: usize = 40;

/// Whether Esc was the last key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum EscapeKey {
    #[default]
    Other,
    /// It was, and pressing it again does more.
    Pressed,
}

impl App {
    /// Lists earlier prompts, newest first.
    pub(super) fn search_history(&mut self) {
        let options: Vec<PickOption<String>> = (self.history.newest_first())
            .map(|text| PickOption {
                value: text.to_owned(),
                text: clean_line(text),
                about: String::new(),
            })
            .collect();
        if options.is_empty() {
            self.hint = Some("there are no earlier prompts in this folder".to_owned());
            return;
        }
        let query = self.editor.take();
        let picker = Picker::list("Earlier prompts", options);
        self.dialog = Some(Dialog::History(picker.searching(&query)));
    }

    /// Puts an earlier prompt into the editor.
    pub(super) fn take_from_history(&mut self, text: &str) {
        self.dialog = None;
        self.editor.set(text);
    }

    /// Esc while nothing runs: the second time, it empties the prompt, or goes back if it is empty.
    pub(super) fn on_escape(&mut self, last: EscapeKey) {
        match (last, self.editor.is_empty()) {
            (EscapeKey::Pressed, true) => {
                self.ask(HostRequest::Messages, HostAnswer::Messages);
            }
            (EscapeKey::Pressed, false) => {
                self.editor.take();
                self.edited();
            }
            (EscapeKey::Other, is_empty) => {
                self.escape = EscapeKey::Pressed;
                let does = if is_empty {
                    "esc again goes back to an earlier message"
                } else {
                    "esc again empties the prompt"
                };
                self.hint = Some(does.to_owned());
            }
        }
    }

    /// Runs a command in the shell, for the user.
    pub(super) fn run_in_shell(&mut self, command: String) {
        self.work(
            |reply| HostRequest::Shell(command, reply),
            HostAnswer::Shell,
        );
    }

    /// Shows the output of a command.
    pub(super) fn on_shell(&mut self, ran: &ShellResult) {
        let text = clean(&ran.output);
        let lines: Vec<&str> = text.lines().collect();
        let hidden = lines.len().saturating_sub(SHOWN);
        if hidden > 0 {
            let hidden = count(hidden, "line");
            self.say(WrappedLine::dim(format!("    … {hidden} before these")));
        }
        let shown = lines[lines.len().min(hidden)..].iter();
        let shown =
            shown.map(|line| WrappedLine::dim((*line).to_owned()).indented(Span::raw("    ")));
        self.finished.extend(shown);
        if ran.is_error {
            self.say(WrappedLine::styled("  ✗ failed", BAD));
        }
        self.note("the model sees this with your next prompt");
    }
}
