//! Chooses the new view of a compaction (Y1).
//!
//! The new view must be smaller than the view it replaces, and below the threshold. If it is not, less is restored,
//! then the summary is shortened, so there is always a way; `draft_level.rs` has the order. The user's words are cut
//! last, only where the window has no room for them, and only as far as necessary.

use super::Engine;
use super::calibration::CountCalibration;
use super::compaction_in_progress::{CompactionCause, CompactionInProgress, CompactionTiming};
use super::config::PrefixRecording;
use super::draft::{JOINTS, UserWordsLimit, WrittenSummary};
use super::draft_level::{DraftLevel, LADDER, LEAST, LeftOutReason, SHORT, SummaryLength};
use super::event::Summarizer;
use super::view_draft::ViewDraft;
use crate::boundary::CompactionTrigger;
use crate::facts::FactsBudget;
use crate::figures::grouped;
use crate::prompt::RequestPrefix;
use crate::report::LossReport;
use crate::tokens::{Estimate, RoughEstimator};
use crate::window::WindowStatus;

/// The most that the user's words take of the free part of the window beyond their budget, where a compaction must make
/// room to work in. With a summary of at most a fifth, a third of it or more stays free.
const WORDS_PERCENT: u64 = 40;

impl Engine {
    /// The richest view that is small enough, else the smallest. `None` if no view is smaller than the one it replaces,
    /// or only one that would cut the user's words although the window has room for them.
    pub(super) fn best_draft(
        &self,
        compaction: &CompactionInProgress,
        head: &RequestPrefix,
    ) -> Option<ViewDraft> {
        self.chosen_draft(compaction, head)
            .map(ViewDraft::with_note)
    }

    fn chosen_draft(
        &self,
        compaction: &CompactionInProgress,
        head: &RequestPrefix,
    ) -> Option<ViewDraft> {
        let expected = self.expected(compaction, head);
        let threshold = self.target_window(compaction).auto_compact;
        let given = self.given(compaction, expected)?;
        let words = self.words_limit(compaction, expected);
        let mut shorter: Vec<ViewDraft> = Vec::new();
        let mut left_out = LeftOutReason::NotSmaller;
        // The smaller of the two limits decides whether the user's words are crowded.
        let is_window_less = expected.most_below(threshold) < compaction.before;
        for thrift in LADDER.iter().filter(|thrift| thrift.suits(given.by)) {
            let mut draft = self.draft(compaction, &given, expected, *thrift, words);
            draft.left_out = left_out;
            let is_crowded = is_window_less && !draft.words.have_their_share();
            if draft.with_head >= threshold || is_crowded {
                left_out = LeftOutReason::NoRoom;
            }
            if draft.after >= compaction.before {
                continue;
            }
            // A shorter summary may leave more room for the user's words.
            if draft.with_head < threshold && draft.words.have_their_share() {
                return Some(draft);
            }
            shorter.push(draft);
        }
        // Notes are never cut: a summary of everything replaces them (S6).
        if given.by == Summarizer::Notes {
            return shorter.pop();
        }
        let Some(limit) = self.limit(compaction, &given, expected) else {
            let whole = shorter.iter().position(|it| it.words.have_their_share());
            return match (whole, compaction.request.most_left) {
                (Some(at), None) => Some(shorter.swap_remove(at)),
                // Where a smaller view was asked for, the smallest is the nearest to it.
                _ => shorter.pop(),
            };
        };
        let fits = |draft: &ViewDraft| draft.with_head < limit && draft.words.have_their_share();
        if let Some(at) = shorter.iter().position(fits) {
            return Some(shorter.swap_remove(at));
        }
        if !self.is_over(compaction, limit) {
            return shorter.pop();
        }
        let fits = expected
            .most_below(limit)
            .min(compaction.before.saturating_sub(1));
        let tight = self.tight_draft(compaction, &given, expected, fits);
        let tight = Some(tight).filter(|draft| draft.after < compaction.before);
        tight.or_else(|| shorter.pop())
    }

