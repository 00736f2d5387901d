//! The new view as it would be (F9, F10, Y1): put together and judged before anything is written.
//!
//! It must be smaller than what it replaces, and below the threshold. Where it is not, less is put back, then the summary
//! is made shorter, so there is always a way; the order is in `thrift.rs`. What the user said is cut last, only where the
//! window has no room for it, and only as far as it has none.

use serde_json::Value;

use super::Engine;
use super::compact::{Cause, Compaction, Place};
use super::config::Heads;
use super::event::Summarizer;
use super::expected::Expected;
use super::provider::SignedSummary;
use super::thrift::{Back, LADDER, LEAST, Length, SHORT, Thrift};
use crate::boundary::Trigger;
use crate::facts::{Budget, Seen, audit, audit_words_first};
use crate::message::{BlockKind, EntryKind};
use crate::prompt::RequestHead;
use crate::rehydrate::{Gathered, restore};
use crate::report::{LossReport, Tokens};
use crate::summary::message::{Kept, LookUp, Mode, SummaryMessage};
use crate::summary::{Direction, Summary};
use crate::tokens::{Class, Estimate, Estimator, Ledger, Rough, Standing};

/// Tokens that joining the parts of a message may take beyond their sum.
const JOINTS: u64 = 4;

/// How much of what the user said is to be in the new view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    /// As much as the budget allows.
    Budget(Budget),
    /// What fits into so many tokens: rules first, then the newest.
    Within(u64),
}

/// Whether what the user said was cut because the window has no room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserWords {
    /// All is there that the budget allows.
    Kept,
    /// What fits is there.
    Cut,
}

/// Who wrote a summary, and what it says.
#[derive(Debug, Clone)]
struct Written {
    summary: Summary,
    by: Summarizer,
    /// The provider's own block, if the summary is that.
    signed: Option<SignedSummary>,
}

/// A new view that is not written yet.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) summary: Summary,
    pub(super) by: Summarizer,
    /// The provider's own summary, where it is the summary.
    pub(super) signed: Option<SignedSummary>,
    /// The text of the summary message.
    pub(super) message: String,
    /// What follows it.
    pub(super) attachments: Vec<Value>,
    pub(super) restored: Vec<std::path::PathBuf>,
    pub(super) report: LossReport,
    pub(super) words: UserWords,
    /// The padded estimate of the new view.
    pub(super) after: u64,
    /// The same with what stands before the messages, as the provider is likely to count it.
    pub(super) with_head: u64,
}

