//! Makes a conversation smaller: performs what the core's [`Attempt`] decides, and keeps what came of it.

use std::sync::Arc;
use std::time::Instant;

use longhaul::Model;
use longhaul::session::summary_reply;
use longhaul_core::engine::SummaryReply;
use longhaul_core::history::{
    AskingFacts, Attempt, AttemptEffect, AttemptInput, BehindWay, HistoryChange, HistoryState,
    Kept, Passing, PlainAsking, PlainWay, Setting, SpokenBy,
};
use longhaul_core::message::Usage;
use longhaul_core::window::WindowStatus;
use longhaul_provider::Dialect;

use super::asking::{self, CountedAsking};
use super::care::Care;
use super::draft::Draft;
use super::material::{Cut, Material};
use super::settings::Settings;
use super::work::Occasion;
use super::{clear, join, summarise, thinking, weight};
use crate::store::{Kind, Made, Rewrite};

/// Bytes of a question to the model for each token, at the least.
const QUESTION: u64 = 3;

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
    /// Who is asked, and what that has used so far.
    asking: CountedAsking,
    /// The newest draft of each kind.
    cleared: Option<Draft>,
    noted: Option<Draft>,
    summary: Option<Draft>,
}

impl Care {
    /// Performs one attempt to make a part of a conversation smaller. Gives the draft that is to be kept.
    pub(super) async fn attempt(
        &self,
        (material, cut): (&Material, &Cut),
        settings: &Settings,
        window: WindowStatus,
        occasion: Occasion,
        state: HistoryState,
    ) -> Option<Draft> {
        let line = material.placed.line;
        let instructions = settings.instructions.as_deref();
        let working = &mut Working {
            material,
            cut,
            settings,
            window,
            question: summarise::fork_message(material.dialect, instructions),
            given: None,
            asking: CountedAsking::new(&material.asking),
            cleared: None,
            noted: None,
            summary: None,
        };
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
                    working.cleared = clear::clear(&cut.talk, why, settings);
                    AttemptInput::Cleared(working.cleared.as_ref().map(Draft::sizes))
                }
                AttemptEffect::EstimateSummary => {
                    AttemptInput::SummaryLeaves(weight::least_after(&cut.talk, settings, &window))
                }
                AttemptEffect::UseNotes => {
                    working.noted = self.by_notes(material, cut, settings).await;
                    AttemptInput::Noted(working.noted.as_ref().map(Draft::sizes))
                }
                AttemptEffect::AskBehind(way) => {
                    let longest = self.windows.of(&material.model).spec.max_output;
                    working.ask_behind(way, longest).await
                }
                AttemptEffect::Summarize(plain) => working.summarize(plain).await,
                AttemptEffect::Change(change) => {
                    self.standings.apply(line, change, &window);
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

    /// Makes it durable, and with that known.
    pub(super) async fn keep(
        &self,
        material: &Material,
        cut: &Cut,
        draft: Draft,
        occasion: Occasion,
        began: Instant,
    ) -> bool {
        let line = material.placed.line;
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let known = self.windows.of(&material.model);
        let base = material.sending.replaced.as_ref();
        let hashes = &material.recognised.hashes;
        let summary = join(&draft.talk.summary);
        // The client's markers move on; what stands here stays.
        let rest = draft.talk.elements.iter().map(thinking::without_marks);
        let elements: Vec<_> = draft.talk.summary.iter().cloned().chain(rest).collect();
        let mut usage = self.standings.take_in_vain(line);
        usage.add(draft.usage.as_ref().unwrap_or(&Usage::default()));
        let rewrite = Rewrite {
            tenant: material.tenant,
            at: cut.at,
            messages: cut.messages,
            text: join(&elements),
            root: match draft.summed_up.checked_sub(1) {
                Some(last) => hashes.get(cut.from + last).copied(),
                None => base.and_then(|(base, _)| base.rewrite.root),
            },
            summary: summary.len(),
            lines: draft.talk.lines,
            cleared: draft.talk.cleared,
            settled: false,
            made: Made {
                session: material.placed.session,
                line,
                at: self.clock.now(),
                kind: draft.kind,
                before: draft.before,
                after: draft.after,
                millis,
                waited: (!occasion.is_ahead()).then_some(millis),
                cost: (usage.total() > 0)
                    .then(|| known.spec.cost_of_reply(&usage))
                    .flatten(),
                report: draft.report,
            },
        };
        let (kind, before, after) = (draft.kind, draft.before, draft.after);
        match self.rewrites.put(rewrite).await {
            Ok(_) => {
                if let Some(window) = &known.window {
                    let by = spoken_by(kind);
                    let change = HistoryChange::Shrunk { after, by, millis };
                    self.standings.apply(line, change, window);
                }
                self.metrics.compacted(kind);
                self.changes.changed(material.placed.session);
                tracing::info!(%line, kind = kind.name(), before, after, millis, "a conversation was made smaller");
                true
            }
            Err(error) => {
                self.standings.used_in_vain(line, &usage);
                tracing::warn!(%error, %line, "a summary cannot be kept and is not used");
                false
            }
        }
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
        let spent = working.asking.take_spent();
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
            behind: asking::way_behind(self.material),
            plain: match self.material.dialect {
                Dialect::Anthropic => PlainWay::Possible,
                Dialect::OpenAi => PlainWay::Impossible,
            },
        }
    }

    /// Asks for a summary after the client's own messages.
    async fn ask_behind(&mut self, way: BehindWay, longest: u64) -> AttemptInput {
        let line = self.material.placed.line;
        let Some(parts) = asking::parts_behind(way, self.material, &self.question, longest) else {
            let passes = Passing::Stays;
            return AttemptInput::NotAnswered { passes };
        };
        tracing::info!(%line, way = asking::name(way), "a summary is asked for");
        match self.asking.ask(parts, &[]).await {
            Ok(reply) => {
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
                let passes = asking::passing(error.class);
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
                Some(Arc::new(self.asking.clone()) as Arc<dyn Model>)
            }
            PlainAsking::MayNot => None,
        };
        let given = self.given.take();
        match summarise::summarise(&self.cut.talk, given, asked, self.settings).await {
            Ok(draft) => {
                // Asking in vain costs, too.
                let draft = Draft {
                    usage: self.asking.spent(),
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

/// Who wrote what stands there now.
fn spoken_by(kind: Kind) -> Option<SpokenBy> {
    match kind {
        Kind::Cleared | Kind::Settled => None,
        Kind::Noted => Some(SpokenBy::Notes),
        Kind::Summarised => Some(SpokenBy::Model),
        Kind::Extracted => Some(SpokenBy::Extracts),
    }
}
