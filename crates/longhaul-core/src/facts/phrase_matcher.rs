//! How people state rules, as data: phrases, and which of them a sentence contains (Y4, ruling 14).
//!
//! The built-in list is `wording.txt`; a host may supply its own in the same form. `user_cancellation.rs` decides which
//! sentences call work off.

use aho_corasick::{AhoCorasick, MatchKind};

use super::rule_kind::RuleKind;

const BUILTIN: &str = include_str!("wording.txt");

/// A user who calls work off says so within the first bytes of a sentence; later in a sentence the same words describe
/// something else.
const CALLED_OFF_AT_ONCE: usize = 24;

/// Why a list of phrases cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PhraseListError {
    /// A heading that is not a known kind.
    #[error(
        "line {line}: `{heading}` is not one of [rule], [revocation], [cancellation], [called off], [not called off], [negation], [clause], [modal], [speaker], [wish], [question]"
    )]
    Heading {
        /// The line, counted from 1.
        line: usize,
        /// The text of the heading.
        heading: String,
    },
    /// A phrase before the first heading.
    #[error("line {line}: a phrase must be under a heading such as [rule] or [called off]")]
    NoHeading {
        /// The line, counted from 1.
        line: usize,
    },
    /// More phrases than can be searched for.
    #[error("the list of phrases is too long: shorten it")]
    TooMany,
}

/// The words that give the user's sentences a meaning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SentenceWords {
    /// Words that make a sentence a rule (X1).
    pub rules: ChosenWords,
    /// Words that call work off (ruling 18).
    pub called_off: ChosenWords,
}

/// The words for one meaning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChosenWords {
    /// The user's own words.
    pub own: Vec<String>,
    /// Whether the built-in words count.
    pub builtin: BuiltinWords,
}

/// Whether the built-in words count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BuiltinWords {
    /// The built-in words count.
    #[default]
    Count,
    /// The built-in words do not count, only the user's own.
    LeftOut,
}

/// What a phrase says about a sentence that contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PhraseMeaning {
    /// The sentence is a rule, or takes one back.
    Rule(RuleKind),
    /// The sentence calls work off.
    CallsOff,
    /// The sentence only seems to call work off.
    CallsNothingOff,
    /// The phrase negates what follows.
    Negates,
    /// The phrase begins a clause to which earlier phrases do not apply.
    Clause,
    /// The phrase says what something can do or does.
    Modal,
    /// The phrase names the user, the model or both.
    Speaker,
    /// The phrase makes what follows a modal verb a wish.
    Wish,
    /// At the beginning of a sentence, the phrase may make it a question.
    Asks,
}

/// A phrase that was found in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PhraseMatch {
    pub(super) meaning: PhraseMeaning,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Phrases that make a sentence a rule, a revocation or a cancellation.
#[derive(Debug, Clone)]
pub struct PhraseMatcher {
    phrases: Vec<(String, PhraseMeaning)>,
    /// The search. `None` if there are no phrases.
    search: Option<AhoCorasick>,
}

impl PhraseMatcher {
    /// The built-in list.
    pub fn builtin() -> Self {
        Self::parse(BUILTIN).unwrap_or_else(|_| Self {
            phrases: Vec::new(),
            search: None,
        })
    }

