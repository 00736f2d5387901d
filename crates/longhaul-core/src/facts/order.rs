//! Decides whether a word that calls work off is an order of the user, or describes what something else does: "the
//! parser can panic and abort the suite" (ruling 18).

use super::phrase_matcher::{PhraseMatch, PhraseMeaning};

/// A negation applies to a word that follows it with at most this many words between them.
const NEGATION_REACHES: usize = 3;
/// A modal verb applies to a word that follows it with at most this many words between them.
const MODAL_REACHES: usize = 8;
/// The subject of a modal verb is among this many words before it.
const SUBJECT: usize = 2;
/// A noun follows one of these directly; an order never does.
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// A folded sentence with the phrases that it contains.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatchedSentence<'a> {
    pub(super) sentence: &'a str,
    pub(super) phrases: &'a [PhraseMatch],
}

impl MatchedSentence<'_> {
    /// Whether this word is meant as an order: it is not negated, not part of another phrase, and does not describe
    /// something else.
    pub(super) fn is_meant(self, word: PhraseMatch) -> bool {
        let is_part = self
            .of(PhraseMeaning::CallsNothingOff)
            .any(|other| other.start <= word.start && word.end <= other.end);
        !is_part && !self.is_denied(word) && !self.is_noun(word) && !self.is_told(word)
    }

    fn of(self, meaning: PhraseMeaning) -> impl Iterator<Item = PhraseMatch> {
        let phrases = self.phrases.iter().copied();
        phrases.filter(move |phrase| phrase.meaning == meaning)
    }

    fn is_denied(self, word: PhraseMatch) -> bool {
        self.of(PhraseMeaning::Negates)
            .any(|negation| self.reaches(negation, word, NEGATION_REACHES))
    }

    /// Whether a modal verb applies the word to something other than the user, the model or both: "the server may drop
    /// it". A passive is still an order ("the migration will be cancelled"), and so is a wish ("my team would like to
    /// stop").
    fn is_told(self, word: PhraseMatch) -> bool {
        let modals = self.of(PhraseMeaning::Modal);
        let nearest = modals
            .filter(|modal| self.reaches(*modal, word, MODAL_REACHES))
            .max_by_key(|modal| modal.end);
        let Some(modal) = nearest else {
            return false;
        };
        let between = (modal.end, word.start);
        let is_meant = |meaning| {
            self.of(meaning)
                .any(|one| between.0 <= one.start && one.end <= between.1)
        };
        let before = &self.sentence[..self.words_before(modal.start, SUBJECT)];
        let speaks = self
            .of(PhraseMeaning::Speaker)
            .any(|one| before.len() <= one.start && one.end <= modal.start);
        !speaks && !is_meant(PhraseMeaning::Speaker) && !is_meant(PhraseMeaning::Wish)
    }

    fn is_noun(self, word: PhraseMatch) -> bool {
        let before = self.sentence[..word.start].trim_end();
        let last = before.rsplit(|c: char| !c.is_alphanumeric()).next();
        before.len() < word.start && last.is_some_and(|last| ARTICLES.contains(&last))
    }

    /// Whether a phrase is in the same clause as a later one, with at most this many words between them.
    fn reaches(self, from: PhraseMatch, to: PhraseMatch, most: usize) -> bool {
        let Some(between) = self.sentence.get(from.end..to.start) else {
            return false;
        };
        let is_apart = self
            .of(PhraseMeaning::Clause)
            .any(|one| from.end <= one.start && one.end <= to.start);
        !is_apart && !ends_clause(between) && between.split_whitespace().count() <= most
    }

    /// Where the last `count` words before a position begin, inside their clause.
    fn words_before(self, at: usize, count: usize) -> usize {
        let mut start = at;
        for _ in 0..count {
            let rest = self.sentence[..start].trim_end();
            let word = rest.rfind(char::is_whitespace).map_or(0, |space| space + 1);
            if rest.is_empty() || ends_clause(&rest[word..]) {
                break;
            }
            start = word;
        }
        start
    }
}

/// Whether a clause ends in this text. Text after ", or" continues the list before it.
fn ends_clause(text: &str) -> bool {
    let ends = |c: char| {
        matches!(
            c,
            ';' | ':' | '.' | '!' | '—' | '–' | '，' | '；' | '、' | '('
        )
    };
    let mut commas = text.match_indices(',');
    text.contains(ends)
        || text.contains(" - ")
        || commas.any(|(at, _)| !text[at + 1..].trim_start().starts_with("or "))
}
