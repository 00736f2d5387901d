//! One turn of the agent: what it sees, what it may use, its randomness. The methods are spread over the neighboring
//! files.

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

/// The number of files that the agent remembers at once.
const HELD: usize = 5;

/// How far the agent is with a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkPhase {
    /// It is looking around.
    Looking,
    /// It is working.
    Working,
    /// It is checking and finishing.
    Closing,
}

/// A call that the agent wants to make.
#[derive(Debug, Clone)]
pub(super) struct PlannedCall {
    /// The name of the tool.
    pub(super) name: String,
    /// The input of the call.
    pub(super) input: Value,
    /// A description of the call, such as "read `src/lib.rs`".
    pub(super) doing: String,
}

/// What the agent decided to do.
#[derive(Debug, Clone)]
pub(super) enum AgentMove {
    /// Say something and end the turn.
    Say(String),
    /// Call tools.
    Act {
        /// The text before the calls, which may be empty.
        lead: String,
        /// The calls to make.
        calls: Vec<PlannedCall>,
    },
}

/// The state of one turn.
#[derive(Debug)]
pub(super) struct AgentTurn<'a> {
    pub(super) view: SimAgentView<'a>,
    /// What the agent remembers of earlier messages; empty if it is independent.
    pub(super) past: Past,
    pub(super) tools: RequestTools<'a>,
    pub(super) ask: &'a ReplyConstraints<'a>,
    pub(super) pace: &'a AgentBehavior,
    /// The number of replies that it intends to give to this prompt.
    pub(super) budget: usize,
    pub(super) chance: Chance,
    /// What it knows of files, newest first.
    pub(super) held: Vec<RememberedFile>,
    /// The important words of the prompt.
    pub(super) words: Vec<String>,
    /// Names and words worth searching for.
    pub(super) phrases: Vec<String>,
    /// The calls already chosen for this reply.
    pub(super) chosen: Vec<PlannedCall>,
}

impl<'a> AgentTurn<'a> {
    /// Creates the state for this request.
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
        // An order may be tried, and once is enough; a call that the request forces counts as the agent's own choice.
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

    /// How far the agent is with the prompt.
    pub(super) fn phase(&self) -> WorkPhase {
        match (self.view.steps * 100).checked_div(self.budget.max(1)) {
            Some(..40) => WorkPhase::Looking,
            Some(40..80) => WorkPhase::Working,
            _ => WorkPhase::Closing,
        }
    }

    /// A call of this tool with an input that its schema accepts.
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

    /// Whether the same call was made recently, or is already chosen.
    pub(super) fn repeats(&self, call: &PlannedCall) -> bool {
        let lately = self.view.exchanges.iter().rev().take(24);
        self.chosen
            .iter()
            .any(|other| other.name == call.name && other.input == call.input)
            || lately
                .filter(|exchange| exchange.name == call.name)
                .any(|exchange| call.input.as_object() == Some(exchange.input))
    }

    /// A few words about the subject of the prompt.
    pub(super) fn topic(&self) -> String {
        match self.words.len() {
            0 => "the request".to_owned(),
            count => self.words[..count.min(4)].join(" "),
        }
    }

    /// Whether the path is related to the prompt.
    pub(super) fn bears_on_it(&self, path: &str) -> bool {
        let path = path.to_lowercase();
        self.words
            .iter()
            .any(|word| path.contains(word.trim_end_matches('s')))
    }

    /// A path as shown to the user, relative to the working folder.
    pub(super) fn display_path<'p>(&self, path: &'p str) -> &'p str {
        let inner = self.view.folder.as_deref().and_then(|folder| {
            let inner = path.strip_prefix(folder)?.strip_prefix('/')?;
            (!inner.is_empty()).then_some(inner)
        });
        inner.unwrap_or(path)
    }
}

/// Whether the tool changes nothing.
fn is_read_only(offer: &OfferedTool<'_>) -> bool {
    match offer.kind {
        ToolPurpose::Read
        | ToolPurpose::Grep
        | ToolPurpose::Glob
        | ToolPurpose::List
        | ToolPurpose::Bash
        | ToolPurpose::Editor
        | ToolPurpose::Todo => true,
        ToolPurpose::Task | ToolPurpose::Skill | ToolPurpose::Fetch | ToolPurpose::WebSearch => {
            true
        }
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
