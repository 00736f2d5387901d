//! Makes a conversation smaller: performs what the core's [`Attempt`] decides, and keeps what came of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use longhaul::session::summary_reply;
use longhaul::{Boxed, Model, OnStream};
use longhaul_core::engine::{Outgoing, SummaryReply};
use longhaul_core::facts::Budget;
use longhaul_core::history::{
    AskingFacts, Attempt, AttemptEffect, AttemptInput, BehindWay, HistoryState, Kept, Passing,
    PlainAsking, PlainWay, Setting,
};
use longhaul_core::message::Usage;
use longhaul_core::tokens::likely;
use longhaul_core::window::WindowStatus;
use longhaul_provider::{CancellationToken, Dialect, Error, ErrorClass, Reply};

use super::asking::Asking;
use super::care::Care;
use super::clear;
use super::draft::Draft;
use super::element::{Element, texts};
use super::fork;
use super::material::{Cut, Material};
use super::settings::Settings;
use super::summarise;
use super::talk::Talk;
use super::weight::{self, Density, Scales};
use super::work::Occasion;
use crate::body::Role;

/// Bytes of a question to the model for each token, at the least.
const QUESTION: u64 = 3;
/// What a model writes at the least, in tokens of a large window.
const SHORT_SUMMARY: u64 = 1_000;
/// What the model has not seen yet stays as it is, unless that leaves less than this part of the threshold free.
const FREE: u64 = 4;

/// What a conversation takes in memory while it is worked on, for each of its bytes: its entries, what is read of them, the
/// request that asks for a summary, and what stands for it in the end.
const READ: usize = 4;

/// A conversation that is being made smaller.
struct Working<'w> {
    material: &'w Material,
    cut: &'w Cut,
    settings: &'w Settings,
    window: WindowStatus,
    /// The question with which a summary is asked for after the client's own messages.
    question: bytes::Bytes,
    /// What was answered to it.
    given: Option<SummaryReply>,
    /// What asking has used so far.
    spent: Arc<Mutex<Usage>>,
    /// The newest draft of each kind.
    cleared: Option<Draft>,
    noted: Option<Draft>,
    summary: Option<Draft>,
}

impl Care {
    /// Makes it smaller, if it can be. Gives whether it did.
    pub(super) async fn make(
        &self,
        material: &Material,
        occasion: Occasion,
        state: HistoryState,
    ) -> bool {
        let began = Instant::now();
        let Some(window) = self.windows.of(&material.model).window else {
            return false;
        };
        let weight = material.weight();
        let density = match occasion {
            Occasion::Ahead(answered) => Density::measured(answered.prompt, weight.total()),
            Occasion::Rested { used } => Density::measured(used, weight.total()),
            Occasion::Full(need) => need.density,
        };
        let measured = density.tokens(weight.total());
        let head = density.tokens(weight.head);
        let newest_stays = matches!(occasion, Occasion::Full(_))
            .then(|| material.cut_before_newest(Some(measured)))
            .flatten()
            .filter(|cut| {
                let taken = head + density.tokens(cut.behind);
                taken <= window.auto_compact - window.auto_compact / FREE
            });
        let cuts = newest_stays.into_iter().chain(material.cut(Some(measured)));
        for cut in cuts {
            let mut settings = self.settings.for_talk(head, self.clock.now());
            if let Occasion::Full(need) = occasion {
                // What stays after it takes room, too.
                settings.before_messages += density.tokens(cut.behind);
                settings.most_left = Some(need.pressing.most_left(&window, measured));
            }
            let Ok(_charge) = self.budget.take(cut.bytes() * READ) else {
                let line = material.placed.line;
                tracing::warn!(%line, "there is no memory to make a conversation smaller; it stays as it is");
                return false;
            };
            let instructions = self.settings.instructions.as_deref();
            let mut working = Working {
                material,
                cut: &cut,
                settings: &settings,
                window,
                question: summarise::fork_message(material.dialect, instructions),
                given: None,
                spent: Arc::default(),
                cleared: None,
                noted: None,
                summary: None,
            };
            let draft = self.attempt(&mut working, occasion, state.clone());
            if let Some(draft) = draft.await {
                return self.keep(material, &cut, draft, occasion, began).await;
            }
        }
        false
    }

