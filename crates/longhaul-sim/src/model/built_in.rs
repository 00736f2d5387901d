//! The model the simulator runs with: the script where there is one, misbehaviour where it was told to, summaries, notes
//! and short helper answers where they are asked for, the agent otherwise.

use super::agent::{Agent, Pace};
use super::ask::Ask;
use super::chance::{Chance, mix};
use super::misbehave::{Misbehaviour, Situation, spoil};
use super::script::{Asked, Script};
use super::{Draft, DraftBlock, Model, Turn, helper, notes, summarise};

/// What a [`SimModel`] is made with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// Seed of the agent's chance, beside that of each turn.
    pub seed: u64,
    /// How the agent works.
    pub pace: Pace,
    /// Scripted turns.
    pub script: Option<Script>,
    /// What it is told to do wrong.
    pub misbehaviour: Misbehaviour,
}

/// The built-in model. A reply is a function of the turn and the options; only misbehaviour by count also depends on how
/// often it has happened.
#[derive(Debug, Clone, PartialEq)]
pub struct SimModel {
    seed: u64,
    agent: Agent,
    script: Option<Script>,
    misbehaviour: Misbehaviour,
}

impl SimModel {
    /// A model with these options.
    pub fn new(options: Options) -> Self {
        Self {
            seed: options.seed,
            agent: Agent::new(options.seed, options.pace),
            script: options.script,
            misbehaviour: options.misbehaviour,
        }
    }

    fn honest(&self, turn: &Turn<'_>, ask: &Ask<'_>, situation: Situation) -> Draft {
        let asked = asked(situation);
        if let Some(draft) = self
            .script
            .as_ref()
            .and_then(|script| script.reply(turn, &ask.words, asked))
        {
            return draft;
        }
        let mut chance = Chance::new(mix(self.seed, "helper") ^ turn.seed);
        match situation {
            Situation::Summary => summarise::draft(turn, ask),
            Situation::Notes => notes::draft(turn.request, ask),
            Situation::Helper => helper::draft(turn.request, ask, &mut chance).unwrap_or_default(),
            Situation::Turn => {
                let draft = self.agent.draft(turn, ask);
                let calls = draft
                    .content
                    .iter()
                    .any(|block| matches!(block, DraftBlock::ToolUse { .. }));
                // A demanded format holds for what the turn ends with.
                match ask.format {
                    Some(_) if !calls => {
                        helper::draft(turn.request, ask, &mut chance).unwrap_or(draft)
                    }
                    _ => draft,
                }
            }
        }
    }
}

impl Model for SimModel {
    fn reply(&mut self, turn: &Turn<'_>) -> Draft {
        // A request that only warms the cache gets no answer.
        if turn.request.max_tokens == Some(0) {
            return Draft::default();
        }
        let ask = Ask::of(turn.request);
        let situation = situation(turn, &ask);
        let due = self.misbehaviour.due(turn, &ask, situation);
        let honest = self.honest(turn, &ask, situation);
        match due {
            Some(deed) => spoil(deed, honest, turn),
            None => honest,
        }
    }

    fn fault(&mut self, turn: &Turn<'_>) -> Option<String> {
        let script = self.script.as_ref()?;
        let ask = Ask::of(turn.request);
        let asked = asked(situation(turn, &ask));
        script.fault(turn, &ask.words, asked).map(str::to_owned)
    }

    fn misbehave(&mut self, more: Misbehaviour) {
        self.misbehaviour.extend(more);
    }
}

fn asked(situation: Situation) -> Asked {
    match situation {
        Situation::Turn => Asked::Turn,
        Situation::Summary | Situation::Notes | Situation::Helper => Asked::Helper,
    }
}

fn situation(turn: &Turn<'_>, ask: &Ask<'_>) -> Situation {
    if summarise::is_asked(&ask.words) {
        Situation::Summary
    } else if notes::is_asked(&ask.words) {
        Situation::Notes
    } else if helper::is_asked(turn.request, ask) {
        Situation::Helper
    } else {
        Situation::Turn
    }
}
