//! Which facts the model sees anyway: in the summary, in a message that is kept, or in restored context.

use super::appendix;
use super::gather::Facts;
use super::text_search::{Haystack, NeedleKind};
use crate::quoting::{inline, quoted};

/// What the model sees besides the text that an audit adds.
#[derive(Debug, Clone, Copy, Default)]
pub struct AuditInput<'a> {
    /// The summary; empty if there is none.
    pub summary: &'a str,
    /// Texts that stay in view besides the summary: kept messages and restored context.
    pub beside: &'a [&'a str],
}

/// The facts that are in view already.
#[derive(Debug)]
pub(super) struct FactsInView {
    pub(super) messages: Vec<bool>,
    pub(super) rules: Vec<bool>,
    pub(super) files: Vec<bool>,
    pub(super) todos: Vec<bool>,
    pub(super) cancelled: Vec<bool>,
    /// Whether open work that was called off is in view, with the words against it.
    pub(super) called_off: bool,
    pub(super) error: bool,
}

impl FactsInView {
    pub(super) fn find(facts: &Facts, seen: AuditInput<'_>) -> Self {
        let haystack = Haystack::new(
            [seen.summary]
                .into_iter()
                .chain(seen.beside.iter().copied()),
        );
        let files = facts.files();
        let open: Vec<_> = facts
            .uncancelled_todos()
            .map(|one| inline(&one.content))
            .collect();
        let off = facts.called_off_todos().map(|one| inline(&one.content));
        let off: Vec<_> = off
            .map(std::borrow::Cow::into_owned)
            .chain(facts.cancellation_of_todos())
            .collect();
        let paths: Vec<_> = files.iter().map(|one| inline(&one.path)).collect();
        let error = facts.last_error.as_ref();
        let error = error.map(|error| [error.text.clone(), quoted(&error.text)]);
        let cancelled: Vec<String> = facts.cancelled.iter().map(appendix::turned_down).collect();
        let mut texts: Vec<(NeedleKind, &str)> = Vec::new();
        let mut seek = |kind: NeedleKind, text| texts.push((kind, text));
        facts
            .messages
            .iter()
            .for_each(|one| seek(NeedleKind::Prose, &one.text));
        facts
            .rules
            .iter()
            .for_each(|one| seek(NeedleKind::Prose, &one.text));
        paths.iter().for_each(|one| seek(NeedleKind::Path, one));
        open.iter().for_each(|one| seek(NeedleKind::Prose, one));
        cancelled
            .iter()
            .for_each(|one| seek(NeedleKind::Prose, one));
        off.iter().for_each(|one| seek(NeedleKind::Prose, one));
        // The error may appear there as a quotation.
        error
            .iter()
            .flatten()
            .for_each(|one| seek(NeedleKind::Prose, one));
        let mut held = haystack.holds(&texts).into_iter();
        let mut take = |count: usize| held.by_ref().take(count).collect::<Vec<bool>>();
        let mut messages = take(facts.messages.len());
        for (held, message) in messages.iter_mut().zip(&facts.messages) {
            // Only a part of a cut text can be compared, and nothing of an image.
            *held &= message.cut.is_none() && !message.text.trim().is_empty();
        }
        // A short answer means nothing without its question.
        for (held, message) in messages.iter_mut().zip(&facts.messages) {
            if let Some(asked) = message.asked.as_deref().filter(|_| *held) {
                *held = haystack.holds(&[(NeedleKind::Prose, asked)]) == [true];
            }
        }
        let mut rules = take(facts.rules.len());
        for (held, rule) in rules.iter_mut().zip(&facts.rules) {
            // A text that contains a message contains its sentences.
            let message = (rule.ordinal as usize).checked_sub(1);
            *held |= message.and_then(|at| messages.get(at)) == Some(&true);
        }
        Self {
            messages,
            rules,
            files: take(files.len()),
            todos: take(open.len()),
            cancelled: take(cancelled.len()),
            called_off: take(off.len()).iter().all(|held| *held),
            error: error.is_none_or(|_| take(2).contains(&true)),
        }
    }
}

pub(super) fn not_in_view<'a, T>(all: &[&'a T], held: &[bool]) -> Vec<&'a T> {
    let all = all.iter().zip(held);
    all.filter(|(_, held)| !**held)
        .map(|(one, _)| *one)
        .collect()
}