    /// Performs one attempt. Gives the draft that is kept.
    async fn attempt(
        &self,
        working: &mut Working<'_>,
        occasion: Occasion,
        state: HistoryState,
    ) -> Option<Draft> {
        let line = working.material.placed.line;
        let mut attempt = Attempt::new(Setting {
            occasion: occasion.planned(),
            window: working.window,
            switches: &self.settings.config.switches,
            counted: working.counted(),
            asking: working.facts(occasion),
            state,
        });
        while let Some(effect) = attempt.poll() {
            let input = match effect {
                AttemptEffect::Clear(why) => {
                    working.cleared = clear::clear(&working.cut.talk, why, working.settings);
                    AttemptInput::Cleared(working.cleared.as_ref().map(Draft::sizes))
                }
                AttemptEffect::EstimateSummary => {
                    AttemptInput::SummaryLeaves(working.least_after())
                }
                AttemptEffect::UseNotes => {
                    let (material, cut) = (working.material, working.cut);
                    working.noted = self.by_notes(material, cut, working.settings).await;
                    AttemptInput::Noted(working.noted.as_ref().map(Draft::sizes))
                }
                AttemptEffect::AskBehind(way) => {
                    let longest = self.windows.of(&working.material.model).spec.max_output;
                    working.ask_behind(way, longest).await
                }
                AttemptEffect::Summarize(plain) => working.summarize(plain).await,
                AttemptEffect::Change(change) => {
                    self.standings.apply(line, change, &working.window);
                    continue;
                }
                AttemptEffect::Discard(kept) => {
                    self.discard(working, kept).await;
                    continue;
                }
                AttemptEffect::Keep(Kept::Cleared) => return working.cleared.take(),
                AttemptEffect::Keep(Kept::Notes) => return working.noted.take(),
                AttemptEffect::Keep(Kept::Summary) => return working.summary.take(),
                AttemptEffect::GiveUp => return None,
            };
            attempt.handle(input);
        }
        None
    }

    /// What was drafted is of no use; what it cost is paid for with the next.
    async fn discard(&self, working: &mut Working<'_>, kept: Kept) {
        let draft = match kept {
            Kept::Cleared => working.cleared.take(),
            Kept::Notes => working.noted.take(),
            Kept::Summary => working.summary.take(),
        };
        if let Some(draft) = draft {
            let (line, before, after) = (working.material.placed.line, draft.before, draft.after);
            tracing::info!(%line, before, after, "a summary would free too little; nothing is changed");
        }
        let spent = std::mem::take(&mut *lock(&working.spent));
        self.in_vain(working.material, &spent).await;
    }
}

