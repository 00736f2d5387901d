//! An agent made of rules and chance, in one of two manners. Independent, it uses the tools a request offers as a coding
//! agent would, for as long as it is kept going: it looks before it reads, reads before it edits, tries something else after
//! an error, and ends its turn with an account of what it did. Obedient, it does what the user's newest words ask for and no
//! more, and says what it cannot do; that is who answers in a chat without a key. A tool that the user names is called in
//! both.
//!
//! Independent, it looks at a bounded stretch of the conversation, so a turn costs the same at any length of history, and it
//! writes only comments marked `sim-note` and new files under `sim-notes/`: on a real folder it does no harm.
//!
//! `view` is what it sees, `past` what it remembers of before, `places` the paths it knows, `file` what it holds of a file;
//! `next` chooses, `look`, `change` and `run` make the calls, `named` and `fields` those of a tool that the user names,
//! `react` answers errors, `say` and `report` find the words. `wish` is what the user's words ask for, `obey` does it.

mod change;
mod fields;
mod file;
mod known_paths;
mod look;
mod named;
mod next;
mod obey;
mod past;
mod react;
mod report;
mod run;
mod say;
mod symbols;
mod todo;
mod turn;
mod view;
mod wish;

use std::ops::RangeInclusive;

use super::chance::{Chance, mix};
use super::constraints::{ReplyConstraints, RequestedThinking};
use super::{DraftBlock, ModelTurn, ReplyDraft, ReplyModel};
use turn::{AgentMove, AgentTurn};

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
pub enum WriteAccess {
    /// Nothing: it calls only what looks, and no test runs.
    ReadOnly,
    /// Whatever the tools on offer allow.
    #[default]
    Full,
}

/// Whose head it follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Manner {
    /// Its own: the prompt sets the topic, and it works as long as its turns last.
    #[default]
    Independent,
    /// The user's: it does what the newest words ask for in so many words, and changes or runs nothing else.
    Obedient,
}

/// How it works.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentBehavior {
    /// Whose head it follows.
    pub manner: Manner,
    /// How many replies it makes for one prompt before it ends its turn.
    pub turns: RangeInclusive<u32>,
    /// How much it says.
    pub verbosity: Verbosity,
    /// How often it calls several tools at once, 0 to 1.
    pub parallel: f64,
    /// How often it thinks before a reply where thinking is on, 0 to 1.
    pub thinking: f64,
    /// What it may change of its own accord.
    pub write_access: WriteAccess,
}

impl AgentBehavior {
    /// How it works for people who talk to it: it does as it is told, and makes few words.
    pub fn obedient() -> Self {
        Self {
            manner: Manner::Obedient,
            turns: 16..=16,
            verbosity: Verbosity::Terse,
            write_access: WriteAccess::ReadOnly,
            ..Self::default()
        }
    }
}

impl Default for AgentBehavior {
    fn default() -> Self {
        Self {
            manner: Manner::Independent,
            turns: 6..=24,
            verbosity: Verbosity::Normal,
            parallel: 0.2,
            thinking: 0.6,
            write_access: WriteAccess::Full,
        }
    }
}

/// The agent.
#[derive(Debug, Clone, PartialEq)]
pub struct SimAgent {
    seed: u64,
    pace: AgentBehavior,
}

impl SimAgent {
    /// An agent that works at this pace. The seed sets how long it stays at a prompt; what it does in a turn follows
    /// from the turn's own seed.
    pub fn new(seed: u64, pace: AgentBehavior) -> Self {
        Self { seed, pace }
    }

    /// How many replies it gives this prompt.
    fn budget(&self, ask: &ReplyConstraints<'_>) -> usize {
        let seed = mix(self.seed.wrapping_add(ask.prompt_at as u64), &ask.words);
        let (low, high) = (*self.pace.turns.start(), *self.pace.turns.end());
        Chance::new(seed).between(low as usize, high.max(low) as usize)
    }

    pub(super) fn draft(&self, turn: &ModelTurn<'_>, ask: &ReplyConstraints<'_>) -> ReplyDraft {
        let chance = Chance::new(mix(self.seed, "agent") ^ turn.seed);
        let mut mind = AgentTurn::new(turn.request, ask, &self.pace, self.budget(ask), chance);
        let chosen = mind.choose();
        let mut content = Vec::new();
        let wants_to = mind.chance.odds(self.pace.thinking);
        if ask.thinking == RequestedThinking::Always
            || ask.thinking == RequestedThinking::On && wants_to
        {
            content.push(DraftBlock::Thinking(mind.thought(&chosen)));
        }
        match chosen {
            AgentMove::Say(text) => content.push(DraftBlock::Text(text)),
            AgentMove::Act { lead, calls } => {
                if !lead.is_empty() {
                    content.push(DraftBlock::Text(lead));
                }
                content.extend(calls.into_iter().map(|call| DraftBlock::ToolUse {
                    name: call.name,
                    input: call.input,
                }));
            }
        }
        ReplyDraft {
            content,
            ..ReplyDraft::default()
        }
    }
}

impl ReplyModel for SimAgent {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        self.draft(turn, &ReplyConstraints::of(turn.request))
    }
}
