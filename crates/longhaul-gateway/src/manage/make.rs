//! Makes a conversation smaller: clears, uses its notes or summarizes, whatever is enough, and keeps what came of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use longhaul::session::summary_reply;
use longhaul::{Boxed, Model, OnStream};
use longhaul_core::engine::Outgoing;
use longhaul_core::facts::Budget;
use longhaul_core::message::Usage;
use longhaul_core::plan::{Worth, least_freed, worth};
use longhaul_core::tokens::likely;
use longhaul_core::window::{Action, WindowStatus};
use longhaul_provider::{CancellationToken, Dialect, Error, ErrorClass, Reply};

use super::asking::Asking;
use super::care::Care;
use super::clear::{self, Why};
use super::draft::{Draft, ModelAnswer};
use super::element::{Element, texts};
use super::fork::{AskingWay, SHORTEST_ANSWER};
use super::material::{Cut, Material};
use super::settings::Settings;
use super::standing::Standing;
use super::talk::Talk;
use super::weight::{self, Density, Scales};
use super::work::{Need, Occasion};
use super::{join, summarise, thinking};
use crate::body::Role;
use crate::store::{Made, Rewrite};

/// What a plain request for a summary says beside the conversation, in tokens, at most.
const INSTRUCTIONS: u64 = 4_000;
/// Bytes of a question to the model for each token, at the least.
const QUESTION: u64 = 3;
/// What a model writes at the least, in tokens of a large window.
const SHORT_SUMMARY: u64 = 1_000;
/// What the model has not seen yet stays as it is, unless that leaves less than this part of the threshold free.
const FREE: u64 = 4;

/// What a conversation takes in memory while it is worked on, for each of its bytes: its entries, what is read of them, the
/// request that asks for a summary, and what stands for it in the end.
const READ: usize = 4;

impl Care {
    /// Makes it smaller, if it can be. Gives whether it did.
    pub(super) async fn make(
        &self,
        material: &Material,
        occasion: Occasion,
        standing: Standing,
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
        let measured = Some(density.tokens(weight.total()));
        let head = density.tokens(weight.head);
        let newest_stays = matches!(occasion, Occasion::Full(_))
            .then(|| material.cut_before_newest(measured))
            .flatten()
            .filter(|cut| {
                let taken = head + density.tokens(cut.behind);
                taken <= window.auto_compact - window.auto_compact / FREE
            });
        let cuts = newest_stays.into_iter().chain(material.cut(measured));
        for cut in cuts {
            let mut settings = self.settings.for_talk(head, self.clock.now());
            if let Occasion::Full(need) = occasion {
                // What stays behind takes room, too.
                settings.before_messages += density.tokens(cut.behind);
                settings.most_left = Some(most_left(&window, &need, measured));
            }
            let Ok(_charge) = self.budget.take(cut.bytes() * READ) else {
                let line = material.placed.line;
                tracing::warn!(%line, "there is no memory to make a conversation smaller; it stays as it is");
                return false;
            };
            let draft = self.draft(material, &cut, &settings, occasion, &standing);
            if let Some(draft) = draft.await {
                return self.keep(material, &cut, draft, occasion, began).await;
            }
        }
        false
    }

    async fn draft(
        &self,
        material: &Material,
        cut: &Cut,
        settings: &Settings,
        occasion: Occasion,
        standing: &Standing,
    ) -> Option<Draft> {
        let line = material.placed.line;
        let window = self.windows.of(&material.model).window?;
        if let Occasion::Rested { .. } = occasion {
            return clear::clear(&cut.talk, Why::Idle, settings);
        }
        let cleared = match self.may(Action::Micro) {
            true => clear::clear(&cut.talk, Why::Pressure, settings),
            false => None,
        };
        let most = settings.most_left.unwrap_or(u64::MAX).min(window.warning);
        let enough = |draft: &Draft| {
            draft.after < most && worth(&window, draft.before, draft.after) == Worth::Enough
        };
        if cleared.as_ref().is_some_and(enough) {
            if occasion.is_ahead() && !standing.is_near(&window) {
                // Clearing takes no time: the later, the more there is to clear at once.
                let nearly = standing.nearly(&window);
                self.standings.rests_until(line, nearly);
                return None;
            }
            return cleared;
        }
        let summarizing = match occasion.is_refused() {
            true => Action::Reactive,
            false => Action::Automatic,
        };
        if occasion.is_ahead() {
            let least = least_after(&cut.talk, settings, &window);
            // Summaries seldom become shorter from one to the next.
            let least = least.max(standing.summary_leaves.unwrap_or(0));
            let freed = standing.measured.used.saturating_sub(least);
            let wanted = standing.least_freed_ahead(&window);
            if let Some(missing) = wanted.checked_sub(freed).filter(|it| *it > 0) {
                // A summary would be paid for and free too little: not before there is more to summarize.
                let rest = standing.measured.used + missing;
                self.standings.rests_until(line, rest);
                return None;
            }
        }
        let drafted = match self.may(summarizing) {
            true => match self.by_notes(material, cut, settings, occasion).await {
                Some(draft) => Some(draft),
                None => {
                    let asking = self.sum_up(material, cut, settings, occasion, standing);
                    asking.await
                }
            },
            false => None,
        };
        match drafted {
            Some(draft) if !occasion.is_ahead() => Some(draft),
            Some(draft) if worth(&window, draft.before, draft.after) == Worth::Enough => {
                Some(draft)
            }
            Some(draft) => {
                let (before, after) = (draft.before, draft.after);
                tracing::info!(%line, before, after, "a summary would free too little; nothing is changed");
                self.in_vain(material, &draft.usage.unwrap_or_default())
                    .await;
                let used = standing.measured.used;
                (self.standings).gained_too_little(line, used, Some(after), &window);
                None
            }
            // Better than nothing, where something must be done.
            None if !occasion.is_ahead() => {
                cleared.filter(|draft| draft.after < window.auto_compact)
            }
            None => None,
        }
    }

