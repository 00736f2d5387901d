//! What is sent for a request: what stands for its beginning is looked up and put in place, and a request that would not
//! fit is made smaller before it is sent.

use std::pin::Pin;
use std::sync::Arc;

use longhaul_core::history::{MeasuredReply, Pressing, Refused};
use longhaul_core::micro::is_rested;
use longhaul_core::window::Action;
use longhaul_provider::Dialect;

use super::care::Care;
use super::material::{Marked, Material};
use super::rewrites::Shelved;
use super::sending::{Sending, position};
use super::settle;
use super::weight::Density;
use super::work::{Need, Occasion};
use crate::line::Relation;
use crate::marks::Marks;
use crate::store::StoreError;

/// How often it is tried to make a request fit, with less each time.
pub(super) const TRIES: u32 = 4;

/// What became of a request before it was sent.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// For how long it waited, in milliseconds.
    pub(crate) waited: u64,
}

impl Care {
    /// Decides what is sent. Waits only if the request would not fit.
    pub(crate) async fn prepare(self: &Arc<Self>, material: &mut Material) -> Prepared {
        let began = std::time::Instant::now();
        self.find(material).await;
        self.not_yet(material).await;
        let measured = self.standings.measured(material.placed.line);
        // The provider's cache is cold then, and results are cleared by the way (U3).
        let limits = &self.settings.config.micro;
        let rested = is_rested(limits, measured.answered, self.clock.now());
        let used = measured.used;
        if rested
            && self.may(Action::Micro)
            && self.work_on(material, Occasion::Rested { used }).await
        {
            self.find(material).await;
        }
        self.make_room(material, &measured).await;
        let known = self.windows.of(&material.model);
        if known.spec.thinking.binding.may_bind() {
            settle::settle(&self.rewrites, material).await;
        }
        self.mark(material);
        material.fresh = self.begins_anew(material);
        Prepared {
            waited: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Whether another beginning is sent than for the line's last request. Branches go on from the line that they left.
    pub(super) fn begins_anew(&self, material: &Material) -> bool {
        let replaced = material.sending.replaced.as_ref();
        let beginning = replaced.map(|(base, _)| base.beginning());
        let from = match material.placed.relation {
            Relation::Branches(from, _) => Some(from),
            _ => None,
        };
        self.standings.sends(material.placed.line, from, beginning)
    }

    /// Work that a request waits for. Boxed, since it is seldom done: what is awaited lies within the future of each request,
    /// and that is copied several times on its way.
    pub(super) fn work_on<'w>(
        self: &'w Arc<Self>,
        material: &Material,
        occasion: Occasion,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'w>> {
        Box::pin(self.work(material.clone(), occasion))
    }

    /// Puts our cache markers in place of the client's, if that is wanted or if the client sets none.
    pub(super) fn mark(&self, material: &mut Material) {
        if material.dialect != Dialect::Anthropic {
            return;
        }
        let line = material.placed.line;
        material.marked = match self.marks {
            Marks::Manage => Marked::Managed,
            Marks::Keep if self.standings.is_unmarked(line) => Marked::Managed,
            Marks::Keep if material.has_markers() => Marked::Kept,
            // A call that nobody goes on with is left as it is.
            Marks::Keep if self.standings.measured(line).used == 0 => Marked::None,
            Marks::Keep => {
                self.standings.unmarked(line);
                Marked::ManagedNow
            }
        };
        if matches!(material.marked, Marked::Managed | Marked::ManagedNow) {
            let trail = self.standings.trail(line);
            let (body, recognised) = (&material.body, &material.recognised);
            material
                .sending
                .mark(body, recognised, Marks::Manage, trail.as_deref());
        }
    }

    /// What is sent only to be counted: nothing is made for it.
    pub(crate) async fn found(&self, material: &mut Material) {
        self.find(material).await;
        let known = self.windows.of(&material.model);
        if known.spec.thinking.binding.may_bind() {
            settle::as_if_settled(material);
        }
    }

    /// Puts what stands for the beginning in its place, if anything does.
    pub(super) async fn find(&self, material: &mut Material) {
        match self.beginning(material).await {
            Ok(Some(base)) => {
                let behind = Sending::behind(&material.body, &material.recognised, &base);
                material.sending = behind.unwrap_or_else(|| material.sending.clone());
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "summaries cannot be looked up; the whole history is sent");
            }
        }
    }

    /// What was made ahead waits for its time: until the threshold is reached, the beginning stays as it was sent last, and
    /// the cache with it.
    async fn not_yet(&self, material: &mut Material) {
        let standing = self.standings.of(material.placed.line);
        let known = self.windows.of(&material.model);
        let (Some(window), Some((newer, _))) = (&known.window, &material.sending.replaced) else {
            return;
        };
        let same = standing.beginning == Some(newer.beginning());
        // Another gateway may have sent it already.
        if same
            || !self.rewrites.are_all_known()
            || newer.rewrite.made.waited.is_some()
            || standing.history.measured.used == 0
        {
            return;
        }
        let before = match standing.beginning {
            None => Some(Sending::as_it_came(&material.body)),
            Some(at) => {
                let found = self.rewrites.find(material.tenant, &[at]).await;
                let found = found.ok().flatten();
                found.and_then(|base| Sending::behind(&material.body, &material.recognised, &base))
            }
        };
        let Some(before) = before else {
            return;
        };
        let newer = std::mem::replace(&mut material.sending, before);
        let was_measured = standing.history.measured.beginning == standing.beginning
            && material
                .first_behind(standing.history.measured.at)
                .is_some();
        let fits = self.expected(material, &standing.history.measured) < window.auto_compact;
        if !was_measured || !fits {
            material.sending = newer;
        }
    }

    /// What may stand for the beginning of a request.
    pub(super) async fn beginning(
        &self,
        material: &Material,
    ) -> Result<Option<Arc<Shelved>>, StoreError> {
        let mut hashes = &*material.recognised.hashes;
        loop {
            let found = self.rewrites.find(material.tenant, hashes).await?;
            match found {
                // It stands for what is asked now, too: the client never saw the answer, and asks again.
                Some(base) if !material.may_begin_with(&base) => {
                    let at = position(&material.recognised, base.rewrite.at);
                    hashes = hashes.get(..at.unwrap_or(0)).unwrap_or_default();
                }
                found => return Ok(found),
            }
        }
    }

    /// The upstream finds thinking in a request that was thought behind something else, as when the store was lost or the
    /// client edits its history: leaves it out. Gives whether it did.
    pub(crate) async fn unbind(&self, material: &mut Material) -> bool {
        let unbound = settle::without_thinking(&self.rewrites, material).await;
        self.mark(material);
        unbound
    }

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
}
