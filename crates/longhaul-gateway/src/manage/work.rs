//! One piece of work on a conversation, done by one at a time: which part of it is made smaller, and for how long a request
//! waits for that. What is done with that part is `make`'s.

use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul_core::history::{self, HistoryState, OversizedRequest};

use super::compactor::Compactor;
use super::request_context::RequestContext;
use super::weight::TokenDensity;

/// How often it is looked whether another gateway is done.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// Conversations of one tenant that have this many messages in common are one, as far as it matters who works on them: the
/// first few may be the same words of a host.
const ALIKE: usize = 8;
/// What the model has not seen yet stays as it is, unless that leaves less than this part of the threshold free.
const FREE: u64 = 4;
/// What a conversation takes in memory while it is worked on, for each of its bytes: its entries, what is read of them, the
/// request that asks for a summary, and what stands for it in the end.
const READ: usize = 4;

/// Why work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkOccasion {
    /// The window will be full soon; nobody waits.
    Ahead(AnswerTokens),
    /// Nothing was said for long, and a request waits.
    Rested {
        /// What the window holds.
        used: u64,
    },
    /// The window is full, and a request waits.
    Full(RoomRequirement),
}

/// What an answer measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AnswerTokens {
    /// The request alone.
    pub(super) prompt: u64,
    /// The window behind it: with what was answered.
    pub(super) used: u64,
}

/// How much room a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RoomRequirement {
    /// How dense what is sent is, as the upstream counted it or as it is expected to.
    pub(super) density: TokenDensity,
    /// Who says that it does not fit, and how often less was tried.
    pub(super) pressing: OversizedRequest,
    /// The beginning with which the upstream has refused it: where that ends and how long it is.
    pub(super) refused_with: Option<(u128, usize)>,
}

impl WorkOccasion {
    pub(super) fn is_ahead(self) -> bool {
        matches!(self, Self::Ahead(_))
    }

    /// The same for the planner.
    pub(super) fn planned(self) -> history::AttemptOccasion {
        match self {
            Self::Ahead(_) => history::AttemptOccasion::Ahead,
            Self::Rested { .. } => history::AttemptOccasion::Idle,
            Self::Full(need) => history::AttemptOccasion::Full(need.pressing),
        }
    }
}

impl Compactor {
    /// Works on a conversation. Gives whether a new beginning is there for it, made now or by somebody else meanwhile.
    /// Goes on if whoever waits for it does not any more.
    pub(super) async fn work(
        self: &Arc<Self>,
        material: RequestContext,
        occasion: WorkOccasion,
    ) -> bool {
        let care = Arc::clone(self);
        let abort = self.abort.clone();
        let work = async move {
            tokio::select! {
                done = care.in_good_time(&material, occasion) => done,
                () = abort.cancelled() => false,
            }
        };
        match occasion {
            WorkOccasion::Ahead(_) => work.await,
            _ => self
                .tasks
                .spawn_on(work, &self.runtime)
                .await
                .unwrap_or(false),
        }
    }

    /// Works in turn with whoever works on the same. A request does not wait for that for ever: a model that hangs must
    /// not hang its clients, so in the end it goes on with what can be done without one.
    async fn in_good_time(&self, material: &RequestContext, occasion: WorkOccasion) -> bool {
        let in_turn = self.one_at_a_time(material, occasion);
        if occasion.is_ahead() {
            return in_turn.await;
        }
        let line = material.placed.line;
        match tokio::time::timeout(self.settings.patience, in_turn).await {
            Ok(done) => done,
            Err(_) => {
                tracing::warn!(%line, "a summary did not come in time; a request goes on with extracts");
                let standing = self.branch_states.history(line).unaided();
                self.is_done(material, occasion).await
                    || self.make(material, occasion, standing).await
            }
        }
    }

