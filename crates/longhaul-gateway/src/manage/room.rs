//! Whether a request fits, and what is done if it does not: before it is sent, and when the upstream has refused it.

use std::sync::Arc;

use longhaul_core::history::{MeasuredReply, Pressing, Refused};
use longhaul_core::window::Action;

use super::care::Care;
use super::material::Material;
use super::settle;
use super::weight::Density;
use super::work::{Need, Occasion};

/// What the upstream told of a request that is too long, in tokens.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Told {
    /// How long it is.
    pub(crate) actual: Option<u64>,
    /// How long it may be.
    pub(crate) limit: Option<u64>,
}

/// How often it is tried to make a request fit, with less each time.
const TRIES: u32 = 4;

impl Care {
    /// Makes a request smaller that would not fit.
    pub(super) async fn make_room(
        self: &Arc<Self>,
        material: &mut Material,
        measured: &MeasuredReply,
    ) {
        let known = self.windows.of(&material.model);
        let Some(window) = &known.window else {
            return;
        };
        let limit = match self.settings.config.background {
            true => window.blocking,
            // Nothing is made ahead: it is made when the threshold is reached.
            false => window.auto_compact,
        };
        // A token is a byte at the least.
        if (material.sending.len() as u64) < limit {
            return;
        }
        let tokenizer = known.spec.tokenizer;
        let expected = self.expected(material, measured);
        let may = self.may(Action::Automatic) || self.may(Action::Micro);
        if expected < limit || !may || !material.may_be_shortened(window.auto_compact, tokenizer) {
            return;
        }
        for tries in 0..TRIES {
            let need = Need {
                density: Density::measured(expected, material.weight().total()),
                pressing: Pressing {
                    refused: Refused::Expected,
                    limit: None,
                    tries,
                },
                refused_with: None,
            };
            if self.work_on(material, Occasion::Full(need)).await {
                return self.find(material).await;
            }
        }
    }

    /// How many tokens a request will be: what was measured, and what is new at a careful estimate. Where nothing was
    /// measured of what is sent now, all of it is estimated.
    pub(super) fn expected(&self, material: &Material, measured: &MeasuredReply) -> u64 {
        let tokenizer = self.windows.of(&material.model).spec.tokenizer;
        let careful = Density::careful(tokenizer);
        let base = material.sending.replaced.as_ref();
        let same = measured.used > 0
            && measured.tokenizer == tokenizer
            && measured.beginning == base.map(|(base, _)| base.beginning());
        if same && let Some(new) = material.first_behind(measured.at) {
            let beside = material.size().beside.saturating_sub(measured.beside);
            // What stands beside the messages is English and JSON.
            return measured.used + careful.tokens(material.weight_from(new)) + beside as u64 / 2;
        }
        match base {
            // Made for no request that waited, it was counted with nothing behind it.
            Some((base, until)) if base.rewrite.made.waited.is_none() && !base.rewrite.settled => {
                base.rewrite.made.after + careful.tokens(material.weight_from(*until))
            }
            _ => careful.tokens(material.weight().total()),
        }
    }

    /// The upstream found a request too long, not for the first time if `again` is more than nothing: makes it smaller.
    /// Gives whether it is.
    pub(crate) async fn recover(
        self: &Arc<Self>,
        material: &mut Material,
        told: Told,
        again: u32,
    ) -> bool {
        let before = material.sending.len();
        let known = self.windows.of(&material.model);
        let window = known.window.as_ref();
        let worthwhile = self.may(Action::Reactive)
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
        // More than the window, if the upstream does not say how much.
        let actual = told.actual.unwrap_or(limit.unwrap_or(window.size));
        let density = Density::measured(actual, counted);
        let refused = material.sending.replaced.as_ref();
        let refused = refused.map(|(base, _)| (base.rewrite.at, base.rewrite.text.len()));
        let first = material.refused.take();
        let first = first.unwrap_or_else(|| Box::new(material.sending.clone()));
        if material
            .cut(None)
            .is_none_or(|cut| cut.talk.elements.is_empty())
        {
            // All of it is in what was refused: that is made anew from what it was made of.
            material.sending = (*first).clone();
        }
        material.refused = Some(first);
        for tries in again..again + TRIES {
            let need = Need {
                density,
                pressing: Pressing {
                    refused: Refused::ByProvider,
                    limit,
                    tries,
                },
                refused_with: refused,
            };
            if !self.work_on(material, Occasion::Full(need)).await {
                continue;
            }
            // What was made stays, even if the request fails all the same: it is paid for, and what it stands for is too
            // long, so that whoever asks again would have it made again. If it turns out to be too long itself, a shorter one
            // takes its place.
            self.find(material).await;
            if known.spec.thinking.binding.may_bind() {
                settle::settle(&self.rewrites, material).await;
            }
            let shorter = material.sending.len() < before;
            self.mark(material);
            material.fresh |= self.begins_anew(material);
            return shorter;
        }
        false
    }
}
