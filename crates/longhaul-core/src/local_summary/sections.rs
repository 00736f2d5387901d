//! The nine sections, each written from facts, from extracts and from the same section of an earlier summary. The
//! sections that record past work are in `record.rs`.

use super::condense::{RetainedEnd, beginning};
use super::extracts::{QUOTE, lead_with_quote, title, words};
use super::record::SAID_LAST;
use super::section_source::{BEFORE, SectionSource};
use crate::facts::appendix::{item, message};
use crate::facts::page::BoundedText;
use crate::facts::{CancelledActionKind, UserMessage};
use crate::message::Id;
use crate::quoting::inline;
use crate::tokens::utf16_len;

/// The maximum number of calls shown for the current work.
const ACTIONS: usize = 10;
/// The maximum number of units shown of the beginning of a long message.
const BEGINNING: usize = 160;
impl SectionSource<'_> {
    /// Writes a section, counted from 0.
    pub(super) fn write(&mut self, section: usize, page: &mut BoundedText) {
        match section {
            0 => self.request(page),
            1 => self.concepts(page),
            2 => self.files(page),
            3 => self.errors(page),
            4 => self.solving(page),
            5 => self.messages(page),
            6 => self.pending(page),
            7 => self.current(page),
            _ => self.next(page),
        }
    }

    fn request(&mut self, page: &mut BoundedText) {
        let messages = self.facts.messages();
        if let Some(first) = messages.first() {
            self.tell(page, "- First request:", first);
        }
        if let [_, .., newest] = messages {
            self.tell(page, "- Newest request:", newest);
        }
        self.carry(page, 0, page.room());
    }

    /// Writes a message as in the list of all messages. A long message is shortened to its beginning, since that list
    /// holds it whole.
    fn tell(&mut self, page: &mut BoundedText, lead: &str, one: &UserMessage) {
        let room = page.room().saturating_sub(utf16_len(lead) + 2).min(QUOTE);
        let whole = message(one, usize::MAX);
        if utf16_len(&whole) <= room && one.cut.is_none() {
            if page.line(&format!("{lead}\n{}", whole.trim_end_matches('\n'))) {
                self.told.push(one.ordinal);
            }
        } else if room > 40 {
            let begins = beginning(one.text.trim(), room.min(BEGINNING));
            page.line(&format!(
                "{lead} [{}] begins: {}",
                one.ordinal,
                inline(&begins)
            ));
        }
    }

    /// Writes the messages that fit whole, the newest first. The audit adds those that do not fit.
    fn messages(&self, page: &mut BoundedText) {
        let mut room = page.room();
        let mut texts = Vec::new();
        for one in self.facts.messages().iter().rev() {
            if self.told.contains(&one.ordinal) || one.cut.is_some() {
                continue;
            }
            let text = message(one, usize::MAX);
            if let Some(left) = room.checked_sub(utf16_len(&text)) {
                room = left;
                texts.push(text);
            }
        }
        for text in texts.iter().rev() {
            page.line(text.trim_end_matches('\n'));
        }
    }

    fn pending(&self, page: &mut BoundedText) {
        for todo in self.facts.uncancelled_todos() {
            if !page.line(&item(todo)) {
                return;
            }
        }
        if let Some(said) = self.facts.cancellation_of_todos() {
            page.line(&format!(
                "- Older than what the user has said since: {said}. Not to be taken up unless the user asks for it again:"
            ));
            for todo in self.facts.called_off_todos() {
                page.line(&item(todo));
            }
        }
        let plans = self.facts.cancelled().iter();
        for plan in plans.filter(|one| one.kind == CancelledActionKind::Plan) {
            page.line(&format!(
                "- Turned down by the user, not to be resumed: “{}”",
                inline(&plan.title)
            ));
        }
        let lead = match self.facts.cancellation_after(self.messages_before()) {
            Some(said) => format!("{BEFORE}, older than what the user has said since: {said}:"),
            None => format!("{BEFORE}:"),
        };
        self.carry_under(&lead, page, 6, page.room());
    }

    /// Returns how many messages the user had written when the earlier summary was made.
    fn messages_before(&self) -> u32 {
        let messages = self.facts.messages().iter();
        let mut since = messages.filter(|one| self.gathered.inputs.contains(&Id::of(&one.uuid)));
        let first = since.next().map(|one| one.ordinal.saturating_sub(1));
        first.unwrap_or(self.facts.messages().len() as u32)
    }

    fn current(&self, page: &mut BoundedText) {
        let texts = self.gathered.texts();
        if let Some(text) = texts.last() {
            page.line(&lead_with_quote(SAID_LAST, &words(text, QUOTE)));
        }
        let from = self.gathered.calls.len().saturating_sub(ACTIONS);
        let mut lines = Vec::new();
        let mut room = page.room();
        for called in self.gathered.calls[from..].iter().rev() {
            let outcome = match (called.result, called.failed()) {
                (None, _) => "no result yet",
                (_, true) => "failed",
                (_, false) => "done",
            };
            let line = format!("- {}: {outcome}", title(called));
            let units = utf16_len(&line) + 1;
            if units > room {
                break;
            }
            room -= units;
            lines.push(line);
        }
        for line in lines.iter().rev() {
            page.line(line);
        }
        if texts.is_empty() && lines.is_empty() {
            self.list(
                page,
                self.extracts(7).cloned().collect(),
                RetainedEnd::First,
            );
            self.carry(page, 7, page.room());
        }
    }

    fn next(&self, page: &mut BoundedText) {
        let mut standing = self.facts.uncancelled_todos();
        if let Some(todo) = standing.find(|todo| todo.status == "in_progress") {
            page.line(&format!("- Go on with: {}", inline(&todo.content)));
        }
        if self.facts.cancellation_of_todos().is_some() {
            page.line("- Nothing that the user has called off since it was planned.");
        }
        if let Some(newest) = self.facts.messages().last() {
            page.line(&format!(
                "- In line with the newest request, [{}].",
                newest.ordinal
            ));
        }
    }
}
