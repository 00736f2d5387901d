//! The tour: shows a newcomer within a minute how the window fills and is compacted, what was lost, and how a session is
//! resumed (`longhaul chat --tour`).
//!
//! The script is a state machine without a terminal, a clock or a session: the driver asks for the next step
//! ([`next_step`]), performs it, and passes every event on in the meantime ([`watch`]). It works in the sample project
//! ([`write_sample_project`]), only reads, and shows the same figures each time. If the window does not fill, the
//! conversation is compacted by command.
//!
//! [`next_step`]: Tour::next_step
//! [`watch`]: Tour::watch

mod observations;
mod sample_project;
mod step;

use std::time::Duration;

use observations::TourObservations;
pub use sample_project::write_sample_project;
pub use step::{TourStep, TourWait};

use crate::event::{AgentEvent, PromptOutcome};

/// Tokens between the request prefix and the compaction threshold, which the tour fills gradually.
const ROOM: u64 = 45_650;
/// The share of a window below the threshold, in percent: the rest is reserves and margins (H1, H2, H7).
const BELOW_THRESHOLD: u64 = 79;
/// The smallest and the largest window of a tour.
const WINDOWS: (u64, u64) = (18_000, 150_000);

/// What is asked for until the conversation is compacted. The longest files are printed by commands, which is how people
/// look at such files; what commands print is not restored afterwards, as short files are.
const READS: [&str; 7] = [
    "Run `cat logs/collector.log`",
    "Run `cat data/readings-2026-03.csv`",
    "Skim the other files, a few lines of each.",
    "Find LOOK_BACK",
    "Read tidewatch/store.py",
    "Read tidewatch/alarm.py",
    "Read tests/test_alarm.py",
];

/// The best window size for a tour, given the tokens of the request prefix: system prompt, tools, memory files. It is
/// small, so that things happen soon. Set it as the session's `window_cap`.
pub fn window_cap(head_tokens: u64) -> u64 {
    let window = (head_tokens + ROOM) * 100 / BELOW_THRESHOLD;
    window.clamp(WINDOWS.0, WINDOWS.1)
}

/// The tour.
#[derive(Debug, Clone, Default)]
pub struct Tour {
    stage: TourStage,
    seen: TourObservations,
    /// The number of files that were asked for.
    asked: usize,
    /// The steps after the one that was returned.
    then: Vec<TourStep>,
}

/// The stage of the tour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TourStage {
    #[default]
    Welcome,
    LookAround,
    Gauge,
    Rule,
    StateRule,
    Fill,
    Read,
    Report,
    Quit,
    Resumed,
    Bill,
    Over,
}

impl Tour {
    /// A tour that has not started.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in an event. Every event of the agent goes here, including those after a resume.
    pub fn watch(&mut self, event: &AgentEvent) {
        self.seen.take_in(event);
    }

    /// The next step. After the end, [`TourStep::End`] is returned again and again.
    pub fn next_step(&mut self) -> TourStep {
        if !self.then.is_empty() {
            return self.then.remove(0);
        }
        if let Some(said) = self.stopped() {
            return said;
        }
        match self.stage {
            TourStage::Welcome => self.says(TourStage::LookAround, include_str!("says/welcome.md")),
            TourStage::LookAround => {
                self.prompts(TourStage::Gauge, include_str!("prompts/look_around.txt"))
            }
            TourStage::Gauge => {
                self.then.push(TourStep::Command("/context".to_owned()));
                let text = self.seen.fill(include_str!("says/gauge.md"));
                self.says(TourStage::Rule, &text)
            }
            TourStage::Rule => self.says(TourStage::StateRule, include_str!("says/rule.md")),
            TourStage::StateRule => self.prompts(TourStage::Fill, include_str!("prompts/rule.txt")),
            TourStage::Fill => self.says(TourStage::Read, include_str!("says/fill.md")),
            TourStage::Read => self.read(),
            TourStage::Report if !self.seen.compacted() => {
                self.stage = TourStage::Quit;
                self.next_step()
            }
            TourStage::Report => {
                let text = self.seen.fill(include_str!("says/report.md"));
                self.says(TourStage::Quit, &text)
            }
            TourStage::Quit => {
                self.seen.about_to_resume();
                self.then.push(TourStep::Resume);
                self.says(TourStage::Resumed, include_str!("says/quit.md"))
            }
            TourStage::Resumed => self.prompts(TourStage::Bill, include_str!("prompts/where.txt")),
            TourStage::Bill => {
                self.then.push(TourStep::Command("/cost".to_owned()));
                let bye = include_str!("says/bye.md").trim_end();
                self.then.push(TourStep::Say(bye.to_owned()));
                let text = self.seen.fill(include_str!("says/bill.md"));
                self.says(TourStage::Over, &text)
            }
            TourStage::Over => TourStep::End,
        }
    }

    /// Reads one more file, unless the conversation was compacted; without one, it is compacted by command.
    fn read(&mut self) -> TourStep {
        if self.seen.compacted() {
            self.stage = TourStage::Report;
            return self.next_step();
        }
        match READS.get(self.asked) {
            Some(prompt) => {
                self.asked += 1;
                self.prompt(prompt)
            }
            None => {
                self.stage = TourStage::Report;
                self.then.push(TourStep::Wait(TourWait::Ended));
                TourStep::Command("/compact".to_owned())
            }
        }
    }

    /// Ends the tour if a prompt did not end well, with the reason.
    fn stopped(&mut self) -> Option<TourStep> {
        let say = match self.seen.ended()? {
            PromptOutcome::Done
            | PromptOutcome::TurnsUsedUp(_)
            | PromptOutcome::BudgetUsedUp { .. } => return None,
            PromptOutcome::Cancelled => include_str!("says/cancelled.md").trim_end().to_owned(),
            PromptOutcome::Refused(why) | PromptOutcome::Failed(why) => {
                include_str!("says/failed.md")
                    .trim_end()
                    .replace("{why}", why)
            }
        };
        self.stage = TourStage::Over;
        self.seen.forget_end();
        Some(TourStep::Say(say))
    }

    /// Shows a text, with time to read it.
    fn says(&mut self, next: TourStage, text: &str) -> TourStep {
        let text = text.trim_end().to_owned();
        self.then
            .insert(0, TourStep::Wait(TourWait::Read(reading_time(&text))));
        self.stage = next;
        TourStep::Say(text)
    }

    fn prompts(&mut self, next: TourStage, text: &str) -> TourStep {
        self.stage = next;
        self.prompt(text)
    }

    fn prompt(&mut self, text: &str) -> TourStep {
        self.seen.about_to_ask();
        self.then.push(TourStep::Wait(TourWait::Ended));
        TourStep::Prompt(text.trim_end().to_owned())
    }
}

/// How long people need to read a text.
fn reading_time(text: &str) -> Duration {
    let words = text.split_whitespace().count() as u64;
    Duration::from_millis((words * 110).clamp(1_500, 6_000))
}
