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

use longhaul_core::engine::CompactionPhase;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub(crate) use answers::HostAnswer;
pub(crate) use prompt::edit;

use super::complete::Completion;
use super::editor::Editor;
use super::flow::WrappedLine;
use super::history::PromptHistory;
use super::host::{CommandItem, HostRequest, ScreenHost};
use super::pager::TextPager;
use super::picker::Picker;
use super::preview::SummaryPreview;
use super::question::ApprovalDialog;
use super::stream::StreamedText;
use super::{ColorSupport, GuideInput, ScreenOptions};
use crate::event::{AgentEvent, AgentStatus, ApprovalMode, TodoItem};

/// Where everything that happens comes from.
#[derive(Debug)]
pub(crate) struct AppInputs {
    pub(crate) events: UnboundedReceiver<AgentEvent>,
    pub(crate) answers: UnboundedReceiver<HostAnswer>,
    /// What a guide types.
    pub(crate) typed: UnboundedReceiver<GuideInput>,
    /// Whether there may be more of it.
    pub(crate) guided: bool,
}

/// What a guide types next; once he is gone there is nothing more to wait for.
pub(crate) async fn next_typed(
    typed: &mut UnboundedReceiver<GuideInput>,
    guided: &mut bool,
) -> Option<GuideInput> {
    let next = typed.recv().await;
    *guided = next.is_some();
    next
}

/// The state of a screen.
pub(crate) struct App {
    host: Box<dyn ScreenHost>,
    answered: UnboundedSender<HostAnswer>,
    /// Finished lines that have not been drawn yet.
    pub(crate) finished: Vec<WrappedLine>,
    pub(crate) stream: StreamedText,
    /// What the model thinks, its last line.
    pub(crate) thinking: String,
    pub(crate) running: Vec<RunningCall>,
    pub(crate) todos: Vec<TodoItem>,
    pub(crate) glance: Option<AgentStatus>,
    pub(crate) mode: ApprovalMode,
    /// Since when something is being worked on.
    pub(crate) work: Option<ActiveWork>,
    pub(crate) compacting: Option<ActiveCompaction>,
    /// What was typed while something was being worked on.
    pub(crate) queue: VecDeque<String>,
    pub(crate) editor: Editor,
    history: PromptHistory,
    pub(crate) questions: VecDeque<ApprovalDialog>,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) page: Option<AppPage>,
    pub(crate) completion: Option<Completion>,
    own: Vec<CommandItem>,
    workspace: PathBuf,
    files: CompletionFiles,
    /// Asks that have not been answered.
    pending: usize,
    /// The engine has told why the compaction that is asked for failed.
    failure_told: bool,
    /// A hint below the prompt, until the next key.
    pub(crate) hint: Option<String>,
    leaving: Leaving,
    /// Whether what was sent is written again.
    pub(crate) echo: Echo,
    pub(crate) colour: ColorSupport,
    /// Columns of the terminal.
    pub(crate) width: usize,
}

/// A call that runs.
#[derive(Debug)]
pub(crate) struct RunningCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) line: String,
    pub(crate) progress: String,
    pub(crate) since: Instant,
}

/// Something that is being worked on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActiveWork {
    pub(crate) since: Instant,
    pub(crate) cancelled: bool,
}

/// A compaction that is under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActiveCompaction {
    pub(crate) phase: CompactionPhase,
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
    Rewind(Picker<RewindTarget>),
    /// What to do there.
    Back(Picker<MessageAction>),
}

/// Where a rewind leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RewindTarget {
    /// To a message.
    Message(String),
    /// To before the newest compaction.
    Uncompacted,
}

/// What to do at a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MessageAction {
    /// Forget what came from it on.
    Rewind(String),
    /// Sum up what came from it on.
    SumUpFrom(String),
    /// Sum up what came before it.
    SumUpTo(String),
}

/// A text on a screen of its own.
#[derive(Debug)]
pub(crate) enum AppPage {
    /// Something to read.
    Reader(TextPager),
    /// The whole conversation; made anew when a boundary begins another.
    Transcript(TextPager),
    /// A summary to approve.
    Preview(Box<SummaryPreview>),
}

/// The files of the workspace, for completion.
#[derive(Debug, Default)]
enum CompletionFiles {
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
pub(crate) enum AppAction {
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
        host: Box<dyn ScreenHost>,
        options: &ScreenOptions,
    ) -> (Self, UnboundedReceiver<HostAnswer>) {
        let (answered, answers) = unbounded_channel();
        let app = Self {
            host,
            answered,
            finished: Vec::new(),
            stream: StreamedText::default(),
            thinking: String::new(),
            running: Vec::new(),
            todos: Vec::new(),
            glance: None,
            mode: options.mode,
            work: None,
            compacting: None,
            queue: VecDeque::new(),
            editor: Editor::default(),
            history: PromptHistory::load(options.history.clone(), &options.workspace),
            questions: VecDeque::new(),
            dialog: None,
            page: None,
            completion: None,
            own: Vec::new(),
            workspace: options.workspace.clone(),
            files: CompletionFiles::Unknown,
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
    pub(crate) fn begin(&mut self, options: &ScreenOptions) {
        let greeting = options.greeting.iter();
        self.finished
            .extend(greeting.map(|line| WrappedLine::dim(super::text::clean_line(line))));
        self.ask(HostRequest::Commands, HostAnswer::Commands);
        if options.resumed {
            self.ask(HostRequest::Transcript, HostAnswer::Recent);
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

    fn say(&mut self, flow: WrappedLine) {
        self.finished.push(flow);
    }
}

#[cfg(test)]
mod tests;
