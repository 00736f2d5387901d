//! The state of the screen and how it reacts to keys, events and answers. It does not draw and does not wait.
//!
//! `keys`, `asking`, `choices` and `prompt` handle what the user presses, `lines` what the user types where there are only lines, `events`
//! the agent's events, `answers` the host's answers, `acts` runs prompts and commands, `rewinding` goes back, and
//! `habits` and `pictures` are what people know from other agents.

mod acts;
mod answers;
mod asking;
mod choices;
mod events;
mod habits;
mod keys;
mod lines;
mod pictures;
mod prompt;
mod rewinding;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Instant;

use longhaul::session::RetryWait;
use longhaul_core::engine::CompactionPhase;
use longhaul_provider::ErrorClass;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub(crate) use answers::HostAnswer;
use asking::QuestionEar;
use habits::EscapeKey;
use pictures::PastedPictures;
pub(crate) use prompt::prompt_width;

use super::complete::Completion;
use super::editor::Editor;
use super::finished_lines::FinishedLines;
use super::flow::WrappedLine;
use super::history::PromptHistory;
use super::host::{CommandItem, HostRequest, ResourceItem, RewindRequest, ScreenHost};
use super::open_question::OpenQuestion;
use super::pager::TextPager;
use super::picker::Picker;
use super::preview::SummaryPreview;
use super::stream::StreamedText;
use super::{ColorSupport, GuideInput, ScreenOptions};
use crate::event::{AgentEvent, AgentStatus, ApprovalMode, RunningHook, TodoItem};

/// The sources of all input.
#[derive(Debug)]
pub(crate) struct AppInputs {
    pub(crate) events: UnboundedReceiver<AgentEvent>,
    pub(crate) answers: UnboundedReceiver<HostAnswer>,
    /// What a guide types.
    pub(crate) typed: UnboundedReceiver<GuideInput>,
    /// Whether the guide may type more.
    pub(crate) guided: bool,
}

/// What a guide types next; `None` once the guide is gone.
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
    pub(crate) finished: FinishedLines,
    /// Notices that wait for the end of a block of the reply, so that they do not tear it.
    held: Vec<WrappedLine>,
    /// How many lines there were after the last call of one line: the next such call follows without an empty line.
    after_call: Option<usize>,
    pub(crate) stream: StreamedText,
    /// The last line of the model's thinking.
    pub(crate) thinking: String,
    pub(crate) running: Vec<RunningCall>,
    /// The hooks that run, and since when.
    pub(crate) hooks: Vec<(RunningHook, Instant)>,
    /// Whether the user gave the first prompt, so that a hook's does not count.
    first_prompt: FirstPrompt,
    pub(crate) todos: Vec<TodoItem>,
    pub(crate) glance: Option<AgentStatus>,
    pub(crate) mode: ApprovalMode,
    /// The work in progress, and since when.
    pub(crate) work: Option<ActiveWork>,
    pub(crate) compacting: Option<ActiveCompaction>,
    /// The request that failed and is sent again, until its reply begins.
    pub(crate) retry: Option<ActiveRetry>,
    /// When the last event of the agent came.
    pub(crate) heard: Instant,
    /// Input that was typed during the work.
    pub(crate) queue: VecDeque<String>,
    pub(crate) editor: Editor,
    pictures: PastedPictures,
    history: PromptHistory,
    pub(crate) questions: VecDeque<OpenQuestion>,
    /// Whether the first of them accepts keys.
    asking: QuestionEar,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) page: Option<AppPage>,
    pub(crate) completion: Option<Completion>,
    own: Vec<CommandItem>,
    resources: Vec<ResourceItem>,
    workspace: PathBuf,
    files: CompletionFiles,
    /// The number of requests that have not been answered.
    pending: usize,
    /// Why the transcript could not be written, once that was told.
    not_written: Option<String>,
    /// Whether the engine has reported why the requested compaction failed.
    failure_told: bool,
    /// A hint below the prompt, until the next key.
    pub(crate) hint: Option<String>,
    leaving: Leaving,
    escape: EscapeKey,
    /// Whether sent input is written again.
    pub(crate) echo: Echo,
    pub(crate) color: ColorSupport,
    /// The number of columns of the terminal.
    pub(crate) width: usize,
}

/// A running call.
#[derive(Debug)]
pub(crate) struct RunningCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) line: String,
    pub(crate) progress: String,
    pub(crate) since: Instant,
}

/// Work in progress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActiveWork {
    pub(crate) since: Instant,
    pub(crate) cancelled: bool,
}

/// A compaction in progress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActiveCompaction {
    pub(crate) phase: CompactionPhase,
    pub(crate) since: Instant,
    /// The number of characters of the summary so far.
    pub(crate) characters: usize,
}

/// A request that failed and is sent again.
#[derive(Debug, Clone)]
pub(crate) struct ActiveRetry {
    pub(crate) wait: RetryWait,
    /// When it is sent again.
    pub(crate) until: Instant,
    /// When the first attempt failed.
    pub(crate) since: Instant,
    /// What went wrong with each attempt so far.
    pub(crate) failures: Vec<ErrorClass>,
    /// Whether something of the new reply has come.
    pub(crate) is_answering: bool,
}

