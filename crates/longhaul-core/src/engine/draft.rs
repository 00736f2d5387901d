//! The new view as it would be (F9, F10, Y1): put together and judged before anything is written.
//!
//! It must be smaller than what it replaces, and below the threshold. Where it is not, extracts are made shorter, less is
//! put back, then less of what the user said is, and at last the summary itself is made without a model, so there is
//! always a way.

use serde_json::Value;

use super::Engine;
use super::compact::Compaction;
use super::event::Summarizer;
use super::provider::SignedSummary;
use super::sizes::head_weight;
use crate::boundary::Trigger;
use crate::facts::{Budget, Seen, audit};
use crate::message::{BlockKind, EntryKind};
use crate::prompt::RequestHead;
use crate::rehydrate::{Gathered, restore};
use crate::report::{LossReport, Tokens};
use crate::summary::message::{Kept, LookUp, Mode, SummaryMessage};
use crate::summary::{Direction, Summary};
use crate::tokens::{Class, Estimate, Estimator, Ledger, Rough, Standing};

/// How much is put into the new view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Thrift {
    back: Back,
    words: Words,
    summary: Sum,
}

/// What was gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Back {
    /// It goes back into view: files, skills and the like.
    Put,
    /// It does not.
    Left,
}

/// What the user said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    /// As much as the budget allows.
    All,
    /// A quarter of that.
    Few,
    /// What is in the summary anyway.
    Fewest,
}

/// The summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sum {
    /// The one there is.
    Given,
    /// The one there is, if a model wrote it.
    Models,
    /// Extracts in so many tokens, if it is made of extracts already.
    Shorter(u64),
    /// Extracts in so many tokens.
    Extracts(u64),
}

/// Tokens for shorter extracts, for a short summary, and for hardly any.
const SHORTER: u64 = 4_000;
const SHORT: u64 = 2_000;
const LEAST: u64 = 300;

/// From everything to hardly anything. Extracts give way before the user's own words do (X1); what a model wrote is worth
/// more than extracts.
const THRIFT: [Thrift; 8] = [
    Thrift::new(Back::Put, Words::All, Sum::Given),
    Thrift::new(Back::Put, Words::All, Sum::Shorter(SHORTER)),
    Thrift::new(Back::Left, Words::All, Sum::Given),
    Thrift::new(Back::Left, Words::All, Sum::Shorter(SHORTER)),
    Thrift::new(Back::Left, Words::All, Sum::Shorter(SHORT)),
    Thrift::new(Back::Left, Words::Few, Sum::Models),
    Thrift::new(Back::Left, Words::Few, Sum::Extracts(SHORT)),
    Thrift::new(Back::Left, Words::Fewest, Sum::Extracts(LEAST)),
];

impl Thrift {
    const fn new(back: Back, words: Words, summary: Sum) -> Self {
        Self {
            back,
            words,
            summary,
        }
    }

    fn budget(self, mut budget: Budget) -> Budget {
        match self.words {
            Words::All => {}
            Words::Few => {
                budget.tokens /= 4;
                budget.protected /= 4;
            }
            Words::Fewest => (budget.tokens, budget.protected) = (0, 0),
        }
        budget
    }

    /// For the loss report; `by` is who wrote the summary that there was.
    fn note(self, by: Summarizer) -> Option<String> {
        let mut left = Vec::new();
        if self.back == Back::Left {
            left.push("files, todos and the rest were not put back");
        }
        match self.summary {
            Sum::Given | Sum::Models => {}
            _ if by == Summarizer::Local => left.push("the summary was made shorter"),
            _ => left.push("the summary was replaced by a short one made without a model"),
        }
        if self.words != Words::All {
            left.push("the user's longer messages were shortened");
        }
        let left = left.join("; ");
        (!left.is_empty()).then(|| format!("To make the conversation fit: {left}."))
    }
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
    /// The padded estimate of the new view.
    pub(super) after: u64,
    /// The same with what stands before the messages, as the provider is likely to count it.
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
        let gathered = match thrift.back {
            Back::Put => &compaction.gathered.gathered,
            Back::Left => &nothing,
        };
        let restored = restore(gathered, window.scale());
        let (given, wrote) = compaction.summary.clone()?;
        let is_extract = wrote == Summarizer::Local;
        let (summary, by) = match thrift.summary {
            Sum::Given => (given, wrote),
            Sum::Models if !is_extract => (given, wrote),
            Sum::Models => return None,
            Sum::Shorter(_) if !is_extract => return None,
            Sum::Shorter(tokens) | Sum::Extracts(tokens) => {
                let budget = window.scale().apply(tokens);
                (self.local_summary(compaction, budget), Summarizer::Local)
            }
        };
        let signed = match by {
            Summarizer::Provider => compaction.signed.clone(),
            _ => None,
        };
        let budget = thrift.budget(Budget::of_window(window));
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
        report.notes.extend(thrift.note(wrote));
        Some(Draft {
            summary,
            by,
            signed,
            message,
            attachments,
            restored: restored.files,
            report,
            after: size.padded(),
            with_head: self.as_measured(compaction, (size + head_weight(head)).padded()),
        })
    }

    /// An estimate as the provider is likely to count it: where it counted more than we estimated, it will again (Y1). Else
    /// a view that seemed small enough would be compacted anew with every turn.
    fn as_measured(&self, compaction: &Compaction, estimate: u64) -> u64 {
        let whole = self.live.ledger().whole() + head_weight(&self.head);
        let (counted, estimated) = (u128::from(compaction.used), u128::from(whole.padded()));
        if counted <= estimated || estimated == 0 {
            return estimate;
        }
        u64::try_from(u128::from(estimate) * counted / estimated).unwrap_or(estimate)
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
fn kept_weight(kept: &[super::live::Kept]) -> Estimate {
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
