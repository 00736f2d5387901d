//! Which new view a compaction takes (Y1).
//!
//! It must be smaller than what it replaces, and below the threshold. Where it is not, less is put back, then the summary
//! is made shorter, so there is always a way; the order is in `thrift.rs`. What the user said is cut last, only where the
//! window has no room for it, and only as far as it has none.

use super::Engine;
use super::calibration::CountCalibration;
use super::compact::{CompactionCause, CompactionInProgress, CompactionTiming};
use super::config::PrefixRecording;
use super::draft::{JOINTS, UserWordsLimit, ViewDraft, WrittenSummary};
use super::draft_level::{DraftLevel, LADDER, LEAST, SHORT, SummaryLength};
use super::event::Summarizer;
use crate::boundary::CompactionTrigger;
use crate::facts::FactsBudget;
use crate::prompt::RequestPrefix;
use crate::report::LossReport;
use crate::tokens::{Estimate, RoughEstimator};

impl Engine {
    /// The richest view that is small enough; else the smallest. None if none is smaller than what it replaces, or only one
    /// for which the user's words would be cut although the window has room for them.
    pub(super) fn best_draft(
        &self,
        compaction: &CompactionInProgress,
        head: &RequestPrefix,
    ) -> Option<ViewDraft> {
        let expected = self.expected(compaction, head);
        let threshold = self.config.window.auto_compact;
        let given = self.given(compaction, expected)?;
        let words = UserWordsLimit::Budget(self.words_budget(compaction, expected));
        let mut shorter: Vec<ViewDraft> = Vec::new();
        for thrift in LADDER.iter().filter(|thrift| thrift.suits(given.by)) {
            let draft = self.draft(compaction, &given, expected, *thrift, words);
            if draft.after >= compaction.before {
                continue;
            }
            // A shorter summary may leave more room for what the user said.
            if draft.with_head < threshold && !self.leaves_out(&draft.report) {
                return Some(draft);
            }
            shorter.push(draft);
        }
        // Of notes nothing is cut: a summary of everything takes their place (S6).
        if given.by == Summarizer::Notes {
            return shorter.pop();
        }
        let limit = self.limit(compaction, &given, expected);
        let fits = |draft: &ViewDraft| draft.with_head < limit && !self.leaves_out(&draft.report);
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

    /// Whether a compaction can make the view smaller without cutting what the user said; where it must be cut, whether
    /// it may. Asked before a summary is paid for.
    pub(super) fn can_shrink(&self, compaction: &CompactionInProgress) -> bool {
        let threshold = self.config.window.auto_compact;
        let is_judged_later = compaction.place == CompactionTiming::Ahead || compaction.prepared;
        if is_judged_later || self.is_over(compaction, threshold) {
            return true;
        }
        let expected = self.expected(compaction, &self.head);
        let least = self.least(compaction);
        let words = UserWordsLimit::Budget(self.words_budget(compaction, expected));
        let draft = self.draft(compaction, &least, expected, DraftLevel::LEAST, words);
        draft.after < compaction.before
    }

    /// Whether any of the user's messages or rules is not in view.
    pub(super) fn leaves_out(&self, report: &LossReport) -> bool {
        let rules = self.live.facts().rules().len() as u64;
        report.user_messages.omitted > 0 || report.rules.verbatim < rules
    }

    /// Whether the conversation has outgrown a limit, so that something must give.
    pub(super) fn is_over(&self, compaction: &CompactionInProgress, limit: u64) -> bool {
        let used = match self.config.heads {
            PrefixRecording::Unknown => compaction.before,
            PrefixRecording::Written | PrefixRecording::Unwritten => compaction.used,
        };
        compaction.cause == CompactionCause::TooLong || used >= limit
    }

    /// Whether it is to make room to work in: the threshold is reached, or will be soon, as nobody asked for it.
    fn is_due(&self, compaction: &CompactionInProgress) -> bool {
        compaction.trigger() == CompactionTrigger::Auto
            || self.is_over(compaction, self.config.window.auto_compact)
    }

    /// What the new view is to lie below: the threshold, or the next limit where what stands before the messages leaves no
    /// room for the user's words below it. Where it leaves none at all nothing is gained by cutting them.
    fn limit(
        &self,
        compaction: &CompactionInProgress,
        given: &WrittenSummary,
        expected: CountCalibration,
    ) -> u64 {
        let window = &self.config.window;
        let bare = self.tight_draft(compaction, given, expected, 0);
        let facts = self.live.facts();
        let spoken = facts
            .messages()
            .iter()
            .map(|message| RoughEstimator::text(&message.text));
        let quarter = FactsBudget::of_window(window).tokens / 4;
        let needed = spoken.sum::<Estimate>().padded().min(quarter);
        let limits = [window.auto_compact, window.blocking, window.effective];
        let room = |limit: u64| expected.most_below(limit).saturating_sub(bare.after);
        let mut enough = limits.iter().filter(|limit| room(**limit) >= needed);
        let mut some = limits.iter().rev().filter(|limit| room(**limit) > 0);
        *enough.next().or(some.next()).unwrap_or(&u64::MAX)
    }

    /// The summary that there is. Where the compaction is due it takes at most a fifth of the free part of the window: there
    /// must be room left to work in, and a compaction must be worth its price.
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
        let window = &self.config.window;
        let most = (expected.most_below(window.auto_compact) / 5).max(window.scale().apply(SHORT));
        let is_automatic = compaction.trigger() == CompactionTrigger::Auto;
        let is_ours = match by {
            Summarizer::Fork | Summarizer::Plain | Summarizer::Fold | Summarizer::Local => true,
            // What a host asked for itself, and no person has seen.
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

    /// A summary in at most so many tokens: extracts are made anew, what a model wrote is condensed.
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

    /// How much the user's words may take. Where the compaction is due it is the share of the free part that the budget is of a whole
    /// window's (H7), so that they do not fill what little a large head leaves; a quarter of the budget they have always.
    fn words_budget(
        &self,
        compaction: &CompactionInProgress,
        expected: CountCalibration,
    ) -> FactsBudget {
        let window = &self.config.window;
        let budget = FactsBudget::of_window(window);
        if self.is_due(compaction) {
            budget.in_free_part(expected.most_below(window.auto_compact))
        } else {
            budget
        }
    }

    /// The view with what fits of the user's words into a view of so many tokens, and what then fits of the summary.
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
        if left == 0 || given.by == Summarizer::Approved {
            return draft;
        }
        let thrift = DraftLevel::of_length(SummaryLength::Exactly(longer));
        let fuller = self.draft(compaction, given, expected, thrift, within);
        if fuller.after <= most { fuller } else { draft }
    }
}
