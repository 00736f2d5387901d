//! Handles the agent's events.

use std::time::{Duration, Instant};

use longhaul::session::RetryWait;
use longhaul_core::engine::Event;
use longhaul_core::window::WindowLevel;
use longhaul_provider::ErrorClass;

use super::{ActiveCompaction, ActiveRetry, App, AppPage, FirstPrompt, RunningCall};
use crate::event::{AgentEvent, PromptOutcome};
use crate::retry_words;
use crate::screen::event_lines::{self, UnfinishedReply};
use crate::screen::figures::elapsed;
use crate::screen::flow::WrappedLine;
use crate::screen::open_question::OpenQuestion;
use crate::screen::style::dim;
use crate::screen::text::{clean, clean_line};

/// The number of characters of a call's progress that are kept: fewer are shown.
const PROGRESS: usize = 4_000;

/// A wait before the second try that is not told about when it is over.
const SHORT_WAIT: Duration = Duration::from_secs(3);

impl App {
    /// Handles an event.
    pub(crate) fn on_event(&mut self, event: AgentEvent) {
        self.heard = Instant::now();
        match event {
            AgentEvent::Arriving => self.reply_arrives(),
            AgentEvent::Text(text) => {
                self.reply_arrives();
                self.thinking.clear();
                let lines = self.stream.push(&text, self.width);
                if !lines.is_empty() {
                    self.finished.extend(lines);
                    self.release_held();
                }
            }
            AgentEvent::Thinking(text) => {
                self.reply_arrives();
                self.thinking.push_str(&text);
                // The last line is shown; the rest is in the transcript.
                if let Some(at) = self.thinking.trim_end().rfind('\n') {
                    self.thinking.drain(..=at);
                }
            }
            AgentEvent::Restarted => {
                self.thinking.clear();
                // What stands above cannot be taken back from a terminal, so a line says that it does not count.
                let was_visible = self.stream.discard();
                self.release_held();
                if was_visible {
                    self.say(WrappedLine::dim(
                        "· the reply broke off: what came of it does not count, and it begins again",
                    ));
                }
            }
            AgentEvent::Retrying(wait) => self.on_retrying(wait),
            AgentEvent::Replied(_) => {
                self.end_text();
                self.end_retry();
            }
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
                self.show_call(event_lines::call(&name, &line, &output));
            }
            AgentEvent::Asks(question) => {
                self.end_text();
                self.on_asks(question);
            }
            // The call's result says so.
            AgentEvent::Denied(_) => {}
            AgentEvent::Todos(todos) => self.todos = todos,
            AgentEvent::Engine(event) => self.on_engine(&event),
            AgentEvent::Summarizing(characters) => {
                if let Some(compacting) = self.compacting.as_mut() {
                    compacting.characters = characters;
                }
            }
            AgentEvent::Glance(glance) => {
                self.mode = glance.mode;
                self.glance = Some(glance);
            }
            AgentEvent::Notice(text) => {
                let lines = text.lines().enumerate().map(|(at, line)| {
                    let mark = if at == 0 { '·' } else { ' ' };
                    let line = clean_line(line);
                    WrappedLine::new(vec![dim(format!("{mark} {line}"))], 2)
                });
                self.say_between_blocks(lines.collect());
            }
            AgentEvent::HookRuns(hook) => self.hooks.push((hook, Instant::now())),
            AgentEvent::HookEnded(number) => self.on_hook_ended(number),
            AgentEvent::InitialPrompt(prompt) => {
                if self.first_prompt == FirstPrompt::Hooks {
                    self.submit(prompt);
                }
            }
            AgentEvent::OfferChanged => self.ask_for_offer(),
            AgentEvent::Guide(text) => {
                self.end_text();
                self.finished.extend(event_lines::guide(&text));
            }
            AgentEvent::Ended(ended) => self.on_ended(&ended),
        }
    }

    fn on_hook_ended(&mut self, number: u64) {
        let at = self
            .hooks
            .iter()
            .position(|(hook, _)| hook.number == number);
        let Some((hook, _)) = at.map(|at| self.hooks.remove(at)) else {
            return;
        };
        // The call itself begins only now.
        let call = self.running.iter_mut();
        for call in call.filter(|call| hook.call.as_ref() == Some(&call.id)) {
            call.since = Instant::now();
        }
    }

    fn on_engine(&mut self, event: &Event) {
        self.failure_told |= matches!(event, Event::CompactFailed { .. });
        if let Event::NotPersisted { message } = event {
            // Every line that waits fails for the same reason: once is enough.
            if self.not_written.replace(message.clone()).as_ref() == Some(message) {
                return;
            }
        }
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
        if let Event::Compacted(done) = event {
            self.window_now_holds(done.window);
        }
        if matches!(
            (event, &self.page),
            (Event::Compacted(_), Some(AppPage::Transcript(_)))
        ) {
            self.open_transcript();
        }
        self.say_between_blocks(event_lines::engine(event));
    }

    /// The approximate tokens of what every request begins with.
    pub(super) fn prefix_tokens(&self) -> u64 {
        self.glance.as_ref().map_or(0, |glance| glance.prefix)
    }

    /// The status after a compaction, which is known before the next reply is.
    fn window_now_holds(&mut self, tokens: u64) {
        if let Some(glance) = &mut self.glance {
            glance.used = tokens;
            let left = glance.limit.saturating_sub(tokens) as f64;
            let share = left / glance.limit.max(1) as f64;
            glance.percent_left = (share * 100.0).round() as u64;
            glance.level = WindowLevel::Ok;
        }
    }

    /// Shows lines that do not belong to the reply: at once, or at the end of the block that is being written.
    fn say_between_blocks(&mut self, lines: Vec<WrappedLine>) {
        if self.stream.is_within_block() {
            self.held.extend(lines);
        } else {
            self.finished.extend(lines);
        }
    }

    fn release_held(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.finished.extend(held);
    }

    /// Shows a call. Calls of one line stand together; all others have an empty line before them.
    fn show_call(&mut self, lines: Vec<WrappedLine>) {
        let is_short = lines.len() == 1;
        if !(is_short && self.after_call == Some(self.finished.added())) {
            self.say(WrappedLine::blank());
        }
        self.finished.extend(lines);
        self.after_call = is_short.then(|| self.finished.added());
    }

    fn on_retrying(&mut self, wait: RetryWait) {
        let now = Instant::now();
        let (since, mut failures) = match self.retry.take() {
            Some(before) => (before.since, before.failures),
            None => (now, Vec::new()),
        };
        failures.push(wait.class);
        self.retry = Some(ActiveRetry {
            until: now + wait.wait,
            wait,
            since,
            failures,
            is_answering: false,
        });
    }

    /// Something of the reply has come: nothing is counted down any more.
    fn reply_arrives(&mut self) {
        if let Some(retry) = &mut self.retry {
            retry.is_answering = true;
        }
    }

    /// The reply that was waited for is whole: a line says what took so long, unless the first wait was enough and so
    /// short that nobody wonders.
    fn end_retry(&mut self) {
        let was_noticed = |retry: &ActiveRetry| {
            retry.wait.attempt > 2
                || retry.wait.wait >= SHORT_WAIT
                || matches!(retry.wait.class, ErrorClass::Timeout(_))
        };
        if let Some(retry) = self.retry.take().filter(was_noticed) {
            self.say(WrappedLine::dim(format!(
                "· {}: answered at try {}, after {}",
                retry_words::failures(&retry.failures),
                retry.wait.attempt,
                elapsed(retry.since.elapsed())
            )));
        }
    }

    /// Ends the current text.
    fn end_text(&mut self) {
        self.thinking.clear();
        let lines = self.stream.finish(self.width);
        self.finished.extend(lines);
        self.release_held();
    }

    fn on_ended(&mut self, ended: &PromptOutcome) {
        // A reply that is complete has been reported as such, and its text is gone from here.
        let reply = match self.stream.is_visible() {
            true => UnfinishedReply::Dropped,
            false => UnfinishedReply::None,
        };
        self.end_text();
        self.running.clear();
        self.compacting = None;
        self.retry = None;
        self.questions.clear();
        let not_written = self.not_written.take();
        let is_told = |why: &String| not_written.is_some_and(|told| why.contains(&told));
        match ended {
            PromptOutcome::Failed(why) if is_told(why) => self.warn(
                "stopped: what is not written yet is kept, and written with your next prompt",
            ),
            _ => self.finished.extend(event_lines::ended(ended, reply)),
        }
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
        self.questions.retain(OpenQuestion::is_open);
    }
}
