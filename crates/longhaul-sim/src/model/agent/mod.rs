//! An agent made of rules and chance: it uses the tools a request offers as a coding agent would, for as long as it is
//! kept going. It looks before it reads, reads before it edits, tries something else after an error, and ends its turn
//! with an account of what it did.
//!
//! It looks at a bounded stretch of the conversation, so a turn costs the same at any length of history. It writes only
//! comments marked `sim-note` and new files under `sim-notes/`: on a real folder it does no harm.
//!
//! `view` is what it sees, `places` the paths it knows, `file` what it holds of a file; `next` chooses, `look`, `change`
//! and `run` make the calls, `react` answers errors, `say` and `report` find the words.

mod change;
pub mod file;
mod look;
mod mind;
mod next;
pub mod places;
mod react;
mod report;
mod run;
mod say;
pub mod symbols;
mod todo;
mod view;

use std::ops::RangeInclusive;

use super::ask::{Ask, Thinking};
use super::chance::{Chance, mix};
use super::{Draft, DraftBlock, Model, Turn};
use mind::{Mind, Move};

/// How many words it makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verbosity {
    /// Often none beside its calls.
    Terse,
    /// A sentence or two.
    #[default]
    Normal,
    /// A paragraph.
    Wordy,
}

/// What it may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hands {
    /// Nothing: it calls only what looks, and no test runs.
    ReadOnly,
    /// Whatever the tools on offer allow.
    #[default]
    Full,
}

/// How it works.
#[derive(Debug, Clone, PartialEq)]
pub struct Pace {
    /// How many replies it makes for one prompt before it ends its turn.
    pub turns: RangeInclusive<u32>,
    /// How much it says.
    pub verbosity: Verbosity,
    /// How often it calls several tools at once, 0 to 1.
    pub parallel: f64,
    /// How often it thinks before a reply where thinking is on, 0 to 1.
    pub thinking: f64,
    /// What it may change.
    pub hands: Hands,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            turns: 6..=24,
            verbosity: Verbosity::Normal,
            parallel: 0.2,
            thinking: 0.6,
            hands: Hands::Full,
        }
    }
}

/// The agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    seed: u64,
    pace: Pace,
}

impl Agent {
    /// An agent that works at this pace. The seed sets how long it stays at a prompt; what it does in a turn follows
    /// from the turn's own seed.
    pub fn new(seed: u64, pace: Pace) -> Self {
        Self { seed, pace }
    }

    /// How many replies it gives this prompt.
    fn budget(&self, ask: &Ask<'_>) -> usize {
        let seed = mix(self.seed.wrapping_add(ask.prompt_at as u64), &ask.words);
        let (low, high) = (*self.pace.turns.start(), *self.pace.turns.end());
        Chance::new(seed).between(low as usize, high.max(low) as usize)
    }

    pub(super) fn draft(&self, turn: &Turn<'_>, ask: &Ask<'_>) -> Draft {
        let chance = Chance::new(mix(self.seed, "agent") ^ turn.seed);
        let mut mind = Mind::new(turn.request, ask, &self.pace, self.budget(ask), chance);
        let chosen = mind.choose();
        let mut content = Vec::new();
        let wants_to = mind.chance.odds(self.pace.thinking);
        if ask.thinking == Thinking::Always || ask.thinking == Thinking::On && wants_to {
            content.push(DraftBlock::Thinking(mind.thought(&chosen)));
        }
        match chosen {
            Move::Say(text) => content.push(DraftBlock::Text(text)),
            Move::Act { lead, calls } => {
                if !lead.is_empty() {
                    content.push(DraftBlock::Text(lead));
                }
                content.extend(calls.into_iter().map(|call| DraftBlock::ToolUse {
                    name: call.name,
                    input: call.input,
                }));
            }
        }
        Draft {
            content,
            ..Draft::default()
        }
    }
}

impl Model for Agent {
    fn reply(&mut self, turn: &Turn<'_>) -> Draft {
        self.draft(turn, &Ask::of(turn.request))
    }
}