    /// Whether a compaction can make the view smaller without cutting the user's words, or may cut them where it must.
    /// This is checked before a summary is paid for.
    pub(super) fn can_shrink(&self, compaction: &CompactionInProgress) -> bool {
        let threshold = self.target_window(compaction).auto_compact;
        let is_judged_later = compaction.place == CompactionTiming::Ahead || compaction.prepared;
        if is_judged_later || self.is_over(compaction, threshold) {
            return true;
        }
        let expected = self.expected(compaction, &self.prefix);
        let least = self.least(compaction);
        let words = self.words_limit(compaction, expected);
        let draft = self.draft(compaction, &least, expected, DraftLevel::LEAST, words);
        draft.after < compaction.before
    }

    /// Says that a summary which the host gave is too long, if a shorter one would do.
    pub(super) fn given_too_long(&self, compaction: &CompactionInProgress) -> Option<String> {
        let (summary, Summarizer::Approved) = compaction.summary.as_ref()? else {
            return None;
        };
        let given = WrittenSummary {
            summary: summary.clone(),
            by: Summarizer::Approved,
            signed: None,
        };
        let expected = self.expected(compaction, &self.prefix);
        let words = self.words_limit(compaction, expected);
        let level = DraftLevel::GIVEN_ALONE;
        let draft = self.draft(compaction, &given, expected, level, words);
        let size = RoughEstimator::text(summary.text()).padded();
        let excess = draft
            .after
            .saturating_sub(compaction.before.saturating_sub(1));
        let most = size.saturating_sub(excess);
        (excess > 0 && most > 0).then(|| {
            format!(
                "the given summary is too long: it has about {} tokens, and only one of less than {} makes the conversation smaller, which has {}; make it shorter; nothing was changed",
                grouped(size),
                grouped(most),
                grouped(compaction.before),
            )
        })
    }

    /// The window that the new view must fit into: its thresholds are lower where less is to be left than the
    /// conversation's own threshold allows.
    pub(super) fn target_window(&self, compaction: &CompactionInProgress) -> WindowStatus {
        let window = self.config.window;
        match compaction.request.most_left {
            Some(most) => window.without(window.auto_compact.saturating_sub(most)),
            None => window,
        }
    }

    /// Whether any of the user's messages or rules is missing from the view.
    pub(super) fn leaves_out(&self, report: &LossReport) -> bool {
        let rules = self.live.facts().rules().len() as u64;
        report.user_messages.omitted > 0 || report.rules.verbatim < rules
    }

    /// Whether the conversation has outgrown a limit, so that something must be cut.
    pub(super) fn is_over(&self, compaction: &CompactionInProgress, limit: u64) -> bool {
        let used = match self.config.prefixes {
            PrefixRecording::Unknown => compaction.before,
            PrefixRecording::Written | PrefixRecording::Unwritten => compaction.used,
        };
        compaction.cause == CompactionCause::TooLong || used >= limit
    }

    /// Whether the compaction must make room to work in: the threshold is reached, or will be soon because the
    /// compaction is automatic.
    fn is_due(&self, compaction: &CompactionInProgress) -> bool {
        compaction.trigger() == CompactionTrigger::Auto
            || self.is_over(compaction, self.target_window(compaction).auto_compact)
    }

    /// The limit for the new view: the threshold, or the next limit where the request prefix leaves no room for the
    /// user's words below it, unless a size was asked for. If it leaves no room at all, nothing is gained by cutting them.
    fn limit(
        &self,
        compaction: &CompactionInProgress,
        given: &WrittenSummary,
        expected: CountCalibration,
    ) -> Option<u64> {
        let window = &self.target_window(compaction);
        let bare = self.tight_draft(compaction, given, expected, 0);
        let facts = self.live.facts();
        let spoken = facts
            .messages()
            .iter()
            .map(|message| RoughEstimator::text(&message.text));
        let quarter = FactsBudget::of_window(window).tokens / 4;
        let needed = spoken.sum::<Estimate>().padded().min(quarter);
        let limits = [window.auto_compact, window.blocking, window.effective];
        let limits = match compaction.request.most_left {
            Some(_) => limits.get(..1).unwrap_or_default(),
            None => &limits[..],
        };
        let room = |limit: u64| expected.most_below(limit).saturating_sub(bare.after);
        let mut enough = limits.iter().filter(|limit| room(**limit) >= needed);
        let mut some = limits.iter().rev().filter(|limit| room(**limit) > 0);
        enough.next().or(some.next()).copied()
    }

