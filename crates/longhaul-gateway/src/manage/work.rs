//! One unit of work on a conversation, with one worker at a time, and how long a request waits for that. The core says
//! which part is compacted (`history/plan_request.rs`), and `make` does the work on that part.

use std::sync::Arc;
use std::time::Duration;

use longhaul_core::economy::RESTORED_FILE;
use longhaul_core::history::{HistoryPart, worked_on};
use tokio::sync::OwnedMutexGuard;

use super::compactor::Compactor;
use super::conversation_cut::ConversationCut;
use super::make::AttemptConditions;
use super::occasion::{RequestPatience, WorkOccasion};
use super::request_context::RequestContext;
use super::sized_history::SizedHistory;
use super::weight::TokenDensity;
use crate::store::Claim;

/// How often to check whether another gateway is done.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// Conversations of one tenant with this many messages in common count as one when a worker is chosen for them: the
/// first few messages may be a host's standard text.
const ALIKE: usize = 8;
/// The memory that compaction takes for each byte of a conversation: its entries, what is read of them, the summary
/// request, and the resulting prefix.
const READ: usize = 4;

/// Whether a worker may work on a conversation now.
enum WorkTurn {
    /// Another worker has done the work.
    Done,
    /// The work cannot be done, or somebody else does it and nobody waits for it.
    Impossible,
    /// No other worker works on the conversation as long as these are held.
    Ours(Box<dyn Claim>, OwnedMutexGuard<()>),
}

impl Compactor {
    /// Works on a conversation. Returns whether there is a new prefix for it, made now or by another worker in the
    /// meantime. The work continues even if the request that waits for it is gone.
    pub(super) async fn work(
        self: &Arc<Self>,
        context: RequestContext,
        occasion: WorkOccasion,
    ) -> bool {
        let compactor = Arc::clone(self);
        let abort = self.abort.clone();
        let work = async move {
            tokio::select! {
                done = compactor.in_good_time(&context, occasion) => done,
                () = abort.cancelled() => false,
            }
        };
        match occasion {
            WorkOccasion::Ahead(_) | WorkOccasion::Pays(_) => work.await,
            _ => self
                .tasks
                .spawn_on(work, &self.runtime)
                .await
                .unwrap_or(false),
        }
    }

    /// Works in turn with others that work on the same conversation. A request does not wait for that forever: a model
    /// that hangs must not hang its clients, so after a while the planner is told that the time is over, whether another
    /// worker asks the model or this one.
    async fn in_good_time(&self, context: &RequestContext, occasion: WorkOccasion) -> bool {
        let patience = RequestPatience::of(occasion, self.settings.patience);
        let _turn = match patience.within(self.turn(context, occasion)).await {
            Some(WorkTurn::Done) => return true,
            Some(WorkTurn::Impossible) => return false,
            Some(WorkTurn::Ours(claim, lock)) => Some((claim, lock)),
            None => None,
        };
        // Another worker may have finished, and released its claim, just before.
        self.is_done(context, occasion).await || self.make(context, occasion, patience).await
    }

    /// Waits until no other worker works on the conversation.
    async fn turn(&self, context: &RequestContext, occasion: WorkOccasion) -> WorkTurn {
        let lock = self.lock(context.placed.line);
        let ahead = occasion.is_ahead();
        let lock = if ahead {
            match lock.try_lock_owned() {
                Ok(lock) => lock,
                Err(_) => return WorkTurn::Impossible,
            }
        } else {
            lock.lock_owned().await
        };
        let key = claim_key(context);
        loop {
            if self.is_done(context, occasion).await {
                return WorkTurn::Done;
            }
            if !self.prefixes.can_be_stored().await {
                return WorkTurn::Impossible;
            }
            match self.prefixes.store().claim(key).await {
                Ok(Some(claim)) => return WorkTurn::Ours(claim, lock),
                Ok(None) if ahead => return WorkTurn::Impossible,
                Ok(None) => tokio::time::sleep(LOOK_AGAIN).await,
                Err(error) => {
                    tracing::warn!(%error, "cannot claim a conversation to make it smaller");
                    return WorkTurn::Impossible;
                }
            }
        }
    }

