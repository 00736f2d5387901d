//! One piece of work on a conversation: clear, use its notes, or sum up, and put what came of it on the shelf.

use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul::Model;
use longhaul::session::summary_reply;
use longhaul_core::json::Object;
use longhaul_core::message::Usage;
use longhaul_core::tokens::{Ledger, Rough, Standing};
use longhaul_provider::{Dialect, ErrorClass};

use super::care::Care;
use super::clear::{self, Why};
use super::draft::Draft;
use super::entries::Entries;
use super::material::{Cut, Material};
use super::settings::Settings;
use super::summarise;
use super::{join, standing, thinking};
use crate::store::{Kind, Made, Rewrite};

/// A request that may answer with no more tokens than this is no place to ask for a summary behind.
const SHORTEST_ANSWER: u64 = 4_000;
/// What stands beside the messages is mostly English and JSON.
const BYTES_A_TOKEN: u64 = 4;
/// What a plain request for a summary says beside the conversation, in tokens, at most.
const INSTRUCTIONS: u64 = 4_000;
/// What has to fit is estimated with care.
const CAREFUL: u64 = 3;
/// What the model has not seen yet stays as it is, unless it is more than this part of the window.
const NEWEST: u64 = 2;
/// How often it is looked whether another gateway is done.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// Conversations of one tenant that have this many messages in common are one, as far as it matters who works on them: the
/// first few may be the same words of a host.
const ALIKE: usize = 8;

/// Why work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// The window will be full soon; nobody waits.
    Ahead {
        /// What it holds.
        used: u64,
    },
    /// Nothing was said for long, and a request waits.
    Rested,
    /// The window is full, and a request waits; so many tokens it would have been, if the upstream said so.
    Full(Option<u64>),
}

impl Care {
    /// Works on a conversation. Gives whether a new beginning is there for it, made now or by somebody else meanwhile.
    /// Goes on if whoever waits for it does not any more.
    pub(super) async fn work(self: &Arc<Self>, material: Material, occasion: Occasion) -> bool {
        let care = Arc::clone(self);
        let abort = self.abort.clone();
        let work = async move {
            tokio::select! {
                done = care.in_good_time(&material, occasion) => done,
                () = abort.cancelled() => false,
            }
        };
        match occasion {
            Occasion::Ahead { .. } => work.await,
            _ => self
                .tasks
                .spawn_on(work, &self.runtime)
                .await
                .unwrap_or(false),
        }
    }

    /// Works in turn with whoever works on the same. A request does not wait for that for ever: a model that hangs must
    /// not hang its clients, so in the end it goes on with what can be done without one.
    async fn in_good_time(&self, material: &Material, occasion: Occasion) -> bool {
        let in_turn = self.one_at_a_time(material, occasion);
        if matches!(occasion, Occasion::Ahead { .. }) {
            return in_turn.await;
        }
        let line = material.placed.line;
        match tokio::time::timeout(self.settings.patience, in_turn).await {
            Ok(done) => done,
            Err(_) => {
                tracing::warn!(%line, "a summary did not come in time; a request goes on with extracts");
                let standing = self.standings.of(line).unaided();
                self.is_done(material, occasion).await
                    || self.make(material, occasion, standing).await
            }
        }
    }

    async fn one_at_a_time(&self, material: &Material, occasion: Occasion) -> bool {
        let lock = self.lock(material.placed.line);
        let ahead = matches!(occasion, Occasion::Ahead { .. });
        let _mine = match ahead {
            true => match lock.try_lock() {
                Ok(mine) => mine,
                Err(_) => return false,
            },
            false => lock.lock().await,
        };
        let key = claim_key(material);
        loop {
            if self.is_done(material, occasion).await {
                return true;
            }
            if !self.rewrites.can_be_kept().await {
                return false;
            }
            match self.rewrites.shelf().claim(key).await {
                // Another may have been done, and have given its claim back, just before.
                Ok(Some(_claim)) => {
                    let standing = self.standings.of(material.placed.line);
                    return self.is_done(material, occasion).await
                        || self.make(material, occasion, standing).await;
                }
                Ok(None) if ahead => return false,
                Ok(None) => tokio::time::sleep(LOOK_AGAIN).await,
                Err(error) => {
                    tracing::warn!(%error, "cannot claim a conversation to sum it up");
                    return false;
                }
            }
        }
    }

