//! The tour: shows a newcomer within two minutes how the window fills, is cleared and compacted, what was lost, and how
//! a session is resumed (`longhaul chat --tour`).
//!
//! The script is a state machine without a terminal, a clock or a session: the driver asks for the next step
//! ([`next_step`]), performs it, and passes every event on in the meantime ([`watch`]). It sends prompts until it has
//! seen what it wants to show, so it works in any folder: where there is little to read, the model makes text up, and
//! where even that does not suffice, it compacts by command. It only reads.
//!
//! [`next_step`]: Tour::next_step
//! [`watch`]: Tour::watch

mod observations;
mod step;

use std::time::Duration;

use observations::TourObservations;
pub use step::{TourStep, TourWait};

use crate::event::{AgentEvent, PromptOutcome};

/// Tokens between the request prefix and the compaction threshold, which the tour fills gradually.
const ROOM: u64 = 20_000;
/// The share of a window below the threshold, in percent: the rest is reserves and margins (H1, H2, H7).
const BELOW_THRESHOLD: u64 = 79;
/// The smallest and the largest window of a tour.
const WINDOWS: (u64, u64) = (18_000, 100_000);

/// The maximum number of prompts that skim, until results are cleared.
const MOST_SKIMS: u32 = 3;
/// The maximum number of prompts that read a lot, until the conversation is compacted.
const MOST_READS: u32 = 4;
/// The maximum number of prompts that make the model write filler text, before the conversation is compacted by
/// command.
const MOST_FILLERS: u32 = 8;

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
    /// How often the prompt of this stage was sent.
    sent: u32,
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
    Skim,
    Cleared,
    Read,
    Filler,
    Compact,
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
        let stage = self.stage;
        match stage {
            TourStage::Welcome => self.says(TourStage::LookAround, include_str!("says/welcome.md")),
            TourStage::LookAround => {
                self.prompts(TourStage::Gauge, include_str!("prompts/look_around.txt"))
            }
            TourStage::Gauge => {
                self.then.push(TourStep::Command("/context".to_owned()));
                self.says(
                    TourStage::Skim,
                    &self.seen.fill(include_str!("says/gauge.md")),
                )
            }
            TourStage::Skim => match self.seen.over() {
                true => self.turn_to(TourStage::Cleared),
                false if self.sent >= MOST_SKIMS || self.seen.nothing_read() => {
                    self.turn_to(TourStage::Read)
                }
                false => self.prompts_again(include_str!("prompts/skim.txt")),
            },
            TourStage::Cleared => {
                if self.seen.cleared() {
                    self.says(
                        TourStage::Read,
                        &self.seen.fill(include_str!("says/cleared.md")),
                    )
                } else {
                    self.turn_to(TourStage::Read)
                }
            }
            TourStage::Read => match self.seen.compacted() {
                true => self.turn_to(TourStage::Report),
                false if self.sent >= MOST_READS || self.seen.nothing_read() => {
                    self.says(TourStage::Filler, include_str!("says/little.md"))
                }
                false => self.prompts_again(include_str!("prompts/read.txt")),
            },
            TourStage::Filler => match self.seen.compacted() {
                true => self.turn_to(TourStage::Report),
                false if self.sent >= MOST_FILLERS => self.turn_to(TourStage::Compact),
                false => self.prompts_again(include_str!("prompts/filler.txt")),
            },
            TourStage::Compact => {
                self.then.push(TourStep::Wait(TourWait::Ended));
                self.stage = TourStage::Report;
                TourStep::Command("/compact".to_owned())
            }
            TourStage::Report => {
                self.then.push(TourStep::Command("/context".to_owned()));
                self.says(
                    TourStage::Quit,
                    &self.seen.fill(include_str!("says/report.md")),
                )
            }
            TourStage::Quit => {
                self.seen.about_to_resume();
                self.then.push(TourStep::Resume);
                self.says(TourStage::Resumed, include_str!("says/quit.md"))
            }
            TourStage::Resumed => self.prompts(TourStage::Bill, include_str!("prompts/where.txt")),
            TourStage::Bill => {
                self.then.push(TourStep::Command("/cost".to_owned()));
                self.then.push(TourStep::Say(
                    include_str!("says/bye.md").trim_end().to_owned(),
                ));
                self.says(
                    TourStage::Over,
                    &self.seen.fill(include_str!("says/bill.md")),
                )
            }
            TourStage::Over => TourStep::End,
        }
    }

    /// Ends the tour if a prompt did not end well, with the reason.
    fn stopped(&mut self) -> Option<TourStep> {
        let say = match self.seen.ended()? {
            PromptOutcome::Done
            | PromptOutcome::TurnsUsedUp(_)
            | PromptOutcome::BudgetUsedUp(_) => return None,
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

    fn turn_to(&mut self, stage: TourStage) -> TourStep {
        self.stage = stage;
        self.sent = 0;
        self.next_step()
    }

    /// Shows a text, with time to read it.
    fn says(&mut self, next: TourStage, text: &str) -> TourStep {
        let text = text.trim_end().to_owned();
        self.then
            .insert(0, TourStep::Wait(TourWait::Read(reading_time(&text))));
        self.stage = next;
        self.sent = 0;
        TourStep::Say(text)
    }

    fn prompts(&mut self, next: TourStage, text: &str) -> TourStep {
        self.stage = next;
        self.sent = 0;
        self.prompt(text)
    }

    /// Sends the prompt of a stage that lasts until something is observed.
    fn prompts_again(&mut self, text: &str) -> TourStep {
        self.sent += 1;
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
    Duration::from_millis((words * 130).clamp(1_500, 6_000))
}
