//! Extracts of entries in the form in which sections show them.

use std::collections::BTreeMap;

use super::gather::{Called, Said};
use crate::facts::appendix::kept_title;
use crate::facts::excerpt::excerpt;
use crate::facts::page::Page;
use crate::facts::{UserMessage, call, shorten};

/// The most bytes of a text that are quoted.
pub(super) const QUOTE: usize = 900;
/// The most bytes of what a call was about, or came to.
pub(super) const OUTCOME: usize = 160;

pub(super) fn quote(page: &mut Page, lead: &str, message: &UserMessage) {
    let lead = format!("- {lead} [{}]: “", message.ordinal);
    let room = page.room().saturating_sub(lead.len() + 3).min(QUOTE);
    if room > 20 {
        let words = shorten(message.text.trim(), room);
        page.line(&format!("{lead}{words}”"));
    }
}

pub(super) fn counts(page: &mut Page, lead: &str, counts: BTreeMap<String, usize>) {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named: Vec<_> = counts
        .iter()
        .take(12)
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    if !named.is_empty() {
        page.line(&format!("- {lead}: {}", named.join(", ")));
    }
}

pub(super) fn words((entry, block): &Said<'_>, most: usize) -> String {
    excerpt(block.body.of(entry.line), most).trim().to_owned()
}

pub(super) fn about(called: &Called<'_>) -> Option<String> {
    call::read(called.entry, called.block, None).about
}

pub(super) fn title(called: &Called<'_>) -> String {
    let read = call::read(called.entry, called.block, None);
    match read.about {
        Some(about) => format!("{} ({})", read.tool, shorten(&about, OUTCOME)),
        None => read.tool,
    }
}

pub(super) fn outcome_text(called: &Called<'_>, most: usize) -> String {
    let result = called.result;
    result.map_or_else(String::new, |answer| answer.excerpt(most))
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What an earlier summary message says, without what surrounds it, its draft, what was kept beside it, and its list of user
/// messages: facts have those, word for word.
pub(crate) fn earlier(message: &str) -> String {
    let lines = || {
        let starts = std::iter::once(0).chain(message.match_indices('\n').map(|(at, _)| at + 1));
        starts.map(|at| (at, message[at..].lines().next().unwrap_or_default()))
    };
    let bare = |line: &str| {
        let line = line.trim_matches(|c: char| !c.is_alphanumeric());
        line.to_ascii_lowercase()
    };
    let titled = lines().find(|(_, line)| bare(line) == "summary");
    let start = titled.map_or(0, |(at, line)| at + line.len());
    let kept = kept_title();
    let end = lines().find(|(at, line)| *at > start && line.trim() == kept);
    let summary = &message[start..end.map_or(message.len(), |(at, _)| at)];
    let heading = |number: char| {
        summary.match_indices('\n').find_map(|(at, _)| {
            let line = summary[at + 1..].trim_start_matches(['#', '*', ' ']);
            let mut characters = line.chars();
            let starts = characters.next() == Some(number) && characters.next() == Some('.');
            starts.then_some(at)
        })
    };
    match (heading('6'), heading('7')) {
        (Some(from), Some(to)) if from < to => [&summary[..from], &summary[to..]].concat(),
        _ => summary.to_owned(),
    }
}
