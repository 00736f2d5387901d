//! One piece of work on a conversation, done by one at a time: clear, use its notes, or summarize. What is done is in
//! `make`.

use std::sync::Arc;
use std::time::Duration;

use longhaul_core::history::{self, Pressing};

use super::care::Care;
use super::material::Material;
use super::weight::Density;

/// How often it is looked whether another gateway is done.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// Conversations of one tenant that have this many messages in common are one, as far as it matters who works on them: the
/// first few may be the same words of a host.
const ALIKE: usize = 8;

/// Why work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// The window will be full soon; nobody waits.
    Ahead(Answered),
    /// Nothing was said for long, and a request waits.
    Rested {
        /// What the window holds.
        used: u64,
    },
    /// The window is full, and a request waits.
    Full(Need),
}

/// What an answer measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answered {
    /// The request alone.
    pub(super) prompt: u64,
    /// The window behind it: with what was answered.
    pub(super) used: u64,
}

/// How much room a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Need {
    /// How dense what is sent is, as the upstream counted it or as it is expected to.
    pub(super) density: Density,
    /// Who says that it does not fit, and how often less was tried.
    pub(super) pressing: Pressing,
    /// The beginning with which the upstream has refused it: where that ends and how long it is.
    pub(super) refused_with: Option<(u128, usize)>,
}

impl Occasion {
    pub(super) fn is_ahead(self) -> bool {
        matches!(self, Self::Ahead(_))
    }

    /// The same for the planner.
    pub(super) fn planned(self) -> history::Occasion {
        match self {
            Self::Ahead(_) => history::Occasion::Ahead,
            Self::Rested { .. } => history::Occasion::Idle,
            Self::Full(need) => history::Occasion::Full(need.pressing),
        }
    }
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
            Occasion::Ahead(_) => work.await,
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
        if occasion.is_ahead() {
            return in_turn.await;
        }
        let line = material.placed.line;
        match tokio::time::timeout(self.settings.patience, in_turn).await {
            Ok(done) => done,
            Err(_) => {
                tracing::warn!(%line, "a summary did not come in time; a request goes on with extracts");
                let standing = self.standings.history(line).unaided();
                self.is_done(material, occasion).await
                    || self.make(material, occasion, standing).await
            }
        }
    }

    async fn one_at_a_time(&self, material: &Material, occasion: Occasion) -> bool {
        let lock = self.lock(material.placed.line);
        let ahead = occasion.is_ahead();
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
                    let standing = self.standings.history(material.placed.line);
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

    /// Whether there is a better beginning than the one the request was sent with: for the next request, or for this one
    /// if it waits.
    async fn is_done(&self, material: &Material, occasion: Occasion) -> bool {
        let base = material.sending.replaced.as_ref();
        let least = base.map_or(0, |(base, _)| base.rewrite.messages);
        let hashes = &material.recognised.hashes;
        let found = match occasion {
            Occasion::Ahead(_) => self.rewrites.find(material.tenant, hashes).await,
            _ => self.beginning(material).await,
        };
        let refused = match occasion {
            Occasion::Full(need) => need.refused_with,
            _ => None,
        };
        found.ok().flatten().is_some_and(|found| {
            let rewrite = &found.rewrite;
            rewrite.messages > least && refused != Some((rewrite.at, rewrite.text.len()))
        })
    }
}

/// One at a time works on conversations that begin alike.
fn claim_key(material: &Material) -> u64 {
    let hashes = &material.recognised.hashes;
    let alike = hashes.get(ALIKE - 1).or(hashes.last());
    (alike.copied().unwrap_or(0) as u64) ^ material.tenant.0
}
