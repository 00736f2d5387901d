//! Clearing while the cache is warm (U4): local entries stay as they are, and the provider is asked to drop results
//! from what it has cached, by reference. Only for providers that say they can (N4).
//!
//! Deletions are pinned: asked for again with every request while the cache lives. When it expires they are dropped,
//! the results count again, and the next idle gap clears them for good (U3).

use serde_json::json;
use serde_json::value::RawValue;

use super::{ClearableResult, MicroClearingReason, MicroLimits, ToolResults};
use crate::hash::Set;
use crate::message::Id;
use crate::tokens::Estimate;

/// Results that the provider is to drop from its cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheDeletions {
    /// Always [`Reason::Cached`].
    pub reason: MicroClearingReason,
    /// The results, oldest first.
    pub results: Vec<ClearableResult>,
    /// What they weigh: stands in for what the provider measures (D4).
    pub saved: Estimate,
}

/// What was deleted by reference and must be asked for again with every request.
#[derive(Debug, Clone, Default)]
pub struct CacheEditState {
    /// In the order in which they were deleted.
    pinned: Vec<String>,
    deleted: Set<Id>,
}

impl CacheEditState {
    /// What to delete now, if there are enough active results.
    pub fn plan(&self, results: &ToolResults, limits: &MicroLimits) -> Option<CacheDeletions> {
        let active = results.len() - self.deleted.len().min(results.len());
        if active < limits.from() {
            return None;
        }
        let results: Vec<ClearableResult> = results
            .iter()
            .filter(|result| !self.deleted.contains(&Id::of(&result.call)))
            .take(active - limits.kept())
            .cloned()
            .collect();
        Some(CacheDeletions {
            reason: MicroClearingReason::Cached,
            saved: results.iter().map(|result| result.weight).sum(),
            results,
        })
    }

    /// Those that a transcript records.
    pub fn of(calls: &[String]) -> Self {
        let mut cached = Self::default();
        cached.pin(calls.iter().cloned());
        cached
    }

    /// Pins deletions: from now on every request asks for them.
    pub fn pin(&mut self, calls: impl IntoIterator<Item = String>) {
        for call in calls {
            if self.deleted.insert(Id::of(&call)) {
                self.pinned.push(call);
            }
        }
    }

    /// The calls whose results every request asks to drop, in order.
    pub fn pinned(&self) -> &[String] {
        &self.pinned
    }

    /// The field of a request that asks for them, in an object of its own. A request that asks for none says so.
    pub fn field(&self) -> Option<Box<RawValue>> {
        let edits: Vec<_> = (self.pinned.iter())
            .map(|call| json!({"type": "delete", "tool_use_id": call}))
            .collect();
        serde_json::value::to_raw_value(&json!({"cache_edits": edits})).ok()
    }
}
