//! The new view as it would be (F9, F10, Y1): put together and weighed before anything is written. Which one is taken is
//! decided in `best_draft.rs`.

use serde_json::Value;

use super::Engine;
use super::compact::Compaction;
use super::event::Summarizer;
use super::expected::Expected;
use super::provider::SignedSummary;
use super::thrift::{Back, Length, Thrift};
use crate::boundary::Trigger;
use crate::facts::{Audited, Budget, Seen, audit, audit_words_first};
use crate::message::{BlockKind, EntryKind};
use crate::rehydrate::{Gathered, restore};
use crate::report::{LossReport, Tokens};
use crate::summary::message::{Kept, LookUp, Mode, SummaryMessage};
use crate::summary::{Direction, Summary};
use crate::tokens::{Class, Estimate, Estimator, Ledger, Rough, Standing};

/// Tokens that joining the parts of a message may take beyond their sum.
pub(super) const JOINTS: u64 = 4;

/// How much of what the user said is to be in the new view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
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
pub(super) struct Written {
    pub(super) summary: Summary,
    pub(super) by: Summarizer,
    /// The provider's own block, if the summary is that.
    pub(super) signed: Option<SignedSummary>,
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
    /// A view with so much in it.
    pub(super) fn draft(
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
        let told = signed.is_none().then_some(&summary);
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
        let rest = kept_weight(kept)
            + signed
                .as_ref()
                .map_or(Estimate::ZERO, |signed| signed.weight)
            + attachments.iter().map(attachment_weight).sum();
        let audited = match words {
            Words::Within(tokens) => audit_words_first(facts, seen, tokens),
            Words::Budget(budget) => {
                let frame = Rough::text(&self.summary_message(compaction, told, ""));
                let most = expected
                    .most_below(window.auto_compact)
                    .min(compaction.before.saturating_sub(1));
                let room = most.saturating_sub((rest + frame).padded() + JOINTS);
                self.audited(seen, budget, room)
            }
        };
        let message = self.summary_message(compaction, told, &audited.text);
        let size = rest + Rough::text(&message);
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
        self.config.originals.tell_of_messages(&mut report);
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

    /// What a summary left out, within a budget. It shortens messages; before it leaves any out it grows, as far as there is
    /// room.
    fn audited(&self, seen: Seen<'_>, budget: Budget, room: u64) -> Audited {
        let facts = self.live.facts();
        let mut budget = budget;
        loop {
            let audited = audit(facts, seen, budget);
            if !self.leaves_out(&audited.report) || budget.tokens >= room {
                return audited;
            }
            budget.tokens = (budget.tokens + budget.tokens / 4 + 1).min(room);
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
    let inside = crate::json::content(literal);
    crate::json::decode(inside.unwrap_or(literal)).into_owned()
}