    /// Compacts the conversation, if possible. Returns whether it did.
    async fn make(
        &self,
        context: &RequestContext,
        occasion: WorkOccasion,
        patience: RequestPatience,
    ) -> bool {
        let began = std::time::Instant::now();
        let state = self.branch_states.history(context.placed.line);
        let Some(window) = self
            .windows
            .of_tenant(context.tenant, &context.model)
            .window
        else {
            return false;
        };
        let weight = context.weight();
        let density = match occasion {
            WorkOccasion::Ahead(answered) | WorkOccasion::Pays(answered) => {
                TokenDensity::measured(answered.prompt, weight.total())
            }
            WorkOccasion::Rested { used } => TokenDensity::measured(used, weight.total()),
            WorkOccasion::Full(need) => need.density,
        };
        let measured = density.tokens(weight.total());
        let head = density.tokens(weight.head);
        let parts = worked_on(&occasion.planned(), &window).into_iter();
        let cuts = parts.filter_map(|part| match part {
            HistoryPart::BeforeNewest => context.cut_before_newest(Some(measured)),
            HistoryPart::BeforeTokens(least) => context.cut_keeping(density, least, measured),
            HistoryPart::Whole => context.cut(Some(measured)),
        });
        for cut in cuts {
            let mut settings = self.settings.for_conversation(head, self.clock.now());
            if let WorkOccasion::Pays(_) = occasion {
                settings.largest_file = Some(window.scale().apply(RESTORED_FILE));
            }
            if let WorkOccasion::Full(_) = occasion {
                // The messages that stay after it take up window space, too.
                let stays = density.tokens(cut.after);
                let counted = self.tokens_after(context, &cut).unwrap_or(stays);
                settings.before_messages += stays.min(counted);
            }
            let Ok(_charge) = self.budget.take(cut.bytes() * READ) else {
                let line = context.placed.line;
                tracing::warn!(%line, "there is no memory to make a conversation smaller; it stays as it is");
                return false;
            };
            let conditions = AttemptConditions {
                settings: &settings,
                window,
                occasion,
                patience,
            };
            let attempt = self.attempt((context, &cut), conditions, state.clone());
            if let Some(draft) = attempt.await {
                let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                return self.keep(context, &cut, draft, occasion, millis).await;
            }
        }
        false
    }

    /// The tokens of the messages after a part of the conversation, by the careful count of additions: the newest results
    /// were shortened by it, if they had to be. A density of the whole request may be far too high for them.
    fn tokens_after(&self, context: &RequestContext, cut: &ConversationCut) -> Option<u64> {
        let tokenizer = self
            .windows
            .of_tenant(context.tenant, &context.model)
            .spec
            .tokenizer;
        let counter = self.branch_states.counter(context.placed.line, tokenizer);
        let sizes = SizedHistory::of(context, &self.sizes, &self.settings)?;
        let last = context.messages.recognized.position(cut.at)?;
        let estimate = counter.scaled(sizes.from(last + 1));
        Some(estimate.tokens + estimate.bound)
    }

    /// Whether there is a better prefix than the one that the request was sent with: for the next request, or for this
    /// one if it waits.
    async fn is_done(&self, context: &RequestContext, occasion: WorkOccasion) -> bool {
        let base = context.outgoing.replaced.as_ref();
        let least = base.map_or(0, |(base, _)| base.prefix.messages);
        let hashes = &context.messages.recognized.hashes;
        let found = match occasion {
            WorkOccasion::Ahead(_) | WorkOccasion::Pays(_) => {
                self.prefixes.find(context.tenant, hashes).await
            }
            _ => self.beginning(context).await,
        };
        let refused = match occasion {
            WorkOccasion::Full(need) => need.refused_with,
            _ => None,
        };
        found.ok().flatten().is_some_and(|found| {
            let prefix = &found.prefix;
            let is_refused = refused.is_some_and(|(at, bytes)| {
                at == prefix.at && (found.is_incomplete() || bytes == prefix.text.len())
            });
            prefix.messages > least && !is_refused
        })
    }
}

/// The key of the claim: only one worker at a time works on conversations that begin alike.
fn claim_key(context: &RequestContext) -> u64 {
    let hashes = &context.messages.recognized.hashes;
    let alike = hashes.get(ALIKE - 1).or(hashes.last());
    (alike.copied().unwrap_or(0) as u64) ^ context.tenant.0
}
