//! Habits from other agents: searching earlier prompts (ctrl-r), Esc twice, a command for the shell (`!`).

use super::{App, Dialog, HostAnswer};
use crate::screen::flow::WrappedLine;
use crate::screen::host::{HostRequest, ShellResult};
use crate::screen::picker::{PickOption, Picker};
use crate::screen::style::BAD;
use crate::screen::text::clean_line;
use crate::screen::transcript;

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
        let shown = transcript::shell_output(&ran.output, Some(ran.lines));
        self.finished.extend(shown);
        if ran.is_error {
            let why = clean_line(&ran.line);
            self.say(WrappedLine::styled(format!("  ✗ {why}"), BAD));
        }
        self.note("the model sees this with your next prompt");
    }
}
