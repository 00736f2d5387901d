//! Recovers a request that the upstream rejected as too long: compacts its conversation, so that it can be sent again.

use std::sync::Arc;

use longhaul_core::history::{MeasuredReply, OverflowEvidence, OversizedRequest};
use longhaul_core::window::{SwitchableAction, WindowStatus};

use super::compactor::Compactor;
use super::occasion::{RoomRequirement, WorkOccasion};
use super::prepare::TRIES;
use super::request_context::RequestContext;
use super::settle;
use super::shorten::RequestLimit;
use super::weight::TokenDensity;

/// The token counts that the upstream reported for a request that is too long.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Told {
    /// How many tokens the request has.
    pub(crate) actual: Option<u64>,
    /// How many tokens the request may have.
    pub(crate) limit: Option<u64>,
}

impl Compactor {
    /// Compacts a request that the upstream rejected as too long. `earlier_attempts` says how often it was already
    /// compacted and rejected again. Returns whether it is smaller now.
    pub(crate) async fn recover(
        self: &Arc<Self>,
        context: &mut RequestContext,
        reported: Told,
        earlier_attempts: u32,
    ) -> bool {
        let before = context.outgoing.len();
        let known = self.windows.of_tenant(context.of_key, &context.model);
        let window = known.window.as_ref();
        let worthwhile = self.may(SwitchableAction::Reactive)
            && window.is_some_and(|window| {
                context.may_be_shortened(window.auto_compact, known.spec.tokenizer)
            });
        let Some(window) = window.filter(|_| worthwhile) else {
            return false;
        };
        let counted = context.weight().total();
        let limit = reported
            .limit
            .filter(|limit| *limit > 0 && *limit < window.size);
        if let Some(limit) = limit {
            (self.windows).is_smaller(context.of_key, &context.model, limit);
        }
        // An upstream that does not report the size has found the request larger than its limit or the window.
        let actual = reported.actual.unwrap_or(limit.unwrap_or(window.size));
        let density = TokenDensity::measured(actual, counted);
        if earlier_attempts == 0 && self.shorten_newest(context, window, (actual, limit)).await {
            self.find(context).await;
            self.mark(context);
            return context.outgoing.len() < before;
        }
        let rejected = context.outgoing.replaced.as_ref();
        let rejected = rejected.map(|(base, _)| (base.prefix.at, base.prefix.text.len()));
        let first_rejected = context.refused.take();
        let first_rejected = first_rejected.unwrap_or_else(|| Box::new(context.outgoing.clone()));
        if context
            .cut(None)
            .is_none_or(|cut| cut.conversation.elements.is_empty())
        {
            // The rejected prefix replaces the whole conversation, so a new one is made from the first rejected body.
            context.outgoing = (*first_rejected).clone();
        }
        context.refused = Some(first_rejected);
        for tries in earlier_attempts..earlier_attempts + TRIES {
            let need = RoomRequirement {
                density,
                pressing: OversizedRequest {
                    refused: OverflowEvidence::ByProvider,
                    limit,
                    tries,
                },
                refused_with: rejected,
            };
            if !self.work_on(context, WorkOccasion::Full(need)).await {
                continue;
            }
            // The new prefix stays in the store even if the request still fails. It is paid for, and the messages that
            // it replaces are too long, so that a repeated request would need the same prefix again. If the prefix
            // itself is too long, a shorter one replaces it.
            self.find(context).await;
            if known.spec.thinking.binding.may_bind() {
                settle::settle(&self.prefixes, context, self.clock.now()).await;
            }
            let shorter = context.outgoing.len() < before;
            self.mark(context);
            context.fresh |= self.begins_anew(context);
            return shorter;
        }
        false
    }

    /// Shortens the newest results of a request that has, or is expected to have, `actual` tokens, if they are why it does
    /// not fit.
    pub(super) async fn shorten_newest(
        &self,
        context: &mut RequestContext,
        window: &WindowStatus,
        (actual, limit): (u64, Option<u64>),
    ) -> bool {
        let estimated = self.expected(context, &MeasuredReply::default());
        let density = actual.saturating_mul(1_000) / estimated.max(1);
        // The same share of a smaller window.
        let most = limit.unwrap_or(window.size).min(window.size);
        let share = |tokens: u64| {
            let tokens = u128::from(tokens) * u128::from(most) / u128::from(window.size.max(1));
            u64::try_from(tokens).unwrap_or(u64::MAX)
        };
        let limit = RequestLimit {
            window,
            limit: share(window.auto_compact),
            density: density.clamp(500, 4_000),
        };
        self.reduce_newest(context, &limit).await
    }
}