impl Engine {
    /// The richest view that is small enough; else the smallest. None if none is smaller than what it replaces, or only one
    /// for which the user's words would be cut although the window has room for them.
    pub(super) fn best_draft(&self, compaction: &Compaction, head: &RequestHead) -> Option<Draft> {
        let expected = self.expected(compaction, head);
        let threshold = self.config.window.auto_compact;
        let given = self.given(compaction, expected)?;
        let words = Words::Budget(self.words_budget(compaction, expected));
        let mut shorter: Vec<Draft> = Vec::new();
        for thrift in LADDER.iter().filter(|thrift| thrift.suits(given.by)) {
            let draft = self.draft(compaction, &given, expected, *thrift, words);
            if draft.after >= compaction.before {
                continue;
            }
            if draft.with_head < threshold {
                return Some(draft);
            }
            shorter.push(draft);
        }
        // Of notes nothing is cut: a summary of everything takes their place (S6).
        if given.by == Summarizer::Notes {
            return shorter.pop();
        }
        let limit = self.limit(compaction, &given, expected);
        if let Some(at) = shorter.iter().position(|draft| draft.with_head < limit) {
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
    pub(super) fn can_shrink(&self, compaction: &Compaction) -> bool {
        let threshold = self.config.window.auto_compact;
        let is_judged_later = compaction.place == Place::Ahead || compaction.prepared;
        if is_judged_later || self.is_over(compaction, threshold) {
            return true;
        }
        let expected = self.expected(compaction, &self.head);
        let least = self.least(compaction);
        let words = Words::Budget(self.words_budget(compaction, expected));
        let draft = self.draft(compaction, &least, expected, Thrift::LEAST, words);
        draft.after < compaction.before
    }

    /// Whether the conversation has outgrown a limit, so that something must give.
    pub(super) fn is_over(&self, compaction: &Compaction, limit: u64) -> bool {
        let used = match self.config.heads {
            Heads::Unknown => compaction.before,
            Heads::Written | Heads::Unwritten => compaction.used,
        };
        compaction.cause == Cause::TooLong || used >= limit
    }

    /// What the new view is to lie below: the threshold, or the next limit where what stands before the messages leaves no
    /// room for the user's words below it. Where it leaves none at all nothing is gained by cutting them.
    fn limit(&self, compaction: &Compaction, given: &Written, expected: Expected) -> u64 {
        let window = &self.config.window;
        let bare = self.tight_draft(compaction, given, expected, 0);
        let facts = self.live.facts();
        let spoken = facts
            .messages()
            .iter()
            .map(|message| Rough::text(&message.text));
        let quarter = Budget::of_window(window).tokens / 4;
        let needed = spoken.sum::<Estimate>().padded().min(quarter);
        let limits = [window.auto_compact, window.blocking, window.effective];
        let room = |limit: u64| expected.most_below(limit).saturating_sub(bare.after);
        let mut enough = limits.iter().filter(|limit| room(**limit) >= needed);
        let mut some = limits.iter().rev().filter(|limit| room(**limit) > 0);
        *enough.next().or(some.next()).unwrap_or(&u64::MAX)
    }

    /// The summary that there is. At the threshold it takes at most a fifth of the free part of the window: after many
    /// compactions there must be room left to work in.
    fn given(&self, compaction: &Compaction, expected: Expected) -> Option<Written> {
        let (summary, by) = compaction.summary.clone()?;
        let signed = match by {
            Summarizer::Provider => compaction.signed.clone(),
            _ => None,
        };
        let written = Written {
            summary,
            by,
            signed,
        };
        let window = &self.config.window;
        let most = (expected.most_below(window.auto_compact) / 5).max(window.scale().apply(SHORT));
        let is_ours = matches!(
            by,
            Summarizer::Fork | Summarizer::Plain | Summarizer::Fold | Summarizer::Local
        );
        let is_long = Rough::text(written.summary.text()).padded() > most;
        match is_ours && is_long && self.is_over(compaction, window.auto_compact) {
            true => Some(self.shortened(compaction, &written, most)),
            false => Some(written),
        }
    }

    /// A summary in at most so many tokens: extracts are made anew, what a model wrote is condensed.
    fn shortened(&self, compaction: &Compaction, written: &Written, tokens: u64) -> Written {
        let summary = match written.by {
            Summarizer::Local => self.local_summary(compaction, tokens),
            _ => written.summary.condensed(tokens),
        };
        let is_same = summary == written.summary;
        Written {
            summary,
            by: written.by,
            signed: written.signed.clone().filter(|_| is_same),
        }
    }

    /// The shortest summary.
    fn least(&self, compaction: &Compaction) -> Written {
        let tokens = self.config.window.scale().apply(LEAST);
        Written {
            summary: self.local_summary(compaction, tokens),
            by: Summarizer::Local,
            signed: None,
        }
    }

    /// How much the user's words may take. At the threshold it is the share of the free part that the budget is of a whole
    /// window's (H7), so that they do not fill what little a large head leaves; a quarter of the budget they have always.
    fn words_budget(&self, compaction: &Compaction, expected: Expected) -> Budget {
        let window = &self.config.window;
        let budget = Budget::of_window(window);
        match self.is_over(compaction, window.auto_compact) {
            true => budget.in_free_part(expected.most_below(window.auto_compact)),
            false => budget,
        }
    }

    /// The view with what fits of the user's words into a view of so many tokens, and what then fits of the summary.
    fn tight_draft(
        &self,
        compaction: &Compaction,
        given: &Written,
        expected: Expected,
        most: u64,
    ) -> Draft {
        let bare = self.draft(compaction, given, expected, Thrift::LEAST, Words::Within(0));
        let budget = Budget::of_window(&self.config.window).tokens;
        let room = most.saturating_sub(bare.after + JOINTS);
        let within = Words::Within(room.min(budget));
        let draft = self.draft(compaction, given, expected, Thrift::LEAST, within);
        let left = most.saturating_sub(draft.after + JOINTS);
        let longer = self.config.window.scale().apply(LEAST) + left;
        if left == 0 || given.by == Summarizer::Approved {
            return draft;
        }
        let thrift = Thrift::of_length(Length::Exactly(longer));
        let fuller = self.draft(compaction, given, expected, thrift, within);
        match fuller.after <= most {
            true => fuller,
            false => draft,
        }
    }

    fn draft(
        &self,
        compaction: &Compaction,
        given: &Written,
        expected: Expected,
        thrift: Thrift,
        words: Words,
    ) -> Draft {
        let window = &self.config.window;
        let nothing = Gathered::default();
        let gathered = match thrift.back {
            Back::Put => &compaction.gathered.gathered,
            Back::Left => &nothing,
        };
        let restored = restore(gathered, window.scale());
        let Written {
            summary,
            by,
            signed,
        } = match thrift.length {
            Length::Given => given.clone(),
            Length::AtMost(tokens) => {
                self.shortened(compaction, given, window.scale().apply(tokens))
            }
            Length::Exactly(tokens) => self.shortened(compaction, given, tokens),
        };
        let beside = self.texts_beside(compaction, &restored.attachments);
        let beside: Vec<&str> = beside.iter().map(String::as_str).collect();
        let seen = Seen {
            summary: summary.text(),
            beside: &beside,
        };
        let facts = self.live.facts();
        let audited = match words {
            Words::Within(tokens) => audit_words_first(facts, seen, tokens),
            Words::Budget(budget) => {
                let audited = audit(facts, seen, budget);
                let whole = Budget::of_window(window);
                // A share of the free part may shorten messages, never leave any out.
                match audited.report.leaves_out_words() && budget.tokens < whole.tokens {
                    true => audit(facts, seen, whole),
                    false => audited,
                }
            }
        };
        let told = signed.is_none().then_some(&summary);
        let message = self.summary_message(compaction, told, &audited.text);
        let mut attachments: Vec<Value> = restored
            .attachments
            .iter()
            .map(|attachment| attachment.value.clone())
            .collect();
        if !compaction.hook_context.is_empty() {
            let said: Vec<&str> = compaction.hook_context.iter().map(String::as_str).collect();
            let value =
                crate::boundary::hook_context("SessionStart", "SessionStart:compact", &said);
            attachments.push(value);
        }
        let kept = &self.live.entries()[compaction.scope.kept.clone()];
        let size = kept_weight(kept)
            + Rough::text(&message)
            + signed
                .as_ref()
                .map_or(Estimate::ZERO, |signed| signed.weight)
            + attachments.iter().map(attachment_weight).sum();
        let mut report = audited.report;
        report.tokens = Tokens {
            before: compaction.before,
            after: size.padded(),
        };
        report.files.restored = restored.files.len() as u64;
        report.results.cleared = self.results_in(compaction);
        report.notes.extend(restored.notes);
        let words = match words {
            Words::Budget(_) => UserWords::Kept,
            Words::Within(_) => UserWords::Cut,
        };
        let made = compaction.summary.as_ref().map(|(made, _)| made);
        let shortened = made.is_some_and(|made| *made != summary).then_some(by);
        report.notes.extend(thrift.note(shortened, words));
        Draft {
            summary,
            by,
            signed,
            message,
            attachments,
            restored: restored.files,
            report,
            words,
            after: size.padded(),
            with_head: expected.count(size.padded()),
        }
    }

    fn summary_message(
        &self,
        compaction: &Compaction,
        summary: Option<&Summary>,
        appendix: &str,
    ) -> String {
        SummaryMessage {
            summary,
            appendix,
            look_up: LookUp {
                transcript: self.config.transcript.as_deref(),
                recall_tool: self.config.recall_tool.as_deref(),
            },
            kept: match compaction.direction {
                None => Kept::Nothing,
                Some(Direction::UpTo) => Kept::Behind,
                Some(Direction::From) => Kept::Before,
            },
            mode: match compaction.trigger() {
                Trigger::Manual => Mode::Manual,
                Trigger::Auto => self.config.mode,
            },
        }
        .text()
    }

    /// Texts that stay in view beside the summary: what the user says in the kept part, and what is put back.
    fn texts_beside(
        &self,
        compaction: &Compaction,
        attachments: &[crate::rehydrate::Attachment],
    ) -> Vec<String> {
        let kept = self.live.entries()[compaction.scope.kept.clone()].iter();
        let mut texts: Vec<String> = Vec::new();
        for kept in kept.filter(|kept| kept.entry.facets().kind == EntryKind::User) {
            let entry = kept.entry.view();
            let spoken = entry.facets.blocks.iter();
            let spoken = spoken.filter(|block| block.kind == BlockKind::Text && !block.inner);
            texts.extend(spoken.map(|block| text_of(entry, block)));
        }
        texts.extend(
            attachments
                .iter()
                .map(|attachment| attachment.value.to_string()),
        );
        texts
    }

    /// Tool results that leave the view.
    fn results_in(&self, compaction: &Compaction) -> u64 {
        let gone = self.live.entries()[compaction.scope.summarised.clone()].iter();
        let blocks = gone.flat_map(|kept| &kept.entry.facets().blocks);
        blocks
            .filter(|block| block.kind == BlockKind::ToolResult && !block.inner)
            .count() as u64
    }
}

/// The estimate of what is kept, as it will count: without what is not sent, and without what was cleared.
pub(super) fn kept_weight(kept: &[super::live::Kept]) -> Estimate {
    let mut ledger = Ledger::new();
    for kept in kept {
        ledger.entry(kept.entry.view(), Standing::Preserved, &Rough);
    }
    ledger.whole()
}

fn attachment_weight(value: &Value) -> Estimate {
    let units = value.to_string().encode_utf16().count() as u64;
    Rough.tokens(Class::Serialised, units)
}

fn text_of(entry: crate::message::View<'_>, block: &crate::message::Block) -> String {
    let literal = block.body.of(entry.line);
    let inside = literal
        .strip_prefix(b"\"")
        .and_then(|literal| literal.strip_suffix(b"\""));
    crate::json::decode(inside.unwrap_or(literal)).into_owned()
}
