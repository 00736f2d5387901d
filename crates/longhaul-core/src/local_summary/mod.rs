//! A summary with no model (X9): extracts of the conversation in the nine sections that a model would write.
//!
//! It is the way out when there is no model at hand, the breaker is open, or a conversation is too long for any request
//! (Y1). It reads little: notes first, and of the texts only what is shown. What it says is what the entries say; that the
//! user's words are all there is the audit's business ([`crate::facts::audit`]).
//!
//! A view may begin with a summary. The new one takes its place: what it said is merged section by section, so that summaries
//! do not nest however often a conversation is compacted.

mod complete;
mod condense;
mod earlier;
mod extracts;
mod gather;
mod record;
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
use sections::SectionSource;

/// The number of sections.
const SECTIONS: usize = 9;
/// The most bytes of an earlier summary that are looked at.
const EARLIER: usize = 200_000;

const OPENING: &str = include_str!("opening.md");
const TITLES: &str = include_str!("sections.txt");

/// What a section says that has nothing in it.
const NOTHING: &str = "- nothing to tell";
/// Below this many units, sections with nothing in them are not mentioned.
const AMPLE: usize = 3_000;

/// The order in which sections take their room: what a session needs to go on comes first, and leaves what it does not
/// need to those behind.
const FILLED: [usize; SECTIONS] = [0, 7, 8, 6, 5, 3, 2, 4, 1];
/// The room of each section in percent.
const ROOM: [usize; SECTIONS] = [8, 3, 20, 12, 14, 24, 6, 11, 2];
/// The same if the view begins with a summary: what it said is carried on section by section.
const ROOM_AFTER_SUMMARY: [usize; SECTIONS] = [14, 4, 18, 12, 16, 18, 7, 9, 2];

/// Summarises the entries of a view, in order, with the facts of their session. The text takes at most `budget` tokens
/// by the padded estimate, and is always smaller than what it summarises.
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

/// The sections from this one on, counted from 0, each under its title, together in at most so many units.
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
