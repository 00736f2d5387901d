//! Handles the host's answers.

use longhaul_core::economy::EconomyPolicy;
use ratatui::text::Span;

use super::{App, AppAction, AppPage, CompletionFiles, Dialog, RewindTarget};
use crate::effort::EffortSetting;
use crate::picture::Picture;
use crate::screen::answer_lines;
use crate::screen::context;
use crate::screen::figures::grouped;
use crate::screen::flow::WrappedLine;
use crate::screen::host::{
    CommandItem, CompactionReply, CompactionRequest, ContextView, CostView, HookItem, HostRefusal,
    ItemStanding, MessageAuthor, MessageItem, ModelItem, ResourceItem, RewindChoices, RewindPlan,
    RewindReply, SessionItem, ShellResult, TranscriptItem,
};
use crate::screen::markdown;
use crate::screen::pager::{PagerStart, TextPager};
use crate::screen::picker::{PickOption, Picker};
use crate::screen::preview::{PreviewedWindow, SummaryPreview};
use crate::screen::text::{clean, clean_line, columns, count, keep_start};
use crate::screen::transcript::{self, LastExchange};

/// The number of exchanges that are shown of a resumed session.
const RECENT: usize = 4;

/// An answer, and what it answers.
#[derive(Debug)]
pub(crate) enum HostAnswer {
    Worked(Result<(), HostRefusal>),
    Compacted(CompactionRequest, Result<CompactionReply, HostRefusal>),
    Rewound(Result<RewindReply, HostRefusal>),
    RewindPlan(String, Result<RewindPlan, HostRefusal>),
    Undone(Result<String, HostRefusal>),
    Resumed(Result<(), HostRefusal>),
    Recent(Result<Vec<TranscriptItem>, HostRefusal>),
    Cleared(Result<(), HostRefusal>),
    Switched(String, Result<(), HostRefusal>),
    Sessions(Result<Vec<SessionItem>, HostRefusal>, String),
    Models(Result<Vec<ModelItem>, HostRefusal>),
    Context(Result<Box<ContextView>, HostRefusal>),
    Messages(Result<RewindChoices, HostRefusal>),
    Transcript(Result<Vec<TranscriptItem>, HostRefusal>),
    Report(Result<String, HostRefusal>),
    Notes(Result<String, HostRefusal>),
    Shell(Result<ShellResult, HostRefusal>),
    Page(Result<String, HostRefusal>),
    Exported(Result<String, HostRefusal>),
    Hooks(Result<Vec<HookItem>, HostRefusal>),
    Cost(Result<CostView, HostRefusal>),
    Economy(EconomyPolicy, Result<(), HostRefusal>),
    Effort(EffortSetting, Result<(), HostRefusal>),
    Commands(Result<Vec<CommandItem>, HostRefusal>),
    Resources(Result<Vec<ResourceItem>, HostRefusal>),
    Picture(Result<Picture, String>),
    Files(Vec<String>),
}

impl App {
    /// Handles an answer.
    pub(crate) fn on_answer(&mut self, answered: HostAnswer) -> AppAction {
        // The list of files and pictures do not come from the host.
        if !matches!(answered, HostAnswer::Files(_) | HostAnswer::Picture(_)) {
            self.pending = self.pending.saturating_sub(1);
        }
        if ends_work(&answered) {
            self.work = None;
            self.compacting = None;
        }
        if let Err(HostRefusal(why)) = self.taken(answered) {
            self.warn(clean_line(&why));
        }
        // Input may wait for what just ended; but a summary waits for the user first.
        if self.page.is_none() && self.dialog.is_none() {
            self.go_on();
        }
        AppAction::On
    }

