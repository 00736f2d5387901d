//! What the host answers.

use ratatui::text::Span;

use super::{App, Dialog, Files, Next, Page, Target};
use crate::screen::answer_lines;
use crate::screen::context;
use crate::screen::figures::grouped;
use crate::screen::flow::Flow;
use crate::screen::host::{
    CommandItem, CompactAsk, Compaction, ContextView, CostView, HookItem, MessageItem, ModelItem,
    Refusal, SessionItem, Speaker, TranscriptItem,
};
use crate::screen::markdown;
use crate::screen::picker::{PickOption, Picker};
use crate::screen::preview::Previewing;
use crate::screen::reader::{Reader, Start};
use crate::screen::text::{clean_line, count};
use crate::screen::transcript;

/// Exchanges that are shown of a session that was resumed.
const RECENT: usize = 4;

/// An answer, and what it answers.
#[derive(Debug)]
pub(crate) enum Answered {
    Worked(Result<(), Refusal>),
    Compacted(CompactAsk, Result<Compaction, Refusal>),
    Rewound(Result<Option<String>, Refusal>),
    Undone(Result<String, Refusal>),
    Resumed(Result<(), Refusal>),
    Recent(Result<Vec<TranscriptItem>, Refusal>),
    Cleared(Result<(), Refusal>),
    Switched(String, Result<(), Refusal>),
    Sessions(Result<Vec<SessionItem>, Refusal>, String),
    Models(Result<Vec<ModelItem>, Refusal>),
    Context(Result<Box<ContextView>, Refusal>),
    Messages(Result<Vec<MessageItem>, Refusal>),
    Transcript(Result<Vec<TranscriptItem>, Refusal>),
    Report(Result<String, Refusal>),
    Notes(Result<String, Refusal>),
    Hooks(Result<Vec<HookItem>, Refusal>),
    Cost(Result<CostView, Refusal>),
    Commands(Result<Vec<CommandItem>, Refusal>),
    Files(Vec<String>),
}

impl App {
    /// Takes an answer.
    pub(crate) fn on_answer(&mut self, answered: Answered) -> Next {
        // Files are listed by nobody's host.
        if !matches!(answered, Answered::Files(_)) {
            self.pending = self.pending.saturating_sub(1);
        }
        if ends_work(&answered) {
            self.work = None;
            self.compacting = None;
        }
        if let Err(Refusal(why)) = self.taken(answered) {
            self.warn(clean_line(&why));
        }
        // Something may wait for what just ended; a summary waits for the user first.
        if self.page.is_none() && self.dialog.is_none() {
            self.go_on();
        }
        Next::On
    }

