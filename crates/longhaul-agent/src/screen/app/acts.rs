//! Prompts and commands carried out.

use std::time::Instant;

use longhaul_core::engine::Pivot;
use longhaul_core::summary::Direction;
use tokio::sync::oneshot;

use super::{Answered, App, Back, Dialog, Echo, Files, Next, Target, Work};
use crate::screen::Typed;
use crate::screen::command::{self, Builtin, Typed as Read};
use crate::screen::complete;
use crate::screen::flow::Flow;
use crate::screen::host::{Ask, CompactAsk, Refusal, Reply};
use crate::screen::picker::{PickOption, Picker};
use crate::screen::style::WARNING;
use crate::screen::tell;
use crate::screen::text::clean_line;

impl App {
    /// Asks the host; the answer comes back as an [`Answered`].
    pub(super) fn ask<T: Send + 'static>(
        &mut self,
        ask: impl FnOnce(Reply<T>) -> Ask,
        answered: impl FnOnce(Result<T, Refusal>) -> Answered + Send + 'static,
    ) {
        let (reply, answer) = oneshot::channel();
        self.pending += 1;
        self.host.ask(ask(reply));
        let to = self.answered.clone();
        tokio::spawn(async move {
            let gone = || Refusal("the session did not answer; try again".to_owned());
            let answer = answer.await.unwrap_or_else(|_| Err(gone()));
            // A screen that is gone needs no answer.
            let _ = to.send(answered(answer));
        });
    }

    /// The same for what changes the conversation: until it is answered, other such things wait.
    fn work<T: Send + 'static>(
        &mut self,
        ask: impl FnOnce(Reply<T>) -> Ask,
        answered: impl FnOnce(Result<T, Refusal>) -> Answered + Send + 'static,
    ) {
        self.work = Some(Work {
            since: Instant::now(),
            cancelled: false,
        });
        self.ask(ask, answered);
    }

    /// Takes a line that was sent: carries it out, or keeps it until what is going on has ended.
    pub(crate) fn submit(&mut self, text: String) -> Next {
        if text.trim().is_empty() {
            return Next::On;
        }
        let typed = command::read(&text, &self.own);
        let at_once = matches!(&typed, Read::Builtin(command, _) if !command.waits())
            || matches!(typed, Read::Unknown(_));
        if self.work.is_some() && !at_once {
            self.history.add(&text);
            self.queue.push_back(text);
            return Next::On;
        }
        self.history.add(&text);
        self.carry_out(typed, text)
    }

    /// Takes what a guide types.
    pub(crate) fn on_typed(&mut self, typed: Typed) -> Next {
        match typed {
            Typed::SoFar(text) => {
                // Whatever the user writes himself stays.
                if text.starts_with(&self.editor.whole()) {
                    self.editor.set(&text);
                }
                Next::On
            }
            Typed::Sent(text) => {
                if self.editor.whole() == text {
                    self.editor.set("");
                }
                self.submit(text)
            }
        }
    }

    /// Goes on with what was typed meanwhile.
    pub(super) fn go_on(&mut self) {
        if self.work.is_some() {
            return;
        }
        if let Some(text) = self.queue.pop_front() {
            let typed = command::read(&text, &self.own);
            self.carry_out(typed, text);
        }
    }

    fn carry_out(&mut self, typed: Read, text: String) -> Next {
        if self.echo == Echo::On {
            self.finished.extend(tell::prompt(&text));
        }
        match typed {
            Read::Prompt => self.work(|reply| Ask::Prompt(text, reply), Answered::Worked),
            Read::Own(name, arguments) => self.work(
                |reply| Ask::Command {
                    name,
                    arguments,
                    reply,
                },
                Answered::Worked,
            ),
            Read::Unknown(name) => {
                let name = clean_line(&name);
                self.warn(format!("there is no command /{name}; /help lists all"));
            }
            Read::Builtin(command, rest) => return self.command(command, rest),
        }
        Next::On
    }

    fn command(&mut self, command: Builtin, rest: String) -> Next {
        match command {
            Builtin::Exit => return Next::Leave,
            Builtin::Help => self.finished.extend(command::help(&self.own)),
            Builtin::Context => self.ask(Ask::Context, Answered::Context),
            Builtin::Cost => self.ask(Ask::Cost, Answered::Cost),
            Builtin::Notes => self.ask(Ask::Notes, Answered::Notes),
            Builtin::Hooks => self.ask(Ask::Hooks, Answered::Hooks),
            Builtin::Report => self.ask(|reply| Ask::Report(None, reply), Answered::Report),
            Builtin::Clear => self.work(Ask::Clear, Answered::Cleared),
            Builtin::Rewind => self.ask(Ask::Messages, Answered::Messages),
            Builtin::Resume => self.ask(Ask::Sessions, |found| Answered::Sessions(found, rest)),
            Builtin::Model if rest.is_empty() => self.ask(Ask::Models, Answered::Models),
            Builtin::Model => self.switch_model(rest),
            Builtin::Compact => self.compact(CompactAsk {
                instructions: Some(rest).filter(|rest| !rest.is_empty()),
                ..CompactAsk::default()
            }),
        }
        Next::On
    }

    pub(super) fn compact(&mut self, ask: CompactAsk) {
        let asked = ask.clone();
        self.failure_told = false;
        self.work(
            |reply| Ask::Compact(ask, reply),
            |done| Answered::Compacted(asked, done),
        );
    }

    pub(super) fn resume(&mut self, id: String) {
        self.dialog = None;
        self.work(|reply| Ask::Resume(id, reply), Answered::Resumed);
    }

    pub(super) fn switch_model(&mut self, id: String) {
        self.dialog = None;
        let name = id.clone();
        self.work(
            |reply| Ask::SwitchModel(id, reply),
            |done| Answered::Switched(name, done),
        );
    }

    pub(super) fn rewind_to(&mut self, target: Target) {
        let uuid = match target {
            Target::Uncompacted => {
                self.dialog = None;
                self.work(Ask::UndoCompaction, Answered::Undone);
                return;
            }
            Target::Message(uuid) => uuid,
        };
        let option = |value, text: &str| PickOption {
            value,
            text: text.to_owned(),
            about: String::new(),
        };
        let options = vec![
            option(
                Back::Rewind(uuid.clone()),
                "go back: forget this message and all that followed",
            ),
            option(
                Back::SumUpFrom(uuid.clone()),
                "sum up from here on; what came before stays",
            ),
            option(
                Back::SumUpTo(uuid),
                "sum up to here; this message and all that followed stay",
            ),
        ];
        self.dialog = Some(Dialog::Back(Picker::menu("At this message", options)));
    }

    pub(super) fn go_back(&mut self, back: Back) {
        self.dialog = None;
        let (uuid, direction) = match back {
            Back::Rewind(uuid) => {
                self.work(|reply| Ask::Rewind(uuid, reply), Answered::Rewound);
                return;
            }
            Back::SumUpFrom(uuid) => (uuid, Direction::From),
            Back::SumUpTo(uuid) => (uuid, Direction::UpTo),
        };
        self.compact(CompactAsk {
            pivot: Some(Pivot { uuid, direction }),
            ..CompactAsk::default()
        });
    }

    pub(super) fn open_transcript(&mut self) {
        self.ask(Ask::Transcript, Answered::Transcript);
    }

    /// Has the files of the workspace listed, once.
    pub(super) fn ask_for_files(&mut self) {
        if !matches!(self.files, Files::Unknown) {
            return;
        }
        self.files = Files::Asked;
        let (folder, to) = (self.workspace.clone(), self.answered.clone());
        tokio::task::spawn_blocking(move || {
            // A screen that is gone needs no files.
            let _ = to.send(Answered::Files(complete::files(&folder)));
        });
    }

    /// A line that matters less.
    pub(super) fn note(&mut self, text: &str) {
        self.say(Flow::dim(format!("· {text}")));
    }

    /// A line that should be read.
    pub(super) fn warn(&mut self, text: impl Into<String>) {
        self.say(Flow::styled(format!("■ {}", text.into()), WARNING));
    }
}
