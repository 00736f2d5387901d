//! Checks a summary against the facts and writes what it left out (X1).
//!
//! A model may paraphrase, forget or invent; the facts that a session must not lose are added here, whatever the model
//! wrote.

use super::appendix::{self, AppendixPart, MESSAGES, OMITTED_UNITS, OPENING, RULES};
use super::budget::{FactsBudget, units_within};
use super::facts_in_view::{AuditInput, FactsInView, not_in_view};
use super::file::TouchedFile;
use super::gather::Facts;
use super::quoted_words::QuotedUserWords;
use crate::report::LossReport;
use crate::tokens::utf16_len;

/// The result of an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedSummary {
    /// The text to add after the summary; empty if nothing is missing. It has at most the budget's tokens by the padded
    /// estimate, unless the protected parts need more.
    pub text: String,
    /// What happened to the user's messages, rules, files and todos. The caller adds what only it knows: tokens,
    /// results, restored files.
    pub report: LossReport,
}

/// Finds the facts that a summary does not contain word for word, and writes them.
///
/// ```
/// use std::sync::Arc;
///
/// use bytes::Bytes;
/// use longhaul_core::facts::{AuditInput, Facts, FactsBudget, Vocabulary, audit};
/// use longhaul_core::message::Entry;
///
/// let line = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Never push to main."}}"#;
/// let mut facts = Facts::new(Arc::new(Vocabulary::default()));
/// facts.push(Entry::read(Bytes::from(line))?.view());
///
/// let seen = AuditInput { summary: "The user wants a fix.", ..AuditInput::default() };
/// let audited = audit(&facts, seen, FactsBudget { tokens: 2_000, protected: 1_000 });
/// assert!(audited.text.contains("Never push to main."), "the summary left the rule out");
/// assert_eq!(audited.report.rules.verbatim, 1);
/// # Ok::<(), longhaul_core::message::LineDamage>(())
/// ```
pub fn audit(facts: &Facts, seen: AuditInput<'_>, budget: FactsBudget) -> AuditedSummary {
    audit_naming_files(facts, seen, budget).0
}

/// Like [`audit`], with the paths of the files that are not in view, not even by their name.
pub(crate) fn audit_naming_files(
    facts: &Facts,
    seen: AuditInput<'_>,
    budget: FactsBudget,
) -> (AuditedSummary, Vec<String>) {
    let held = FactsInView::find(facts, seen);
    let limit = units_within(budget.tokens) as usize;
    let mut report = LossReport::default();

    let cancelled: Vec<_> = facts.cancelled.iter().collect();
    let cancelled = appendix::cancelled(&not_in_view(&cancelled, &held.cancelled), limit / 8);
    let open: Vec<_> = facts.uncancelled_todos().collect();
    let missing = not_in_view(&open, &held.todos);
    let todos = appendix::todos(&missing, limit / 4);
    // A summary may name such work without the words against it, so it is not enough that it is named.
    let off: Vec<_> = facts.called_off_todos().collect();
    let said = facts.cancellation_of_todos().filter(|_| !held.called_off);
    let called_off = said.map(|said| appendix::called_off(&off, &said, limit / 4));
    let kept_off = called_off.as_ref().map_or(off.len(), |part| part.items);
    let called_off = called_off.unwrap_or_default();
    report.todos.open = (open.len() + off.len()) as u64;
    report.todos.kept = (open.len() - missing.len() + todos.items + kept_off) as u64;
    let touched = facts.files();
    let missing = not_in_view(&touched, &held.files);
    let files = appendix::files(&missing, limit / 4);
    report.files.touched = facts.file_count();
    let unnamed = paths(missing.get(files.items..).unwrap_or_default());
    report.files.left_out = unnamed.len() as u64 + u64::from(facts.files.dropped);
    let error = facts.last_error.as_ref().filter(|_| !held.error);
    let error = error.map(|error| appendix::error(error, limit / 8));
    let error = error.unwrap_or_default();

    let fixed = [&cancelled, &called_off, &todos, &files, &error];
    let fixed = fixed.map(|part| utf16_len(&part.text));
    let titles = utf16_len(OPENING) + utf16_len(RULES) + utf16_len(MESSAGES) + 4;
    let room = limit.saturating_sub(fixed.iter().sum::<usize>() + titles + OMITTED_UNITS);
    let words = QuotedUserWords::choose(facts, &held, room, units_within(budget.protected));
    let [rules, messages] = words.write(facts, &mut report);
    total(facts, &mut report);
    if words.protected_was_shortened {
        report.notes.push(
            "The first request, the newest messages or stated rules alone exceed half the threshold: they were shortened too."
                .to_owned(),
        );
    }
    let parts = [
        rules,
        messages,
        cancelled.text,
        called_off.text,
        todos.text,
        files.text,
        error.text,
    ];
    let audited = AuditedSummary {
        text: joined(&parts),
        report,
    };
    (audited, unnamed)
}

