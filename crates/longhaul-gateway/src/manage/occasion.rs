//! Why a conversation is worked on, with the figures that are known then, and until when a request waits for it.

use std::time::Duration;

use longhaul_core::history::{self, OversizedRequest};
use tokio::time::Instant;

use super::weight::TokenDensity;

/// Why work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkOccasion {
    /// The window will be full soon; no request waits.
    Ahead(AnswerTokens),
    /// A summary pays, although the window has room; no request waits.
    Pays(AnswerTokens),
    /// The conversation was idle for long, and a request waits.
    Rested {
        /// How many tokens the window holds.
        used: u64,
    },
    /// The window is full, and a request waits.
    Full(RoomRequirement),
}

/// The token counts of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AnswerTokens {
    /// The tokens of the request alone.
    pub(super) prompt: u64,
    /// The tokens in the window after it, with the answer.
    pub(super) used: u64,
}

/// How much space a request needs in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RoomRequirement {
    /// The token density of what is sent, as measured or expected.
    pub(super) density: TokenDensity,
    /// The evidence that the request does not fit, and how often a smaller one was tried.
    pub(super) pressing: OversizedRequest,
    /// The prefix with which the upstream has rejected it: the history where it ends, and its length.
    pub(super) refused_with: Option<(u128, usize)>,
}

impl WorkOccasion {
    pub(super) fn is_ahead(self) -> bool {
        matches!(self, Self::Ahead(_) | Self::Pays(_))
    }

    /// The occasion in the planner's terms.
    pub(super) fn planned(self) -> history::AttemptOccasion {
        match self {
            Self::Ahead(_) => history::AttemptOccasion::Ahead,
            Self::Pays(_) => history::AttemptOccasion::Price,
            Self::Rested { .. } => history::AttemptOccasion::Idle,
            Self::Full(need) => history::AttemptOccasion::Full(need.pressing),
        }
    }
}

/// Until when a request waits for a model; `None` if no request waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestPatience(Option<Instant>);

impl RequestPatience {
    /// How long a request that waits for this work does so: a model that hangs must not hang its clients.
    pub(super) fn of(occasion: WorkOccasion, longest: Duration) -> Self {
        Self((!occasion.is_ahead()).then(|| Instant::now() + longest))
    }

    /// The result of some work; `None` if that takes too long, and then it is abandoned.
    pub(super) async fn within<T>(self, work: impl Future<Output = T>) -> Option<T> {
        match self.0 {
            Some(until) => tokio::time::timeout_at(until, work).await.ok(),
            None => Some(work.await),
        }
    }

    /// Whether the request has waited long enough.
    pub(super) fn is_over(self) -> bool {
        self.0.is_some_and(|until| Instant::now() >= until)
    }
}
