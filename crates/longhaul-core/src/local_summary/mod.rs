//! A summary made without a model (X9): extracts of the conversation in the nine sections that a model would write.
//!
//! This is the fallback when no model is available, the breaker is open, or a conversation is too long for any request
//! (Y1). It reads little: facets first, and only those texts that are shown. It says only what the entries say; the
//! audit ([`crate::facts::audit`]) makes sure that all of the user's words are there.
//!
//! A view may begin with a summary. The new summary replaces it: the earlier contents are merged section by section, so
//! that summaries do not nest however often a conversation is compacted.

mod complete;
mod condense;
mod earlier;
mod extracts;
mod gather;
mod record;
mod section_source;
mod sections;

use crate::facts::Facts;
use crate::facts::budget::units_within;
use crate::facts::excerpt::excerpt;
use crate::facts::page::BoundedText;
use crate::message::EntryView;
pub(crate) use complete::complete;
use earlier::EarlierSummary;
pub(crate) use earlier::earlier;
use gather::GatheredView;
use section_source::SectionSource;

/// The number of sections.
const SECTIONS: usize = 9;
/// The maximum number of bytes of an earlier summary that are read.
const EARLIER: usize = 200_000;

const OPENING: &str = include_str!("opening.md");
const TITLES: &str = include_str!("sections.txt");

/// The text of an empty section.
const NOTHING: &str = "- nothing to tell";
/// Below this many units, empty sections are not mentioned.
const AMPLE: usize = 3_000;

/// The order in which sections take their space: those that a session needs to continue come first and leave their
/// unused space to later ones.
const FILLED: [usize; SECTIONS] = [0, 7, 8, 6, 5, 3, 2, 4, 1];
/// The share of each section in percent.
const ROOM: [usize; SECTIONS] = [8, 3, 20, 12, 14, 24, 6, 11, 2];
/// The share of each section in percent if the view begins with a summary, whose contents are carried over section by
/// section.
const ROOM_AFTER_SUMMARY: [usize; SECTIONS] = [14, 4, 18, 12, 16, 18, 7, 9, 2];

/// Summarizes the entries of a view, in order, with the facts of their session. The text takes at most `budget` tokens
/// by the padded estimate, and is always smaller than the entries it summarizes.
///
/// ```
/// use std::sync::Arc;
///
/// use bytes::Bytes;
/// use longhaul_core::facts::{Facts, Vocabulary};
/// use longhaul_core::local_summary::summarize;
/// use longhaul_core::message::Entry;
///
/// let report = "I read the whole log, and the session expires too early. ".repeat(200);
/// let lines = [
///     r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Fix the login test."}}"#.to_owned(),
///     format!(r#"{{"type":"assistant","uuid":"u2","message":{{"id":"m","role":"assistant","content":[
///         {{"type":"text","text":"{report}"}}]}}}}"#),
/// ];
/// let mut facts = Facts::new(Arc::new(Vocabulary::default()));
/// let mut entries = Vec::new();
/// for line in lines {
///     let entry = Entry::read(Bytes::from(line))?;
///     facts.push(entry.view());
///     entries.push(entry);
/// }
/// let summary = summarize(entries.iter().map(Entry::view), &facts, 800);
/// assert!(summary.contains("Fix the login test.") && summary.len() < report.len(), "{summary}");
/// # Ok::<(), longhaul_core::message::LineDamage>(())
/// ```
pub fn summarize<'a>(
    entries: impl IntoIterator<Item = EntryView<'a>>,
    facts: &Facts,
    budget: u64,
) -> String {
    let gathered = GatheredView::of(entries);
    let smaller = gathered.size.padded() / 4 * 3;
    let limit = usize::try_from(units_within(budget.min(smaller))).unwrap_or(usize::MAX);
    let mut text = BoundedText::new(limit);
    text.line(OPENING.trim_end());
    for part in &sections(&gathered, facts, 0, text.room()) {
        if !part.is_empty() {
            text.line(part.text().trim_end_matches('\n'));
        }
    }
    text.into_text()
}

/// Returns the sections starting with `from` (counted from 0), each under its title, in at most `all` units together.
fn sections(
    gathered: &GatheredView<'_>,
    facts: &Facts,
    from: usize,
    all: usize,
) -> [BoundedText; SECTIONS] {
    let mut source = SectionSource {
        gathered,
        facts,
        earlier: gathered
            .earlier
            .map(|literal| EarlierSummary::read(&excerpt(literal, EARLIER))),
        told: Vec::new(),
    };
    let room = match gathered.earlier {
        Some(_) => ROOM_AFTER_SUMMARY,
        None => ROOM,
    };
    let titles: Vec<&str> = TITLES.lines().collect();
    let mut parts: [BoundedText; SECTIONS] = std::array::from_fn(|_| BoundedText::default());
    let whole: usize = room[from..].iter().sum();
    let (mut given, mut used) = (0, 0);
    for at in FILLED.into_iter().filter(|at| *at >= from) {
        given += all * room[at] / whole;
        let mut part = BoundedText::new(given - used);
        if part.line("") && titles.get(at).is_some_and(|title| part.line(title)) {
            let title = part.units();
            source.write(at, &mut part);
            if part.units() == title && (all < AMPLE || !part.line(NOTHING)) {
                continue;
            }
            used += part.units();
            parts[at] = part;
        }
    }
    parts
}
