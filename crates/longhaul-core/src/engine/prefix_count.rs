//! The known size of the request prefix while no reply has measured the view (T1, Y1).
//!
//! The padded estimate of a system prompt with its tools may be a third above the provider's count, and in a small
//! window that third is the room that a compaction has just made. So the boundary stores what the replies before a
//! compaction showed, where a resumed session finds it, too. `calibration.rs` derives it from the replies.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::Engine;
use super::calibration::scaled;
use super::compaction_in_progress::CompactionInProgress;
use super::config::PrefixRecording;
use super::sizes::prefix_weight;
use crate::message::EntryView;
use crate::prompt::RequestPrefix;
use crate::tokens::{Estimate, MeasuredTokens};

/// The provider's count of a request prefix, and its estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PrefixCount {
    counted: MeasuredTokens,
    /// The padded estimate of the same request prefix.
    estimated: u64,
}

impl PrefixCount {
    /// The expected count of a request prefix with this estimate. Additions count with their full estimate.
    pub(crate) fn of(self, estimate: u64) -> u64 {
        let Self { counted, estimated } = self;
        match estimate.checked_sub(estimated) {
            Some(added) => counted.tokens().saturating_add(added),
            None => scaled(counted.tokens(), estimate, estimated),
        }
    }

    /// The form on the boundary. Another model may count the same text differently.
    pub(super) fn to_boundary(self, model: &str) -> Value {
        json!({
            "counted": self.counted.tokens(),
            "estimated": self.estimated,
            "model": model,
        })
    }

    /// Reads a boundary's count, if it is for this model.
    pub(crate) fn of_boundary(boundary: EntryView<'_>, model: &str) -> Option<Self> {
        let metadata = boundary.object(boundary.facets.metadata);
        let recorded = metadata.object("headTokens")?;
        let counted_by = recorded.string("model").map(Cow::into_owned);
        if counted_by.as_deref() != Some(model) {
            return None;
        }
        Some(Self {
            counted: MeasuredTokens::new(recorded.count("counted")?),
            estimated: recorded.count("estimated")?,
        })
    }
}

impl Engine {
    /// The tokens in the window after a compaction whose view has this weight, as [`Engine::used`] will count them.
    pub(super) fn window_after(
        &self,
        compaction: &CompactionInProgress,
        head: &RequestPrefix,
        view: Estimate,
    ) -> u64 {
        let own = prefix_weight(head);
        match self.prefix_count_after(compaction, head) {
            Some(known) => known.of(own.padded()) + view.padded(),
            None => (view + own).padded(),
        }
    }

    /// The known count of the request prefix of a compaction's view. `None` if no reply has shown it.
    pub(super) fn prefix_count_after(
        &self,
        compaction: &CompactionInProgress,
        head: &RequestPrefix,
    ) -> Option<PrefixCount> {
        if self.config.prefixes == PrefixRecording::Unknown {
            return None;
        }
        let (own, new) = (
            prefix_weight(&self.prefix).padded(),
            prefix_weight(head).padded(),
        );
        let known = PrefixCount {
            counted: MeasuredTokens::new(self.counted_prefix(compaction)?),
            estimated: own,
        };
        Some(PrefixCount {
            counted: MeasuredTokens::new(known.of(new)),
            estimated: new,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t1_a_head_that_grew_counts_what_was_added_in_full_and_one_that_shrank_its_share() {
        let known = PrefixCount {
            counted: MeasuredTokens::new(16_000),
            estimated: 20_000,
        };
        assert_eq!(known.of(20_000), 16_000);
        assert_eq!(known.of(23_000), 19_000);
        assert_eq!(known.of(10_000), 8_000);
        assert_eq!(known.of(0), 0);
    }
}