    /// Whether there is a better beginning than the one the request was sent with: for the next request, or for this one
    /// if it waits.
    async fn is_done(&self, material: &Material, occasion: Occasion) -> bool {
        let base = material.sending.replaced.as_ref();
        let least = base.map_or(0, |(base, _)| base.rewrite.messages);
        let hashes = &material.recognised.hashes;
        let found = match occasion {
            Occasion::Ahead { .. } => self.rewrites.find(material.tenant, hashes).await,
            _ => self.beginning(material).await,
        };
        found.is_ok_and(|found| found.is_some_and(|found| found.rewrite.messages > least))
    }

    async fn make(
        &self,
        material: &Material,
        occasion: Occasion,
        standing: standing::Standing,
    ) -> bool {
        let began = Instant::now();
        let measured = match occasion {
            Occasion::Ahead { used } => Some(used),
            Occasion::Full(Some(actual)) => Some(actual),
            Occasion::Full(None) => standing.measured.expected(material.sending.len()),
            Occasion::Rested => Some(standing.measured.used),
        };
        let window = self.windows.of(&material.model).window;
        let most = window.map_or(0, |window| window.auto_compact / NEWEST);
        let newest_stays = matches!(occasion, Occasion::Full(_))
            .then(|| material.cut_before_newest(measured))
            .flatten()
            .filter(|cut| cut.behind as u64 / CAREFUL <= most);
        let cuts = newest_stays.into_iter().chain(material.cut(measured));
        for cut in cuts {
            let draft = self.draft(material, &cut, occasion, &standing).await;
            if let Some(draft) = draft {
                return self.keep(material, &cut, draft, occasion, began).await;
            }
        }
        false
    }

    async fn draft(
        &self,
        material: &Material,
        cut: &Cut,
        occasion: Occasion,
        standing: &standing::Standing,
    ) -> Option<Draft> {
        let mut settings = self.settings_for(material);
        if matches!(occasion, Occasion::Full(_)) {
            // What stays behind takes room, too.
            settings.before_messages += cut.behind as u64 / CAREFUL;
        }
        match occasion {
            Occasion::Rested => clear::clear(&cut.talk, Why::Idle, &settings),
            _ => match self.enough_is_cleared(cut, &settings) {
                Some(draft) => Some(draft),
                None => match self.by_notes(material, cut, &settings, occasion).await {
                    Some(draft) => Some(draft),
                    None => {
                        let summing = self.sum_up(material, cut, &settings, occasion, standing);
                        summing.await
                    }
                },
            },
        }
    }

    /// The settings for the conversation of a request: what stands before its messages takes room, too.
    fn settings_for(&self, material: &Material) -> Settings {
        let list = &material.recognised.outline.list;
        let beside = material.body.len().saturating_sub(list.len()) as u64;
        self.settings
            .for_talk(beside / BYTES_A_TOKEN, self.clock.now())
    }

    /// How many tokens a request is at most, block by block, as densely as the line was measured.
    pub(super) fn weighed(&self, material: &Material, measured: &standing::Measured) -> u64 {
        let settings = self.settings_for(material);
        let entries =
            (material.cut(None)).and_then(|cut| Entries::of(&cut.talk, None, settings.now).ok());
        let Some(read) = entries else {
            return u64::MAX;
        };
        let mut ledger = Ledger::new();
        for entry in &read.entries {
            ledger.entry(entry.view(), Standing::Live, &Rough);
        }
        // The estimate takes three bytes for a token.
        measured.tokens_of(3 * ledger.whole().padded()) + settings.before_messages
    }

    /// Old results, if clearing them makes room enough (O1: before anything is summed up).
    fn enough_is_cleared(&self, cut: &Cut, settings: &Settings) -> Option<Draft> {
        let window = self.windows.of(&cut.talk.model).window?;
        let draft = clear::clear(&cut.talk, Why::Pressure, settings)?;
        (draft.after < window.warning).then_some(draft)
    }

