//! Handles a tool that the user names: the agent calls it with the values that the words give for its fields, and
//! reports the result. Tools that the agent knows how to use are handled elsewhere.

use super::fields::filled;
use super::say::excerpt;
use super::turn::{AgentMove, AgentTurn, PlannedCall};
use super::{Manner, view::Refusal};
use crate::model::conversation::first_line;
use crate::model::schema::ValuePalette;
use crate::model::toolbox::{OfferedTool, ToolPurpose};

/// Words that tell the agent to use what follows them.
const TELLING: &[&str] = &[
    "use", "using", "call", "calling", "invoke", "run", "try", "with", "via", "through", "ask",
];
/// How many words before the name they may be.
const BEFORE: usize = 3;
/// The number of words in a prompt above which a named tool is only one step of the work.
const LONG: usize = 40;

impl AgentTurn<'_> {
    /// Calls the tools that the prompt names, one after the other, and reports the results. Returns `None` if the
    /// prompt names none, or asks for more than that.
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
            .map(|call| match (call.failed(), Refusal::of(call)) {
                (true, Some(refusal)) => {
                    format!("`{}` was not called: {}.", call.name, refusal.reason())
                }
                (true, None) => {
                    format!("`{}` failed: {}", call.name, first_line(&call.text(), 200))
                }
                (false, _) if call.is_out_of_view() => {
                    format!(
                        "`{}` says what it said before; that is no longer in my window.",
                        call.name
                    )
                }
                (false, _) => format!("`{}` says:\n\n{}", call.name, excerpt(&call.text(), 12)),
            });
        Some(AgentMove::Say(told.collect::<Vec<_>>().join("\n\n")))
    }

    /// A call of this tool with the values that the words give for its fields.
    pub(super) fn call_as_worded(&mut self, offer: OfferedTool<'_>, words: &str) -> PlannedCall {
        let others = self.tools.all().iter().map(|other| own_name(other.name()));
        let own = own_name(offer.name());
        let names: Vec<&str> = [own].into_iter().chain(others).collect();
        let hints = filled(&offer.schema(), words, &names);
        let palette = ValuePalette {
            paths: &self.view.places.files,
            phrases: &self.phrases,
        };
        PlannedCall {
            name: offer.name().to_owned(),
            input: offer.worded_input(hints, palette, &mut self.chance),
            doing: format!("use `{}`", offer.name()),
        }
    }
}

/// A tool's name without the name of its server.
fn own_name(name: &str) -> &str {
    name.rsplit("__").next().unwrap_or(name)
}

/// The tools that these words tell the agent to use.
fn named<'a>(words: &str, offers: &[OfferedTool<'a>]) -> Vec<OfferedTool<'a>> {
    let lower = words.to_lowercase();
    let tokens: Vec<&str> = lower
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-')
        .filter(|token| !token.is_empty())
        .collect();
    let is_named = |offer: &&OfferedTool<'a>| {
        let name = offer.name().to_lowercase();
        let own = own_name(&name);
        // A name that is also an ordinary word means the tool only where the words say so.
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
