//! Runs prompts and commands.

use std::time::Instant;

use tokio::sync::oneshot;

use super::{ActiveWork, App, AppAction, CompletionFiles, Echo, HostAnswer};
use crate::screen::GuideInput;
use crate::screen::answer_lines;
use crate::screen::command::{self, BuiltinCommand, ParsedInput as Read};
use crate::screen::complete;
use crate::screen::event_lines;
use crate::screen::flow::WrappedLine;
use crate::screen::host::{CompactionRequest, HostRefusal, HostRequest, ReplySender, SessionPage};
use crate::screen::style::WARNING;
use crate::screen::text::clean_line;

impl App {
    /// Asks the host; the answer comes back as a [`HostAnswer`].
    pub(super) fn ask<T: Send + 'static>(
        &mut self,
        ask: impl FnOnce(ReplySender<T>) -> HostRequest,
        answered: impl FnOnce(Result<T, HostRefusal>) -> HostAnswer + Send + 'static,
    ) {
        let (reply, answer) = oneshot::channel();
        self.pending += 1;
        self.host.ask(ask(reply));
        let to = self.answered.clone();
        tokio::spawn(async move {
            let gone = || HostRefusal("the session did not answer; try again".to_owned());
            let answer = answer.await.unwrap_or_else(|_| Err(gone()));
            // A screen that is gone needs no answer.
            let _ = to.send(answered(answer));
        });
    }

    /// Asks the host for a change of the conversation: until it is answered, other changes wait.
    pub(super) fn work<T: Send + 'static>(
        &mut self,
        ask: impl FnOnce(ReplySender<T>) -> HostRequest,
        answered: impl FnOnce(Result<T, HostRefusal>) -> HostAnswer + Send + 'static,
    ) {
        self.work = Some(ActiveWork {
            since: Instant::now(),
            cancelled: false,
        });
        self.ask(ask, answered);
    }

    /// Takes a line that was sent: runs it, or queues it until the current work has ended.
    pub(crate) fn submit(&mut self, text: String) -> AppAction {
        if text.trim().is_empty() {
            return AppAction::On;
        }
        let typed = command::read(&text, &self.own);
        let at_once = matches!(&typed, Read::Builtin(command, _) if !command.waits())
            || matches!(typed, Read::Unknown(_) | Read::NoShellCommand);
        if self.work.is_some() && !at_once {
            self.history.add(&text);
            self.queue.push_back(text);
            return AppAction::On;
        }
        self.history.add(&text);
        self.carry_out(typed, text)
    }

    /// Takes what a guide types.
    pub(crate) fn on_typed(&mut self, typed: GuideInput) -> AppAction {
        match typed {
            GuideInput::SoFar(text) => {
                // Whatever the user typed stays.
                if text.starts_with(&self.editor.whole()) {
                    self.editor.set(&text);
                }
                AppAction::On
            }
            GuideInput::Sent(text) => {
                if self.editor.whole() == text {
                    self.editor.set("");
                }
                // Nobody typed it, so the terminal has not shown it, whatever else it shows.
                let echo = std::mem::replace(&mut self.echo, Echo::On);
                let next = self.submit(text);
                self.echo = echo;
                next
            }
        }
    }

    /// Continues with the input that was typed in the meantime.
    pub(super) fn go_on(&mut self) {
        if self.work.is_some() {
            return;
        }
        if let Some(text) = self.queue.pop_front() {
            let typed = command::read(&text, &self.own);
            self.carry_out(typed, text);
        }
    }

    fn carry_out(&mut self, typed: Read, text: String) -> AppAction {
        if self.echo == Echo::On {
            self.finished.extend(event_lines::sent_prompt(&text));
        }
        match typed {
            Read::Prompt => {
                let pictures = self.pictures.named_in(&text);
                self.work(
                    |reply| match pictures.is_empty() {
                        true => HostRequest::Prompt(text, reply),
                        false => HostRequest::PromptWithPictures(text, pictures, reply),
                    },
                    HostAnswer::Worked,
                );
            }
            Read::Shell(command) => self.run_in_shell(command),
            Read::Own(name, arguments) => self.work(
                |reply| HostRequest::Command {
                    name,
                    arguments,
                    reply,
                },
                HostAnswer::Worked,
            ),
            Read::NoShellCommand => {
                self.warn("! runs a command in the shell, and none follows it: !ls, for example");
            }
            Read::Unknown(name) => {
                let name = clean_line(&name);
                self.warn(format!("there is no command /{name}; /help lists all"));
            }
            Read::Builtin(command, rest) => return self.command(command, rest),
        }
        AppAction::On
    }

    fn command(&mut self, command: BuiltinCommand, rest: String) -> AppAction {
        match command {
            BuiltinCommand::Exit => return AppAction::Leave,
            BuiltinCommand::Help => self.finished.extend(command::help(&self.own)),
            BuiltinCommand::Context => self.ask(HostRequest::Context, HostAnswer::Context),
            BuiltinCommand::Cost if rest.is_empty() => {
                self.ask(HostRequest::Cost, HostAnswer::Cost)
            }
            BuiltinCommand::Cost => match command::economy(&rest) {
                Ok(policy) => self.ask(
                    |reply| HostRequest::SetEconomy(policy, reply),
                    move |done| HostAnswer::Economy(policy, done),
                ),
                Err(why) => self.warn(why),
            },
            BuiltinCommand::Effort if rest.is_empty() => {
                let glance = self.glance.as_ref();
                let effort = glance.map(|it| it.effort).unwrap_or_default();
                self.note(&answer_lines::effort(effort));
            }
            BuiltinCommand::Effort => match command::effort(&rest) {
                Ok(effort) => self.work(
                    |reply| HostRequest::SetEffort(effort, reply),
                    move |done| HostAnswer::Effort(effort, done),
                ),
                Err(why) => self.warn(why),
            },
            BuiltinCommand::Notes => self.ask(HostRequest::Notes, HostAnswer::Notes),
            BuiltinCommand::Hooks => self.ask(HostRequest::Hooks, HostAnswer::Hooks),
            BuiltinCommand::Init => {
                let prompt = command::INIT.to_owned();
                self.work(
                    |reply| HostRequest::Prompt(prompt, reply),
                    HostAnswer::Worked,
                );
            }
            BuiltinCommand::Export => {
                self.ask(
                    |reply| HostRequest::Export(rest, reply),
                    HostAnswer::Exported,
                );
            }
            BuiltinCommand::Agents => self.show_page(SessionPage::Agents),
            BuiltinCommand::Mcp => self.show_page(SessionPage::Mcp),
            BuiltinCommand::Memory => self.show_page(SessionPage::Memory),
            BuiltinCommand::Permissions => self.show_page(SessionPage::Permissions),
            BuiltinCommand::Status => self.show_page(SessionPage::Status),
            BuiltinCommand::Report => {
                self.ask(|reply| HostRequest::Report(None, reply), HostAnswer::Report)
            }
            BuiltinCommand::Clear => self.work(HostRequest::Clear, HostAnswer::Cleared),
            BuiltinCommand::Rewind => self.ask(HostRequest::Messages, HostAnswer::Messages),
            BuiltinCommand::Resume => self.ask(HostRequest::Sessions, |found| {
                HostAnswer::Sessions(found, rest)
            }),
            BuiltinCommand::Model if rest.is_empty() => {
                self.ask(HostRequest::Models, HostAnswer::Models)
            }
            BuiltinCommand::Model => self.switch_model(rest),
            BuiltinCommand::Compact => self.compact(CompactionRequest {
                instructions: Some(rest).filter(|rest| !rest.is_empty()),
                ..CompactionRequest::default()
            }),
        }
        AppAction::On
    }

    fn show_page(&mut self, page: SessionPage) {
        self.ask(|reply| HostRequest::Page(page, reply), HostAnswer::Page);
    }

    pub(super) fn compact(&mut self, ask: CompactionRequest) {
        let asked = ask.clone();
        self.failure_told = false;
        self.work(
            |reply| HostRequest::Compact(ask, reply),
            |done| HostAnswer::Compacted(asked, done),
        );
    }

    pub(super) fn resume(&mut self, id: String) {
        self.dialog = None;
        self.work(|reply| HostRequest::Resume(id, reply), HostAnswer::Resumed);
    }

    pub(super) fn switch_model(&mut self, id: String) {
        self.dialog = None;
        let name = id.clone();
        self.work(
            |reply| HostRequest::SwitchModel(id, reply),
            |done| HostAnswer::Switched(name, done),
        );
    }

    pub(super) fn open_transcript(&mut self) {
        self.ask(HostRequest::Transcript, HostAnswer::Transcript);
    }

    /// Lists the files of the workspace, once.
    pub(super) fn ask_for_files(&mut self) {
        if !matches!(self.files, CompletionFiles::Unknown) {
            return;
        }
        self.files = CompletionFiles::Asked;
        let (folder, to) = (self.workspace.clone(), self.answered.clone());
        tokio::task::spawn_blocking(move || {
            // A screen that is gone needs no files.
            let _ = to.send(HostAnswer::Files(complete::files(&folder)));
        });
    }

    /// Adds a dimmed line.
    pub(super) fn note(&mut self, text: &str) {
        self.say(WrappedLine::dim(format!("· {text}")));
    }

    /// Adds a warning line.
    pub(super) fn warn(&mut self, text: impl Into<String>) {
        self.say(WrappedLine::styled(format!("■ {}", text.into()), WARNING));
    }
}
