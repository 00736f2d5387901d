//! The sources that the sections are written from, and how a section takes items from them: from extracts, and from the
//! same section of an earlier summary.

use super::condense::{LEFT_OUT, RetainedEnd, condensed};
use super::earlier::{EarlierSummary, SummaryAuthor};
use super::gather::GatheredView;
use crate::facts::Facts;
use crate::facts::page::BoundedText;
use crate::quoting::quoted;
use crate::tokens::utf16_len;

/// How an item begins that another author wrote in an earlier summary.
pub(super) const BEFORE: &str = "- From the summary before";

/// The sources that sections are written from.
pub(super) struct SectionSource<'a> {
    pub(super) gathered: &'a GatheredView<'a>,
    pub(super) facts: &'a Facts,
    pub(super) earlier: Option<EarlierSummary>,
    /// The user's messages that a section already holds whole.
    pub(super) told: Vec<u32>,
}

impl SectionSource<'_> {
    /// Returns the items of a section of an earlier summary that was also made of extracts.
    pub(super) fn extracts(&self, section: usize) -> impl Iterator<Item = &String> {
        self.items(section, SummaryAuthor::Extracts)
            .filter(|item| !item.starts_with(BEFORE))
    }

    fn items(&self, section: usize, author: SummaryAuthor) -> impl Iterator<Item = &String> {
        let earlier = self.earlier.as_ref();
        let earlier = earlier.filter(|earlier| earlier.author == author);
        earlier
            .into_iter()
            .flat_map(move |earlier| &earlier.sections[section])
    }

    /// Carries over what another author wrote in a section of an earlier summary, in at most `room` units.
    pub(super) fn carry(&self, page: &mut BoundedText, section: usize, room: usize) {
        self.carry_under(&format!("{BEFORE}:"), page, section, room);
    }

    pub(super) fn carry_under(
        &self,
        lead: &str,
        page: &mut BoundedText,
        section: usize,
        room: usize,
    ) {
        let another = self.items(section, SummaryAuthor::Another);
        let mut items: Vec<String> = another.map(|item| quoted(item)).collect();
        // Items that were carried over before are already quoted there.
        let carried = self.items(section, SummaryAuthor::Extracts);
        let carried = carried.filter(|item| item.starts_with(BEFORE));
        let carried = carried.flat_map(|item| item.lines().skip(1));
        let carried = carried.filter(|line| !line.ends_with(LEFT_OUT));
        items.extend(carried.map(str::to_owned));
        let room = room.min(page.room()).saturating_sub(utf16_len(lead) + 2);
        let told = condensed(&items, room, RetainedEnd::First);
        let told: Vec<String> = told.iter().map(|item| marked(item)).collect();
        if !told.is_empty() {
            page.line(&format!("{lead}\n{}", told.join("\n")));
        }
    }

    /// Writes items into the available space, each item once.
    pub(super) fn list(&self, page: &mut BoundedText, items: Vec<String>, stay: RetainedEnd) {
        let mut once: Vec<String> = Vec::new();
        for item in items {
            if !once.contains(&item) {
                once.push(item);
            }
        }
        for item in condensed(&once, page.room(), stay) {
            page.line(&item);
        }
    }
}

/// Quotes an item that is not quoted yet: a line that says that items were left out is part of the quotation too.
fn marked(item: &str) -> String {
    if item.starts_with('>') {
        item.to_owned()
    } else {
        quoted(item)
    }
}
