//! A tool that the user says to use, by its name: it is called with what the words give for its fields, and what came of it
//! is told. Tools that the agent knows how to use are left to its own ways.

use super::fields::filled;
use super::say::excerpt;
use super::turn::{AgentMove, AgentTurn, PlannedCall};
use super::{Manner, view::was_refused};
use crate::model::conversation::first_line;
use crate::model::toolbox::{OfferedTool, ToolPurpose};

/// Words that say to use what follows them.
const TELLING: &[&str] = &[
    "use", "using", "call", "calling", "invoke", "run", "try", "with", "via", "through", "ask",
];
/// How far before the name they may stand.
const BEFORE: usize = 3;
/// Words of a prompt from which on a named tool is only one step of the work.
const LONG: usize = 40;

impl AgentTurn<'_> {
    /// Calls the tools that the prompt names, one after the other, and tells what they gave. None where it names none, or
    /// where there is more to do than that.
    pub(super) fn use_named(&mut self) -> Option<AgentMove> {
        let words = match self.pace.manner {
            Manner::Obedient => self.past.goal().to_owned(),
            Manner::Independent => self.ask.words.clone(),
        };
        let named = named(&words, self.tools.all());
        let calls = self.view.since_prompt();
        let due = named
            .iter()
            .find(|offer| calls.iter().all(|call| call.name != offer.name()));
        if let Some(offer) = due {
            let call = self.call_as_worded(*offer, &words);
            let lead = format!("I use `{}`, as you asked.", call.name);
            let calls = vec![call];
            return Some(AgentMove::Act { lead, calls });
        }
        let long = words.split_whitespace().count() >= LONG;
        if named.is_empty() || long && self.pace.manner == Manner::Independent {
            return None;
        }
        let told = calls
            .iter()
            .filter(|call| named.iter().any(|offer| offer.name() == call.name))
            .map(|call| match (call.failed(), was_refused(call)) {
                (true, true) => format!("`{}` was not allowed.", call.name),
                (true, false) => {
                    format!("`{}` failed: {}", call.name, first_line(&call.text(), 200))
                }
                (false, _) => format!("`{}` says:\n\n{}", call.name, excerpt(&call.text(), 12)),
            });
        Some(AgentMove::Say(told.collect::<Vec<_>>().join("\n\n")))
    }

    /// A call of this tool with what the words give for its fields.
    pub(super) fn call_as_worded(&mut self, offer: OfferedTool<'_>, words: &str) -> PlannedCall {
        let hints = filled(&offer.schema(), words, own_name(offer.name()));
        self.call(offer, hints, format!("use `{}`", offer.name()))
    }
}

/// A tool's name without that of the server that it comes from.
fn own_name(name: &str) -> &str {
    name.rsplit("__").next().unwrap_or(name)
}

/// The tools that these words say to use.
fn named<'a>(words: &str, offers: &[OfferedTool<'a>]) -> Vec<OfferedTool<'a>> {
    let lower = words.to_lowercase();
    let tokens: Vec<&str> = lower
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-')
        .filter(|token| !token.is_empty())
        .collect();
    let is_named = |offer: &&OfferedTool<'a>| {
        let name = offer.name().to_lowercase();
        let own = own_name(&name);
        // A name that is a word like any other means the tool only where that is said.
        let plain = !own.contains(['_', '-']);
        tokens.iter().enumerate().any(|(at, token)| {
            let told = || {
                let before = &tokens[at.saturating_sub(BEFORE)..at];
                !plain && before.iter().any(|word| TELLING.contains(word))
            };
            (*token == name || *token == own) && (tokens.get(at + 1) == Some(&"tool") || told())
        })
    };
    let unknown =
        |offer: &&OfferedTool<'a>| matches!(offer.kind, ToolPurpose::Other | ToolPurpose::Delicate);
    let found = offers.iter().filter(unknown).filter(is_named);
    found.copied().collect()
}