/// Like [`audit`], but for too little room, in at most this many tokens: rules, then the user's newest words, then
/// older ones as far as they fit. The rest of the room is for the other facts.
pub(crate) fn audit_words_first(
    facts: &Facts,
    seen: AuditInput<'_>,
    tokens: u64,
) -> (AuditedSummary, Vec<String>) {
    let held = FactsInView::find(facts, seen);
    let limit = units_within(tokens) as usize;
    let mut report = LossReport::default();
    // The line about left-out messages needs room only if something is left out, and rarely all the room that it may
    // take.
    let mut written = [String::new(), String::new()];
    for frame in [0, OMITTED_UNITS / 2, OMITTED_UNITS, 2 * OMITTED_UNITS] {
        let room = limit.saturating_sub(utf16_len(OPENING) + utf16_len(MESSAGES) + 2 + frame);
        let words = QuotedUserWords::choose(facts, &held, room, room as u64);
        report = LossReport::default();
        written = words.write(facts, &mut report);
        let units: usize = written.iter().map(|part| utf16_len(part)).sum();
        if utf16_len(OPENING) + units <= limit {
            break;
        }
    }
    let [rules, mut messages] = written;
    if utf16_len(OPENING) + utf16_len(&rules) + utf16_len(&messages) > limit {
        // There is no room for that line either.
        messages.clear();
    }
    total(facts, &mut report);
    let used = utf16_len(OPENING) + utf16_len(&rules) + utf16_len(&messages);
    let left = limit.saturating_sub(used);
    let less = |left: usize, part: &AppendixPart| left.saturating_sub(utf16_len(&part.text));
    let cancelled: Vec<_> = facts.cancelled.iter().collect();
    let missing = not_in_view(&cancelled, &held.cancelled);
    let cancelled = appendix::cancelled(&missing, left);
    let left = less(left, &cancelled);
    let open: Vec<_> = facts.open_todos().collect();
    let missing = not_in_view(&open, &held.todos);
    let todos = appendix::todos(&missing, left);
    let left = less(left, &todos);
    report.todos.open = open.len() as u64;
    report.todos.kept = (open.len() - missing.len() + todos.items) as u64;
    let error = facts.last_error.as_ref().filter(|_| !held.error);
    let error = error.map(|error| appendix::error(error, left / 2));
    let error = error.unwrap_or_default();
    let left = less(left, &error);
    let touched = facts.files();
    let missing = not_in_view(&touched, &held.files);
    let files = appendix::files(&missing, left);
    report.files.touched = facts.file_count();
    let unnamed = paths(missing.get(files.items..).unwrap_or_default());
    report.files.left_out = unnamed.len() as u64 + u64::from(facts.files.dropped);
    let parts = [
        rules,
        messages,
        cancelled.text,
        todos.text,
        files.text,
        error.text,
    ];
    let audited = AuditedSummary {
        text: joined(&parts),
        report,
    };
    (audited, unnamed)
}

fn paths(files: &[&TouchedFile]) -> Vec<String> {
    files.iter().map(|file| file.path.clone()).collect()
}

fn joined(parts: &[String]) -> String {
    if parts.iter().all(String::is_empty) {
        String::new()
    } else {
        [OPENING, &parts.concat()].concat()
    }
}

/// Counts the rules and messages, and adds a note if not all rules are kept.
fn total(facts: &Facts, report: &mut LossReport) {
    report.rules.total = facts.rules.len() as u64 + u64::from(facts.rules_dropped);
    report.user_messages.total = facts.messages.len() as u64;
    if facts.rules_dropped > 0 {
        report.notes.push(format!(
            "{} of the oldest rules are no longer kept apart from their messages.",
            facts.rules_dropped
        ));
    }
}
