//! Misbehaviour on demand: what a model may do that a host must survive. Told by a line like
//! `summary:empty*2,tool:forbidden@0.1`, see [`Misbehaviour`]; `spec` reads it, `deed` does it.

mod deed;
mod fold_deed;
mod spec;

use super::ask::{Ask, Calls};
use super::chance::{Chance, mix};
use super::{Draft, Turn};

pub use spec::SpecError;

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Situation {
    /// A summary is asked for.
    Summary,
    /// Notes are to be kept.
    Notes,
    /// A title or another short answer beside the conversation.
    Helper,
    /// A turn of the conversation.
    Turn,
}

/// When a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Summary,
    Notes,
    Turn,
    Any,
    Tool,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
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
struct Rule {
    when: When,
    deed: Deed,
    /// How often still; none is without end.
    left: Option<u32>,
    rate: f64,
}

/// Rules of misbehaviour, the first that applies to a call decides.
///
/// A rule is `WHEN:WHAT`, then perhaps `*N` (the next N occasions, `*all` for every one) and `@RATE` (that share of the
/// occasions, 0 to 1). Without either it happens once, at the next occasion. Rules are separated by commas.
///
/// | when | what |
/// |---|---|
/// | `summary`: a summary is asked for | `empty` (an empty `<summary>`), `untagged`, `error` (a text that looks like an API error), `long` (longer than what it sums up), `missing` (the last of several folds is left out), `tool` (a call), `silent`, `refuse`, `cut` |
/// | `notes`: notes are to be kept | `elsewhere` (edits another file), `tool` (another tool), `silent`, `refuse`, `cut`, `error` |
/// | `turn`: a turn of the conversation | `silent` (no content), `refuse`, `cut` (ends with max_tokens halfway), `error` |
/// | `tool`: tools | `forbidden` (calls one where that is forbidden), `unknown` (calls one not offered), `invalid` (an input against the schema) |
/// | `any`: any call | `silent`, `refuse`, `cut`, `error` |
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Misbehaviour {
    rules: Vec<Rule>,
}

impl Misbehaviour {
    /// Adds the rules of another behind these.
    pub fn extend(&mut self, other: Self) {
        self.rules.extend(other.rules);
    }

    /// Nothing is left to do.
    pub fn is_empty(&self) -> bool {
        self.rules.iter().all(|rule| rule.left == Some(0))
    }

    /// What is due at this call; it then counts as done.
    pub(super) fn due(
        &mut self,
        turn: &Turn<'_>,
        ask: &Ask<'_>,
        situation: Situation,
    ) -> Option<Deed> {
        let may_call = !turn.request.tools.is_empty() && ask.calls != Calls::Forbidden;
        for (index, rule) in self.rules.iter_mut().enumerate() {
            let applies = match (rule.when, rule.deed) {
                (When::Any, _) => true,
                (When::Summary, _) => situation == Situation::Summary,
                (When::Notes, _) => situation == Situation::Notes,
                (When::Turn, _) => situation == Situation::Turn,
                (When::Tool, Deed::Call) => {
                    ask.calls == Calls::Forbidden || situation == Situation::Summary
                }
                (When::Tool, _) => situation == Situation::Turn && may_call,
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
pub(super) fn spoil(deed: Deed, honest: Draft, turn: &Turn<'_>) -> Draft {
    deed::spoil(deed, honest, turn)
}