/// A list in place of the prompt.
#[derive(Debug)]
pub(crate) enum Dialog {
    /// A list of sessions to resume.
    Resume(Picker<String>),
    /// A list of earlier prompts.
    History(Picker<String>),
    /// A list of models to use.
    Model(Picker<String>),
    /// A list of messages to go back to.
    Rewind(Picker<RewindTarget>),
    /// A menu of actions at that message.
    Back(Picker<MessageAction>),
}

/// The target of a rewind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RewindTarget {
    /// The point before this message.
    Message(String),
    /// The state before the newest compaction.
    Uncompacted,
}

/// What to do at a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MessageAction {
    /// Take back what happened from this message on; the names are those of files that somebody else has changed, about
    /// which the user is asked first.
    Rewind(RewindRequest, Vec<String>),
    /// Summarize the messages from this one on.
    SumUpFrom(String),
    /// Summarize the messages before this one.
    SumUpTo(String),
}

/// A text on its own screen.
#[derive(Debug)]
pub(crate) enum AppPage {
    /// A text to read.
    Reader(TextPager),
    /// The whole conversation; rebuilt when a boundary begins another.
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
    /// Pressing the same key once more leaves.
    Armed,
}

/// Whose prompt begins the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstPrompt {
    Users,
    Hooks,
}

/// Whether sent input is written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Echo {
    /// It is written again: the place where it was typed is gone, or was never visible.
    On,
    /// It is not written again: the terminal showed it when it was typed.
    Off,
}

/// What to do after input was handled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AppAction {
    /// Continue.
    On,
    /// Leave the screen.
    Leave,
    /// Suspend the program.
    Aside,
    /// Let the user edit the summary.
    Edit(String),
    /// Redraw everything.
    Redraw,
}

impl App {
    /// A screen on which nothing has happened.
    pub(crate) fn new(
        host: Box<dyn ScreenHost>,
        options: &ScreenOptions,
    ) -> (Self, UnboundedReceiver<HostAnswer>) {
        let (answered, answers) = unbounded_channel();
        let app = Self {
            host,
            answered,
            finished: FinishedLines::default(),
            held: Vec::new(),
            after_call: None,
            stream: StreamedText::default(),
            thinking: String::new(),
            running: Vec::new(),
            hooks: Vec::new(),
            first_prompt: match options.prompt {
                Some(_) => FirstPrompt::Users,
                None => FirstPrompt::Hooks,
            },
            todos: Vec::new(),
            glance: None,
            mode: options.mode,
            work: None,
            compacting: None,
            retry: None,
            heard: Instant::now(),
            queue: VecDeque::new(),
            editor: Editor::default(),
            pictures: PastedPictures::default(),
            history: PromptHistory::load(options.history.clone(), &options.workspace),
            questions: VecDeque::new(),
            asking: QuestionEar::new(),
            dialog: None,
            page: None,
            completion: None,
            own: Vec::new(),
            resources: Vec::new(),
            workspace: options.workspace.clone(),
            files: CompletionFiles::Unknown,
            pending: 0,
            not_written: None,
            failure_told: false,
            hint: None,
            leaving: Leaving::No,
            escape: EscapeKey::Other,
            echo: Echo::On,
            color: options.display.color,
            width: 80,
        };
        (app, answers)
    }

    /// Shows the greeting, and requests what is needed from the start.
    pub(crate) fn begin(&mut self, options: &ScreenOptions) {
        let greeting = options.greeting.iter();
        self.finished
            .extend(greeting.map(|line| WrappedLine::dim(super::text::clean_line(line))));
        self.ask_for_offer();
        if options.resumed {
            self.ask(HostRequest::Transcript, HostAnswer::Recent);
        }
        if let Some(prompt) = options.prompt.clone() {
            self.submit(prompt);
        }
    }

    /// Asks for what can be typed.
    fn ask_for_offer(&mut self) {
        self.ask(HostRequest::Commands, HostAnswer::Commands);
        self.ask(HostRequest::Resources, HostAnswer::Resources);
    }

    /// Stops running work, because the screen is going away, and returns the host, which is still to finish.
    pub(crate) fn end(&mut self) -> &dyn ScreenHost {
        self.questions.clear();
        self.host.cancel();
        &*self.host
    }

    /// Whether something on the screen moves by itself.
    pub(crate) fn is_animated(&self) -> bool {
        self.work.is_some() || self.compacting.is_some() || !self.hooks.is_empty()
    }

    /// The hooks that are waited for, unless they are about a call that is shown.
    pub(crate) fn waiting_hook(&self) -> Option<&(RunningHook, Instant)> {
        let is_shown = |call: &String| self.running.iter().any(|it| it.id == *call);
        let mut hooks = self.hooks.iter();
        hooks.find(|(hook, _)| !hook.call.as_ref().is_some_and(is_shown))
    }

    /// Ends the hooks that are waited for while there is no work, or before it begins. Returns false if there are none.
    fn skips_hooks(&self) -> bool {
        let opens =
            |hook: &RunningHook| ["SessionStart", "InstructionsLoaded"].contains(&hook.event);
        let skips = (self.hooks.iter()).any(|(hook, _)| self.work.is_none() || opens(hook));
        if skips {
            self.host.cancel();
        }
        skips
    }

    /// Whether there is nothing left to do.
    pub(crate) fn is_idle(&self) -> bool {
        self.work.is_none()
            && self.pending == 0
            && self.queue.is_empty()
            && self.questions.is_empty()
    }

    /// Stops the current work.
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
