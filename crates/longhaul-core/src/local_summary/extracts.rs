//! Extracts of entries in the form in which sections show them. The text of entries is quoted, because it is not part
//! of the summary.

use std::collections::BTreeMap;

use super::gather::{CallWithResult, TextBlock};
use crate::facts::excerpt::excerpt;
use crate::facts::page::BoundedText;
use crate::facts::{call, shorten};
use crate::quoting::{inline, is_break, quoted};

/// The maximum number of bytes of a text that are quoted.
pub(super) const QUOTE: usize = 900;
/// The maximum number of bytes for the subject of a call.
const SUBJECT: usize = 160;
/// The maximum number of names in a list of counts.
const NAMES: usize = 12;

/// Adds one item that says how often things occurred.
pub(super) fn counts(page: &mut BoundedText, lead: &str, counts: BTreeMap<String, usize>) {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named: Vec<_> = counts
        .iter()
        .take(NAMES)
        .map(|(name, count)| format!("{} ({count})", inline(name)))
        .collect();
    if !named.is_empty() {
        page.line(&format!("- {lead}: {}", named.join(", ")));
    }
}

/// Adds the counts of an earlier summary to these counts.
pub(super) fn add_counts(counts: &mut BTreeMap<String, usize>, lead: &str, items: &[&String]) {
    let lead = format!("- {lead}: ");
    let listed = items.iter().find_map(|item| item.strip_prefix(&lead));
    for named in listed.unwrap_or_default().split(", ") {
        if let Some((name, count)) = named.rsplit_once(" (")
            && let Some(Ok(count)) = count.strip_suffix(')').map(str::parse::<usize>)
        {
            *counts.entry(name.to_owned()).or_default() += count;
        }
    }
}

pub(super) fn words((entry, block): &TextBlock<'_>, most: usize) -> String {
    excerpt(block.body.of(entry.line), most).trim().to_owned()
}

/// Returns a lead with quoted text after it: on the same line if the text is one line, otherwise quoted below.
pub(super) fn lead_with_quote(lead: &str, text: &str) -> String {
    if text.contains(is_break) {
        format!("{lead}:\n{}", quoted(text))
    } else {
        format!("{lead}: {}", inline(text))
    }
}

pub(super) fn about(called: &CallWithResult<'_>) -> Option<String> {
    call::read(called.entry, called.block, None).about
}

pub(super) fn title(called: &CallWithResult<'_>) -> String {
    let read = call::read(called.entry, called.block, None);
    match read.about {
        Some(about) => format!(
            "{} ({})",
            inline(&read.tool),
            inline(&shorten(&about, SUBJECT))
        ),
        None => inline(&read.tool).into_owned(),
    }
}

pub(super) fn outcome_text(called: &CallWithResult<'_>, most: usize) -> String {
    let result = called.result;
    result.map_or_else(String::new, |answer| answer.excerpt(most))
}
