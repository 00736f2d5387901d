//! Scripted turns from a file.
//!
//! A script is JSON Lines with one turn per line, or one JSON document: a list of turns, or an object with `turns`. In
//! JSON Lines, blank lines and lines that begin with `//` or `#` are ignored.
//!
//! A **turn** has any of these fields:
//!
//! | field | what |
//! |---|---|
//! | `thinking` | a text, sent first |
//! | `text` | a text or a list of texts |
//! | `tools` | a list of calls `{"name": …, "input": {…}}` |
//! | `stop` | `end_turn`, `tool_use`, `refusal` or `max_tokens`; the default is `tool_use` if there are calls, else `end_turn` |
//! | `fault` | the name of a fault the world adds to this call, with or instead of an answer |
//! | `repeat` | the number of calls that the turn is used for |
//! | `match` | the turn answers every call whose last user text contains this, whatever its place |
//!
//! Turns without `match` are used in order. The first line of JSON Lines may be a **header**; in a document the object
//! itself is the header:
//!
//! | field | what |
//! |---|---|
//! | `script` | 1, the version; marks a line as the header |
//! | `by` | what counts the turns: `calls` (each call of the session uses one up, the default) or `replies` (as many as there are replies of the model in the conversation, so retries and helper calls use none up) |
//! | `end` | after the last turn: `stop` (a sentence that says so, the default), `last` (the last turn again), `loop` (from the start), `agent` (the built-in agent takes over) |
//! | `helpers` | who answers requests for summaries, notes and titles that no `match` answers: `script` (the default) or `built-in` |
//!
//! See `examples/script.jsonl` in this crate.

mod read;

use serde_json::Value;

use super::{DraftBlock, DraftStop, ModelTurn, ReplyDraft};
use crate::request::ApiRole;

pub use read::ScriptError;

const OVER: &str = "The script has no further turns.";

/// One call of a scripted turn.
#[derive(Debug, Clone, PartialEq)]
struct ScriptedCall {
    name: String,
    input: Value,
}

/// A scripted turn.
#[derive(Debug, Clone, PartialEq, Default)]
struct ScriptedTurn {
    line: usize,
    thinking: Option<String>,
    texts: Vec<String>,
    calls: Vec<ScriptedCall>,
    stop: DraftStop,
    fault: Option<String>,
    repeat: u64,
    pattern: Option<String>,
}

/// What counts the turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TurnCounting {
    #[default]
    Calls,
    Replies,
}

/// What comes after the last turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ScriptEnd {
    #[default]
    Stop,
    Last,
    Loop,
    Agent,
}

/// Who answers helper requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum HelperResponder {
    #[default]
    Script,
    BuiltIn,
}

/// What kind of call a script is asked to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptRequestKind {
    /// A turn of the conversation.
    Turn,
    /// A summary, notes, a title.
    Helper,
}

/// Scripted turns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReplyScript {
    rules: Vec<ScriptedTurn>,
    steps: Vec<ScriptedTurn>,
    by: TurnCounting,
    end: ScriptEnd,
    helpers: HelperResponder,
}

impl ReplyScript {
    /// Reads a script.
    ///
    /// # Errors
    /// If the text is not a script; the error names the line.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        read::script(text)
    }

    /// The faults that the script names and their lines, so that a host can refuse an unknown name at the start.
    pub fn faults(&self) -> impl Iterator<Item = (usize, &str)> {
        let all = self.rules.iter().chain(&self.steps);
        all.filter_map(|step| step.fault.as_deref().map(|fault| (step.line, fault)))
    }

    /// The reply to a call; `None` if the script leaves it to the built-in model.
    pub(super) fn reply(
        &self,
        turn: &ModelTurn<'_>,
        words: &str,
        asked: ScriptRequestKind,
    ) -> Option<ReplyDraft> {
        match self.step(turn, words, asked) {
            ScriptLookup::Step(step) => Some(step.draft()),
            ScriptLookup::Over => Some(ReplyDraft {
                content: vec![DraftBlock::Text(OVER.to_owned())],
                ..ReplyDraft::default()
            }),
            ScriptLookup::Nothing => None,
        }
    }

    /// The fault for a call, if the script names one.
    pub(super) fn fault(
        &self,
        turn: &ModelTurn<'_>,
        words: &str,
        asked: ScriptRequestKind,
    ) -> Option<&str> {
        match self.step(turn, words, asked) {
            ScriptLookup::Step(step) => step.fault.as_deref(),
            ScriptLookup::Over | ScriptLookup::Nothing => None,
        }
    }

    fn step(
        &self,
        turn: &ModelTurn<'_>,
        words: &str,
        asked: ScriptRequestKind,
    ) -> ScriptLookup<'_> {
        let matching = |step: &&ScriptedTurn| {
            step.pattern
                .as_deref()
                .is_some_and(|pattern| words.contains(pattern))
        };
        if let Some(step) = self.rules.iter().find(matching) {
            return ScriptLookup::Step(step);
        }
        if asked == ScriptRequestKind::Helper && self.helpers == HelperResponder::BuiltIn {
            return ScriptLookup::Nothing;
        }
        let at = match self.by {
            TurnCounting::Calls => turn.index,
            TurnCounting::Replies => {
                let replies = turn
                    .request
                    .messages
                    .iter()
                    .filter(|message| message.role == ApiRole::Assistant);
                replies.count() as u64
            }
        };
        let length: u64 = self.steps.iter().map(|step| step.repeat).sum();
        let mut at = match self.end {
            ScriptEnd::Loop if length > 0 => at % length,
            _ => at,
        };
        for step in &self.steps {
            if at < step.repeat {
                return ScriptLookup::Step(step);
            }
            at -= step.repeat;
        }
        match (self.end, self.steps.last()) {
            (ScriptEnd::Last, Some(step)) => ScriptLookup::Step(step),
            (ScriptEnd::Agent, _) => ScriptLookup::Nothing,
            _ => ScriptLookup::Over,
        }
    }
}

enum ScriptLookup<'a> {
    Step(&'a ScriptedTurn),
    Over,
    Nothing,
}

impl ScriptedTurn {
    fn draft(&self) -> ReplyDraft {
        let thinking = self.thinking.iter().cloned().map(DraftBlock::Thinking);
        let texts = self.texts.iter().cloned().map(DraftBlock::Text);
        let calls = self.calls.iter().map(|call| DraftBlock::ToolUse {
            name: call.name.clone(),
            input: call.input.clone(),
        });
        ReplyDraft {
            content: thinking.chain(texts).chain(calls).collect(),
            stop: self.stop,
        }
    }
}