    async fn sum_up(
        &self,
        material: &Material,
        cut: &Cut,
        settings: &Settings,
        occasion: Occasion,
        standing: &standing::Standing,
    ) -> Option<Draft> {
        let line = material.placed.line;
        let mut used = Usage::default();
        let too_long = matches!(occasion, Occasion::Full(Some(_)));
        let mut given = None;
        let instructions = self.settings.instructions.as_deref();
        let message = summarise::fork_message(material.dialect, instructions);
        let window = self.windows.of(&material.model).window;
        // Asking must not be what is too long.
        let fits = match occasion {
            Occasion::Ahead { used } => {
                let behind = used + message.len() as u64 / CAREFUL;
                window.is_none_or(|window| behind <= window.size)
            }
            _ => {
                let asked = material.sending.len() + message.len();
                let expected = standing.measured.expected(asked);
                window.is_none_or(|window| {
                    expected.is_none_or(|expected| expected <= window.effective)
                })
            }
        };
        if standing.may_ask() && !too_long && fits && may_be_asked_behind(material) {
            let parts = material.sending.and(&message).unwrap_or_default();
            match material.asking.ask(parts, &[]).await {
                Ok(reply) => {
                    used.add(&reply.usage);
                    given = Some(summary_reply(reply));
                }
                Err(error) => {
                    tracing::info!(class = ?error.class, "asking for a summary behind the client's own messages failed");
                    if let Occasion::Ahead { used } = occasion
                        && passes_by(error.class)
                        && (self.windows.of(&material.model).window)
                            .is_some_and(|window| used < window.auto_compact)
                    {
                        // There is room for another try behind the next answer.
                        self.standings.failed(line);
                        return None;
                    }
                }
            }
        }
        let plain = (cut.talk.measured).map(|all| {
            let behind = cut.behind as u64 / BYTES_A_TOKEN;
            all.saturating_sub(behind) + INSTRUCTIONS
        });
        let plain_fits = window.is_none_or(|window| plain.is_none_or(|plain| plain <= window.size));
        let asked = (standing.may_ask() && plain_fits && material.dialect == Dialect::Anthropic)
            .then(|| Arc::new(material.asking.clone()) as Arc<dyn Model>);
        let could_ask = given.is_some() || asked.is_some();
        let drafted = summarise::summarise(&cut.talk, given, asked, settings).await;
        match drafted {
            Ok(mut draft) => {
                if draft.kind == Kind::Extracted && could_ask {
                    self.standings.failed(line);
                }
                // Asking in vain costs, too.
                used.add(&draft.usage.take().unwrap_or_default());
                draft.usage = (used.total() > 0).then_some(used);
                Some(draft)
            }
            Err(error) => {
                self.standings.failed(line);
                tracing::warn!(%error, %line, "a conversation cannot be summed up");
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
                waited: match occasion {
                    Occasion::Ahead { .. } => 0,
                    // What was waited for is told apart by this.
                    _ => millis.max(1),
                },
                cost: draft
                    .usage
                    .as_ref()
                    .and_then(|usage| known.spec.cost_of_reply(usage)),
                report: draft.report,
            },
        };
        let (kind, before, after) = (draft.kind, draft.before, draft.after);
        match self.rewrites.put(rewrite).await {
            Ok(_) => {
                let asking = (kind == Kind::Summarised).then_some(millis);
                self.standings.shrunk(line, asking);
                self.metrics.compacted(kind);
                self.changes.changed(material.placed.session);
                tracing::info!(%line, kind = kind.name(), before, after, millis, "a conversation was made smaller");
                true
            }
            Err(error) => {
                tracing::warn!(%error, %line, "a summary cannot be kept and is not used");
                false
            }
        }
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

/// One at a time works on conversations that begin alike.
fn claim_key(material: &Material) -> u64 {
    let hashes = &material.recognised.hashes;
    let alike = hashes.get(ALIKE - 1).or(hashes.last());
    (alike.copied().unwrap_or(0) as u64) ^ material.tenant.0
}

/// Whether a summary can be asked for behind the client's own bytes: nothing in them may force another kind of answer.
pub(super) fn may_be_asked_behind(material: &Material) -> bool {
    let body = Object::new(&material.body);
    let text = |name| body.get(name).unwrap_or_default();
    let forced = match body.object("tool_choice") {
        Some(choice) => choice
            .string("type")
            .is_some_and(|kind| kind != "auto" && kind != "none"),
        None => text("tool_choice") == br#""required""#,
    };
    let formatted = text("response_format").starts_with(b"{")
        || text("output_format").starts_with(b"{")
        || body
            .object("output_config")
            .is_some_and(|config| config.get("format").is_some_and(|format| format != b"null"));
    let most = body
        .count("max_tokens")
        .or_else(|| body.count("max_completion_tokens"));
    !forced && !formatted && most.is_none_or(|most| most >= SHORTEST_ANSWER)
}