    async fn one_at_a_time(&self, material: &RequestContext, occasion: WorkOccasion) -> bool {
        let lock = self.lock(material.placed.line);
        let ahead = occasion.is_ahead();
        let _mine = if ahead {
            match lock.try_lock() {
                Ok(mine) => mine,
                Err(_) => return false,
            }
        } else {
            lock.lock().await
        };
        let key = claim_key(material);
        loop {
            if self.is_done(material, occasion).await {
                return true;
            }
            if !self.rewrites.can_be_stored().await {
                return false;
            }
            match self.rewrites.shelf().claim(key).await {
                // Another may have been done, and have given its claim back, just before.
                Ok(Some(_claim)) => {
                    let standing = self.branch_states.history(material.placed.line);
                    return self.is_done(material, occasion).await
                        || self.make(material, occasion, standing).await;
                }
                Ok(None) if ahead => return false,
                Ok(None) => tokio::time::sleep(LOOK_AGAIN).await,
                Err(error) => {
                    tracing::warn!(%error, "cannot claim a conversation to make it smaller");
                    return false;
                }
            }
        }
    }

    /// Makes it smaller, if it can be. Gives whether it did.
    async fn make(
        &self,
        material: &RequestContext,
        occasion: WorkOccasion,
        state: HistoryState,
    ) -> bool {
        let began = Instant::now();
        let Some(window) = self.windows.of(&material.model).window else {
            return false;
        };
        let weight = material.weight();
        let density = match occasion {
            WorkOccasion::Ahead(answered) => {
                TokenDensity::measured(answered.prompt, weight.total())
            }
            WorkOccasion::Rested { used } => TokenDensity::measured(used, weight.total()),
            WorkOccasion::Full(need) => need.density,
        };
        let measured = density.tokens(weight.total());
        let head = density.tokens(weight.head);
        let newest_stays = matches!(occasion, WorkOccasion::Full(_))
            .then(|| material.cut_before_newest(Some(measured)))
            .flatten()
            .filter(|cut| {
                let taken = head + density.tokens(cut.after);
                taken <= window.auto_compact - window.auto_compact / FREE
            });
        let cuts = newest_stays.into_iter().chain(material.cut(Some(measured)));
        for cut in cuts {
            let mut settings = self.settings.for_conversation(head, self.clock.now());
            if let WorkOccasion::Full(need) = occasion {
                // What stays after it takes room, too.
                settings.before_messages += density.tokens(cut.after);
                settings.most_left = Some(need.pressing.most_left(&window, measured));
            }
            let Ok(_charge) = self.budget.take(cut.bytes() * READ) else {
                let line = material.placed.line;
                tracing::warn!(%line, "there is no memory to make a conversation smaller; it stays as it is");
                return false;
            };
            let attempt =
                self.attempt((material, &cut), &settings, window, occasion, state.clone());
            if let Some(draft) = attempt.await {
                return self.keep(material, &cut, draft, occasion, began).await;
            }
        }
        false
    }

    /// Whether there is a better beginning than the one the request was sent with: for the next request, or for this one
    /// if it waits.
    async fn is_done(&self, material: &RequestContext, occasion: WorkOccasion) -> bool {
        let base = material.outgoing.replaced.as_ref();
        let least = base.map_or(0, |(base, _)| base.rewrite.messages);
        let hashes = &material.recognised.hashes;
        let found = match occasion {
            WorkOccasion::Ahead(_) => self.rewrites.find(material.tenant, hashes).await,
            _ => self.beginning(material).await,
        };
        let refused = match occasion {
            WorkOccasion::Full(need) => need.refused_with,
            _ => None,
        };
        found.ok().flatten().is_some_and(|found| {
            let rewrite = &found.rewrite;
            rewrite.messages > least && refused != Some((rewrite.at, rewrite.text.len()))
        })
    }
}

/// One at a time works on conversations that begin alike.
fn claim_key(material: &RequestContext) -> u64 {
    let hashes = &material.recognised.hashes;
    let alike = hashes.get(ALIKE - 1).or(hashes.last());
    (alike.copied().unwrap_or(0) as u64) ^ material.tenant.0
}