    /// Reads a list: one phrase per line under a heading, such as `[rule]`; `#` begins a comment line.
    ///
    /// # Errors
    /// Fails at an unknown heading or a phrase before the first one, with its line, and if there are more phrases than
    /// can be searched for.
    pub fn parse(text: &str) -> Result<Self, PhraseListError> {
        let mut kind = None;
        let mut phrases = Vec::new();
        for (line, phrase) in (1..).zip(text.lines().map(str::trim)) {
            match phrase {
                "" => {}
                _ if phrase.starts_with('#') => {}
                "[rule]" => kind = Some(PhraseMeaning::Rule(RuleKind::Rule)),
                "[revocation]" => kind = Some(PhraseMeaning::Rule(RuleKind::Revocation)),
                "[cancellation]" => kind = Some(PhraseMeaning::Rule(RuleKind::Cancellation)),
                "[called off]" => kind = Some(PhraseMeaning::CallsOff),
                "[not called off]" => kind = Some(PhraseMeaning::CallsNothingOff),
                "[negation]" => kind = Some(PhraseMeaning::Negates),
                "[clause]" => kind = Some(PhraseMeaning::Clause),
                "[modal]" => kind = Some(PhraseMeaning::Modal),
                "[speaker]" => kind = Some(PhraseMeaning::Speaker),
                "[wish]" => kind = Some(PhraseMeaning::Wish),
                "[question]" => kind = Some(PhraseMeaning::Asks),
                _ if phrase.starts_with('[') => {
                    let heading = phrase.to_owned();
                    return Err(PhraseListError::Heading { line, heading });
                }
                _ => {
                    let kind = kind.ok_or(PhraseListError::NoHeading { line })?;
                    phrases.push((folded(phrase), kind));
                }
            }
        }
        Self::of(phrases)
    }

    fn of(phrases: Vec<(String, PhraseMeaning)>) -> Result<Self, PhraseListError> {
        let search = if phrases.is_empty() {
            None
        } else {
            Some(
                AhoCorasick::builder()
                    .match_kind(MatchKind::Standard)
                    .build(phrases.iter().map(|(phrase, _)| phrase))
                    .map_err(|_| PhraseListError::TooMany)?,
            )
        };
        Ok(Self { phrases, search })
    }

    /// Replaces the words for rules and for calling work off; the words for revocations and negations stay.
    ///
    /// # Errors
    /// Fails if there are more phrases than can be searched for.
    pub fn with_words(self, words: &SentenceWords) -> Result<Self, PhraseListError> {
        let mut phrases = self.phrases;
        for (chosen, meaning) in [
            (&words.rules, PhraseMeaning::Rule(RuleKind::Rule)),
            (&words.called_off, PhraseMeaning::CallsOff),
        ] {
            if chosen.builtin == BuiltinWords::LeftOut {
                phrases.retain(|(_, known)| *known != meaning);
            }
            let own = chosen.own.iter().map(|word| folded(word.trim()));
            phrases.extend(own.map(|word| (word, meaning)));
        }
        Self::of(phrases)
    }

    /// The kind of a sentence, if it contains any of the phrases. Taking something back takes precedence over stating
    /// it.
    pub fn classify(&self, sentence: &str) -> Option<RuleKind> {
        let found = self.phrases_in(&folded(sentence)).into_iter();
        found
            .filter_map(|phrase| match phrase.meaning {
                PhraseMeaning::Rule(kind) => Some((kind, phrase.start)),
                _ => None,
            })
            .filter(|(kind, at)| *kind != RuleKind::Cancellation || *at <= CALLED_OFF_AT_ONCE)
            .map(|(kind, _)| kind)
            .max()
    }

    /// The phrases in a sentence that is already folded.
    pub(super) fn phrases_in(&self, sentence: &str) -> Vec<PhraseMatch> {
        let Some(search) = &self.search else {
            return Vec::new();
        };
        let found = search.find_overlapping_iter(sentence);
        found
            .filter(|found| stands_as_words(sentence, found.start(), found.end()))
            .map(|found| PhraseMatch {
                meaning: self.phrases[found.pattern().as_usize()].1,
                start: found.start(),
                end: found.end(),
            })
            .collect()
    }
}

/// Folds a text: lower case, with the plain apostrophe.
pub(super) fn folded(text: &str) -> String {
    text.to_lowercase().replace(['\u{2019}', '\u{2bc}'], "'")
}

