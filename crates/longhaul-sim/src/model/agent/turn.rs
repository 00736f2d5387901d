//! One turn of the agent: what it sees, what it may use, its chance. The methods are spread over the files beside this.

use serde_json::Value;

use super::file::{RememberedFile, held};
use super::past::Past;
use super::symbols::{defined, weighty};
use super::view::{PlanningMode, SimAgentView};
use super::{AgentBehavior, Manner, WriteAccess};
use crate::model::chance::Chance;
use crate::model::constraints::{AllowedCalls, ReplyConstraints};
use crate::model::schema::ValuePalette;
use crate::model::toolbox::{OfferedTool, RequestTools, ToolPurpose};
use crate::request::MessagesRequest;

/// Files it holds in mind at once.
const HELD: usize = 5;

/// How far it is with a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkPhase {
    /// Finding its way.
    Looking,
    /// Working.
    Working,
    /// Checking and closing.
    Closing,
}

/// A call it wants to make.
#[derive(Debug, Clone)]
pub(super) struct PlannedCall {
    /// The tool.
    pub(super) name: String,
    /// Its input.
    pub(super) input: Value,
    /// What it is for, as in "read `src/lib.rs`".
    pub(super) doing: String,
}

/// What it decided.
#[derive(Debug, Clone)]
pub(super) enum AgentMove {
    /// To say something and end its turn.
    Say(String),
    /// To call tools.
    Act {
        /// What it says first, perhaps nothing.
        lead: String,
        /// The calls.
        calls: Vec<PlannedCall>,
    },
}

/// One turn.
#[derive(Debug)]
pub(super) struct AgentTurn<'a> {
    pub(super) view: SimAgentView<'a>,
    /// What it remembers of before; nothing where it is independent.
    pub(super) past: Past,
    pub(super) tools: RequestTools<'a>,
    pub(super) ask: &'a ReplyConstraints<'a>,
    pub(super) pace: &'a AgentBehavior,
    /// Replies it means to give this prompt.
    pub(super) budget: usize,
    pub(super) chance: Chance,
    /// What it holds of files, newest first.
    pub(super) held: Vec<RememberedFile>,
    /// The weightier words of the prompt.
    pub(super) words: Vec<String>,
    /// Names and words worth looking for.
    pub(super) phrases: Vec<String>,
    /// Calls it already decided on in this reply.
    pub(super) chosen: Vec<PlannedCall>,
}

impl<'a> AgentTurn<'a> {
    /// The mind that meets this request.
    pub(super) fn new(
        request: &'a MessagesRequest,
        ask: &'a ReplyConstraints<'a>,
        pace: &'a AgentBehavior,
        budget: usize,
        chance: Chance,
    ) -> Self {
        let view = SimAgentView::of(request, ask, pace.manner);
        let past = match pace.manner {
            Manner::Independent => Past::default(),
            Manner::Obedient => Past::of(request, ask),
        };
        let held = held(&view.exchanges, HELD);
        let mut phrases = defined(&held);
        let words = weighty(&ask.words);
        phrases.extend(words.iter().cloned());
        // What is ordered may be tried, and once is enough; a call that a request forces on it is its own choice.
        let forced = matches!(ask.calls, AllowedCalls::Forced | AllowedCalls::ForcedTo(_));
        let ordered = pace.manner == Manner::Obedient && !forced;
        let own_choice = |offer: &OfferedTool<'_>| {
            !view.refused.contains(offer.name())
                && (pace.write_access == WriteAccess::Full || is_read_only(offer))
                && (view.mode == PlanningMode::Working
                    || is_read_only(offer)
                    || offer.kind == ToolPurpose::ExitPlan)
        };
        let wanted =
            |offer: &OfferedTool<'_>| !ask.unwanted.iter().any(|name| name == offer.name());
        let tools = RequestTools::of(request)
            .filtered(|offer| wanted(offer) && (ordered || own_choice(offer)));
        Self {
            view,
            past,
            tools,
            ask,
            pace,
            budget,
            chance,
            held,
            words,
            phrases,
            chosen: Vec::new(),
        }
    }

    /// How far it is.
    pub(super) fn phase(&self) -> WorkPhase {
        match (self.view.steps * 100).checked_div(self.budget.max(1)) {
            Some(..40) => WorkPhase::Looking,
            Some(40..80) => WorkPhase::Working,
            _ => WorkPhase::Closing,
        }
    }

    /// A call of this tool with an input its schema accepts.
    pub(super) fn call(
        &mut self,
        offer: OfferedTool<'_>,
        hints: Value,
        doing: String,
    ) -> PlannedCall {
        let palette = ValuePalette {
            paths: &self.view.places.files,
            phrases: &self.phrases,
        };
        PlannedCall {
            name: offer.name().to_owned(),
            input: offer.input(hints, palette, &mut self.chance),
            doing,
        }
    }

    /// The same call was made lately, or is about to be made.
    pub(super) fn repeats(&self, call: &PlannedCall) -> bool {
        let lately = self.view.exchanges.iter().rev().take(24);
        self.chosen
            .iter()
            .any(|other| other.name == call.name && other.input == call.input)
            || lately
                .filter(|exchange| exchange.name == call.name)
                .any(|exchange| call.input.as_object() == Some(exchange.input))
    }

    /// A few words for what the prompt is about.
    pub(super) fn topic(&self) -> String {
        match self.words.len() {
            0 => "the request".to_owned(),
            count => self.words[..count.min(4)].join(" "),
        }
    }

    /// The path has to do with the prompt.
    pub(super) fn bears_on_it(&self, path: &str) -> bool {
        let path = path.to_lowercase();
        self.words
            .iter()
            .any(|word| path.contains(word.trim_end_matches('s')))
    }

    /// A path as it is told to the user: from the folder on.
    pub(super) fn display_path<'p>(&self, path: &'p str) -> &'p str {
        let inner = self.view.folder.as_deref().and_then(|folder| {
            let inner = path.strip_prefix(folder)?.strip_prefix('/')?;
            (!inner.is_empty()).then_some(inner)
        });
        inner.unwrap_or(path)
    }
}

/// The tool changes nothing.
fn is_read_only(offer: &OfferedTool<'_>) -> bool {
    match offer.kind {
        ToolPurpose::Read
        | ToolPurpose::Grep
        | ToolPurpose::Glob
        | ToolPurpose::List
        | ToolPurpose::Bash
        | ToolPurpose::Editor
        | ToolPurpose::Todo => true,
        ToolPurpose::Task | ToolPurpose::Skill | ToolPurpose::Fetch => true,
        ToolPurpose::Edit
        | ToolPurpose::MultiEdit
        | ToolPurpose::Write
        | ToolPurpose::EnterPlan
        | ToolPurpose::ExitPlan
        | ToolPurpose::Memory => false,
        ToolPurpose::Delicate => false,
        ToolPurpose::Other => {
            let name = offer.name().to_ascii_lowercase();
            [
                "get", "list", "search", "read", "find", "recall", "query", "show", "fetch",
                "lookup",
            ]
            .iter()
            .any(|verb| name.contains(verb))
        }
    }
}
