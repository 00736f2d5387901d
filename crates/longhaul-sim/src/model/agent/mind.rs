//! One turn of the agent: what it sees, what it may use, its chance. The methods are spread over the files beside this.

use serde_json::Value;

use super::file::{Held, held};
use super::past::Past;
use super::symbols::{defined, weighty};
use super::view::{Mode, View};
use super::{Hands, Manner, Pace};
use crate::model::ask::{Ask, Calls};
use crate::model::chance::Chance;
use crate::model::schema::Palette;
use crate::model::toolbox::{Kind, Offer, Toolbox};
use crate::request::Request;

/// Files it holds in mind at once.
const HELD: usize = 5;

/// How far it is with a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Finding its way.
    Looking,
    /// Working.
    Working,
    /// Checking and closing.
    Closing,
}

/// A call it wants to make.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// The tool.
    pub(super) name: String,
    /// Its input.
    pub(super) input: Value,
    /// What it is for, as in "read `src/lib.rs`".
    pub(super) doing: String,
}

/// What it decided.
#[derive(Debug, Clone)]
pub(super) enum Move {
    /// To say something and end its turn.
    Say(String),
    /// To call tools.
    Act {
        /// What it says first, perhaps nothing.
        lead: String,
        /// The calls.
        calls: Vec<Call>,
    },
}

/// One turn.
#[derive(Debug)]
pub(super) struct Mind<'a> {
    pub(super) view: View<'a>,
    /// What it remembers of before; nothing where it is independent.
    pub(super) past: Past,
    pub(super) tools: Toolbox<'a>,
    pub(super) ask: &'a Ask<'a>,
    pub(super) pace: &'a Pace,
    /// Replies it means to give this prompt.
    pub(super) budget: usize,
    pub(super) chance: Chance,
    /// What it holds of files, newest first.
    pub(super) held: Vec<Held>,
    /// The weightier words of the prompt.
    pub(super) words: Vec<String>,
    /// Names and words worth looking for.
    pub(super) phrases: Vec<String>,
    /// Calls it already decided on in this reply.
    pub(super) chosen: Vec<Call>,
}

impl<'a> Mind<'a> {
    /// The mind that meets this request.
    pub(super) fn new(
        request: &'a Request,
        ask: &'a Ask<'a>,
        pace: &'a Pace,
        budget: usize,
        chance: Chance,
    ) -> Self {
        let view = View::of(request, ask, pace.manner);
        let past = match pace.manner {
            Manner::Independent => Past::default(),
            Manner::Obedient => Past::of(request, ask),
        };
        let held = held(&view.exchanges, HELD);
        let mut phrases = defined(&held);
        let words = weighty(&ask.words);
        phrases.extend(words.iter().cloned());
        // What is ordered may be tried, and once is enough; a call that a request forces on it is its own choice.
        let forced = matches!(ask.calls, Calls::Forced | Calls::ForcedTo(_));
        let ordered = pace.manner == Manner::Obedient && !forced;
        let own_choice = |offer: &Offer<'_>| {
            !view.refused.contains(offer.name())
                && (pace.hands == Hands::Full || looks_only(offer))
                && (view.mode == Mode::Working || looks_only(offer) || offer.kind == Kind::ExitPlan)
        };
        let wanted = |offer: &Offer<'_>| !ask.unwanted.iter().any(|name| name == offer.name());
        let tools =
            Toolbox::of(request).filtered(|offer| wanted(offer) && (ordered || own_choice(offer)));
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
    pub(super) fn phase(&self) -> Phase {
        match (self.view.steps * 100).checked_div(self.budget.max(1)) {
            Some(..40) => Phase::Looking,
            Some(40..80) => Phase::Working,
            _ => Phase::Closing,
        }
    }

    /// A call of this tool with an input its schema accepts.
    pub(super) fn call(&mut self, offer: Offer<'_>, hints: Value, doing: String) -> Call {
        let palette = Palette {
            paths: &self.view.places.files,
            phrases: &self.phrases,
        };
        Call {
            name: offer.name().to_owned(),
            input: offer.input(hints, palette, &mut self.chance),
            doing,
        }
    }

    /// The same call was made lately, or is about to be made.
    pub(super) fn repeats(&self, call: &Call) -> bool {
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
    pub(super) fn told<'p>(&self, path: &'p str) -> &'p str {
        let inner = self.view.folder.as_deref().and_then(|folder| {
            let inner = path.strip_prefix(folder)?.strip_prefix('/')?;
            (!inner.is_empty()).then_some(inner)
        });
        inner.unwrap_or(path)
    }
}

/// The tool changes nothing.
fn looks_only(offer: &Offer<'_>) -> bool {
    match offer.kind {
        Kind::Read
        | Kind::Grep
        | Kind::Glob
        | Kind::List
        | Kind::Bash
        | Kind::Editor
        | Kind::Todo => true,
        Kind::Task | Kind::Skill | Kind::Fetch => true,
        Kind::Edit
        | Kind::MultiEdit
        | Kind::Write
        | Kind::EnterPlan
        | Kind::ExitPlan
        | Kind::Memory => false,
        Kind::Delicate => false,
        Kind::Other => {
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
