//! What the facts hold of the user's words that call work off, and which older work carries them.
//! `user_cancellation.rs` decides which sentences are such words.

use super::gather::Facts;
use super::quotation::{begins_inside, quoted_parts, without_quoted};
use super::sentence::sentences;
use super::todo::TodoFact;
use super::user_cancellation::UserCancellation;
use crate::facts::shorten;
use crate::quoting::inline;

/// The most messages with such words that are remembered; the newest stay.
const MOST: usize = 8;

/// The most of these messages that are quoted with an item.
const QUOTED: usize = 3;

/// The most bytes of a sentence; a longer one is a pasted text.
const LONGEST: usize = 400;

/// In a message of more than twice this many sentences, only this many at either end count as the user's own words.
const ENDS: usize = 20;

impl Facts {
    /// Records the words of a message that call work off.
    pub(super) fn note_called_off(&mut self, text: &str, ordinal: u32) {
        let sentences = sentences(text);
        let many = sentences.len() > 2 * ENDS;
        let last = sentences.len().saturating_sub(ENDS);
        let spoken = sentences.iter().enumerate();
        let spoken = spoken.filter(|(at, sentence)| {
            (!many || *at < ENDS || *at >= last) && sentence.len() <= LONGEST
        });
        let quoted = quoted_parts(text);
        let wording = &self.vocabulary.wording;
        let words: Vec<&str> = spoken
            .map(|(_, sentence)| *sentence)
            .filter(|sentence| !begins_inside(text, sentence, &quoted))
            .filter(|sentence| wording.calls_off(&without_quoted(text, sentence, &quoted)))
            .collect();
        if !words.is_empty() {
            let text = shorten(&words.join(" "), LONGEST);
            self.called_off.push(UserCancellation { text, ordinal });
            let over = self.called_off.len().saturating_sub(MOST);
            self.called_off.drain(..over);
        }
    }

    /// The words with which the user called work off, in order.
    pub fn called_off(&self) -> &[UserCancellation] {
        &self.called_off
    }

    /// The user's words against work that existed when `since` messages had been said. `None` if there are none.
    pub(crate) fn cancellation_after(&self, since: u32) -> Option<String> {
        let later: Vec<&UserCancellation> = self
            .called_off
            .iter()
            .filter(|one| one.ordinal > since)
            .collect();
        let quoted = later.iter().skip(later.len().saturating_sub(QUOTED));
        let quoted: Vec<String> = quoted
            .map(|one| format!("“{}” [{}]", inline(&one.text), one.ordinal))
            .collect();
        (!quoted.is_empty()).then(|| quoted.join(", "))
    }

    /// The user's words against an item of a host's todo list. An item that no call made counts as old.
    pub(crate) fn cancellation_of_todo(&self, content: &str) -> Option<String> {
        let known = self.todos.iter().find(|todo| todo.content == content);
        self.cancellation_after(known.map_or(0, |todo| todo.since))
    }

    /// The user's words against the plan of the session.
    pub(crate) fn cancellation_of_plan(&self) -> Option<String> {
        self.cancellation_after(self.plan_since)
    }

    /// Open work that the user did not call off.
    pub(crate) fn uncancelled_todos(&self) -> impl Iterator<Item = &TodoFact> {
        self.open_todos()
            .filter(|todo| self.cancellation_after(todo.since).is_none())
    }

    /// Open work that is older than the user's words that called work off.
    pub(crate) fn called_off_todos(&self) -> impl Iterator<Item = &TodoFact> {
        self.open_todos()
            .filter(|todo| self.cancellation_after(todo.since).is_some())
    }

    /// The user's words against all of the open work that was called off.
    pub(crate) fn cancellation_of_todos(&self) -> Option<String> {
        let oldest = self.called_off_todos().map(|todo| todo.since).min()?;
        self.cancellation_after(oldest)
    }

    /// Adds the user's words to each line of a foreign summary that names work that was called off.
    pub(crate) fn with_words_against(&self, summary: &str) -> String {
        let against: Vec<(&str, String)> = self
            .called_off_todos()
            .filter(|todo| todo.content.trim().len() >= 8)
            .filter_map(|todo| Some((todo.content.trim(), self.cancellation_after(todo.since)?)))
            .collect();
        if against.is_empty() {
            return summary.to_owned();
        }
        let mut lines: Vec<String> = Vec::new();
        for line in summary.split('\n') {
            let named = against.iter().find(|(todo, _)| line.contains(todo));
            lines.push(match named {
                Some((_, said)) if !line.contains(said.as_str()) => {
                    format!("{line} (called off; the user has said since: {said})")
                }
                _ => line.to_owned(),
            });
        }
        lines.join("\n")
    }
}