    /// The existing summary. Where the compaction is due, it takes at most a fifth of the free part of the window:
    /// there must be room left to work in, and a compaction must be worth its price.
    fn given(
        &self,
        compaction: &CompactionInProgress,
        expected: CountCalibration,
    ) -> Option<WrittenSummary> {
        let (summary, by) = compaction.summary.clone()?;
        let signed = match by {
            Summarizer::Provider => compaction.signed.clone(),
            _ => None,
        };
        let written = WrittenSummary {
            summary,
            by,
            signed,
        };
        let window = &self.target_window(compaction);
        let most = (expected.most_below(window.auto_compact) / 5).max(window.scale().apply(SHORT));
        let is_automatic = compaction.trigger() == CompactionTrigger::Auto;
        let is_ours = match by {
            Summarizer::Fork | Summarizer::Plain | Summarizer::Fold | Summarizer::Local => true,
            // A host requested this summary itself, and no person has seen it.
            Summarizer::Approved => is_automatic,
            Summarizer::Notes | Summarizer::Provider => false,
        };
        let is_long = RoughEstimator::text(written.summary.text()).padded() > most;
        if is_ours && is_long && self.is_due(compaction) {
            Some(self.shortened(compaction, &written, most))
        } else {
            Some(written)
        }
    }

    /// Shortens a summary to at most this many tokens: extracts are made again, and a model's summary is condensed.
    pub(super) fn shortened(
        &self,
        compaction: &CompactionInProgress,
        written: &WrittenSummary,
        tokens: u64,
    ) -> WrittenSummary {
        let summary = match written.by {
            Summarizer::Local => self.local_summary(compaction, tokens),
            _ => written.summary.condensed(tokens),
        };
        let is_same = summary == written.summary;
        WrittenSummary {
            summary,
            by: written.by,
            signed: written.signed.clone().filter(|_| is_same),
        }
    }

    /// The shortest summary.
    fn least(&self, compaction: &CompactionInProgress) -> WrittenSummary {
        let tokens = self.config.window.scale().apply(LEAST);
        WrittenSummary {
            summary: self.local_summary(compaction, tokens),
            by: Summarizer::Local,
            signed: None,
        }
    }

    /// The limit for the user's words. Where the compaction is due, messages are shortened to the share of the free part
    /// that the budget otherwise is of the whole window (H7). Before any is left out, the words get their whole budget,
    /// or [`WORDS_PERCENT`] of the free part if that is more; never everything, or a long session would have no room to
    /// work in.
    fn words_limit(
        &self,
        compaction: &CompactionInProgress,
        expected: CountCalibration,
    ) -> UserWordsLimit {
        let window = &self.target_window(compaction);
        let whole = FactsBudget::of_window(window);
        if self.is_due(compaction) {
            let free = expected.most_below(window.auto_compact);
            let share = (free / 100 * WORDS_PERCENT).max(expected.estimate_of(whole.tokens));
            UserWordsLimit::Budget(whole.in_free_part(free), share)
        } else {
            UserWordsLimit::Budget(whole, u64::MAX)
        }
    }

    /// The view of at most this many tokens, with as many of the user's words as fit, and then as much of the summary
    /// as fits.
    fn tight_draft(
        &self,
        compaction: &CompactionInProgress,
        given: &WrittenSummary,
        expected: CountCalibration,
        most: u64,
    ) -> ViewDraft {
        let bare = self.draft(
            compaction,
            given,
            expected,
            DraftLevel::LEAST,
            UserWordsLimit::Within(0),
        );
        let room = most.saturating_sub(bare.after + JOINTS);
        let within = UserWordsLimit::Within(room);
        let draft = self.draft(compaction, given, expected, DraftLevel::LEAST, within);
        let left = most.saturating_sub(draft.after + JOINTS);
        let longer = self.config.window.scale().apply(LEAST) + left;
        let thrift = DraftLevel::of_length(SummaryLength::Exactly(longer));
        let fuller = self.draft(compaction, given, expected, thrift, within);
        if fuller.after <= most { fuller } else { draft }
    }
}