/// Whether a match is not part of longer words. Scripts without spaces have no such parts.
fn stands_as_words(text: &str, start: usize, end: usize) -> bool {
    let inside = |edge: Option<char>, neighbor: Option<char>| {
        edge.is_some_and(|edge| edge.is_alphanumeric() && !is_unspaced(edge))
            && neighbor.is_some_and(char::is_alphanumeric)
    };
    let found = &text[start..end];
    !inside(found.chars().next(), text[..start].chars().next_back())
        && !inside(found.chars().next_back(), text[end..].chars().next())
}

/// Chinese, Japanese and Korean letters.
fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn y4_the_built_in_list_reads() {
        assert!(PhraseMatcher::parse(BUILTIN).unwrap().phrases.len() > 100);
    }

    #[test]
    fn y4_phrases_are_found_as_words_in_any_case_and_script() {
        let wording = PhraseMatcher::builtin();
        let kind = |text| wording.classify(text);
        assert_eq!(kind("NEVER touch it"), Some(RuleKind::Rule));
        assert_eq!(kind("Don\u{2019}t touch it"), Some(RuleKind::Rule));
        assert_eq!(kind("mustard, nevertheless, lonely"), None);
        assert_eq!(kind("请不要删除数据库"), Some(RuleKind::Rule));
        assert_eq!(kind("Никогда так не делай"), Some(RuleKind::Rule));
        assert_eq!(
            kind("You may now push, but never force"),
            Some(RuleKind::Revocation)
        );
        assert_eq!(
            kind("no, don't do the rewrite"),
            Some(RuleKind::Cancellation)
        );
        assert_eq!(kind("please go on"), None);
        assert_eq!(
            kind("The nightly job may in some cases cancel that run"),
            None
        );
    }

    #[test]
    fn x1_rule_words_of_ones_own_count_beside_the_built_in_ones_or_in_their_place() {
        let mut words = SentenceWords::default();
        words.rules.own = vec!["House rule:".to_owned()];
        let both = PhraseMatcher::builtin().with_words(&words).unwrap();
        assert_eq!(both.classify("HOUSE RULE: tabs"), Some(RuleKind::Rule));
        assert_eq!(both.classify("Never push"), Some(RuleKind::Rule));
        words.rules.builtin = BuiltinWords::LeftOut;
        let own = PhraseMatcher::builtin().with_words(&words).unwrap();
        assert_eq!(own.classify("house rule: tabs"), Some(RuleKind::Rule));
        assert_eq!(own.classify("Never push"), None);
        assert_eq!(own.classify("Cancel that"), Some(RuleKind::Cancellation));
    }

    #[test]
    fn y4_words_of_ones_own_call_work_off_beside_the_built_in_ones_or_in_their_place() {
        let mut words = SentenceWords::default();
        words.called_off.own = vec!["Abblasen".to_owned()];
        let both = PhraseMatcher::builtin().with_words(&words).unwrap();
        assert!(both.calls_off("Den Umzug abblasen!") && both.calls_off("Stop."));
        assert!(
            !both.calls_off("Don't abblasen it."),
            "a denied one does not"
        );
        words.called_off.builtin = BuiltinWords::LeftOut;
        let own = PhraseMatcher::builtin().with_words(&words).unwrap();
        assert!(own.calls_off("Den Umzug abblasen!") && !own.calls_off("Stop."));
        assert_eq!(own.classify("Never push"), Some(RuleKind::Rule));
    }

    #[test]
    fn y4_a_list_of_ones_own_is_taken_or_refused_with_its_line() {
        let own = PhraseMatcher::parse("[rule]\nthou shalt\n").unwrap();
        assert_eq!(own.classify("Thou shalt test."), Some(RuleKind::Rule));
        assert_eq!(own.classify("never"), None);
        assert_eq!(
            PhraseMatcher::parse("always").unwrap_err(),
            PhraseListError::NoHeading { line: 1 }
        );
        assert!(PhraseMatcher::parse("# x\n[maybe]\n").is_err());
    }
}