    fn taken(&mut self, answered: Answered) -> Result<(), Refusal> {
        match answered {
            Answered::Worked(done) => done?,
            Answered::Compacted(_, Err(_)) if self.failure_told => {}
            Answered::Compacted(ask, done) => match done? {
                Compaction::Done => {}
                Compaction::Preview(preview) => {
                    self.page = Some(Page::Preview(Box::new(Previewing::new(ask, preview))));
                }
            },
            Answered::Rewound(text) => {
                if let Some(text) = text? {
                    self.editor.set(&text);
                }
                self.new_conversation();
                self.note("gone back; what followed is still in the transcript");
            }
            Answered::Undone(said) => {
                let said = clean_line(&said?);
                self.new_conversation();
                self.note(&said);
            }
            Answered::Resumed(done) => {
                done?;
                self.new_conversation();
                self.ask(crate::screen::host::Ask::Transcript, Answered::Recent);
            }
            Answered::Recent(items) => {
                let items = items?;
                self.finished.extend(transcript::recent(&items, RECENT));
                self.say(Flow::blank());
                self.note(&format!(
                    "resumed after {}; ctrl-o shows all",
                    count(items.len(), "step")
                ));
            }
            Answered::Cleared(done) => {
                done?;
                self.new_conversation();
                self.note("a new conversation; /resume goes back to the old one");
            }
            Answered::Switched(name, done) => {
                done?;
                self.note(&format!("{} is asked from now on", clean_line(&name)));
            }
            Answered::Sessions(sessions, query) => {
                let sessions = sessions?;
                // A whole id leaves nothing to pick.
                if let Some(found) = sessions.iter().find(|session| session.id == query) {
                    self.resume(found.id.clone());
                    return Ok(());
                }
                let picker = Picker::list("Resume", sessions.iter().map(session).collect());
                self.dialog = Some(Dialog::Resume(picker.searching(&query)));
            }
            Answered::Models(models) => {
                let options = models?.iter().map(model).collect();
                self.dialog = Some(Dialog::Model(Picker::list("Model", options)));
            }
            Answered::Messages(messages) => self.pick_message(&messages?),
            Answered::Context(view) => {
                let lines = context::picture(&*view?, self.width, self.colour);
                self.finished.extend(lines);
            }
            Answered::Transcript(items) => {
                let lines = transcript::lines(&items?);
                self.page = Some(Page::Transcript(Reader::new(
                    "Transcript",
                    lines,
                    Start::End,
                )));
            }
            Answered::Report(report) => {
                self.finished.extend(answer_lines::report(&report?));
            }
            Answered::Notes(notes) => {
                let lines = markdown::render(&notes?);
                match lines.is_empty() {
                    true => self.note("there are no notes of this session yet"),
                    false => self
                        .finished
                        .extend(lines.into_iter().map(|line| line.indented(Span::raw("  ")))),
                }
            }
            Answered::Hooks(hooks) => self.finished.extend(answer_lines::hooks(&hooks?)),
            Answered::Cost(cost) => self.finished.extend(answer_lines::cost(&cost?)),
            Answered::Commands(commands) => self.own = commands.unwrap_or_default(),
            Answered::Files(files) => {
                self.files = Files::Known(files);
                self.edited();
            }
        }
        Ok(())
    }

    /// What belonged to the conversation before is taken away.
    fn new_conversation(&mut self) {
        self.todos.clear();
        self.running.clear();
        self.thinking.clear();
    }

    fn pick_message(&mut self, messages: &[MessageItem]) {
        let mut options: Vec<PickOption<Target>> = messages.iter().map(message).collect();
        options.push(PickOption {
            value: Target::Uncompacted,
            text: "undo the newest compaction".to_owned(),
            about: String::new(),
        });
        let newest = options.len().saturating_sub(2);
        let mut picker = Picker::list("Go back to", options);
        picker.step(newest as isize);
        self.dialog = Some(Dialog::Rewind(picker));
    }
}

/// Whether an answer is that to something that others wait for.
fn ends_work(answered: &Answered) -> bool {
    matches!(
        answered,
        Answered::Worked(_)
            | Answered::Compacted(..)
            | Answered::Rewound(_)
            | Answered::Undone(_)
            | Answered::Resumed(_)
            | Answered::Cleared(_)
            | Answered::Switched(..)
    )
}

fn when(at: Option<jiff::Timestamp>) -> String {
    let at = at.map(|at| at.to_string());
    // Date and minute, without the zone: 2026-01-31 12:59.
    at.and_then(|at| at.get(..16).map(|at| at.replace('T', " ")))
        .unwrap_or_default()
}

fn session(session: &SessionItem) -> PickOption<String> {
    let branch = session
        .branch
        .as_deref()
        .map(clean_line)
        .unwrap_or_default();
    let gap = if branch.is_empty() { "" } else { " · " };
    PickOption {
        value: session.id.clone(),
        text: clean_line(&session.title),
        about: format!(
            "{branch}{gap}{} · {}",
            count(session.messages as usize, "message"),
            when(session.modified)
        ),
    }
}

fn model(model: &ModelItem) -> PickOption<String> {
    let current = if model.current { " (now)" } else { "" };
    PickOption {
        value: model.id.clone(),
        text: format!("{}{current}", clean_line(&model.id)),
        about: clean_line(&model.about),
    }
}

fn message(message: &MessageItem) -> PickOption<Target> {
    let who = match message.who {
        Speaker::User => ">",
        Speaker::Assistant => "●",
    };
    PickOption {
        value: Target::Message(message.uuid.clone()),
        text: format!("{who} {}", clean_line(&message.line)),
        about: format!("{} tokens · {}", grouped(message.tokens), when(message.at)),
    }
}
