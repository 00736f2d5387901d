//! The user's rules, their revocation, and work that the user called off (Y4, ruling 14).
//!
//! Only sentences from the user's own messages get here; an assistant's proposals never do.

use serde::{Deserialize, Serialize};

use super::phrase_matcher::PhraseMatcher;
use super::rule_kind::RuleKind;
use super::sentence::sentences;

/// A sentence longer than this is a pasted text, and is kept only as part of its message.
const LONGEST: usize = 1_000;
/// The most sentences that are taken from one message: a pasted manual is not five hundred rules.
const MOST_A_MESSAGE: usize = 40;
/// The most rules that are kept in total.
const MOST: usize = 500;

/// A rule of the user, word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UserRule {
    /// The kind of the sentence.
    #[serde(default)]
    pub kind: RuleKind,
    /// The sentence.
    pub text: String,
    /// The message it comes from, counted from 1.
    pub ordinal: u32,
    /// The uuid of that message's entry.
    #[serde(default)]
    pub uuid: String,
}

/// Adds the rules that a message states after the known ones.
pub(super) fn note(
    rules: &mut Vec<UserRule>,
    wording: &PhraseMatcher,
    text: &str,
    ordinal: u32,
    uuid: &str,
) -> u32 {
    let stated = sentences(text)
        .into_iter()
        .filter(|sentence| sentence.len() <= LONGEST)
        .filter_map(|sentence| Some((wording.classify(sentence)?, sentence)))
        .take(MOST_A_MESSAGE);
    for (kind, sentence) in stated {
        // A repeated rule counts from its last occurrence: that overrules a revocation in between.
        rules.retain(|known| known.text != sentence);
        rules.push(UserRule {
            kind,
            text: sentence.to_owned(),
            ordinal,
            uuid: uuid.to_owned(),
        });
    }
    let over = rules.len().saturating_sub(MOST);
    rules.drain(..over);
    over as u32
}
