//! What the screen knows and what it does about keys, events and answers. It draws nothing and waits for nothing.
//!
//! `keys` and `prompt` take what the user presses, `lines` what he types where there are only lines, `events` what the agent tells,
//! `answers` what the host answers, `acts` carries out prompts and commands.

mod acts;
mod answers;
mod events;
mod keys;
mod lines;
mod prompt;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Instant;

use longhaul_core::engine::Phase;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub(crate) use answers::Answered;
pub(crate) use prompt::edit;

use super::complete::Completion;
use super::editor::Editor;
use super::flow::Flow;
use super::history::History;
use super::host::{Ask, CommandItem, Host};
use super::picker::Picker;
use super::preview::Previewing;
use super::question::Asking;
use super::reader::Reader;
use super::stream::Stream;
use super::{Colour, Options, Typed};
use crate::event::{AgentEvent, Glance, Mode, Todo};

/// Where everything that happens comes from.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) events: UnboundedReceiver<AgentEvent>,
    pub(crate) answers: UnboundedReceiver<Answered>,
    /// What a guide types.
    pub(crate) typed: UnboundedReceiver<Typed>,
    /// Whether there may be more of it.
    pub(crate) guided: bool,
}

/// What a guide types next; once he is gone there is nothing more to wait for.
pub(crate) async fn next_typed(
    typed: &mut UnboundedReceiver<Typed>,
    guided: &mut bool,
) -> Option<Typed> {
    let next = typed.recv().await;
    *guided = next.is_some();
    next
}

/// The state of a screen.
pub(crate) struct App {
    host: Box<dyn Host>,
    answered: UnboundedSender<Answered>,
    /// Finished lines that have not been drawn yet.
    pub(crate) finished: Vec<Flow>,
    pub(crate) stream: Stream,
    /// What the model thinks, its last line.
    pub(crate) thinking: String,
    pub(crate) running: Vec<Running>,
    pub(crate) todos: Vec<Todo>,
    pub(crate) glance: Option<Glance>,
    pub(crate) mode: Mode,
    /// Since when something is being worked on.
    pub(crate) work: Option<Work>,
    pub(crate) compacting: Option<Compacting>,
    /// What was typed while something was being worked on.
    pub(crate) queue: VecDeque<String>,
    pub(crate) editor: Editor,
    history: History,
    pub(crate) questions: VecDeque<Asking>,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) page: Option<Page>,
    pub(crate) completion: Option<Completion>,
    own: Vec<CommandItem>,
    workspace: PathBuf,
    files: Files,
    /// Asks that have not been answered.
    pending: usize,
    /// The engine has told why the compaction that is asked for failed.
    failure_told: bool,
    /// A hint below the prompt, until the next key.
    pub(crate) hint: Option<String>,
    leaving: Leaving,
    /// Whether what was sent is written again.
    pub(crate) echo: Echo,
    pub(crate) colour: Colour,
    /// Columns of the terminal.
    pub(crate) width: usize,
}

/// A call that runs.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) line: String,
    pub(crate) progress: String,
    pub(crate) since: Instant,
}

/// Something that is being worked on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    pub(crate) since: Instant,
    pub(crate) cancelled: bool,
}

/// A compaction that is under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compacting {
    pub(crate) phase: Phase,
    pub(crate) since: Instant,
    /// Characters of the summary so far.
    pub(crate) characters: usize,
}

/// A list in place of the prompt.
#[derive(Debug)]
pub(crate) enum Dialog {
    /// A session to resume.
    Resume(Picker<String>),
    /// A model to ask.
    Model(Picker<String>),
    /// A message to go back to.
    Rewind(Picker<Target>),
    /// What to do there.
    Back(Picker<Back>),
}

/// Where a rewind leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// To a message.
    Message(String),
    /// To before the newest compaction.
    Uncompacted,
}

/// What to do at a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Back {
    /// Forget what came from it on.
    Rewind(String),
    /// Sum up what came from it on.
    SumUpFrom(String),
    /// Sum up what came before it.
    SumUpTo(String),
}

/// A text on a screen of its own.
#[derive(Debug)]
pub(crate) enum Page {
    /// Something to read.
    Reader(Reader),
    /// The whole conversation; made anew when a boundary begins another.
    Transcript(Reader),
    /// A summary to approve.
    Preview(Box<Previewing>),
}

/// The files of the workspace, for completion.
#[derive(Debug, Default)]
enum Files {
    #[default]
    Unknown,
    Asked,
    Known(Vec<String>),
}

/// Whether the user is about to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaving {
    No,
    /// One more of the same key does it.
    Armed,
}

/// Whether what was sent is written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Echo {
    /// It is: where it was typed is gone, or was never seen.
    On,
    /// It is not: the terminal showed it when it was typed.
    Off,
}

/// What is to be done after something was taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing in particular.
    On,
    /// Leave.
    Leave,
    /// Put the program aside.
    Aside,
    /// Have the summary edited.
    Edit(String),
    /// Draw everything anew.
    Redraw,
}

impl App {
    /// A screen that nothing has happened on.
    pub(crate) fn new(
        host: Box<dyn Host>,
        options: &Options,
    ) -> (Self, UnboundedReceiver<Answered>) {
        let (answered, answers) = unbounded_channel();
        let app = Self {
            host,
            answered,
            finished: Vec::new(),
            stream: Stream::default(),
            thinking: String::new(),
            running: Vec::new(),
            todos: Vec::new(),
            glance: None,
            mode: options.mode,
            work: None,
            compacting: None,
            queue: VecDeque::new(),
            editor: Editor::default(),
            history: History::load(options.history.clone(), &options.workspace),
            questions: VecDeque::new(),
            dialog: None,
            page: None,
            completion: None,
            own: Vec::new(),
            workspace: options.workspace.clone(),
            files: Files::Unknown,
            pending: 0,
            failure_told: false,
            hint: None,
            leaving: Leaving::No,
            echo: Echo::On,
            colour: options.display.colour,
            width: 80,
        };
        (app, answers)
    }

    /// Greets, and asks for what is needed from the start.
    pub(crate) fn begin(&mut self, options: &Options) {
        let greeting = options.greeting.iter();
        self.finished
            .extend(greeting.map(|line| Flow::dim(super::text::clean_line(line))));
        self.ask(Ask::Commands, Answered::Commands);
        if options.resumed {
            self.ask(Ask::Transcript, Answered::Recent);
        }
        if let Some(prompt) = options.prompt.clone() {
            self.submit(prompt);
        }
    }

    /// Ends: what runs is stopped, and the host has what it needs.
    pub(crate) async fn finish(&mut self) {
        self.questions.clear();
        self.host.cancel();
        self.host.finish().await;
    }

    /// Whether something moves on the screen by itself.
    pub(crate) fn is_animated(&self) -> bool {
        self.work.is_some() || self.compacting.is_some()
    }

    /// Whether there is nothing left to do.
    pub(crate) fn is_idle(&self) -> bool {
        self.work.is_none()
            && self.pending == 0
            && self.queue.is_empty()
            && self.questions.is_empty()
    }

    /// Stops what is being worked on.
    pub(crate) fn cancel(&mut self) {
        if let Some(work) = self.work.as_mut() {
            work.cancelled = true;
        }
        self.questions.clear();
        self.host.cancel();
    }

    fn say(&mut self, flow: Flow) {
        self.finished.push(flow);
    }
}

#[cfg(test)]
mod tests;
