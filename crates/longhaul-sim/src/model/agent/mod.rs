//! An agent made of rules and randomness, in one of two manners. An independent agent uses the tools that a request
//! offers as a coding agent would, for as long as it is kept going: it looks around before it reads, reads before it
//! edits, tries something else after an error, and ends its turn with an account of its work. An obedient agent does
//! what the user's newest words ask for and no more, and says what it cannot do; it is the one that answers in a chat
//! without a key. Both call a tool that the user names.
//!
//! An independent agent looks at a bounded part of the conversation, so a turn costs the same at any length of history,
//! and it writes only comments marked `sim-note` and new files under `sim-notes/`: it does no harm in a real folder.
//!
//! `turn` is one turn of the agent; `view` is what it sees, `past` what it remembers, `known_paths` the paths it knows,
//! `file` what it knows of a file; `next` chooses, `look`, `change` and `run` make the calls, `named`, `fields`
//! and `worded` those of a tool that the user names, `react` handles errors, `say` and `report` find the words. `wish` is what the
//! user's words ask for, and `obey` does it.

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
mod worded;

use std::ops::RangeInclusive;

use super::chance::{Chance, mix};
use super::constraints::{ReplyConstraints, RequestedThinking};
use super::{DraftBlock, ModelTurn, ReplyDraft, ReplyModel};
use turn::{AgentMove, AgentTurn};

/// How much the agent says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verbosity {
    /// It often says nothing besides its calls.
    Terse,
    /// It says a sentence or two.
    #[default]
    Normal,
    /// It says a paragraph.
    Wordy,
}

/// What the agent may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteAccess {
    /// It may change nothing: it makes only read-only calls, and runs no tests.
    ReadOnly,
    /// It may change whatever the offered tools allow.
    #[default]
    Full,
}

/// Who decides what the agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Manner {
    /// The agent itself: the prompt sets the topic, and it works as long as its turns last.
    #[default]
    Independent,
    /// The user: the agent does what the newest words explicitly ask for, and changes or runs nothing else.
    Obedient,
}

/// How the agent works.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentBehavior {
    /// Who decides what the agent does.
    pub manner: Manner,
    /// The number of replies to one prompt before the agent ends its turn.
    pub turns: RangeInclusive<u32>,
    /// How much the agent says.
    pub verbosity: Verbosity,
    /// How often it calls several tools at once, from 0 to 1.
    pub parallel: f64,
    /// How often it thinks before a reply where thinking is on, from 0 to 1.
    pub thinking: f64,
    /// What it may change on its own initiative.
    pub write_access: WriteAccess,
}

impl AgentBehavior {
    /// The behavior for a chat with people: the agent does as it is told, and says little.
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

/// The simulated agent.
#[derive(Debug, Clone, PartialEq)]
pub struct SimAgent {
    seed: u64,
    pace: AgentBehavior,
}

impl SimAgent {
    /// Creates an agent with this behavior. The seed sets how many replies it gives to a prompt; its actions in a turn
    /// follow from the turn's own seed.
    pub fn new(seed: u64, pace: AgentBehavior) -> Self {
        Self { seed, pace }
    }

    /// The number of replies to this prompt.
    fn budget(&self, ask: &ReplyConstraints<'_>) -> usize {
        let seed = mix(self.seed.wrapping_add(ask.prompt_at as u64), &ask.words);
        let (low, high) = (*self.pace.turns.start(), *self.pace.turns.end());
        Chance::new(seed).between(low as usize, high.max(low) as usize)
    }

    pub(super) fn draft(&self, turn: &ModelTurn<'_>, ask: &ReplyConstraints<'_>) -> ReplyDraft {
        let chance = match self.pace.manner {
            Manner::Independent => Chance::new(mix(self.seed, "agent") ^ turn.seed),
            // The same words get the same answer, whatever else was asked meanwhile.
            Manner::Obedient => {
                let replies = turn.request.messages.len().saturating_sub(ask.prompt_at);
                Chance::new(mix(self.seed.wrapping_add(replies as u64), &ask.words))
            }
        };
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
