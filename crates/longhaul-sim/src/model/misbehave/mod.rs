//! Misbehavior on demand: what a model may do that a host must survive. It is specified by a line like
//! `summary:empty*2,tool:forbidden@0.1`, see [`Misbehavior`]; `spec` parses it, `misdeed` and `fold_misdeed` carry it
//! out.

mod fold_misdeed;
mod misdeed;
mod spec;

use super::chance::{Chance, mix};
use super::constraints::{AllowedCalls, ReplyConstraints};
use super::{ModelTurn, ReplyDraft};

pub use spec::MisbehaviorSpecError;

/// The purpose of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallSituation {
    /// A summary is asked for.
    Summary,
    /// Notes are to be kept.
    Notes,
    /// A title or another short answer outside the conversation.
    Helper,
    /// A turn of the conversation.
    Turn,
}

/// When a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MisbehaviorTrigger {
    Summary,
    Notes,
    Turn,
    Any,
    Tool,
}

/// What the model does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misdeed {
    Silent,
    Refuse,
    Cut,
    Error,
    Untagged,
    Empty,
    Missing,
    Long,
    Call,
    Unknown,
    Invalid,
    Elsewhere,
}

#[derive(Debug, Clone, PartialEq)]
struct MisbehaviorRule {
    when: MisbehaviorTrigger,
    deed: Misdeed,
    /// How many times it is still to happen; `None` means without limit.
    left: Option<u32>,
    rate: f64,
}

/// Rules of misbehavior; the first rule that applies to a call decides.
///
/// A rule is `WHEN:WHAT`, optionally followed by `*N` (the next N occasions, `*all` for every one) and `@RATE` (that
/// share of the occasions, 0 to 1). Without either it happens once, at the next occasion. Rules are separated by
/// commas.
///
/// | when | what |
/// |---|---|
/// | `summary`: a summary is asked for | `empty` (an empty `<summary>`), `untagged`, `error` (a text that looks like an API error), `long` (longer than what it summarizes), `missing` (the last of several folds is left out), `tool` (a call), `silent`, `refuse`, `cut` |
/// | `notes`: notes are to be kept | `elsewhere` (edits another file), `tool` (another tool), `silent`, `refuse`, `cut`, `error` |
/// | `turn`: a turn of the conversation | `silent` (no content), `refuse`, `cut` (ends with max_tokens halfway), `error` |
/// | `tool`: tools | `forbidden` (calls one where that is forbidden), `unknown` (calls one not offered), `invalid` (an input that violates the schema) |
/// | `any`: any call | `silent`, `refuse`, `cut`, `error` |
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Misbehavior {
    rules: Vec<MisbehaviorRule>,
}

impl Misbehavior {
    /// Adds the rules of another specification after these.
    pub fn extend(&mut self, other: Self) {
        self.rules.extend(other.rules);
    }

    /// Whether no rule is left.
    pub fn is_empty(&self) -> bool {
        self.rules.iter().all(|rule| rule.left == Some(0))
    }

    /// The misdeed that is due at this call; it then counts as done.
    pub(super) fn due(
        &mut self,
        turn: &ModelTurn<'_>,
        ask: &ReplyConstraints<'_>,
        situation: CallSituation,
    ) -> Option<Misdeed> {
        let may_call = !turn.request.tools.is_empty() && ask.calls != AllowedCalls::Forbidden;
        for (index, rule) in self.rules.iter_mut().enumerate() {
            let applies = match (rule.when, rule.deed) {
                (MisbehaviorTrigger::Any, _) => true,
                (MisbehaviorTrigger::Summary, _) => situation == CallSituation::Summary,
                (MisbehaviorTrigger::Notes, _) => situation == CallSituation::Notes,
                (MisbehaviorTrigger::Turn, _) => situation == CallSituation::Turn,
                (MisbehaviorTrigger::Tool, Misdeed::Call) => {
                    ask.calls == AllowedCalls::Forbidden || situation == CallSituation::Summary
                }
                (MisbehaviorTrigger::Tool, _) => situation == CallSituation::Turn && may_call,
            };
            if !applies || rule.left == Some(0) {
                continue;
            }
            if Chance::new(mix(turn.seed, "misbehave").wrapping_add(index as u64)).odds(rule.rate) {
                rule.left = rule.left.map(|left| left - 1);
                return Some(rule.deed);
            }
        }
        None
    }
}

/// Turns an honest draft into a misdeed.
pub(super) fn spoil(deed: Misdeed, honest: ReplyDraft, turn: &ModelTurn<'_>) -> ReplyDraft {
    misdeed::spoil(deed, honest, turn)
}
