//! Clearing while the cache is warm (U4): local entries stay as they are, and the provider is asked to drop results
//! from its cache, by reference. This is only for providers that support it (N4).
//!
//! Deletions are pinned: every request asks for them again while the cache lives. When the cache expires they are
//! dropped, the results count again, and the next idle gap clears them for good (U3).

use serde_json::json;
use serde_json::value::RawValue;

use super::{ClearableResult, MicroClearingReason, MicroLimits, ToolResults};
use crate::hash::Set;
use crate::message::Id;
use crate::tokens::Estimate;

/// Results that the provider is to drop from its cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheDeletions {
    /// Why they are dropped.
    pub reason: MicroClearingReason,
    /// The results, oldest first.
    pub results: Vec<ClearableResult>,
    /// The estimated weight of the results, used in place of the provider's measurement (D4).
    pub saved: Estimate,
}

/// The deletions by reference that every request must ask for again.
#[derive(Debug, Clone, Default)]
pub struct CacheEditState {
    /// The deleted calls, in the order of their deletion.
    pinned: Vec<String>,
    deleted: Set<Id>,
}

impl CacheEditState {
    /// Returns the results to delete now, if there are enough active results.
    pub fn plan(&self, results: &ToolResults, limits: &MicroLimits) -> Option<CacheDeletions> {
        let active = results.len() - self.deleted.len().min(results.len());
        if active < limits.from() {
            return None;
        }
        let all = results;
        let results: Vec<ClearableResult> = all
            .iter()
            .filter(|result| !self.deleted.contains(&Id::of(&result.call)))
            .take(active - limits.kept())
            // No new rendering begins, so what refers to a result could not be sent as it came.
            .filter(|result| !all.is_referred_to(&result.call))
            .cloned()
            .collect();
        (!results.is_empty()).then(|| CacheDeletions {
            reason: MicroClearingReason::Cached,
            saved: results.iter().map(|result| result.weight).sum(),
            results,
        })
    }

    /// Restores the deletions that a transcript records.
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

    /// Returns the request field that asks for the deletions, in an object of its own. If there are none, the field
    /// holds an empty list.
    pub fn field(&self) -> Option<Box<RawValue>> {
        let edits: Vec<_> = (self.pinned.iter())
            .map(|call| json!({"type": "delete", "tool_use_id": call}))
            .collect();
        serde_json::value::to_raw_value(&json!({"cache_edits": edits})).ok()
    }
}
