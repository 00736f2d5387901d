//! Work that the user explicitly called off (Y4, ruling 18): "Stop. Cancel that, we stay on MySQL."
//!
//! No list of words can tell which todo or plan is meant. So nothing is deleted: everything older than such a sentence
//! carries it, and is not proposed as the next step. `cancelled.rs` has the actions that the user turned down when
//! asked.

use serde::{Deserialize, Serialize};

use super::gather::Facts;
use super::order::MatchedSentence;
use super::phrase_matcher::{PhraseMatcher, PhraseMeaning, folded};
use super::quotation::{begins_inside, quoted_parts, without_quoted};
use super::sentence::sentences;
use super::todo::TodoFact;
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

/// The words with which the user called work off, in one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserCancellation {
    /// The sentences, as they were written.
    pub text: String,
    /// The message they come from, counted from 1.
    pub ordinal: u32,
}

impl PhraseMatcher {
    /// Whether a sentence calls work off: it contains a word for that, and the word is an order of the user.
    pub(crate) fn calls_off(&self, sentence: &str) -> bool {
        let sentence = folded(sentence);
        let phrases = self.phrases_in(&sentence);
        let asks = phrases
            .iter()
            .any(|phrase| phrase.meaning == PhraseMeaning::Asks && phrase.start == 0);
        if asks && sentence.trim_end().ends_with(['?', '？']) {
            return false;
        }
        let judged = MatchedSentence {
            sentence: &sentence,
            phrases: &phrases,
        };
        let mut words = phrases
            .iter()
            .filter(|phrase| phrase.meaning == PhraseMeaning::CallsOff);
        words.any(|word| judged.is_meant(*word))
    }
}

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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::facts::Vocabulary;

    #[test]
    fn y4_a_sentence_calls_work_off_unless_that_is_denied() {
        let wording = PhraseMatcher::builtin();
        for sentence in [
            "Stop.",
            "Cancel that, scrap the whole Postgres migration.",
            "Please stop working on the migration.",
            "After thinking about it for a while, I want you to drop the importer.",
            "Let's use MySQL instead.",
            "Forget about the parser.",
            "Actually, never mind.",
            "I don't like it, stop.",
            "Could you cancel that?",
            "算了，取消迁移。",
            "Please abort the migration.",
            "We should abort this.",
            "You can stop now.",
            "We may as well drop it.",
            "Can we skip the importer?",
            "Could someone please cancel the job?",
            "The migration will be cancelled.",
            "It would be better to scrap the importer.",
            "My team would like to stop here.",
            "The parser can crash, stop working on it.",
            "The tests can wait so skip them.",
            "The importer can wait - drop it.",
            "It won't work so drop it.",
            "I think it could crash: abort the rollout.",
            "Wir können das abbrechen.",
        ] {
            assert!(wording.calls_off(sentence), "{sentence}");
        }
        for sentence in [
            "Don't stop until the tests pass.",
            "Do not ever cancel it.",
            "Never drop a column.",
            "Use tabs instead of spaces.",
            "Add a cancel button to the form.",
            "Why did the server stop?",
            "不要停止",
            "Please go on.",
            "A bad header can panic and abort the suite.",
            "can panic and abort the suite",
            "I think the parser may hang, or abort the suite.",
            "Under load the server might silently drop connections.",
            "The second call will stop the worker.",
            "It could also cancel the wrong job in some cases.",
            "A timeout would abandon the transaction.",
            "There is a drop in throughput, and the abort comes later.",
            "Der Test kann die ganze Suite abbrechen.",
        ] {
            assert!(!wording.calls_off(sentence), "{sentence}");
        }
    }

    #[test]
    fn y4_what_is_quoted_or_pasted_calls_nothing_off_and_what_stands_beside_it_does() {
        let noted = |text: &str| {
            let mut facts = Facts::new(Arc::new(Vocabulary::default()));
            facts.note_called_off(text, 1);
            let noted = facts.called_off().iter();
            noted.map(|one| one.text.clone()).collect::<Vec<_>>()
        };
        for text in [
            "The log says \"job stopped. Cancel the rest.\" Why is that?",
            "It prints “abort: no space left”.",
            "Look at `git rebase --abort` please.",
            "The trace:\n    abort(core)\n    stop here\nWhat is it?",
            "```\nStop. Cancel that.\n```\nFix this.",
            "> Stop. Cancel that.\nThat is what they wrote.",
            "# Bug\nParsing an empty header can panic and abort the suite.\nPlease fix it.",
        ] {
            assert!(noted(text).is_empty(), "{text}: {:?}", noted(text));
        }
        for (text, words) in [
            ("Stop. Cancel that", "Stop. Cancel that"),
            ("\"Stop. Cancel that.\"", "Stop. Cancel that."),
            ("I said \"stop\"!", "I said \"stop\"!"),
            ("Drop the \"importer\".", "Drop the \"importer\"."),
            (
                "It can panic and abort the suite. Stop working on it.",
                "Stop working on it.",
            ),
            (
                "```\nabort()\n```\nPlease abort the migration.",
                "Please abort the migration.",
            ),
        ] {
            assert_eq!(noted(text), [words], "{text}");
        }
    }
}
