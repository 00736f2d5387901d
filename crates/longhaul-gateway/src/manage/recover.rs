//! Recovers a request that the upstream rejected for its length: its conversation is compacted, and it is sent again.

use std::sync::Arc;

use longhaul_core::history::{OverflowEvidence, OversizedRequest};
use longhaul_core::window::SwitchableAction;

use super::compactor::Compactor;
use super::prepare::TRIES;
use super::request_context::RequestContext;
use super::settle;
use super::weight::TokenDensity;
use super::work::{RoomRequirement, WorkOccasion};

/// What the upstream reported about a request that is too long, in tokens.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Told {
    /// How many tokens the request has.
    pub(crate) actual: Option<u64>,
    /// How many tokens the request may have.
    pub(crate) limit: Option<u64>,
}

impl Compactor {
    /// The upstream found a request too long, repeatedly if `again` is more than zero: compacts it. Returns whether it
    /// is smaller now.
    pub(crate) async fn recover(
        self: &Arc<Self>,
        material: &mut RequestContext,
        told: Told,
        again: u32,
    ) -> bool {
        let before = material.outgoing.len();
        let known = self.windows.of(&material.model);
        let window = known.window.as_ref();
        let worthwhile = self.may(SwitchableAction::Reactive)
            && window.is_some_and(|window| {
                material.may_be_shortened(window.auto_compact, known.spec.tokenizer)
            });
        let Some(window) = window.filter(|_| worthwhile) else {
            return false;
        };
        let counted = material.weight().total();
        let limit = told
            .limit
            .filter(|limit| *limit > 0 && *limit < window.size);
        // It is more than the window, if the upstream does not say how much.
        let actual = told.actual.unwrap_or(limit.unwrap_or(window.size));
        let density = TokenDensity::measured(actual, counted);
        let refused = material.outgoing.replaced.as_ref();
        let refused = refused.map(|(base, _)| (base.rewrite.at, base.rewrite.text.len()));
        let first = material.refused.take();
        let first = first.unwrap_or_else(|| Box::new(material.outgoing.clone()));
        if material
            .cut(None)
            .is_none_or(|cut| cut.conversation.elements.is_empty())
        {
            // The rejected prefix covers the whole conversation: it is made again from its original source.
            material.outgoing = (*first).clone();
        }
        material.refused = Some(first);
        for tries in again..again + TRIES {
            let need = RoomRequirement {
                density,
                pressing: OversizedRequest {
                    refused: OverflowEvidence::ByProvider,
                    limit,
                    tries,
                },
                refused_with: refused,
            };
            if !self.work_on(material, WorkOccasion::Full(need)).await {
                continue;
            }
            // The new prefix stays, even if the request still fails: it is paid for, and the part that it replaces is
            // too long, so a repeated request would have it made again. If the prefix itself is too long, a shorter one
            // replaces it.
            self.find(material).await;
            if known.spec.thinking.binding.may_bind() {
                settle::settle(&self.rewrites, material).await;
            }
            let shorter = material.outgoing.len() < before;
            self.mark(material);
            material.fresh |= self.begins_anew(material);
            return shorter;
        }
        false
    }
}