    fn taken(&mut self, answered: HostAnswer) -> Result<(), HostRefusal> {
        match answered {
            HostAnswer::Worked(done) => done?,
            HostAnswer::Compacted(_, Err(_)) if self.failure_told => {}
            HostAnswer::Compacted(ask, done) => match done? {
                CompactionReply::Done => {}
                CompactionReply::Preview(preview) => {
                    let window = PreviewedWindow {
                        used: self.glance.as_ref().map_or(0, |glance| glance.used),
                        prefix: self.prefix_tokens(),
                    };
                    let preview = SummaryPreview::new(ask, preview, &window);
                    self.page = Some(AppPage::Preview(Box::new(preview)));
                }
            },
            HostAnswer::Rewound(done) => self.on_rewound(done?),
            HostAnswer::RewindPlan(uuid, plan) => self.offer_rewind(uuid, &plan?),
            HostAnswer::Shell(ran) => self.on_shell(&ran?),
            HostAnswer::Page(text) => {
                self.say(WrappedLine::blank());
                let text = clean(&text?);
                let lines = text.lines().map(|line| WrappedLine::plain(line.to_owned()));
                self.finished.extend(lines);
            }
            HostAnswer::Exported(said) => {
                let said = clean_line(&said?);
                self.note(&said);
            }
            HostAnswer::Undone(said) => {
                let said = clean_line(&said?);
                self.new_conversation();
                self.note(&said);
            }
            HostAnswer::Resumed(done) => {
                done?;
                self.new_conversation();
                self.ask(
                    crate::screen::host::HostRequest::Transcript,
                    HostAnswer::Recent,
                );
            }
            HostAnswer::Recent(items) => {
                let mut items = items?;
                items.retain(|item| item.standing == ItemStanding::Kept);
                self.finished
                    .extend(transcript::recent(&items, RECENT, self.width));
                self.say(WrappedLine::blank());
                self.note(&format!(
                    "resumed after {}; ctrl-o shows all",
                    count(transcript::messages(&items), "message")
                ));
                match transcript::last_exchange(&items) {
                    LastExchange::Ended => {}
                    LastExchange::Unanswered => self.note(
                        "the last prompt was never answered: say \"go on\", or something else",
                    ),
                    LastExchange::CutOff => self.note(
                        "the last prompt was not answered, the work on it was cut off: say \"go on\", or something else",
                    ),
                }
            }
            HostAnswer::Cleared(done) => {
                done?;
                self.new_conversation();
                self.note("a new conversation; /resume goes back to the old one");
            }
            HostAnswer::Switched(name, done) => {
                done?;
                self.note(&format!(
                    "{} is used from the next request on, which is written to the cache anew",
                    clean_line(&name)
                ));
            }
            HostAnswer::Sessions(sessions, query) => {
                let sessions = sessions?;
                // A complete id leaves nothing to choose.
                if let Some(found) = sessions.iter().find(|session| session.id == query) {
                    self.resume(found.id.clone());
                    return Ok(());
                }
                let picker = Picker::list(
                    "Resume",
                    sessions.iter().map(|it| session(it, self.width)).collect(),
                );
                self.dialog = Some(Dialog::Resume(picker.searching(&query)));
            }
            HostAnswer::Models(models) => {
                let models = models?;
                let current = models.iter().position(|model| model.current);
                let mut picker = Picker::list("Model", models.iter().map(model).collect());
                picker.step(current.unwrap_or_default() as isize);
                self.dialog = Some(Dialog::Model(picker));
            }
            HostAnswer::Messages(messages) => self.pick_message(&messages?),
            HostAnswer::Context(view) => {
                let lines = context::picture(&*view?, self.width, self.color);
                self.finished.extend(lines);
            }
            HostAnswer::Transcript(items) => {
                let lines = transcript::lines(&items?, self.width);
                self.page = Some(AppPage::Transcript(TextPager::new(
                    "Transcript",
                    lines,
                    PagerStart::End,
                )));
            }
            HostAnswer::Report(report) => {
                self.finished.extend(answer_lines::report(&report?));
            }
            HostAnswer::Notes(notes) => {
                let lines = markdown::render(&notes?, self.width.saturating_sub(2));
                if lines.is_empty() {
                    self.note("there are no notes of this session yet")
                } else {
                    self.finished
                        .extend(lines.into_iter().map(|line| line.indented(Span::raw("  "))))
                }
            }
            HostAnswer::Hooks(hooks) => self.finished.extend(answer_lines::hooks(&hooks?)),
            HostAnswer::Effort(effort, done) => {
                done?;
                self.note(&answer_lines::effort_set(effort));
            }
            HostAnswer::Economy(policy, done) => {
                done?;
                let said = answer_lines::economy_set(policy);
                self.finished.push(WrappedLine::dim(format!("· {said}")));
            }
            HostAnswer::Cost(cost) => self.finished.extend(answer_lines::cost(&cost?)),
            HostAnswer::Commands(commands) => self.own = commands.unwrap_or_default(),
            HostAnswer::Resources(found) => self.resources = found.unwrap_or_default(),
            HostAnswer::Picture(taken) => self.on_picture(taken),
            HostAnswer::Files(files) => {
                self.files = CompletionFiles::Known(files);
                self.edited();
            }
        }
        Ok(())
    }

    /// Removes what belonged to the conversation before.
    pub(super) fn new_conversation(&mut self) {
        self.todos.clear();
        self.running.clear();
        self.thinking.clear();
    }
}

/// Whether this answer ends work that other input waits for.
fn ends_work(answered: &HostAnswer) -> bool {
    matches!(
        answered,
        HostAnswer::Worked(_)
            | HostAnswer::Compacted(..)
            | HostAnswer::Rewound(_)
            | HostAnswer::Shell(_)
            | HostAnswer::Undone(_)
            | HostAnswer::Resumed(_)
            | HostAnswer::Cleared(_)
            | HostAnswer::Effort(..)
            | HostAnswer::Switched(..)
    )
}

fn when(at: Option<jiff::Timestamp>) -> String {
    // Date and minute where the user is: 2026-01-31 12:59.
    let at = at.map(|at| at.to_zoned(jiff::tz::TimeZone::system()));
    at.map(|at| at.strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}

/// A session in a list of this width: a long title is cut, its mark never.
fn session(session: &SessionItem, width: usize) -> PickOption<String> {
    let branch = session
        .branch
        .as_deref()
        .map(clean_line)
        .unwrap_or_default();
    let gap = if branch.is_empty() { "" } else { " · " };
    let mark = match session.mark.as_str() {
        "" => String::new(),
        mark => format!(" {mark}"),
    };
    let about = format!(
        "{branch}{gap}{} · {}",
        match session.messages {
            1 => "1 reply".to_owned(),
            many => format!("{} replies", grouped(many)),
        },
        when(session.modified)
    );
    let room = width.saturating_sub(columns(&about) + columns(&mark) + 4);
    let title = clean_line(&session.title);
    PickOption {
        value: session.id.clone(),
        text: format!("{}{mark}", keep_start(&title, room.max(20))),
        about,
    }
}

fn model(model: &ModelItem) -> PickOption<String> {
    let mark = if model.current { "✓ " } else { "  " };
    PickOption {
        value: model.id.clone(),
        text: format!("{mark}{}", clean_line(&model.id)),
        about: clean_line(&model.about),
    }
}

pub(super) fn message(message: &MessageItem) -> PickOption<RewindTarget> {
    let who = match message.who {
        MessageAuthor::User => ">",
        MessageAuthor::Assistant => "●",
    };
    PickOption {
        value: RewindTarget::Message(message.uuid.clone()),
        text: format!("{who} {}", clean_line(&message.line)),
        about: format!("{} tokens · {}", grouped(message.tokens), when(message.at)),
    }
}
