//! Handles the agent's events.

use std::time::{Duration, Instant};

use longhaul_core::engine::Event;

use super::{ActiveCompaction, App, AppPage, RunningCall};
use crate::event::{AgentEvent, PromptOutcome};
use crate::screen::event_lines;
use crate::screen::flow::WrappedLine;
use crate::screen::question::ApprovalDialog;
use crate::screen::style::dim;
use crate::screen::text::{clean, clean_line};

/// How long a question that appears while the user types ignores keys.
const SURPRISE: Duration = Duration::from_millis(700);
/// The number of characters of a call's progress that are kept: fewer are shown.
const PROGRESS: usize = 4_000;

impl App {
    /// Handles an event.
    pub(crate) fn on_event(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Text(text) => {
                self.thinking.clear();
                let lines = self.stream.push(&text);
                self.finished.extend(lines);
            }
            AgentEvent::Thinking(text) => {
                self.thinking.push_str(&text);
                // The last line is shown; the rest is in the transcript.
                if let Some(at) = self.thinking.trim_end().rfind('\n') {
                    self.thinking.drain(..=at);
                }
            }
            AgentEvent::Restarted => {
                self.thinking.clear();
                self.end_text();
                self.say(WrappedLine::dim("· the reply broke off and begins again"));
            }
            AgentEvent::Replied(_) => self.end_text(),
            AgentEvent::ToolStarted { id, name, line, .. } => {
                self.end_text();
                self.running.push(RunningCall {
                    id,
                    name: clean_line(&name),
                    line: clean_line(&line),
                    progress: String::new(),
                    since: Instant::now(),
                });
            }
            AgentEvent::ToolProgress { id, text } => {
                let cut = text.len().saturating_sub(PROGRESS);
                let cut = (cut..=text.len()).find(|at| text.is_char_boundary(*at));
                let running = self.running.iter_mut().find(|call| call.id == id);
                if let Some(call) = running {
                    call.progress = clean(&text[cut.unwrap_or(0)..]);
                }
            }
            AgentEvent::ToolEnded { id, output } => {
                self.end_text();
                let at = self.running.iter().position(|call| call.id == id);
                let call = at.map(|at| self.running.remove(at));
                let (name, line) = call.map_or((String::new(), id), |call| (call.name, call.line));
                self.finished
                    .extend(event_lines::call(&name, &line, &output));
            }
            AgentEvent::Asks(question) => {
                self.end_text();
                self.completion = None;
                // A user who is typing does not mean the question that has just appeared.
                let now = Instant::now();
                let deaf = if self.editor.is_empty() {
                    now
                } else {
                    now + SURPRISE
                };
                self.questions
                    .push_back(ApprovalDialog::new(question, deaf));
            }
            // The call's result says so.
            AgentEvent::Denied(_) => {}
            AgentEvent::Todos(todos) => self.todos = todos,
            AgentEvent::Engine(event) => self.on_engine(&event),
            AgentEvent::Summarising(characters) => {
                if let Some(compacting) = self.compacting.as_mut() {
                    compacting.characters = characters;
                }
            }
            AgentEvent::Glance(glance) => {
                self.mode = glance.mode;
                self.glance = Some(glance);
            }
            AgentEvent::Notice(text) => {
                self.end_text();
                for (at, line) in text.lines().enumerate() {
                    let mark = if at == 0 { '·' } else { ' ' };
                    let line = clean_line(line);
                    self.say(WrappedLine::new(vec![dim(format!("{mark} {line}"))], 2));
                }
            }
            AgentEvent::Ended(ended) => self.on_ended(&ended),
        }
    }

    fn on_engine(&mut self, event: &Event) {
        self.failure_told |= matches!(event, Event::CompactFailed { .. });
        match event {
            Event::Phase(Some(phase)) => {
                let before = self.compacting;
                self.compacting = Some(ActiveCompaction {
                    phase: *phase,
                    since: before.map_or_else(Instant::now, |before| before.since),
                    characters: before.map_or(0, |before| before.characters),
                });
            }
            Event::Phase(None)
            | Event::Compacted(_)
            | Event::CompactFailed { .. }
            | Event::Preview(_) => self.compacting = None,
            _ => {}
        }
        if matches!(
            (event, &self.page),
            (Event::Compacted(_), Some(AppPage::Transcript(_)))
        ) {
            self.open_transcript();
        }
        let lines = event_lines::engine(event);
        if !lines.is_empty() {
            self.end_text();
        }
        self.finished.extend(lines);
    }

    /// Ends the current text.
    fn end_text(&mut self) {
        self.thinking.clear();
        let lines = self.stream.finish();
        self.finished.extend(lines);
    }

    fn on_ended(&mut self, ended: &PromptOutcome) {
        self.end_text();
        self.running.clear();
        self.compacting = None;
        self.questions.clear();
        self.finished.extend(event_lines::ended(ended));
        if matches!(
            ended,
            PromptOutcome::Cancelled | PromptOutcome::Failed(_) | PromptOutcome::Refused(_)
        ) {
            self.hand_back_queue();
        }
    }

    /// Returns queued input to the prompt: it was meant for work that did not finish, so the user decides what to do
    /// with it.
    fn hand_back_queue(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        let mut texts: Vec<String> = self.queue.drain(..).collect();
        texts.extend(Some(self.editor.whole()).filter(|text| !text.is_empty()));
        self.editor.set(&texts.join("\n"));
    }

    /// Removes questions whose answers are no longer waited for.
    pub(crate) fn drop_closed_questions(&mut self) {
        self.questions.retain(ApprovalDialog::is_open);
    }
}