impl Working<'_> {
    /// Tokens in the window.
    fn counted(&self) -> u64 {
        self.cut.talk.measured.unwrap_or(0)
    }

    fn facts(&self, occasion: Occasion) -> AskingFacts {
        AskingFacts {
            used: match occasion {
                Occasion::Ahead(answered) => answered.used,
                _ => self.counted(),
            },
            counted: self.counted(),
            before_messages: self.settings.before_messages,
            question: self.question.len() as u64 / QUESTION,
            behind: fork::way(self.material),
            plain: match self.material.dialect {
                Dialect::Anthropic => PlainWay::Possible,
                Dialect::OpenAi => PlainWay::Impossible,
            },
        }
    }

    /// The fewest tokens that a summary is likely to leave.
    fn least_after(&self) -> u64 {
        least_after(&self.cut.talk, self.settings, &self.window)
    }

    /// Asks for a summary after the client's own messages.
    async fn ask_behind(&mut self, way: BehindWay, longest: u64) -> AttemptInput {
        let line = self.material.placed.line;
        let Some(parts) = fork::parts(way, self.material, &self.question, longest) else {
            let passes = Passing::Stays;
            return AttemptInput::NotAnswered { passes };
        };
        tracing::info!(%line, way = fork::name(way), "a summary is asked for");
        match self.material.asking.ask(parts, &[]).await {
            Ok(reply) => {
                lock(&self.spent).add(&reply.usage);
                let given = summary_reply(reply);
                if summarise::is_summary(&given) {
                    self.given = Some(given);
                    AttemptInput::Answered
                } else {
                    let passes = Passing::Stays;
                    AttemptInput::NotAnswered { passes }
                }
            }
            Err(error) => {
                tracing::info!(class = ?error.class, "asking for a summary behind the client's own messages failed");
                let passes = passing(error.class);
                AttemptInput::NotAnswered { passes }
            }
        }
    }

    /// Drafts a summary: from what was answered, by a plain request, or from extracts.
    async fn summarize(&mut self, plain: PlainAsking) -> AttemptInput {
        let line = self.material.placed.line;
        let asked = match plain {
            PlainAsking::May(reason) => {
                tracing::info!(%line, way = "a plain request", reason, "a summary is asked for");
                let asking = Counting {
                    asking: self.material.asking.clone(),
                    spent: Arc::clone(&self.spent),
                };
                Some(Arc::new(asking) as Arc<dyn Model>)
            }
            PlainAsking::MayNot => None,
        };
        let given = self.given.take();
        match summarise::summarise(&self.cut.talk, given, asked, self.settings).await {
            Ok(draft) => {
                // Asking in vain costs, too.
                let spent = lock(&self.spent).clone();
                let draft = Draft {
                    usage: (spent.total() > 0).then_some(spent),
                    ..draft
                };
                let drafted = AttemptInput::Summarized(draft.sizes(), draft.answer);
                self.summary = Some(draft);
                drafted
            }
            Err(error) => {
                tracing::warn!(%error, %line, "a conversation cannot be summarized");
                AttemptInput::NotSummarized
            }
        }
    }
}

/// The fewest tokens that a summary of a conversation is likely to leave: what stands before the messages, what the user
/// said as far as there is room for it, and a short summary.
fn least_after(talk: &Talk, settings: &Settings, window: &WindowStatus) -> u64 {
    let scales = Scales::of(talk, settings);
    let users = talk.elements.iter().filter_map(|element| {
        let read = Element::read(element)?;
        (read.role == Role::User).then(|| likely(texts(read.content()).as_bytes()))
    });
    let before = talk.summary.iter().map(|element| weight::element(element));
    let kept = scales.tokens(users.chain(before).sum());
    let most = Budget::of_window(window).tokens;
    settings.before_messages + kept.min(most) + window.scale().apply(SHORT_SUMMARY)
}

fn lock(usage: &Mutex<Usage>) -> std::sync::MutexGuard<'_, Usage> {
    usage.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks, and counts what that uses, whatever becomes of the answer.
struct Counting {
    asking: Asking,
    spent: Arc<Mutex<Usage>>,
}

impl Model for Counting {
    fn send<'a>(
        &'a self,
        request: Outgoing,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        Box::pin(async move {
            let reply = self.asking.send(request, on_stream, cancel).await?;
            lock(&self.spent).add(&reply.usage);
            Ok(reply)
        })
    }
}

/// Whether the same request may succeed later.
fn passing(class: ErrorClass) -> Passing {
    match class {
        ErrorClass::RateLimited { .. }
        | ErrorClass::Overloaded { .. }
        | ErrorClass::Server { .. }
        | ErrorClass::Retry { .. }
        | ErrorClass::Timeout(_)
        | ErrorClass::Cut => Passing::Passes,
        _ => Passing::Stays,
    }
}
