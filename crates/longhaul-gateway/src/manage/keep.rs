//! Keeps what was made of a conversation: durable first, then known.

use std::time::Instant;

use longhaul_core::history::{HistoryChange, SpokenBy};
use longhaul_core::message::Usage;

use super::care::Care;
use super::draft::Draft;
use super::material::{Cut, Material};
use super::work::Occasion;
use super::{join, thinking};
use crate::store::{Kind, Made, Rewrite};

impl Care {
    /// Makes it durable, and with that known.
    pub(super) async fn keep(
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
                waited: (!occasion.is_ahead()).then_some(millis),
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
                    let by = spoken_by(kind);
                    let change = HistoryChange::Shrunk { after, by, millis };
                    self.standings.apply(line, change, window);
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

/// Who wrote what stands there now.
fn spoken_by(kind: Kind) -> Option<SpokenBy> {
    match kind {
        Kind::Cleared | Kind::Settled => None,
        Kind::Noted => Some(SpokenBy::Notes),
        Kind::Summarised => Some(SpokenBy::Model),
        Kind::Extracted => Some(SpokenBy::Extracts),
    }
}
