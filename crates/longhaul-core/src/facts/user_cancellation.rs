//! Work that the user explicitly called off (Y4, ruling 18): "Stop. Cancel that, we stay on MySQL."
//!
//! No list of words can tell which todo or plan is meant. So nothing is deleted: everything older than such a sentence
//! carries it, and is not proposed as the next step. `cancelled.rs` has the actions that the user turned down when
//! asked.

use serde::{Deserialize, Serialize};

use super::order::MatchedSentence;
use super::phrase_matcher::{PhraseMatcher, PhraseMeaning, folded};

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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::facts::{Facts, Vocabulary};

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
