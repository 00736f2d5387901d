//! What the agent sees: the newest part of the conversation, read once per turn.

use std::collections::BTreeSet;

use crate::model::constraints::ReplyConstraints;
use crate::model::conversation::{ToolExchange, exchanges, first_line};
use crate::model::toolbox::{ToolPurpose, kind_of_name};
use crate::request::{ApiMessage, ApiRole, MessagesRequest};

use super::Manner;
use super::known_paths::{KnownPaths, working_folder};

/// The number of messages that an independent agent looks back on: its sessions may be endless.
const LOOK_BACK: usize = 96;

/// Whether the agent is planning, and so may change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlanningMode {
    /// It is working.
    Working,
    /// It is in plan mode.
    Planning,
}

/// The agent's view of a request.
#[derive(Debug)]
pub(super) struct SimAgentView<'a> {
    /// The number of its replies to this prompt.
    pub(super) steps: usize,
    /// The calls that it looks back on.
    pub(super) exchanges: Vec<ToolExchange<'a>>,
    /// The index of the first call for this prompt.
    since: usize,
    /// The index of the first call of its newest reply.
    last: usize,
    /// Whether it is planning.
    pub(super) mode: PlanningMode,
    /// The paths that it knows.
    pub(super) places: KnownPaths,
    /// The working folder.
    pub(super) folder: Option<String>,
    /// The tools that the host refused to run for this prompt.
    pub(super) refused: BTreeSet<&'a str>,
    /// The number of pictures in the prompt.
    pub(super) pictures: usize,
}

impl<'a> SimAgentView<'a> {
    /// Reads the view from a request.
    pub(super) fn of(
        request: &'a MessagesRequest,
        ask: &ReplyConstraints<'_>,
        manner: Manner,
    ) -> Self {
        let messages = &request.messages;
        let begin = match manner {
            Manner::Independent => messages.len().saturating_sub(LOOK_BACK),
            Manner::Obedient => 0,
        };
        let window = &messages[begin..];
        let exchanges = exchanges(window);
        let since = exchanges.partition_point(|exchange| exchange.at + begin <= ask.prompt_at);
        let newest = exchanges.last().map(|exchange| exchange.at);
        let last = match newest {
            // A result that just arrived does not belong to calls before the prompt.
            Some(at) => exchanges
                .partition_point(|exchange| exchange.at < at)
                .max(since),
            None => 0,
        };
        let steps = messages
            .iter()
            .skip(ask.prompt_at + 1)
            .filter(|message| message.role == ApiRole::Assistant)
            .count();
        let refused = exchanges[since..]
            .iter()
            .filter(|exchange| exchange.failed() && was_refused(exchange))
            .map(|exchange| exchange.name)
            .collect();
        let prompt = messages.get(ask.prompt_at);
        let blocks = prompt.into_iter().flat_map(|message| &message.content);
        let pictures = blocks.filter(|block| block.kind == "image").count();
        let mut folder = working_folder(request);
        let places = KnownPaths::of(&exchanges, folder.as_deref(), &ask.words);
        if folder.is_none() {
            folder = places.common_folder();
        }
        Self {
            steps,
            since,
            last,
            mode: mode(&exchanges, window),
            places,
            folder,
            refused,
            pictures,
            exchanges,
        }
    }

    /// The calls made for this prompt.
    pub(super) fn since_prompt(&self) -> &[ToolExchange<'a>] {
        &self.exchanges[self.since..]
    }

    /// The calls of a kind for this prompt.
    pub(super) fn of_kind(&self, kind: ToolPurpose) -> impl Iterator<Item = &ToolExchange<'a>> {
        let calls = self.since_prompt().iter();
        calls.filter(move |exchange| kind_of_name(exchange.name) == kind)
    }

    /// The number of replies to this prompt that called tools of this kind.
    pub(super) fn rounds(&self, kind: ToolPurpose) -> usize {
        let at: BTreeSet<usize> = self.of_kind(kind).map(|exchange| exchange.at).collect();
        at.len()
    }

    /// The calls of the newest reply.
    pub(super) fn newest(&self) -> &[ToolExchange<'a>] {
        &self.exchanges[self.last..]
    }

    /// The number of newest replies in a row in which every call failed.
    pub(super) fn failing_rounds(&self) -> usize {
        let mut rounds = 0;
        let mut at = None;
        for exchange in self.since_prompt().iter().rev() {
            if exchange.succeeded() {
                // A round in which something worked is not a failure.
                return rounds - usize::from(at == Some(exchange.at));
            }
            if at != Some(exchange.at) {
                rounds += 1;
                at = Some(exchange.at);
            }
        }
        rounds
    }
}

/// Why a host did not run a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The user did not allow it.
    Declined,
    /// It needs the user's consent, and nobody could be asked.
    NobodyAsked,
    /// A rule or a hook forbids it.
    Forbidden,
}

impl Refusal {
    /// Why the host did not run this call; `None` if it ran, even if it failed.
    pub(super) fn of(exchange: &ToolExchange<'_>) -> Option<Self> {
        let text = exchange.text();
        let line = first_line(&text, 300).to_lowercase();
        let has = |phrases: &str| phrases.split('|').any(|phrase| line.contains(phrase));
        const REFUSALS: &str = "permission|not allow|rejected|refused|want to proceed|not permitted|no such tool|\
            unknown tool|not available|disabled|declined";
        match () {
            () if line.starts_with("exit code") => None,
            () if line.starts_with("this call needs the user's consent") => Some(Self::NobodyAsked),
            () if has("consent") && has("nobody|no one|not run") => Some(Self::NobodyAsked),
            () if has("hook|not allowed here") && has("not run") => Some(Self::Forbidden),
            () if has(REFUSALS) => Some(Self::Declined),
            () => None,
        }
    }

    /// The reason, as a clause for the user.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Declined => "you did not allow it",
            Self::NobodyAsked => "this needs your consent, and there is nobody here to ask",
            Self::Forbidden => "a rule or a hook of yours does not allow it",
        }
    }
}

/// Whether the host did not run the call, as opposed to the call failing.
pub(super) fn was_refused(exchange: &ToolExchange<'_>) -> bool {
    Refusal::of(exchange).is_some()
}

fn mode(exchanges: &[ToolExchange<'_>], window: &[ApiMessage]) -> PlanningMode {
    for exchange in exchanges
        .iter()
        .rev()
        .filter(|exchange| exchange.succeeded())
    {
        match kind_of_name(exchange.name) {
            ToolPurpose::EnterPlan => return PlanningMode::Planning,
            ToolPurpose::ExitPlan => return PlanningMode::Working,
            _ => {}
        }
    }
    let newest = window
        .iter()
        .rev()
        .find(|message| message.role == ApiRole::User);
    let told = newest.is_some_and(|message| {
        message
            .content
            .iter()
            .filter(|block| block.kind == "text")
            .any(|block| {
                let text = block.text("text").unwrap_or("").to_lowercase();
                text.contains("plan mode is active")
                    || text.contains("plan mode is on")
                    || text.contains("in plan mode")
            })
    });
    if told {
        PlanningMode::Planning
    } else {
        PlanningMode::Working
    }
}
