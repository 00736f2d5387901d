//! Input of the user or of a tool that no reply has answered yet: it is not turned into extracts as long as older text
//! can be summarized instead.

use super::Engine;
use super::compaction_in_progress::CompactionInProgress;
use super::config::PrefixRecording;
use super::draft::kept_weight;
use super::draft_level::SHORT;
use crate::summary::{CompactionScope, PivotDirection};

impl Engine {
    /// Keeps the newest input word for word after a summary without a model, if that leaves room for the summary.
    pub(super) fn keep_unanswered(&self, compaction: &mut CompactionInProgress) {
        // A host that keeps the conversation elsewhere decides there what stays.
        let is_ours = self.config.prefixes != PrefixRecording::Unwritten;
        if !is_ours || compaction.direction.is_some() || compaction.folding.is_some() {
            return;
        }
        let pieces = self.live.pieces();
        let answered = pieces.iter().rposition(|piece| piece.part.is_response());
        let Some(newest) = answered.map(|at| at + 1) else {
            return;
        };
        if !pieces[newest..].iter().any(|piece| piece.part.is_sent()) {
            return;
        }
        let scope = CompactionScope::partial(&pieces, newest, PivotDirection::UpTo);
        if scope.messages(&pieces) == 0 || self.something_new(&pieces, &scope).is_err() {
            return;
        }
        let window = &self.config.window;
        let kept = kept_weight(&self.live.entries()[scope.kept.clone()]).padded();
        let expected = self.expected(compaction, &self.prefix);
        // There must also be room for a summary and for the user's words.
        let beside = 2 * window.scale().apply(SHORT);
        if expected.count(kept + beside) < window.auto_compact {
            compaction.scope = scope;
            compaction.direction = Some(PivotDirection::UpTo);
        }
    }
}
