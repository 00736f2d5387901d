//! The new view as it would be (F9, F10, Y1): put together and judged before anything is written.
//!
//! It must be smaller than what it replaces, and below the threshold. Where it is not, less is put back, then less of
//! what the user said, and at last the summary itself is made without a model, so there is always a way.

use serde_json::Value;

use super::Engine;
use super::compact::{Cause, Compaction};
use super::event::Summarizer;
use super::live::weight;
use super::provider::SignedSummary;
use super::sizes::head_weight;
use crate::facts::{Budget, Seen, audit};
use crate::message::{BlockKind, EntryKind};
use crate::prompt::RequestHead;
use crate::rehydrate::{Gathered, restore};
use crate::report::{LossReport, Tokens};
use crate::summary::message::{Kept, LookUp, Mode, SummaryMessage};
use crate::summary::{Direction, Summary};
use crate::tokens::{Class, Estimate, Estimator, Rough};

/// How little is put into the new view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thrift {
    /// Everything.
    Full,
    /// No files, skills and the like.
    NothingRestored,
    /// And less of what the user said.
    FewWords,
    /// And a summary without a model, a short one.
    ShortSummary,
    /// And hardly anything.
    Least,
}

const THRIFT: [Thrift; 5] = [
    Thrift::Full,
    Thrift::NothingRestored,
    Thrift::FewWords,
    Thrift::ShortSummary,
    Thrift::Least,
];

/// Tokens for a short summary, and for hardly any.
const SHORT: u64 = 2_000;
const LEAST: u64 = 300;

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
    /// The padded estimate of the new view.
    pub(super) after: u64,
    /// The same with what stands before the messages.
    pub(super) with_head: u64,
}

impl Engine {
    /// The richest view that is small enough; else the smallest. None if none is smaller than what it replaces.
    pub(super) fn best_draft(&self, compaction: &Compaction, head: &RequestHead) -> Option<Draft> {
        let mut best: Option<Draft> = None;
        for thrift in THRIFT {
            let Some(draft) = self.draft(compaction, head, thrift) else {
                continue;
            };
            let fits = draft.after < compaction.before
                && draft.with_head < self.config.window.auto_compact;
            if best.as_ref().is_none_or(|best| draft.after < best.after) {
                best = Some(draft);
            }
            if fits {
                break;
            }
        }
        best.filter(|draft| draft.after < compaction.before)
    }

    fn draft(&self, compaction: &Compaction, head: &RequestHead, thrift: Thrift) -> Option<Draft> {
        let window = &self.config.window;
        let nothing = Gathered::default();
        let gathered = match thrift {
            Thrift::Full => &compaction.gathered.gathered,
            _ => &nothing,
        };
        let restored = restore(gathered, window.scale());
        let (summary, by) = match thrift {
            Thrift::ShortSummary | Thrift::Least => {
                let tokens = match thrift {
                    Thrift::Least => LEAST,
                    _ => SHORT,
                };
                let budget = window.scale().apply(tokens);
                (self.local_summary(compaction, budget), Summarizer::Local)
            }
            _ => compaction.summary.clone()?,
        };
        let signed = match by {
            Summarizer::Provider => compaction.signed.clone(),
            _ => None,
        };
        let mut budget = Budget::of_window(window);
        match thrift {
            Thrift::Full | Thrift::NothingRestored => {}
            Thrift::FewWords | Thrift::ShortSummary => {
                budget.tokens /= 4;
                budget.protected /= 4;
            }
            Thrift::Least => (budget.tokens, budget.protected) = (0, 0),
        }
        let beside = self.texts_beside(compaction, &restored.attachments);
        let seen: Vec<&str> = beside.iter().map(String::as_str).collect();
        let audited = audit(
            self.live.facts(),
            Seen {
                summary: summary.text(),
                beside: &seen,
            },
            budget,
        );
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
        let size: Estimate = kept
            .iter()
            .map(|kept| weight(kept.entry.view()))
            .sum::<Estimate>()
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
        report.notes.extend(self.thrift_note(thrift, compaction));
        Some(Draft {
            summary,
            by,
            signed,
            message,
            attachments,
            restored: restored.files,
            report,
            after: size.padded(),
            with_head: (size + head_weight(head)).padded(),
        })
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
            mode: match compaction.cause {
                Cause::Manual => Mode::Manual,
                Cause::Threshold | Cause::TooLong => self.config.mode,
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

    fn thrift_note(&self, thrift: Thrift, compaction: &Compaction) -> Option<String> {
        let left = match thrift {
            Thrift::Full => return None,
            Thrift::NothingRestored => "files, todos and the rest were not put back",
            Thrift::FewWords => {
                "nothing was put back, and the user's longer messages were shortened"
            }
            Thrift::ShortSummary | Thrift::Least => {
                "the summary was replaced by a short one made without a model, and nothing was put back"
            }
        };
        (compaction.summary.is_some()).then(|| format!("To make the conversation fit, {left}."))
    }
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
