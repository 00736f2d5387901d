//! Work that the user called off in so many words (Y4, ruling 18): "Stop. Cancel that, we stay on MySQL."
//!
//! Which todo or plan is meant, no list of words can tell. So nothing is deleted: whatever is older than such a sentence
//! carries it, and is not proposed as the next step. What the user turned down when asked is in `cancelled.rs`.

use serde::{Deserialize, Serialize};

use super::gather::Facts;
use super::sentence::sentences;
use super::todo::Todo;
use super::wording::{Meaning, Wording, folded};
use crate::facts::shorten;
use crate::quoting::inline;

/// The most messages with such words that are remembered, the newest.
const MOST: usize = 8;
/// The most of them that are quoted beside something.
const QUOTED: usize = 3;
/// The most bytes of a sentence; a longer one is a pasted text.
const LONGEST: usize = 400;
/// In a message of more sentences than twice this, only so many at either end are the user speaking.
const ENDS: usize = 20;
/// A negation counts for a word that follows it after at most this many others.
const NEAR: usize = 3;

/// The words by which the user called work off, in one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalledOff {
    /// The sentences, as they were written.
    pub text: String,
    /// The message they are from, counted from 1.
    pub ordinal: u32,
}

impl Wording {
    /// Whether a sentence calls work off: it holds a word that does, which is neither denied nor merely part of another
    /// phrase.
    pub fn calls_off(&self, sentence: &str) -> bool {
        let sentence = folded(sentence);
        let phrases = self.phrases_in(&sentence);
        let of = |meaning| {
            phrases
                .iter()
                .filter(move |phrase| phrase.meaning == meaning)
        };
        let asks = of(Meaning::Asks).any(|phrase| phrase.start == 0);
        if asks && sentence.trim_end().ends_with(['?', '？']) {
            return false;
        }
        of(Meaning::CallsOff).any(|word| {
            let is_part = of(Meaning::CallsNothingOff)
                .any(|other| other.start <= word.start && word.end <= other.end);
            let is_denied = of(Meaning::Negates)
                .filter(|negation| negation.end <= word.start)
                .any(|negation| is_near(&sentence[negation.end..word.start]));
            !is_part && !is_denied
        })
    }
}

/// Whether a negation before this text reaches to what follows it.
fn is_near(between: &str) -> bool {
    let ends_clause = |c: char| {
        matches!(
            c,
            ',' | ';' | ':' | '.' | '!' | '—' | '–' | '，' | '；' | '、'
        )
    };
    !between.contains(ends_clause) && between.split_whitespace().count() <= NEAR
}

impl Facts {
    /// Notes the words of a message by which work is called off.
    pub(super) fn note_called_off(&mut self, text: &str, ordinal: u32) {
        let sentences = sentences(text);
        let many = sentences.len() > 2 * ENDS;
        let last = sentences.len().saturating_sub(ENDS);
        let spoken = sentences.iter().enumerate();
        let spoken = spoken.filter(|(at, sentence)| {
            (!many || *at < ENDS || *at >= last) && sentence.len() <= LONGEST
        });
        let words: Vec<&str> = spoken
            .map(|(_, sentence)| *sentence)
            .filter(|sentence| self.vocabulary.wording.calls_off(sentence))
            .collect();
        if !words.is_empty() {
            let text = shorten(&words.join(" "), LONGEST);
            self.called_off.push(CalledOff { text, ordinal });
            let over = self.called_off.len().saturating_sub(MOST);
            self.called_off.drain(..over);
        }
    }

    /// The words by which the user called work off, in order.
    pub fn called_off(&self) -> &[CalledOff] {
        &self.called_off
    }

    /// What the user said against work that was there when so many messages had been said; none if nothing.
    pub fn said_against(&self, since: u32) -> Option<String> {
        let later: Vec<&CalledOff> = self
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

    /// What the user said against an item of a todo list that a host has. One that no call made is taken for old.
    pub fn said_against_todo(&self, content: &str) -> Option<String> {
        let known = self.todos.iter().find(|todo| todo.content == content);
        self.said_against(known.map_or(0, |todo| todo.since))
    }

    /// What the user said against the plan of the session.
    pub fn said_against_plan(&self) -> Option<String> {
        self.said_against(self.plan_since)
    }

    /// Open work that the user did not call off.
    pub fn standing_todos(&self) -> impl Iterator<Item = &Todo> {
        self.open_todos()
            .filter(|todo| self.said_against(todo.since).is_none())
    }

    /// Open work that is older than words of the user which called work off.
    pub fn called_off_todos(&self) -> impl Iterator<Item = &Todo> {
        self.open_todos()
            .filter(|todo| self.said_against(todo.since).is_some())
    }

    /// The words against all of that work.
    pub fn said_against_todos(&self) -> Option<String> {
        let oldest = self.called_off_todos().map(|todo| todo.since).min()?;
        self.said_against(oldest)
    }

    /// A summary that others wrote, with the user's words beside each line that names work which was called off.
    pub fn with_words_against(&self, summary: &str) -> String {
        let against: Vec<(&str, String)> = self
            .called_off_todos()
            .filter(|todo| todo.content.trim().len() >= 8)
            .filter_map(|todo| Some((todo.content.trim(), self.said_against(todo.since)?)))
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
    use super::*;

    #[test]
    fn y4_a_sentence_calls_work_off_unless_that_is_denied() {
        let wording = Wording::builtin();
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
        ] {
            assert!(!wording.calls_off(sentence), "{sentence}");
        }
    }
}