    async fn sum_up(
        &self,
        material: &Material,
        cut: &Cut,
        settings: &Settings,
        occasion: Occasion,
        standing: &Standing,
    ) -> Option<Draft> {
        let line = material.placed.line;
        let known = self.windows.of(&material.model);
        let window = known.window?;
        let instructions = self.settings.instructions.as_deref();
        let message = summarise::fork_message(material.dialect, instructions);
        let sent = cut.talk.measured.unwrap_or(0);
        let used = match occasion {
            Occasion::Ahead(answered) => answered.used,
            _ => sent,
        };
        // Asking must not be what is too long, and must leave room for the answer: one that is cut off is paid for in vain.
        let asked = used + message.len() as u64 / QUESTION;
        let fits = asked <= window.effective && asked + SHORTEST_ANSWER <= window.size;
        let way = match fits && !occasion.is_refused() {
            true => AskingWay::of(material),
            false => AskingWay::Plain("the request is too long already"),
        };
        // Where a summary was too long, the next try does without a model: each is paid for. So does one that can free too
        // little, going by the last: extracts make the request fit until enough is new.
        let first = !matches!(occasion, Occasion::Full(need) if need.tries > 0);
        let may_ask = standing.may_ask() && first && standing.may_free_enough(used, &window);
        let spent = Arc::new(Mutex::new(Usage::default()));
        let mut given = None;
        let parts = way.parts(material, &message, known.spec.max_output);
        if let Some(parts) = parts.filter(|_| may_ask) {
            tracing::info!(%line, way = way.name(), "a summary is asked for");
            match material.asking.ask(parts, &[]).await {
                Ok(reply) => {
                    lock(&spent).add(&reply.usage);
                    given = Some(summary_reply(reply));
                }
                Err(error) => {
                    tracing::info!(class = ?error.class, "asking for a summary behind the client's own messages failed");
                    if occasion.is_ahead() && passes_by(error.class) && used < window.auto_compact {
                        // There is room for another try behind the next answer.
                        self.standings.failed(line);
                        return None;
                    }
                }
            }
        }
        let plain = sent.saturating_sub(settings.before_messages) + INSTRUCTIONS;
        let plainly = may_ask && plain <= window.size && material.dialect == Dialect::Anthropic;
        if plainly && given.is_none() {
            tracing::info!(%line, way = "a plain request", reason = way.reason(), "a summary is asked for");
        }
        let asked = plainly.then(|| {
            let asking = Counting {
                asking: material.asking.clone(),
                spent: Arc::clone(&spent),
            };
            Arc::new(asking) as Arc<dyn Model>
        });
        let could_ask = given.is_some() || asked.is_some();
        let drafted = summarise::summarise(&cut.talk, given, asked, settings).await;
        let spent = lock(&spent).clone();
        match drafted {
            Ok(draft) => {
                // A summary that gains too little is not the model's fault.
                if could_ask && draft.answer == ModelAnswer::Nothing {
                    self.standings.failed(line);
                }
                // Asking in vain costs, too.
                Some(Draft {
                    usage: (spent.total() > 0).then_some(spent),
                    ..draft
                })
            }
            Err(error) => {
                tracing::warn!(%error, %line, "a conversation cannot be summarized");
                self.in_vain(material, &spent).await;
                let used = standing.measured.used;
                self.standings.gained_too_little(line, used, None, &window);
                None
            }
        }
    }

    /// Makes it durable, and with that known.
    async fn keep(
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
        let summary = join(&draft.summary);
        // The client's markers move on; what stands here stays.
        let rest = draft.rest.iter().map(thinking::without_marks);
        let elements: Vec<_> = draft.summary.iter().cloned().chain(rest).collect();
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
            lines: draft.lines,
            cleared: draft.cleared,
            settled: false,
            made: Made {
                session: material.placed.session,
                line,
                at: self.clock.now(),
                kind: draft.kind,
                before: draft.before,
                after: draft.after,
                millis,
                waited: match occasion.is_ahead() {
                    true => 0,
                    // What was waited for is told apart by this.
                    false => millis.max(1),
                },
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
                    self.standings.shrunk(line, kind, after, millis, window);
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

/// The most that may be left: less each time that more was too much, and little enough to be worth it.
fn most_left(window: &WindowStatus, need: &Need, before: Option<u64>) -> u64 {
    let worth = before.map_or(u64::MAX, |before| {
        before.saturating_sub(least_freed(window))
    });
    // The same share of the window, whatever it is.
    let limit = need.limit.map_or(u64::MAX, |limit| {
        let share = u128::from(limit) * u128::from(window.auto_compact);
        u64::try_from(share / u128::from(window.size.max(1))).unwrap_or(u64::MAX)
    });
    let most = window.auto_compact.min(worth).min(limit);
    most.checked_shr(need.tries).unwrap_or(1).max(1)
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
fn passes_by(class: ErrorClass) -> bool {
    matches!(
        class,
        ErrorClass::RateLimited { .. }
            | ErrorClass::Overloaded { .. }
            | ErrorClass::Server { .. }
            | ErrorClass::Retry { .. }
            | ErrorClass::Timeout(_)
            | ErrorClass::Cut
    )
}
