//! The simulator's built-in model: it uses the script if there is one, misbehaves if it was told to, writes summaries,
//! notes and short helper answers on request, and runs the agent otherwise.

use super::agent::{AgentBehavior, SimAgent};
use super::chance::{Chance, mix};
use super::constraints::ReplyConstraints;
use super::misbehave::{CallSituation, Misbehavior, spoil};
use super::script::{ReplyScript, ScriptRequestKind};
use super::{DraftBlock, ModelTurn, ReplyDraft, ReplyModel, helper, notes, summarize, web_search};

/// The options of a [`SimModel`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SimModelOptions {
    /// The seed of the agent's randomness, besides that of each turn.
    pub seed: u64,
    /// How the agent works.
    pub pace: AgentBehavior,
    /// The scripted turns, if any.
    pub script: Option<ReplyScript>,
    /// The requested misbehavior.
    pub misbehavior: Misbehavior,
}

/// The built-in model. A reply is a function of the turn and the options; only misbehavior by count also depends on how
/// often it has happened.
#[derive(Debug, Clone, PartialEq)]
pub struct SimModel {
    seed: u64,
    agent: SimAgent,
    script: Option<ReplyScript>,
    misbehavior: Misbehavior,
}

impl SimModel {
    /// A model with these options.
    pub fn new(options: SimModelOptions) -> Self {
        Self {
            seed: options.seed,
            agent: SimAgent::new(options.seed, options.pace),
            script: options.script,
            misbehavior: options.misbehavior,
        }
    }

    fn honest(
        &self,
        turn: &ModelTurn<'_>,
        ask: &ReplyConstraints<'_>,
        situation: CallSituation,
    ) -> ReplyDraft {
        let asked = script_request_kind(situation);
        // A script says what the model does; it does not have to say what it makes of a search.
        if web_search::goes_on(turn.request)
            && let Some(draft) = web_search::draft(turn, ask)
        {
            return draft;
        }
        if let Some(draft) = self
            .script
            .as_ref()
            .and_then(|script| script.reply(turn, &ask.words, asked))
        {
            return draft;
        }
        let mut chance = Chance::new(mix(self.seed, "helper") ^ turn.seed);
        match situation {
            CallSituation::Summary => summarize::draft(turn, ask),
            CallSituation::Notes => notes::draft(turn.request, ask),
            CallSituation::Helper => {
                let search = web_search::draft(turn, ask);
                search
                    .or_else(|| helper::draft(turn.request, ask, &mut chance))
                    .unwrap_or_else(|| self.agent.draft(turn, ask))
            }
            CallSituation::Turn => {
                let search = web_search::draft(turn, ask);
                let draft = search.unwrap_or_else(|| self.agent.draft(turn, ask));
                let calls = draft
                    .content
                    .iter()
                    .any(|block| matches!(block, DraftBlock::ToolUse { .. }));
                // A demanded format applies to the end of the turn.
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

impl ReplyModel for SimModel {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        // A request that only warms the cache gets no answer.
        if turn.request.max_tokens == Some(0) {
            return ReplyDraft::default();
        }
        let ask = ReplyConstraints::of(turn.request);
        let situation = situation(turn, &ask);
        let due = self.misbehavior.due(turn, &ask, situation);
        let honest = self.honest(turn, &ask, situation);
        match due {
            Some(deed) => spoil(deed, honest, turn),
            None => honest,
        }
    }

    fn fault(&mut self, turn: &ModelTurn<'_>) -> Option<String> {
        let script = self.script.as_ref()?;
        let ask = ReplyConstraints::of(turn.request);
        let asked = script_request_kind(situation(turn, &ask));
        script.fault(turn, &ask.words, asked).map(str::to_owned)
    }

    fn misbehave(&mut self, more: Misbehavior) {
        self.misbehavior.extend(more);
    }
}

fn script_request_kind(situation: CallSituation) -> ScriptRequestKind {
    match situation {
        CallSituation::Turn => ScriptRequestKind::Turn,
        CallSituation::Summary | CallSituation::Notes | CallSituation::Helper => {
            ScriptRequestKind::Helper
        }
    }
}

fn situation(turn: &ModelTurn<'_>, ask: &ReplyConstraints<'_>) -> CallSituation {
    if summarize::is_asked(&ask.words) {
        CallSituation::Summary
    } else if notes::is_asked(&ask.words) {
        CallSituation::Notes
    } else if helper::is_asked(turn.request, ask) || web_search::is_helper(turn.request) {
        CallSituation::Helper
    } else {
        CallSituation::Turn
    }
}
